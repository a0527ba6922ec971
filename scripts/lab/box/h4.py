"""H4, the form that packets have between a controller and its host: a byte of type, a header with a length, the rest
(Core Specification, Volume 4, Part A). And how a controller behind /dev/vhci is fed through a serial line.

The kernel's own serial driver takes what comes over a line at once. A program in the box reads it when it gets to run,
and a serial line of user-mode Linux stalls for good when 3,968 bytes wait in it (`wire.py`). So where a program reads,
the air sends only so much ahead, and every 512 bytes that have been taken are acknowledged by a byte that begins no
packet.
"""

from __future__ import annotations

import contextlib
import os
import select
from collections.abc import Iterator

COMMAND, ACL_DATA, SYNCHRONOUS_DATA, EVENT, ISO_DATA = range(1, 6)

# For each packet type: bytes of header after the type, and where in it the length stands (offset, bytes).
LAYOUT = {
    COMMAND: (3, 2, 1),
    ACL_DATA: (4, 2, 2),
    SYNCHRONOUS_DATA: (3, 2, 1),
    EVENT: (2, 1, 1),
    ISO_DATA: (4, 2, 2),
}

ACKNOWLEDGEMENT = 0x06
ACKNOWLEDGED_BYTES = 512

# What may be on its way to a program. Up to 511 bytes of it may have been taken and not acknowledged yet.
WINDOW = 7 * ACKNOWLEDGED_BYTES

READ_SIZE = 4096


class Splitter:
    """Cuts a stream of bytes into packets."""

    def __init__(self) -> None:
        self._input = bytearray()
        self.acknowledgements = 0
        """How many have come among the packets since this was set to 0."""

    def take(self, data: bytes) -> Iterator[bytes]:
        """The packets that these bytes complete."""
        self._input += data
        while packet := self._next():
            yield packet

    def clear(self) -> None:
        self._input.clear()

    def _next(self) -> bytes | None:
        data = self._input
        # A byte that starts no packet (a line that comes up can carry noise) is skipped, as a real controller does.
        while data and data[0] not in LAYOUT:
            self.acknowledgements += data[0] == ACKNOWLEDGEMENT
            del data[0]
        if not data:
            return None
        header, offset, width = LAYOUT[data[0]]
        if len(data) < 1 + header:
            return None
        end = 1 + header + int.from_bytes(data[1 + offset : 1 + offset + width], "little")
        if len(data) < end:
            return None
        packet = bytes(data[:end])
        del data[:end]
        return packet


def carry(controller: int, line: int) -> None:
    """Carries packets between a controller's device, which takes and gives one at a time and does not block on reading,
    and a serial line, until that ends."""
    splitter = Splitter()
    unacknowledged = 0
    # What was sent to the one before us, and is gone with it, is not on its way any more.
    _write(line, bytes((ACKNOWLEDGEMENT,)) * (WINDOW // ACKNOWLEDGED_BYTES))
    poll = select.poll()
    poll.register(controller, select.POLLIN)
    poll.register(line, select.POLLIN)
    while True:
        ready = {descriptor for descriptor, _ in poll.poll()}
        if controller in ready:
            for packet in _waiting(controller):
                _write(line, packet)
        if line in ready:
            data = os.read(line, READ_SIZE)
            if not data:
                return
            for packet in splitter.take(data):
                # An adapter that is off takes nothing.
                with contextlib.suppress(OSError):
                    os.write(controller, packet)
            owed, unacknowledged = divmod(unacknowledged + len(data), ACKNOWLEDGED_BYTES)
            _write(line, bytes((ACKNOWLEDGEMENT,)) * owed)


def _waiting(controller: int) -> Iterator[bytes]:
    try:
        while packet := os.read(controller, READ_SIZE):
            yield packet
    except BlockingIOError:
        pass


def _write(line: int, data: bytes) -> None:
    while data:
        data = data[os.write(line, data) :]
