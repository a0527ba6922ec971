# SPDX-License-Identifier: Apache-2.0
"""The virtual radio of docs/protocol.md: a folder of Unix sockets represents the air."""

from __future__ import annotations

import secrets
import socket
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Protocol

from .wire import (
    CIRCUITS_ONLY,
    LARGEST_SDU,
    NO_ROOM,
    SERVICE,
    Advertisement,
    Malformed,
    Reader,
    Tail,
    service_uuid,
    text,
)


class Channel(Protocol):
    """The channel below a link. `Talk` and `Guest` accept any: this radio's, or the lab's."""

    def send(self, sdu: bytes) -> None: ...

    def receive(self, timeout: float) -> bytes | None:
        """The next SDU. None if none arrives in time. Raises `ChannelClosed` at the end."""

    def close(self) -> None: ...


# Longest time that a slow reader may block a sender here, in seconds.
SENDING = 60.0


class ChannelClosed(Exception):
    """The other side has closed the channel, or the channel is lost."""


@dataclass(frozen=True)
class Heard:
    """An advertised host or relay. A relay has its host's name."""

    advertisement: Advertisement
    address: str
    name: str
    tail: Tail | None

    @property
    def head(self) -> bytes:
        """The received part of the identifier."""
        return self.advertisement.head + (self.tail.more_head if self.tail else b"")

    @property
    def is_relay(self) -> bool:
        return bool(self.advertisement.critical & CIRCUITS_ONLY)

    @property
    def host_head(self) -> bytes:
        """The received part of the identifier of a relay's host."""
        return self.tail.host_head if self.tail else b""

    @property
    def hops(self) -> int:
        """Hops from a relay to its host; 0 if unknown, and for a host."""
        return self.tail.hops if self.tail else 0

    @property
    def has_room(self) -> bool:
        return not (self.tail and self.tail.ignorable & NO_ROOM)


def understood(datagram: bytes, service: uuid.UUID) -> Heard | None:
    """Reads an advertisement of this service. None for others."""
    reader = Reader(datagram)
    try:
        advertisement = Advertisement.read(reader.take(6))
        if uuid.UUID(bytes=reader.take(16)) != service:
            return None
        address = reader.text()
        return Heard(advertisement, address, *Tail.read(reader.rest().decode()))
    except (Malformed, UnicodeDecodeError):
        return None


class SocketChannel:
    """Holds back data that arrives in a dead zone, as every radio on this air must."""

    def __init__(self, connected: socket.socket, is_cut: Callable[[], bool]) -> None:
        self._socket = connected
        self._is_cut = is_cut
        self._held: list[bytes] = []

    def send(self, sdu: bytes) -> None:
        # Longer than the last `receive` timeout: the reader of a full channel may be slow.
        self._socket.settimeout(SENDING)
        try:
            self._socket.send(sdu)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise ChannelClosed from error

    def receive(self, timeout: float) -> bytes | None:
        deadline = monotonic() + timeout
        while not self._held or self._is_cut():
            self._socket.settimeout(max(deadline - monotonic(), 0.001))
            try:
                sdu = self._socket.recv(LARGEST_SDU + 1)
            except TimeoutError:
                return None
            except ConnectionResetError as error:
                raise ChannelClosed from error
            # An SDU is never empty.
            if not sdu:
                raise ChannelClosed
            self._held.append(sdu)
        return self._held.pop(0)

    def close(self) -> None:
        self._socket.close()


class Radio:
    """A guest's radio: it scans and dials."""

    def __init__(self, air: Path, address: str, service: str = SERVICE) -> None:
        self.air = air
        self.address = address
        self._service = service_uuid(service)

    def listen(self, name: str | None = None, timeout: float = 10.0, *, relays: bool = False) -> Heard:
        """Waits for a host with this name, or for any; or for a relay to it."""
        ear = self.air / f"{self.address}.ear"
        ear.unlink(missing_ok=True)
        deadline = monotonic() + timeout
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
            listening.bind(str(ear))
            try:
                while (left := deadline - monotonic()) > 0:
                    listening.settimeout(left)
                    try:
                        heard = understood(listening.recv(4096), self._service)
                    except TimeoutError:
                        break
                    is_wanted = heard and heard.is_relay == relays and name in (None, heard.name)
                    if heard and is_wanted and not self._is_cut(heard.address):
                        return heard
            finally:
                ear.unlink(missing_ok=True)
        raise TimeoutError(f"{name or 'a host'} was not heard within {timeout:g} s")

    def dial(self, host: Heard) -> SocketChannel:
        """Opens a channel, unless a dead zone is in between."""
        if self._is_cut(host.address):
            raise ChannelClosed
        dialling = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        dialling.bind(f"\0roadmesh/{self.address}/{secrets.randbits(31)}")
        try:
            dialling.connect(str(self.air / f"{host.address}.psm"))
        except OSError:
            dialling.close()
            raise
        return SocketChannel(dialling, lambda: self._is_cut(host.address))

    def _is_cut(self, other: str) -> bool:
        pair = ".".join(sorted((self.address, other)))
        return any((self.air / f"{name}.cut").exists() for name in ("everyone", self.address, other, pair))

    @contextmanager
    def dead_zone(self) -> Iterator[None]:
        """Puts this radio out of range of all other radios."""
        cut = self.air / f"{self.address}.cut"
        cut.touch()
        try:
            yield
        finally:
            cut.unlink()


class HostRadio:
    """A host's radio: it advertises while it waits for a dial."""

    INTERVAL = 0.025
    PSM = 0x80

    def __init__(self, air: Path, address: str, name: str, service: str = SERVICE) -> None:
        self.air = air
        self.address = address
        self._name = name
        self._service = service_uuid(service)
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listening.bind(str(air / f"{address}.psm"))
        self._listening.listen()
        self._speaking = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)

    def accept(
        self, identifier: bytes, timeout: float = 10.0, critical: int = 0, tail: Tail | None = None
    ) -> SocketChannel:
        """Advertises the head of an identifier, or the tail of a relay, until a node dials."""
        payload = bytes(Advertisement(self.PSM, identifier[:4], critical=critical))
        advertisement = payload + self._service.bytes + text(self.address)
        local_name = f"{self._name}{tail or Tail(identifier[4:9])}".encode()
        deadline = monotonic() + timeout
        self._listening.settimeout(self.INTERVAL)
        while monotonic() < deadline:
            for ear in self.air.glob("*.ear"):
                # A receiver that is gone or too slow gets the next one.
                with suppress(OSError):
                    self._speaking.sendto(advertisement + local_name, socket.MSG_DONTWAIT, str(ear))
            with suppress(TimeoutError):
                return SocketChannel(self._listening.accept()[0], lambda: False)
        raise TimeoutError(f"no node has dialled within {timeout:g} s")

    def close(self) -> None:
        self._listening.close()
        self._speaking.close()
        (self.air / f"{self.address}.psm").unlink(missing_ok=True)
