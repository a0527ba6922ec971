"""The protocol between a box's agent and the runner: JSON objects, one per line, with flow control. Both sides use it.

A serial line of user-mode Linux (Linux 6.1) stalls for good in two cases: when 3,968 bytes wait in it to be read, since
its interrupts stay off after that; and when a write does not fit into the other end's buffer, since nothing wakes it up
when there is room again. So each side limits the bytes in flight, and acknowledges every 512
bytes that it has read with one byte that does not occur in JSON.
"""

from __future__ import annotations

import json
from typing import Any

ACKNOWLEDGEMENT = b"\x06"
ACKNOWLEDGED_BYTES = 512

TO_BOX_WINDOW = 6 * ACKNOWLEDGED_BYTES
FROM_BOX_WINDOW = 4 * ACKNOWLEDGED_BYTES


class Wire:
    """The state of one side, without I/O: received bytes go in, bytes to be sent come out."""

    def __init__(self, window: int | None) -> None:
        self._window = window
        """How many bytes may be sent before the next acknowledgement; None: no limit."""
        self._input = bytearray()
        self._output = bytearray()
        self._unacknowledged = 0
        self._owed = 0

    def queue(self, message: dict[str, Any]) -> None:
        self._output += json.dumps(message).encode() + b"\n"

    def received(self, data: bytes) -> list[dict[str, Any]]:
        """The objects that these bytes complete."""
        if self._window is not None:
            acknowledgements = data.count(ACKNOWLEDGEMENT)
            if acknowledgements:
                self._window += acknowledgements * ACKNOWLEDGED_BYTES
                data = data.replace(ACKNOWLEDGEMENT, b"")
            owed, self._unacknowledged = divmod(self._unacknowledged + len(data), ACKNOWLEDGED_BYTES)
            self._owed += owed
        self._input += data
        if b"\n" not in data:
            return []
        *lines, self._input = self._input.split(b"\n")
        return [json.loads(line) for line in lines]

    def sendable(self) -> bytes:
        """The bytes to send now. Acknowledgements are first and have no limit."""
        return ACKNOWLEDGEMENT * self._owed + self._output[: self._window]

    def sent(self, count: int) -> None:
        acknowledgements = min(count, self._owed)
        self._owed -= acknowledgements
        count -= acknowledgements
        del self._output[:count]
        if self._window is not None:
            self._window -= count

    @property
    def backlog(self) -> int:
        return len(self._output)
