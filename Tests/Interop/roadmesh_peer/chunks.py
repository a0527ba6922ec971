# SPDX-License-Identifier: Apache-2.0
"""SDUs over streams and in chunks, for GATT and for brokers (docs/protocol.md, "Other ways to a host")."""

from __future__ import annotations

from collections.abc import Iterator

from .wire import LARGEST_SDU

FIRST, LAST, NUMBER = 0x80, 0x40, 0x3F
ACKNOWLEDGED = 0x40

WINDOW, ACKNOWLEDGEMENTS = 32, 8
LENGTH_BYTES = 2


class BrokenFraming(Exception):
    """Bytes that do not continue the SDU. The link ends."""


def framed(sdu: bytes) -> bytes:
    """An SDU in a stream, with its length in front."""
    return len(sdu).to_bytes(LENGTH_BYTES, "big") + sdu


class StreamReader:
    """Reads SDUs from a stream."""

    def __init__(self) -> None:
        self._waiting = b""

    def add(self, piece: bytes) -> Iterator[bytes]:
        self._waiting += piece
        while len(self._waiting) >= LENGTH_BYTES:
            length = int.from_bytes(self._waiting[:LENGTH_BYTES], "big")
            if not 1 <= length <= LARGEST_SDU:
                raise BrokenFraming(f"a length of {length}")
            if len(self._waiting) < LENGTH_BYTES + length:
                return
            yield self._waiting[LENGTH_BYTES : LENGTH_BYTES + length]
            self._waiting = self._waiting[LENGTH_BYTES + length :]


class Chunks:
    """One side of a link in chunks: what it sends and reads, and how much is unacknowledged."""

    def __init__(self) -> None:
        self._sent = 0
        self._acknowledged = 0
        self._taken = 0
        self._sdu = b""
        self._length = 0
        self.has_ended = False
        """The other side has reported that it closed the link."""

    @property
    def is_within_sdu(self) -> bool:
        """An SDU is incomplete."""
        return self._length > 0

    # Sending

    @property
    def end(self) -> bytes:
        return bytes((self._sent & NUMBER,))

    @property
    def may_leave(self) -> bool:
        """Whether the latest chunk may be sent."""
        return self._sent - self._acknowledged <= WINDOW

    def cut(self, sdu: bytes, room: int) -> Iterator[bytes]:
        """The chunks of an SDU. Send each when it may be sent, then ask for the next."""
        rest, is_first = sdu, True
        while rest:
            head = len(sdu).to_bytes(LENGTH_BYTES, "big") if is_first else b""
            data, rest = rest[: room - 1 - len(head)], rest[room - 1 - len(head) :]
            kind = (FIRST if is_first else 0) | (0 if rest else LAST)
            chunk = bytes((kind | self._sent & NUMBER,)) + head + data
            self._sent += 1
            is_first = False
            yield chunk

    # Receiving

    def take(self, chunk: bytes) -> tuple[bytes | None, bytes | None]:
        """Returns the SDU that a chunk completes, and the answer to send; None for either if there is nothing."""
        if not chunk:
            raise BrokenFraming("an empty value")
        header, data = chunk[0], chunk[1:]
        if not data:
            self._take_header(header)
            return None, None
        if header & NUMBER != self._taken & NUMBER:
            raise BrokenFraming("a gap")
        self._taken += 1
        if bool(header & FIRST) == bool(self._length):
            raise BrokenFraming("a chunk that is not in its place")
        if header & FIRST:
            self._length, data = int.from_bytes(data[:LENGTH_BYTES], "big"), data[LENGTH_BYTES:]
            if not 1 <= self._length <= LARGEST_SDU:
                raise BrokenFraming(f"a length of {self._length}")
        self._sdu += data
        if not data or len(self._sdu) > self._length or bool(header & LAST) != (len(self._sdu) == self._length):
            raise BrokenFraming("more or less than the length says")
        told = bytes((ACKNOWLEDGED | self._taken - 1 & NUMBER,)) if self._taken % ACKNOWLEDGEMENTS == 0 else None
        if not header & LAST:
            return None, told
        sdu, self._sdu, self._length = self._sdu, b"", 0
        return sdu, told

    def _take_header(self, header: int) -> None:
        if header & ~NUMBER == 0:
            self.has_ended = True
        elif header & ~NUMBER == ACKNOWLEDGED:
            count = (header + 1 - self._acknowledged) & NUMBER
            if count > self._sent - self._acknowledged:
                raise BrokenFraming("an acknowledgement of what was not sent")
            self._acknowledged += count
        else:
            raise BrokenFraming("a chunk without data")
