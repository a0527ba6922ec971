# SPDX-License-Identifier: Apache-2.0
"""The bytes of circuits, by docs/protocol.md: frames that open a circuit, carry data in it, and close it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from .wire import HEAD_BYTES, IDENTIFIER_BYTES, TAG_BYTES, Frame, Kind, Reader, varint

HOPS = 64
"""Maximum number of relays on a circuit's path."""
CREDITS = 4
"""Credits that each side gives at first, so most SDUs that wait for a circuit in a relay."""
LEAST_INNER_MTU = 512

# The overhead of an SDU in its own record: the tag, the frame's type, its length, and a number of up to seven bytes.
AROUND_INNER_SDU = TAG_BYTES + 1 + 2 + 7


class CloseReason(IntEnum):
    UNSPECIFIED = 0
    NO_RELAY = 1
    NO_HOST = 2
    TOO_FAR = 3
    LOOP = 4
    NO_ROOM = 5
    ENDED = 6
    MISUSED = 7

    @classmethod
    def of(cls, byte: int) -> CloseReason:
        return cls(byte) if byte in tuple(cls) else cls.UNSPECIFIED


def inner_mtu(outer: int) -> int:
    """The largest SDU in a circuit over a channel with SDUs of this size."""
    return outer - AROUND_INNER_SDU


@dataclass(frozen=True)
class CircuitOpen:
    """Asks for a circuit to a host."""

    circuit: int
    host: bytes
    hops_left: int
    inner_mtu: int
    passed: tuple[bytes, ...] = ()
    """Heads of the relays that have forwarded the request."""

    def frame(self) -> Frame:
        heads = bytes((len(self.passed),)) + b"".join(self.passed)
        body = varint(self.circuit) + self.host + bytes((self.hops_left,)) + varint(self.inner_mtu) + heads
        return Frame(Kind.CIRCUIT_OPEN, body)

    @classmethod
    def read(cls, body: bytes) -> CircuitOpen:
        reader = Reader(body)
        circuit, host, hops_left = reader.varint(), reader.take(IDENTIFIER_BYTES), reader.byte()
        mtu = reader.varint()
        return cls(circuit, host, hops_left, mtu, tuple(reader.take(HEAD_BYTES) for _ in range(reader.byte())))


@dataclass(frozen=True)
class CircuitCredit:
    circuit: int
    credits: int
    inner_mtu: int | None = None
    """Only in the first frame of the side that accepts: the largest SDU that it accepts."""

    def frame(self) -> Frame:
        mtu = b"" if self.inner_mtu is None else varint(self.inner_mtu)
        return Frame(Kind.CIRCUIT_CREDIT, varint(self.circuit) + varint(self.credits) + mtu)

    @classmethod
    def read(cls, body: bytes) -> CircuitCredit:
        reader = Reader(body)
        return cls(reader.varint(), reader.varint(), None if reader.at_end else reader.varint())


def circuit_data(circuit: int, sdu: bytes) -> Frame:
    return Frame(Kind.CIRCUIT_DATA, varint(circuit) + sdu)


def circuit_credit(circuit: int, credits: int, inner_mtu: int | None = None) -> Frame:
    return CircuitCredit(circuit, credits, inner_mtu).frame()


def circuit_close(circuit: int, reason: int) -> Frame:
    return Frame(Kind.CIRCUIT_CLOSE, varint(circuit) + bytes((reason,)))
