# SPDX-License-Identifier: Apache-2.0
"""The bytes of docs/protocol.md, written from that document alone: fields, frames, introductions, units, fragments."""

from __future__ import annotations

import hashlib
import struct
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum

MAJOR_VERSION = 1
NAMESPACE = uuid.UUID("6f1d3a52-8c0e-4b7a-9d15-2e54c1a7f0b3")
SERVICE = "democracy-dj"

LARGEST_NUMBER = 1 << 62
LARGEST_MESSAGE = 65_535
LARGEST_UNIT = LARGEST_MESSAGE + 43
LARGEST_SDU = 2_221
LONGEST_NAME = 248
TAG_BYTES = 16


class Malformed(Exception):
    """Bytes that cannot be read as what they should be."""


class Kind(IntEnum):
    """The frames' types."""

    APP_START = 1
    SELF_INFO = 2
    REFUSAL = 3
    CHALLENGE = 4
    PROOF = 5
    GOODBYE = 6
    PING = 7
    PONG = 8
    ACK = 9
    MESSAGE = 10
    FRAGMENT = 11


class Reason(IntEnum):
    """Why a guest is not let in."""

    UNSPECIFIED = 0
    FULL = 1
    VERSION = 2
    BANNED = 3
    ENDED = 4
    CHALLENGE = 5


def service_uuid(service: str = SERVICE) -> uuid.UUID:
    return uuid.uuid5(NAMESPACE, service)


def identifier(public_key: bytes) -> bytes:
    return hashlib.sha256(public_key).digest()[:16]


# Fields


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def text(value: str | bytes) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return bytes((len(raw),)) + raw


