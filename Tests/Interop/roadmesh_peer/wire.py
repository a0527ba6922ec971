# SPDX-License-Identifier: Apache-2.0
"""The bytes of docs/protocol.md, written from that document alone: fields, frames, hellos, units, fragments."""

from __future__ import annotations

import base64
import hashlib
import struct
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import IntEnum

MAJOR_VERSION = 2
NAMESPACE = uuid.UUID("6f1d3a52-8c0e-4b7a-9d15-2e54c1a7f0b3")
SERVICE = "democracy-dj"

LARGEST_NUMBER = 1 << 62
LARGEST_MESSAGE = 65_535
LARGEST_UNIT = LARGEST_MESSAGE + 11
LARGEST_SDU = 2_221
LONGEST_NAME = 248
TAG_BYTES = 16
IDENTIFIER_BYTES = 16
SIGNING_KEY_BYTES = 32


class Malformed(Exception):
    """Bytes with the wrong format."""


class Kind(IntEnum):
    """The types of frames."""

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
    CIRCUIT_OPEN = 12
    CIRCUIT_DATA = 13
    CIRCUIT_CREDIT = 14
    CIRCUIT_CLOSE = 15
    AIR = 16
    ROUTE = 17
    STATE = 18
    MAKE_ROOM = 19


class Reason(IntEnum):
    """Why a guest is refused."""

    UNSPECIFIED = 0
    FULL = 1
    VERSION = 2
    BANNED = 3
    ENDED = 4
    CHALLENGE = 5
    BOND = 6
    TWIN = 7
    WRONG_PROOF = 8
    TOO_MANY_GUESSES = 9
    INVITATION = 10


class Farewell(IntEnum):
    """What happens to the session of a node that says goodbye."""

    UNSPECIFIED = 0
    STOPPED = 1
    ENDED = 2


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
    """Reads fields from the front of some bytes."""

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
        """The number in a ping, a pong or an ack."""
        return Reader(self.body).varint()


def frames(plaintext: bytes) -> Iterator[Frame]:
    """The frames of a record or a payload, in order. Unknown types are included."""
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


def goodbye(reason: int | None = None) -> Frame:
    return Frame(Kind.GOODBYE, b"" if reason is None else bytes((reason,)))


def refusal(reason: int) -> Frame:
    return Frame(Kind.REFUSAL, bytes((reason,)))


class Part(IntEnum):
    """The parts of a hello. A reader must know those from 128 on."""

    NAME = 1
    MINOR_VERSION = 2
    SILENCE = 3
    PROOF = 4
    SIGNING_KEY = 5
    RELAYS = 6
    ROUTE = 7
    STATE = 8
    REJOINS = 9
    CONVERSATION = 128
    FLAGS = 129


def part(kind: int, value: bytes) -> bytes:
    return bytes((kind,)) + varint(len(value)) + value


@dataclass(frozen=True)
class Route:
    """Where circuits through a relay go. 0 hops: no route at present."""

    hops: int
    host: bytes = b""

    def __bytes__(self) -> bytes:
        return bytes((self.hops,)) + (self.host if self.hops else b"")

    @classmethod
    def read(cls, body: bytes) -> Route:
        reader = Reader(body)
        hops = reader.byte()
        return cls(hops, reader.take(IDENTIFIER_BYTES) if hops else b"")

    def frame(self) -> Frame:
        return Frame(Kind.ROUTE, bytes(self))


@dataclass(frozen=True)
class Hello:
    """What a node reports about itself and the conversation so far: the body of `appStart` and `selfInfo`."""

    epoch: int
    name: str
    first: int = 1
    their_epoch: int = 0
    delivered: int = 0
    minor_version: int = 0
    silence: int = 2
    """Seconds for which the sender may be silent, even if it has received a ping."""
    critical: int = 0
    ignorable: int = 0
    """The flags that the sender advertises."""
    signing_key: bytes = b""
    """In a host's hello: the key that signs its state."""
    relays: bool = False
    route: Route | None = None
    """Of a relay."""
    state: bytes = b""
    """In an initiator's hello: the name of the last state that it has."""
    proof: bytes = b""
    """In a responder's hello: the kind of its challenges, and its proof."""
    rejoins: bool = False
    """In the hello of a responder in a circuit: whether it keeps part of the handshake for resuming."""
    more: bytes = b""
    """Further parts, unchanged."""

    def __bytes__(self) -> bytes:
        standing = (
            struct.pack(">I", self.epoch)
            + varint(self.first)
            + struct.pack(">I", self.their_epoch)
            + varint(self.delivered)
        )
        out = part(Part.CONVERSATION, standing)
        if self.name:
            out += part(Part.NAME, self.name.encode())
        if self.minor_version:
            out += part(Part.MINOR_VERSION, bytes((self.minor_version,)))
        if self.silence != 2:
            out += part(Part.SILENCE, varint(self.silence))
        if self.critical or self.ignorable:
            out += part(Part.FLAGS, bytes((self.critical, self.ignorable)))
        if self.signing_key:
            out += part(Part.SIGNING_KEY, self.signing_key)
        if self.relays:
            out += part(Part.RELAYS, b"")
        if self.route is not None:
            out += part(Part.ROUTE, bytes(self.route))
        if self.state:
            out += part(Part.STATE, self.state)
        if self.proof:
            out += part(Part.PROOF, self.proof)
        if self.rejoins:
            out += part(Part.REJOINS, b"")
        return out + self.more

    def called(self, name: str, signing_key: bytes = b"") -> Hello:
        """The same hello with this name. Without a name, it is the short form for a node that has kept the rest."""
        return replace(self, name=name, signing_key=signing_key, rejoins=False)

    @classmethod
    def read(cls, body: bytes) -> Hello:
        parts: dict[int, bytes] = {}
        reader = Reader(body)
        while not reader.at_end:
            kind, value = reader.byte(), reader.take(reader.varint())
            if kind in parts:
                raise Malformed(f"part {kind} comes twice")
            parts[kind] = value
        if unknown := [kind for kind in parts if kind >= 128 and kind not in tuple(Part)]:
            raise Malformed(f"part {unknown[0]} has to be known")
        if Part.CONVERSATION not in parts:
            raise Malformed("no standing of the conversation")
        standing = Reader(parts[Part.CONVERSATION])
        epoch = standing.integer()
        first = standing.varint(1, LARGEST_NUMBER + 1)
        their_epoch = standing.integer()
        delivered = standing.varint(0, LARGEST_NUMBER)
        name = parts.get(Part.NAME, b"")
        if epoch == 0:
            raise Malformed("an epoch of 0")
        if len(name) > LONGEST_NAME:
            raise Malformed(f"a name of {len(name)} bytes")
        try:
            text = name.decode()
        except UnicodeDecodeError as error:
            raise Malformed("no UTF-8") from error
        minor_version = Reader(parts.get(Part.MINOR_VERSION, b"\0")).byte()
        silence = Reader(parts.get(Part.SILENCE, b"\2")).varint()
        flags = Reader(parts.get(Part.FLAGS, b"\0\0")).take(2)
        return cls(
            epoch,
            text,
            first,
            their_epoch,
            delivered,
            minor_version,
            silence,
            critical=flags[0],
            ignorable=flags[1],
            signing_key=Reader(parts[Part.SIGNING_KEY]).take(SIGNING_KEY_BYTES) if Part.SIGNING_KEY in parts else b"",
            relays=Part.RELAYS in parts,
            route=Route.read(parts[Part.ROUTE]) if Part.ROUTE in parts else None,
            state=Reader(parts[Part.STATE]).take(8) if Part.STATE in parts else b"",
            proof=parts.get(Part.PROOF, b""),
            rejoins=Part.REJOINS in parts,
        )


