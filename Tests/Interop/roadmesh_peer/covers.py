# SPDX-License-Identifier: Apache-2.0
"""The messages about covers, by docs/protocol.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from . import protobuf as pb
from .protobuf import Fields
from .wire import Malformed

# The largest cover, and the largest piece of it, in bytes.
COVER_BYTES, COVER_PIECE = 12_288, 1_024


def cover_request(song: str, version: int = 0, start: int = 0) -> bytes:
    return pb.message(9, pb.data(1, song) + (pb.fixed32(2, version) if version else b"") + pb.number(3, start))


class CoverRequest(NamedTuple):
    song: str
    version: int
    start: int


def read_cover_request(body: bytes) -> CoverRequest | None:
    """Reads a request for a cover. None for other messages."""
    envelope = Fields(body)
    if 9 not in envelope:
        return None
    fields = Fields(envelope.data(9))
    return CoverRequest(fields.text(1), fields.number(2), fields.number(3))


@dataclass(frozen=True)
class CoverPiece:
    song: str
    version: int
    start: int
    total: int
    data: bytes

    @classmethod
    def read(cls, body: bytes) -> CoverPiece:
        fields = Fields(body)
        data = fields.data(5) if 5 in fields else b""
        piece = cls(fields.text(1), fields.number(2), fields.number(3), fields.number(4), data)
        fits = len(data) <= COVER_PIECE and piece.start + len(data) <= piece.total <= COVER_BYTES
        if not fits or bool(piece.total) != bool(data):
            raise Malformed("a piece of no cover")
        return piece

    def __bytes__(self) -> bytes:
        where = pb.number(3, self.start) + pb.number(4, self.total)
        return pb.message(10, pb.data(1, self.song) + pb.fixed32(2, self.version) + where + pb.data(5, self.data))
