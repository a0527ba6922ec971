# SPDX-License-Identifier: Apache-2.0
"""The proof before a guest is admitted, by docs/protocol.md, "Challenges", kind 1."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass

from .ristretto import ELEMENT_BYTES, ORDER, NoElement, decode, from_uniform
from .wire import Frame, Kind, varint

KIND = 1
BLOCK_BYTES = 128
DOMAIN = b"CPaceRistretto255"


class Unproven(Exception):
    """The other side does not know the secret."""


class BadShare(Exception):
    """Bytes that are not an element, or an element with the identity as its agreement."""


@dataclass(frozen=True)
class Secret:
    """A PIN's digits, or an invitation's secret with the invitation's name and its host."""

    known: bytes
    invitation: bytes = b""
    host: bytes = b""


def lv(*parts: bytes) -> bytes:
    return b"".join(varint(len(part)) + part for part in parts)


def generator_string(secret: bytes, ci: bytes, sid: bytes) -> bytes:
    zeros = max(0, BLOCK_BYTES - 1 - len(lv(DOMAIN, secret)))
    return lv(DOMAIN, secret, bytes(zeros), ci, sid)


def channel(initiator: bytes, responder: bytes, invitation: bytes = b"") -> bytes:
    """The channel identifier, CI."""
    return lv(b"RoadMesh", initiator, responder, invitation)


class Run:
    """One side's state in one run of the protocol."""

    def __init__(self, secret: bytes, ci: bytes, sid: bytes, *, is_initiator: bool, scalar: int | None = None) -> None:
        self._sid = sid
        self._is_initiator = is_initiator
        self._scalar = scalar or 1 + secrets.randbelow(ORDER - 1)
        generator = from_uniform(hashlib.sha512(generator_string(secret, ci, sid)).digest())
        self.share = bytes(self._scalar * generator)

    def agree(self, their_share: bytes, ada: bytes = b"", adb: bytes = b"") -> tuple[bytes, bytes, bytes]:
        """The key, the initiator's tag and the responder's tag."""
        try:
            k = self._scalar * decode(their_share)
        except NoElement as error:
            raise BadShare(their_share.hex()) from error
        if k.is_identity:
            raise BadShare(their_share.hex())
        ya, yb = (self.share, their_share) if self._is_initiator else (their_share, self.share)
        isk = hashlib.sha512(lv(DOMAIN + b"_ISK", self._sid, bytes(k)) + lv(ya, ada) + lv(yb, adb)).digest()
        key = hashlib.sha512(b"CPaceMac" + self._sid + isk).digest()
        tags = [hmac.digest(key, lv(share, said), "sha512") for share, said in ((ya, ada), (yb, adb))]
        return isk, tags[0], tags[1]


def share_of(body: bytes) -> bytes:
    """The share in a frame's data."""
    return body[:ELEMENT_BYTES]


def frame(number: int, data: bytes) -> Frame:
    """The proof frame of a round."""
    return Frame(Kind.PROOF, bytes((KIND, number)) + data)
