"""The packets between a host and its controller, in the format of Wireshark and `btmon -r`."""

from __future__ import annotations

import struct
import time
from pathlib import Path

HEADER = b"btsnoop\0" + struct.pack(">II", 1, 1002)  # version 1, HCI over H4
RECORD = struct.Struct(">IIIIq")

# btsnoop counts microseconds from the year 0; this is 1970.
EPOCH_MICROSECONDS = 0x00DCDDB30F2F8000

# A soak test would fill the disk: a capture ends at this size, and the log reports it.
MAXIMUM_BYTES = 64 * 1024 * 1024


class Capture:
    """The capture file of a controller. Buffered: flush it before reading it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("wb", buffering=64 * 1024)
        self._file.write(HEADER)
        self._left = MAXIMUM_BYTES
        self._write = self._file.write

    def record(self, packet: bytes, to_host: bool) -> None:
        length = len(packet)
        self._left -= length + RECORD.size
        if self._left < 0:
            return
        # Flags: bit 0 is the direction; bit 1 is set for commands and events, and clear for data.
        flags = int(to_host) | (0 if packet[0] == 2 else 2)
        now = EPOCH_MICROSECONDS + time.time_ns() // 1000
        self._write(RECORD.pack(length, length, flags, 0, now) + packet)

    @property
    def truncated(self) -> bool:
        return self._left < 0

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()