def app_start(hello: Hello) -> Frame:
    return Frame(Kind.APP_START, bytes(hello))


def self_info(hello: Hello) -> Frame:
    return Frame(Kind.SELF_INFO, bytes(hello))


# Units and fragments

LATEST, SHARED, WHOLE, CHECKPOINT = 1, 2, 4, 8


@dataclass(frozen=True)
class Unit:
    """A message with its number."""

    body: bytes
    number: int
    latest: bool = False
    shared: int = 0
    """The flags of a shared unit except its class: `SHARED`, and flags about its body. 0 if it is not shared."""

    def __bytes__(self) -> bytes:
        return bytes((self.latest | self.shared,)) + varint(self.number) + self.body

    @classmethod
    def read(cls, data: bytes) -> Unit:
        reader = Reader(data)
        flags = reader.byte()
        number = reader.varint(1, LARGEST_NUMBER)
        shared = flags & ~LATEST if flags & LATEST and flags & SHARED else 0
        return cls(reader.rest(), number, bool(flags & LATEST), shared)


def message(unit: Unit) -> Frame:
    return Frame(Kind.MESSAGE, bytes(unit))


@dataclass(frozen=True)
class Fragment:
    latest: bool
    total: int | None
    """Size of the complete unit; in the first fragment only."""
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
    """Splits a long unit. Each fragment fills the plaintext of its own record."""
    whole, offset = bytes(unit), 0
    while offset < len(whole):
        empty = Fragment(unit.latest, None if offset else len(whole), offset, b"")
        # From 128 bytes on, the frame's length takes one byte more than an empty frame's.
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
        """Returns the complete unit after its last fragment."""
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


# Advertisements

HEAD_BYTES = 4
MORE_HEAD_BYTES = 5
BONDED_ONLY, PROOF_WANTED, CIRCUITS_ONLY = 1, 2, 4
RELAYS, GATT, NO_ROOM, PLACES_FOR_RELAYS = 1, 2, 4, 8
TAIL_MARK = "\x1f"


@dataclass(frozen=True)
class Advertisement:
    """The payload of the manufacturer data."""

    psm: int
    head: bytes
    version: int = MAJOR_VERSION
    critical: int = 0

    def __bytes__(self) -> bytes:
        return bytes((self.version << 4 | self.critical, self.psm)) + self.head

    @classmethod
    def read(cls, payload: bytes) -> Advertisement:
        if len(payload) < 6 or payload[1] < 0x80:
            raise Malformed("an advertisement of another node")
        return cls(payload[1], payload[2:6], payload[0] >> 4, payload[0] & 15)


@dataclass(frozen=True)
class Tail:
    """The part of the scan response after the name."""

    more_head: bytes
    ignorable: int = 0
    hops: int = 0
    host_head: bytes = b""

    def __str__(self) -> str:
        relayed = bytes((self.hops,)) + self.host_head if self.host_head else b""
        return TAIL_MARK + base64.urlsafe_b64encode(bytes((self.ignorable,)) + self.more_head + relayed).decode()

    @classmethod
    def read(cls, local_name: str) -> tuple[str, Tail | None]:
        """Splits a name in a scan response."""
        name, mark, coded = local_name.rpartition(TAIL_MARK)
        if not mark:
            return local_name, None
        try:
            reader = Reader(base64.b64decode(coded, altchars=b"-_", validate=True))
            ignorable, more = reader.byte(), reader.take(MORE_HEAD_BYTES)
        except (ValueError, Malformed):
            return name, None
        with suppress(Malformed):
            hops, host = reader.byte(), reader.take(MORE_HEAD_BYTES)
            if hops:
                return name, cls(more, ignorable, hops, host)
        return name, cls(more, ignorable)
