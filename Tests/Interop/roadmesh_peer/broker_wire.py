# SPDX-License-Identifier: Apache-2.0
"""Messages that nodes publish at an MQTT broker (docs/protocol.md, "Broker"): topics, advertisements and calls."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

from .virtual_air import Heard
from .wire import LARGEST_SDU, SERVICE, Advertisement, Malformed, Reader, Tail, service_uuid

PREFIX = "roadmesh"
RUN_BYTES, ADDRESS_BYTES, CHANNEL_BYTES = 4, 8, 8
CALL_VERSION = 1
LARGEST_VALUE = 3 + LARGEST_SDU
"""An SDU in one chunk."""
ANSWER = b"\x7f"
"""Answer to a call: an acknowledgement of nothing."""
OTHERS = "+"
"""In a subscription's topic: any value at this level."""


def address_of(identifier: bytes) -> str:
    """A node's address at the broker."""
    return identifier[:ADDRESS_BYTES].hex()


def client_id(address: str) -> str:
    return f"rm{address}"


@dataclass(frozen=True)
class Topics:
    prefix: str = PREFIX
    service: uuid.UUID = field(default_factory=lambda: service_uuid(SERVICE))

    def here(self, address: str = OTHERS) -> str:
        return f"{self.prefix}/here/{self.service.hex}/{address}"

    def to(self, address: str, channel: str = OTHERS) -> str:
        return f"{self.prefix}/to/{address}/{channel}"

    def call(self, address: str) -> str:
        return self.to(address, "call")


@dataclass(frozen=True)
class Presence:
    """A node's advertisement at a broker."""

    run: bytes
    """Random for each connection."""
    advertisement: Advertisement
    scan_response: str

    def __bytes__(self) -> bytes:
        payload = bytes(self.advertisement)
        return self.run + bytes((len(payload),)) + payload + self.scan_response.encode()

    @classmethod
    def read(cls, message: bytes) -> Presence:
        reader = Reader(message)
        run = reader.take(RUN_BYTES)
        advertisement = Advertisement.read(reader.take(reader.byte()))
        try:
            return cls(run, advertisement, reader.rest().decode())
        except UnicodeDecodeError as error:
            raise Malformed("no UTF-8") from error

    def heard(self, address: str) -> Heard:
        """The advertisement as a scan result. Head and address are parts of the same identifier."""
        heard = Heard(self.advertisement, address, *Tail.read(self.scan_response))
        if not address.startswith(heard.head[:ADDRESS_BYTES].hex()):
            raise Malformed("an advertisement at another address than its own")
        return heard


@dataclass(frozen=True)
class Call:
    service: uuid.UUID
    caller: str
    channel: str

    def __bytes__(self) -> bytes:
        return bytes((CALL_VERSION,)) + self.service.bytes + bytes.fromhex(self.caller + self.channel)

    @classmethod
    def read(cls, message: bytes) -> Call:
        reader = Reader(message)
        if reader.byte() != CALL_VERSION:
            raise Malformed("a call of another version")
        service = uuid.UUID(bytes=reader.take(16))
        call = cls(service, reader.take(ADDRESS_BYTES).hex(), reader.take(CHANNEL_BYTES).hex())
        if not reader.at_end:
            raise Malformed("a call that is too long")
        return call
