# SPDX-License-Identifier: Apache-2.0
"""What both sides of a circuit keep of their handshake. With it, the next handshake needs no key agreement, by
docs/protocol.md."""

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
    """What is kept of the last handshake with a node."""

    secret: bytes
    their_key: bytes
    name: str
    signing_key: bytes
    until: float
    attempt: int = 0
    """The last attempt that was made or accepted."""
    identifier: bytes = field(init=False)

    def __post_init__(self) -> None:
        self.identifier = expand(self.secret, b"RoadMesh rejoin id", IDENTIFIER)

    def keys(self, attempt: int) -> tuple[bytes, bytes, bytes]:
        """The keys of the initiator's and the responder's records, and a replacement for the handshake hash."""
        keys = expand(self.secret, b"RoadMesh rejoin" + struct.pack(">Q", attempt), 96)
        return keys[:32], keys[32:64], keys[64:]

    def records(self, attempt: int, *, is_initiator: bool) -> Records:
        initiator, responder, _ = self.keys(attempt)
        if is_initiator:
            return Records(Direction(initiator), Direction(responder))
        return Records(Direction(responder), Direction(initiator))

    def completed(self, hello: Hello) -> Hello:
        """The hello with the parts that are not sent again."""
        return hello.called(self.name, self.signing_key)


@dataclass(frozen=True)
class Rejoin:
    """The Rejoin packet."""

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
