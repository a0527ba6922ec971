"""The line between a controller and its host: H4 packets over a socket, whose other end is a box's serial line."""

from __future__ import annotations

import asyncio
import math
import socket
from collections.abc import Callable

from box.h4 import ACKNOWLEDGED_BYTES, WINDOW, Splitter

from .capture import Capture

# A host that has stopped reading (a paused box) must not fill our memory. Real controllers drop advertising
# reports too; events that the host needs are always kept.
MAXIMUM_BACKLOG = 64 * 1024

ADVERTISING_REPORTS = (0x02, 0x0D)


class SerialPort:
    """Splits the host's byte stream into packets, and writes ours without blocking the air."""

    def __init__(
        self,
        line: socket.socket,
        on_packet: Callable[[bytes], None],
        capture: Capture | None,
        is_acknowledged: bool = False,
    ) -> None:
        """`is_acknowledged`: a program in the box reads the line, and acknowledges what it has read (`box/h4.py`)."""
        self._line = line
        self._on_packet = on_packet
        self._capture = capture
        self._input = Splitter()
        self._backlog = bytearray()
        self._full_window = WINDOW if is_acknowledged else math.inf
        self._window = self._full_window
        """How many bytes may be sent before the next acknowledgement."""
        self._awaits_room = False
        self._loop = asyncio.get_running_loop()
        line.setblocking(False)
        self._loop.add_reader(line, self._read)

    def reset(self) -> None:
        """The host has lost power: drops partial packets in both directions."""
        self._input.clear()
        self._backlog.clear()
        self._window = self._full_window
        self._await_room(False)

    def close(self) -> None:
        self._loop.remove_reader(self._line)
        self._loop.remove_writer(self._line)
        self._line.close()
        if self._capture:
            self._capture.close()

    def send(self, packet: bytes) -> None:
        if len(self._backlog) > MAXIMUM_BACKLOG and packet[1] == 0x3E and packet[3] in ADVERTISING_REPORTS:
            return
        self._backlog += packet
        self._drain()
        if self._capture:
            self._capture.record(packet, to_host=True)

    def _drain(self) -> None:
        """Writes pending bytes as far as the line and the window allow."""
        allowed = int(min(len(self._backlog), self._window))
        try:
            written = self._line.send(self._backlog[:allowed]) if allowed else 0
        except BlockingIOError:
            written = 0
        del self._backlog[:written]
        self._window -= written
        # An acknowledgement opens a used-up window, room in the line does not.
        self._await_room(written < allowed)

    def _await_room(self, wanted: bool) -> None:
        if wanted and not self._awaits_room:
            self._loop.add_writer(self._line, self._drain)
        elif self._awaits_room and not wanted:
            self._loop.remove_writer(self._line)
        self._awaits_room = wanted

    def _read(self) -> None:
        try:
            data = self._line.recv(64 * 1024)
        except BlockingIOError:
            return
        for packet in self._input.take(data):
            if self._capture:
                self._capture.record(packet, to_host=False)
            self._on_packet(packet)
        if self._input.acknowledgements:
            # More acknowledgements may arrive than expected (see `carry`), and after a reset those for earlier bytes.
            opened = self._window + self._input.acknowledgements * ACKNOWLEDGED_BYTES
            self._window = min(opened, self._full_window)
            self._input.acknowledgements = 0
            self._drain()
