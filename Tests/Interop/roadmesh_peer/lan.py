# SPDX-License-Identifier: Apache-2.0
"""The LAN bearer of docs/protocol.md: hosts are found by multicast DNS, and a channel is a TCP connection.

It queries as a one-shot querier (RFC 6762, 5.1 and 6.7): from its own port, so that the answer comes back to it.

python -m roadmesh_peer.lan ADDRESS NAME [SONG…]    joins a host from the interface with this address, votes, shows the
queue, and leaves
"""

from __future__ import annotations

import socket
import struct
import sys
import uuid
from dataclasses import dataclass
from time import monotonic
from typing import cast

from .guest import Guest, show_votes
from .virtual_air import ChannelClosed, Radio
from .wire import LARGEST_SDU, SERVICE, Advertisement, Malformed, Tail, service_uuid

GROUP = ("224.0.0.251", 5353)
TYPE = "_roadmesh._tcp.local"
A, PTR, TXT, SRV = 1, 12, 16, 33
# A question or its answer may be lost, so it is repeated after this many seconds.
AGAIN = 1.0


@dataclass(frozen=True)
class Found:
    """A host or a relay in the network, and where it listens."""

    advertisement: Advertisement
    name: str
    tail: Tail | None
    address: str
    port: int

    @property
    def head(self) -> bytes:
        """The known part of the identifier."""
        return self.advertisement.head + (self.tail.more_head if self.tail else b"")


class TCPChannel:
    """SDUs in a stream, each with its length in front."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._waiting = b""

    def send(self, sdu: bytes) -> None:
        self._socket.settimeout(60)
        try:
            self._socket.sendall(struct.pack(">H", len(sdu)) + sdu)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise ChannelClosed from error

    def receive(self, timeout: float) -> bytes | None:
        deadline = monotonic() + timeout
        while (sdu := self._whole()) is None:
            self._socket.settimeout(max(deadline - monotonic(), 0.001))
            try:
                piece = self._socket.recv(65_536)
            except TimeoutError:
                return None
            except ConnectionResetError as error:
                raise ChannelClosed from error
            if not piece:
                raise ChannelClosed
            self._waiting += piece
        return sdu

    def _whole(self) -> bytes | None:
        if len(self._waiting) < 2:
            return None
        length = int.from_bytes(self._waiting[:2])
        if not 1 <= length <= LARGEST_SDU:
            raise ChannelClosed
        if len(self._waiting) < 2 + length:
            return None
        sdu, self._waiting = self._waiting[2 : 2 + length], self._waiting[2 + length :]
        return sdu

    def close(self) -> None:
        self._socket.close()


class Network:
    """A guest's radio: it looks for hosts and dials them. `address` is this device's address in the network to use."""

    def __init__(self, address: str, service: str = SERVICE) -> None:
        self._address = address
        self._service = service_uuid(service)

    def listen(self, name: str | None = None, timeout: float = 10.0, *, relays: bool = False) -> Found:
        """Waits for a host with this name, or for any."""
        deadline = monotonic() + timeout
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            asking.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(self._address))
            asking.bind((self._address, 0))
            while (left := deadline - monotonic()) > 0:
                asking.sendto(question(TYPE, PTR), GROUP)
                asking.settimeout(min(left, AGAIN))
                try:
                    answer = records(asking.recv(9_000))
                except (TimeoutError, Malformed):
                    continue
                for one in self._hosts(answer):
                    if name in (None, one.name) and bool(one.advertisement.critical & 4) == relays:
                        return one
        raise TimeoutError(f"{name or 'a host'} was not found within {timeout:g} s")

    def _hosts(self, answer: list[Record]) -> list[Found]:
        found = []
        for pointer in (one for one in answer if one.kind == PTR):
            instance = pointer.name_in_data()
            services = [one for one in answer if one.kind == SRV and one.name == instance]
            texts = [one for one in answer if one.kind == TXT and one.name == instance]
            for service, txt in zip(services, texts, strict=False):
                port = int.from_bytes(service.data[4:6])
                target = service.name_in_data(6)
                addresses = [one for one in answer if one.kind == A and one.name == target]
                advertised = self._advertised(txt.data)
                if advertised and addresses:
                    found.append(Found(*advertised, socket.inet_ntoa(addresses[0].data), port))
        return found

    def _advertised(self, txt: bytes) -> tuple[Advertisement, str, Tail | None] | None:
        strings: dict[bytes, bytes] = {}
        while txt:
            key, _, value = txt[1 : 1 + txt[0]].partition(b"=")
            strings.setdefault(key, value)
            txt = txt[1 + txt[0] :]
        try:
            if uuid.UUID(strings[b"u"].decode()) != self._service:
                return None
            return Advertisement.read(bytes.fromhex(strings[b"a"].decode())), *Tail.read(strings[b"n"].decode())
        except (KeyError, ValueError, Malformed):
            return None

    def dial(self, host: Found) -> TCPChannel:
        return TCPChannel(socket.create_connection((host.address, host.port), 5))


@dataclass(frozen=True)
class Record:
    """A resource record (RFC 1035, 4.1.3), with its message, because names refer to other places in it."""

    message: bytes
    name: str
    kind: int
    start: int
    data: bytes

    def name_in_data(self, offset: int = 0) -> str:
        return read_name(self.message, self.start + offset)[0]


def question(name: str, kind: int) -> bytes:
    labels = b"".join(bytes((len(label),)) + label.encode() for label in name.split("."))
    return struct.pack(">6H", 0, 0, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", kind, 1)


def read_name(message: bytes, at: int) -> tuple[str, int]:
    """A name, and where it ends. Each pointer must point further to the front."""
    labels: list[str] = []
    end = None
    limit = at
    while True:
        if at >= len(message):
            raise Malformed("a name that is cut off")
        length = message[at]
        if length == 0:
            return ".".join(labels).lower(), end or at + 1
        if length >= 0xC0:
            end = end or at + 2
            at = int.from_bytes(message[at : at + 2]) & 0x3FFF
            if at >= limit:
                raise Malformed("a name that refers to itself")
            limit = at
        else:
            labels.append(message[at + 1 : at + 1 + length].decode(errors="replace"))
            at += 1 + length


def records(message: bytes) -> list[Record]:
    if len(message) < 12:
        raise Malformed("no DNS message")
    _, _, questions, *counts = struct.unpack(">6H", message[:12])
    at = 12
    for _ in range(questions):
        at = read_name(message, at)[1] + 4
    found = []
    for _ in range(sum(counts)):
        name, at = read_name(message, at)
        if at + 10 > len(message):
            raise Malformed("a record that is cut off")
        kind, _, _, length = struct.unpack(">HHIH", message[at : at + 10])
        found.append(Record(message, name, kind, at + 10, message[at + 10 : at + 10 + length]))
        at += 10 + length
    return found


def main(address: str, name: str, *songs: str) -> None:
    # A guest needs only the methods that both kinds of radio have.
    show_votes(Guest(name, cast(Radio, Network(address))), *songs)


if __name__ == "__main__":
    main(*sys.argv[1:])