class Reader:
    """Takes fields off the front of some bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def at_end(self) -> bool:
        return self._at == len(self._data)

    def take(self, count: int) -> bytes:
        end = self._at + count
        if end > len(self._data):
            raise Malformed(f"{count} bytes wanted, {len(self._data) - self._at} there")
        taken, self._at = self._data[self._at : end], end
        return taken

    def rest(self) -> bytes:
        return self.take(len(self._data) - self._at)

    def byte(self) -> int:
        return self.take(1)[0]

    def integer(self) -> int:
        return int.from_bytes(self.take(4), "big")

    def varint(self, least: int = 0, most: int = (1 << 64) - 1) -> int:
        number = 0
        for place in range(10):
            byte = self.byte()
            number |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:
                break
        else:
            raise Malformed("a varint that does not end")
        if not least <= number <= most:
            raise Malformed(f"the number {number} is out of its limits")
        return number

    def text(self, most: int = 255) -> str:
        raw = self.take(self.byte())
        if len(raw) > most:
            raise Malformed(f"a text of {len(raw)} bytes")
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            raise Malformed("no UTF-8") from error


# Frames


@dataclass(frozen=True)
class Frame:
    kind: int
    body: bytes = b""

    def __bytes__(self) -> bytes:
        return bytes((self.kind,)) + varint(len(self.body)) + self.body

    def number(self) -> int:
        """What a ping, a pong or an ack says."""
        return Reader(self.body).varint()


def frames(plaintext: bytes) -> Iterator[Frame]:
    """The frames of a record or a payload, in order. The types may be unknown ones."""
    reader = Reader(plaintext)
    while not reader.at_end:
        kind = reader.byte()
        yield Frame(kind, reader.take(reader.varint()))


def ping(number: int) -> Frame:
    return Frame(Kind.PING, varint(number))


def pong(number: int) -> Frame:
    return Frame(Kind.PONG, varint(number))


def ack(number: int) -> Frame:
    return Frame(Kind.ACK, varint(number))


def goodbye() -> Frame:
    return Frame(Kind.GOODBYE)


def refusal(reason: int) -> Frame:
    return Frame(Kind.REFUSAL, bytes((reason,)))


@dataclass(frozen=True)
class Introduction:
    """What a node tells of itself and of the conversation so far: the body of `appStart` and `selfInfo`."""

    epoch: int
    name: str
    first: int = 1
    their_epoch: int = 0
    delivered: int = 0
    minor_version: int = 0

    def __bytes__(self) -> bytes:
        return (
            bytes((self.minor_version,))
            + struct.pack(">I", self.epoch)
            + varint(self.first)
            + struct.pack(">I", self.their_epoch)
            + varint(self.delivered)
            + text(self.name)
        )

    @classmethod
    def read(cls, body: bytes) -> Introduction:
        reader = Reader(body)
        minor_version = reader.byte()
        epoch = reader.integer()
        first = reader.varint(1, LARGEST_NUMBER + 1)
        their_epoch = reader.integer()
        delivered = reader.varint(0, LARGEST_NUMBER)
        name = reader.text(LONGEST_NAME)
        if epoch == 0:
            raise Malformed("an epoch of 0")
        return cls(epoch, name, first, their_epoch, delivered, minor_version)


def app_start(introduction: Introduction) -> Frame:
    return Frame(Kind.APP_START, bytes(introduction))


def self_info(introduction: Introduction) -> Frame:
    return Frame(Kind.SELF_INFO, bytes(introduction))


# Units and fragments


@dataclass(frozen=True)
class Unit:
    """A message with its number."""

    body: bytes
    number: int
    latest: bool = False
    origin: bytes | None = None
    destination: bytes | None = None

    def __bytes__(self) -> bytes:
        flags = self.latest | (self.origin is not None) << 1 | (self.destination is not None) << 2
        return bytes((flags,)) + varint(self.number) + (self.origin or b"") + (self.destination or b"") + self.body

    @classmethod
    def read(cls, data: bytes) -> Unit:
        reader = Reader(data)
        flags = reader.byte()
        number = reader.varint(1, LARGEST_NUMBER)
        origin = reader.take(16) if flags & 2 else None
        destination = reader.take(16) if flags & 4 else None
        return cls(reader.rest(), number, bool(flags & 1), origin, destination)


def message(unit: Unit) -> Frame:
    return Frame(Kind.MESSAGE, bytes(unit))


@dataclass(frozen=True)
class Fragment:
    latest: bool
    total: int | None
    """Of the whole unit; in the first fragment only."""
    offset: int
    data: bytes

    def frame(self) -> Frame:
        first = self.total is not None
        number = self.total if self.total is not None else self.offset
        return Frame(Kind.FRAGMENT, bytes((self.latest | first << 1,)) + varint(number) + self.data)

    @classmethod
    def read(cls, body: bytes) -> Fragment:
        reader = Reader(body)
        flags, number = reader.byte(), reader.varint()
        first = bool(flags & 2)
        return cls(bool(flags & 1), number if first else None, 0 if first else number, reader.rest())


def fragments(unit: Unit, room: int = LARGEST_SDU - TAG_BYTES) -> Iterator[Frame]:
    """A long unit, each fragment in a frame that fills the plaintext of a record of its own."""
    whole, offset = bytes(unit), 0
    while offset < len(whole):
        empty = Fragment(unit.latest, None if offset else len(whole), offset, b"")
        # The frame's own length takes one byte more than an empty one's says, from 128 bytes on.
        size = room - len(bytes(empty.frame())) - (1 if room > 130 else 0)
        piece = replace(empty, data=whole[offset : offset + size])
        yield piece.frame()
        offset += len(piece.data)


class Assembly:
    """Puts the fragments of one lane together."""

    def __init__(self) -> None:
        self._total = 0
        self._data = b""

    def add(self, fragment: Fragment) -> bytes | None:
        """The whole unit, when this was its last fragment."""
        if fragment.total is not None:
            if self._total:
                raise Malformed("a first fragment while a unit is unfinished")
            if not 0 < fragment.total <= LARGEST_UNIT:
                raise Malformed(f"a unit of {fragment.total} bytes")
            self._total = fragment.total
        elif not self._total:
            raise Malformed("a fragment of nothing")
        end = len(self._data) + len(fragment.data)
        if not fragment.data or fragment.offset != len(self._data) or end > self._total:
            raise Malformed("a fragment that does not follow the last one")
        self._data += fragment.data
        if end < self._total:
            return None
        whole, self._total, self._data = self._data, 0, b""
        return whole


# Advertisement


@dataclass(frozen=True)
class Advertisement:
    """The payload of the manufacturer data."""

    psm: int
    head: bytes
    version: int = MAJOR_VERSION
    hops: int = 0
    bonded_only: bool = False

    def __bytes__(self) -> bytes:
        return bytes((self.version << 4 | self.bonded_only, self.psm, self.hops)) + self.head

    @classmethod
    def read(cls, payload: bytes) -> Advertisement:
        if len(payload) < 6 or payload[1] < 0x80:
            raise Malformed("an advertisement of somebody else")
        return cls(payload[1], payload[3:6], payload[0] >> 4, payload[2], bool(payload[0] & 1))
