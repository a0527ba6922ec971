"""H4, the packet format between a controller and its host: a byte of type, a header with a length, and the payload
(Core Specification, Volume 4, Part A). Also the flow control for a controller behind /dev/vhci on a serial line.

The kernel's own serial driver reads a line at once. A program in the box reads it when it is scheduled,
and a serial line of user-mode Linux stalls for good when 3,968 bytes wait in it (`wire.py`). So if a program reads,
the air sends only a limited amount ahead. The program acknowledges every 512 bytes that it has read with a byte that
begins no packet.
"""

from __future__ import annotations

import contextlib
import os
import select
from collections.abc import Iterator

COMMAND, ACL_DATA, SYNCHRONOUS_DATA, EVENT, ISO_DATA = range(1, 6)

# For each packet type: the bytes of its header after the type, and the position of the length in it (offset, bytes).
LAYOUT = {
    COMMAND: (3, 2, 1),
    ACL_DATA: (4, 2, 2),
    SYNCHRONOUS_DATA: (3, 2, 1),
    EVENT: (2, 1, 1),
    ISO_DATA: (4, 2, 2),
}

ACKNOWLEDGEMENT = 0x06
ACKNOWLEDGED_BYTES = 512

# Bytes in flight to a program, of which up to 511 may be read and not acknowledged yet.
WINDOW = 7 * ACKNOWLEDGED_BYTES

READ_SIZE = 4096


class Splitter:
    """Splits a stream of bytes into packets."""

    def __init__(self) -> None:
        self._input = bytearray()
        self.acknowledgements = 0
        """The number of acknowledgements among the packets since this was set to 0."""

    def take(self, data: bytes) -> Iterator[bytes]:
        """The packets that these bytes complete."""
        self._input += data
        while packet := self._next():
            yield packet

    def clear(self) -> None:
        self._input.clear()

    def _next(self) -> bytes | None:
        data = self._input
        # Skip bytes that start no packet, as a real controller does: a line that comes up can carry noise.
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
    """Carries packets between a controller's device, which reads and writes one packet at a time and never blocks a read,
    and a serial line, until the line ends."""
    splitter = Splitter()
    unacknowledged = 0
    # Acknowledge bytes for the previous process: they were lost with it, and are no longer in flight.
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
                # An adapter that is off rejects packets.
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
