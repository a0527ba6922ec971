# SPDX-License-Identifier: Apache-2.0
"""The packets of MQTT 3.1.1 (OASIS, chapters 2 and 3), as far as the tests' broker reads and writes them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import IntEnum

from .wire import Malformed, Reader

LARGEST_REMAINDER = 1 << 16
"""Clients here send no larger packet."""
REFUSED_SUBSCRIPTION = 0x80


class Type(IntEnum):
    CONNECT = 1
    CONNACK = 2
    PUBLISH = 3
    PUBACK = 4
    SUBSCRIBE = 8
    SUBACK = 9
    UNSUBSCRIBE = 10
    UNSUBACK = 11
    PINGREQ = 12
    PINGRESP = 13
    DISCONNECT = 14


@dataclass(frozen=True)
class Packet:
    type: int
    body: bytes = b""
    flags: int = 0

    def __bytes__(self) -> bytes:
        length, rest = bytearray(), len(self.body)
        while True:
            rest, digit = rest >> 7, rest & 0x7F
            length.append(digit | (0x80 if rest else 0))
            if not rest:
                return bytes((self.type << 4 | self.flags,)) + bytes(length) + self.body


async def read_packet(reader: asyncio.StreamReader) -> Packet:
    """The next packet. Raises `IncompleteReadError` at the end."""
    [first] = await reader.readexactly(1)
    length = 0
    for place in range(4):
        [digit] = await reader.readexactly(1)
        length |= (digit & 0x7F) << (7 * place)
        if digit < 0x80:
            break
    else:
        raise Malformed("a length that does not end")
    if length > LARGEST_REMAINDER:
        raise Malformed(f"a packet of {length} bytes")
    return Packet(first >> 4, await reader.readexactly(length), first & 15)


def two_bytes(number: int) -> bytes:
    return number.to_bytes(2, "big")


def prefixed(data: bytes) -> bytes:
    return two_bytes(len(data)) + data


def read_prefixed(reader: Reader) -> bytes:
    return reader.take(int.from_bytes(reader.take(2), "big"))


def read_text(reader: Reader) -> str:
    try:
        return read_prefixed(reader).decode()
    except UnicodeDecodeError as error:
        raise Malformed("no UTF-8") from error


@dataclass(frozen=True)
class Publish:
    topic: str
    payload: bytes
    qos: int = 0
    retain: bool = False
    number: int = 0
    """The packet's number, if it must be acknowledged."""

    def packet(self) -> Packet:
        number = two_bytes(self.number) if self.qos else b""
        return Packet(Type.PUBLISH, prefixed(self.topic.encode()) + number + self.payload, self.qos << 1 | self.retain)

    @classmethod
    def read(cls, packet: Packet) -> Publish:
        reader = Reader(packet.body)
        topic, qos = read_text(reader), packet.flags >> 1 & 3
        number = int.from_bytes(reader.take(2), "big") if qos else 0
        if qos > 1 or not topic or "+" in topic or "#" in topic:
            raise Malformed("what no client here publishes")
        return cls(topic, reader.rest(), qos, bool(packet.flags & 1), number)


@dataclass(frozen=True)
class Connect:
    client: str
    keep_alive: int
    is_clean: bool
    will: Publish | None

    @classmethod
    def read(cls, packet: Packet) -> Connect:
        reader = Reader(packet.body)
        if packet.type != Type.CONNECT or read_prefixed(reader) != b"MQTT" or reader.byte() != 4:
            raise Malformed("no CONNECT of MQTT 3.1.1")
        flags, keep_alive = reader.byte(), int.from_bytes(reader.take(2), "big")
        client = read_text(reader)
        will = None
        if flags & 4:
            will = Publish(read_text(reader), read_prefixed(reader), flags >> 3 & 3, bool(flags & 0x20))
        return cls(client, keep_alive, bool(flags & 2), will)


@dataclass(frozen=True)
class Subscribe:
    number: int
    topics: list[tuple[str, int]]
    """The topics, each with its quality of service; 0 for the end of a subscription."""

    @classmethod
    def read(cls, packet: Packet) -> Subscribe:
        reader = Reader(packet.body)
        number = int.from_bytes(reader.take(2), "big")
        topics = []
        while not reader.at_end:
            topics.append((read_text(reader), reader.byte() if packet.type == Type.SUBSCRIBE else 0))
        return cls(number, topics)


def matches(pattern: str, topic: str) -> bool:
    """Whether a subscription's pattern matches a topic."""
    levels, wanted = topic.split("/"), pattern.split("/")
    if wanted[-1] == "#":
        wanted.pop()
        levels = levels[: len(wanted)]
    return len(levels) == len(wanted) and all(one in ("+", level) for one, level in zip(wanted, levels, strict=True))
