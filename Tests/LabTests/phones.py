"""Phones on the lab's air, as docs/phones.md describes them: one with streams, as apps on iOS and Android have, and
one with only GATT."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from time import monotonic
from typing import Literal

from helpers import service_uuid
from phone import NO_PLACE, PLACE, TO_GUEST, TO_HOST
from roadmesh_peer.chunks import BrokenFraming, Chunks, StreamReader, framed
from roadmesh_peer.guest import Guest
from roadmesh_peer.noise_link import Key
from roadmesh_peer.virtual_air import Channel, ChannelClosed, Heard
from roadmesh_peer.wire import Advertisement
from runner import Box, Closed, LabError, NotExpected, Stranger

Way = Literal["stream", "chunks"]

PSM = "abdd3056-28fa-441d-a470-55a75a52553a"
PAYLOAD = "96f27698-e130-57f4-ae0c-796604e74777"

# The ATT MTU that iOS asks for, and the MTU of its channels.
ATT_MTU, CHANNEL_MTU = 185, 1_251

# A phone may cut an app's data anywhere.
PIECE = 100

PATIENCE = 30.0


class StreamChannel:
    """A stream on an LE credit-based channel."""

    def __init__(self, stranger: Stranger, number: int) -> None:
        self._stranger = stranger
        self._number = number
        self._reader = StreamReader()
        self._sdus: deque[bytes] = deque()

    def send(self, sdu: bytes) -> None:
        stream = framed(sdu)
        for at in range(0, len(stream), PIECE):
            try:
                self._stranger.send(stream[at : at + PIECE], self._number, PATIENCE)
            except LabError as error:
                raise ChannelClosed from error

    def receive(self, timeout: float) -> bytes | None:
        deadline = monotonic() + timeout
        while not self._sdus:
            try:
                piece = self._stranger.receive(self._number, max(deadline - monotonic(), 0.0))
            except Closed as error:
                raise ChannelClosed from error
            except NotExpected:
                return None
            self._sdus.extend(self._reader.add(piece))
        return self._sdus.popleft()

    def close(self) -> None:
        self._stranger.close(self._number)
        self._stranger.disconnect()


class ChunkChannel:
    """A link in chunks, in one slot of the host's service."""

    def __init__(self, stranger: Stranger, place: int, room: int) -> None:
        self.place = place
        self._stranger = stranger
        self._room = room
        self._chunks = Chunks()
        self._sdus: deque[bytes] = deque()
        stranger.subscribe(TO_GUEST[place])

    def write(self, value: bytes) -> None:
        try:
            self._stranger.write(TO_HOST[self.place], value)
        except LabError as error:
            raise ChannelClosed from error

    def send(self, sdu: bytes) -> None:
        for chunk in self._chunks.cut(sdu, self._room):
            while not self._chunks.may_leave:
                self._take(PATIENCE)
            self.write(chunk)

    def _take(self, timeout: float) -> bool:
        """Takes the next value. Returns whether one came."""
        try:
            value = self._stranger.notified(TO_GUEST[self.place], timeout)
            if value is None:
                return False
            sdu, acknowledgement = self._chunks.take(value)
        except (Closed, BrokenFraming) as error:
            raise ChannelClosed from error
        if acknowledgement:
            self.write(acknowledgement)
        if sdu:
            self._sdus.append(sdu)
        return True

    def receive(self, timeout: float) -> bytes | None:
        deadline = monotonic() + timeout
        while not self._sdus:
            if self._chunks.has_ended:
                raise ChannelClosed
            if not self._take(max(deadline - monotonic(), 0.0)):
                return None
        return self._sdus.popleft()

    def close(self) -> None:
        try:
            self.write(self._chunks.end)
            self._stranger.unsubscribe(TO_GUEST[self.place])
            self._stranger.disconnect()
        except (LabError, ChannelClosed):
            return


@dataclass
class PhoneRadio:
    """Scans and dials like an app on a phone. With an interval (in milliseconds), it keeps that interval."""

    stranger: Stranger
    box: Box
    way: Way
    interval: float | None = None
    room: int = ATT_MTU - 3
    """The most bytes of a chunk that it writes."""

    def listen(self, name: str | None = None, timeout: float = PATIENCE, *, relays: bool = False) -> Heard:
        found = self.stranger.find(service_uuid(), address=self.box.hci(0).address, timeout=timeout)
        payload = bytes.fromhex(found["manufacturerData"])[2:]
        return Heard(Advertisement.read(payload), found["address"], found["name"] or "", None)

    def dial(self, heard: Heard) -> Channel:
        to = {"address": heard.address, "addressType": "public"}
        self.stranger.link(to, PATIENCE, self.interval)
        self.stranger.discover(service_uuid(), ATT_MTU)
        if self.way == "stream":
            psm = int.from_bytes(self.stranger.read(PSM), "little")
            return StreamChannel(self.stranger, self.stranger.connect(psm, to, CHANNEL_MTU, PATIENCE))
        [place] = self.stranger.read(PLACE)
        assert place != NO_PLACE, "the host has no place"
        return ChunkChannel(self.stranger, place, self.room)


def phone(name: str, radio: PhoneRadio) -> Guest:
    return Guest(name, radio, Key())  # type: ignore[arg-type]
