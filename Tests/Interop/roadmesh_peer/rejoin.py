# SPDX-License-Identifier: Apache-2.0
"""What both sides of a circuit keep of their handshake, so that the next one needs no agreement of keys, by docs/protocol.md."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from .noise_link import Direction, Packet, Records
from .wire import MAJOR_VERSION, Hello, Malformed, Reader, varint

KEPT_FOR = 3_600.0
IDENTIFIER = 8


def expand(secret: bytes, info: bytes, length: int) -> bytes:
    return HKDFExpand(SHA256(), length, info).derive(secret)


@dataclass
class Kept:
    """Of the last handshake with somebody."""

    secret: bytes
    their_key: bytes
    name: str
    signing_key: bytes
    until: float
    attempt: int = 0
    """The last one that was made, or taken."""
    identifier: bytes = field(init=False)

    def __post_init__(self) -> None:
        self.identifier = expand(self.secret, b"RoadMesh rejoin id", IDENTIFIER)

    def keys(self, attempt: int) -> tuple[bytes, bytes, bytes]:
        """Of the initiator's records, of the responder's, and what stands for the hash of a handshake."""
        keys = expand(self.secret, b"RoadMesh rejoin" + struct.pack(">Q", attempt), 96)
        return keys[:32], keys[32:64], keys[64:]

    def records(self, attempt: int, *, is_initiator: bool) -> Records:
        initiator, responder, _ = self.keys(attempt)
        if is_initiator:
            return Records(Direction(initiator), Direction(responder))
        return Records(Direction(responder), Direction(initiator))

    def completed(self, hello: Hello) -> Hello:
        """What the other side does not say again."""
        return hello.called(self.name, self.signing_key)


@dataclass(frozen=True)
class Rejoin:
    """The packet."""

    identifier: bytes
    attempt: int
    record: bytes

    def __bytes__(self) -> bytes:
        return bytes((Packet.REJOIN, MAJOR_VERSION)) + self.identifier + varint(self.attempt) + self.record

    @classmethod
    def read(cls, sdu: bytes) -> Rejoin:
        reader = Reader(sdu)
        if reader.byte() != Packet.REJOIN or reader.byte() != MAJOR_VERSION:
            raise Malformed("no rejoin of this version")
        return cls(reader.take(IDENTIFIER), reader.varint(), reader.rest())
