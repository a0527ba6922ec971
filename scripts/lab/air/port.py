"""A controller's cable to its host: H4 packets over a socket, whose other end is a box's serial line."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

from .capture import Capture

COMMAND, ACL_DATA, SYNCHRONOUS_DATA, EVENT, ISO_DATA = range(1, 6)

# For each packet type: bytes of header after the type, and where in it the length stands (offset, bytes).
LAYOUT = {COMMAND: (3, 2, 1), ACL_DATA: (4, 2, 2), SYNCHRONOUS_DATA: (3, 2, 1), ISO_DATA: (4, 2, 2)}

# A host that has stopped reading (a stopped box) must not fill our memory. A real controller drops advertising
# reports too; events that the host cannot do without are always kept.
MAXIMUM_BACKLOG = 64 * 1024

ADVERTISING_REPORTS = (0x02, 0x0D)


class SerialPort:
    """Cuts the host's byte stream into packets and writes ours without ever blocking the air."""

    def __init__(self, line: socket.socket, on_packet: Callable[[bytes], None], capture: Capture | None) -> None:
        self._line = line
        self._on_packet = on_packet
        self._capture = capture
        self._input = bytearray()
        self._backlog = bytearray()
        self._loop = asyncio.get_running_loop()
        line.setblocking(False)
        self._loop.add_reader(line, self._read)

    def reset(self) -> None:
        """The host has lost power: what is half read or half written belongs to nobody."""
        self._input.clear()
        if self._backlog:
            self._backlog.clear()
            self._loop.remove_writer(self._line)

    def close(self) -> None:
        self._loop.remove_reader(self._line)
        self._loop.remove_writer(self._line)
        self._line.close()
        if self._capture:
            self._capture.close()

    def send(self, packet: bytes) -> None:
        if self._backlog:
            if len(self._backlog) > MAXIMUM_BACKLOG and packet[1] == 0x3E and packet[3] in ADVERTISING_REPORTS:
                return
            self._backlog += packet
        else:
            self._write(packet)
        if self._capture:
            self._capture.record(packet, to_host=True)

    def _write(self, data: bytes | bytearray) -> None:
        try:
            written = self._line.send(data)
        except BlockingIOError:
            written = 0
        if written < len(data):
            self._backlog = bytearray(data[written:])
            self._loop.add_writer(self._line, self._drain)

    def _drain(self) -> None:
        try:
            written = self._line.send(self._backlog)
        except BlockingIOError:
            return
        del self._backlog[:written]
        if not self._backlog:
            self._loop.remove_writer(self._line)

    def _read(self) -> None:
        try:
            self._input += self._line.recv(64 * 1024)
        except BlockingIOError:
            return
        while packet := self._next_packet():
            if self._capture:
                self._capture.record(packet, to_host=False)
            self._on_packet(packet)

    def _next_packet(self) -> bytes | None:
        data = self._input
        # A byte that starts no packet (a line that comes up can carry noise) is skipped, as a real controller does.
        while data and data[0] not in LAYOUT:
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
