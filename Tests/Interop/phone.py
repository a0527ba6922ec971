# SPDX-License-Identifier: Apache-2.0
"""A guest that has nothing but GATT: docs/phones.md as a program. It uses bleak, which runs on Linux, Windows, macOS
and Android.

    phone.py NAME [--host NAME] [--adapter hci0] [SONG…]

It joins a host, votes, shows the queue and leaves. With --json it stays, and joins again whenever its link is lost. It
reads `vote SONG` and `quit` from its standard input, and reports events as lines of JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import queue
import sys
import threading
from collections.abc import Coroutine
from contextlib import suppress
from time import monotonic
from typing import Any, TypeVar

from bleak import BleakClient, BleakScanner
from bleak.backends.characteristic import BleakGATTCharacteristic
from bleak.backends.device import BLEDevice
from bleak.backends.scanner import AdvertisementData
from bleak.exc import BleakError
from roadmesh_peer.chunks import BrokenFraming, Chunks
from roadmesh_peer.guest import Guest, LinkEnded, queue_lines
from roadmesh_peer.virtual_air import ChannelClosed, Heard
from roadmesh_peer.wire import Advertisement, Malformed, Tail, service_uuid

COMPANY = 0xFFFF

PLACE = "7cf82a25-8ad1-55a7-a1cc-d184568e163e"
TO_HOST = (
    "edc64e2f-9207-5b62-8b20-0eba080e62f6",
    "6dc2895e-f67f-5896-a2bc-b4385294883d",
    "f0cdcccf-6542-50d9-9be3-9c7c1a30190c",
    "6918ff41-e047-58f7-be8c-ef37a4d668bf",
)
TO_GUEST = (
    "9278e80d-3e26-5f04-ab0d-a9e1fbd54f68",
    "1c277efa-9116-588c-b723-df76750da6d2",
    "06deb9e0-c7b7-5a0a-a378-2b098cda3573",
    "f7317e7e-8895-595a-bfbd-5b9967049c33",
)
NO_PLACE = 0xFF
LONGEST_VALUE = 512

# The time that a system may take for its own attempt to connect.
CONNECT = 40.0
STEP = 10.0

Result = TypeVar("Result")


class Loop:
    """Bleak's event loop, in its own thread. The guest's code can then be written as sequential steps."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def run(self, work: Coroutine[Any, Any, Result], timeout: float) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout)


class GattChannel:
    """A link in chunks. `Talk` and `Guest` use it like any channel."""

    def __init__(self, loop: Loop, client: BleakClient, place: int) -> None:
        self._loop = loop
        self._client = client
        self._place = place
        self._chunks = Chunks()
        self._has_room = asyncio.Event()
        self._received: queue.Queue[bytes | None] = queue.Queue()
        to_host = client.services.get_characteristic(TO_HOST[place])
        assert to_host
        self._to_host = to_host
        # Sends answers in the order in which they became due.
        self._writing = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        await self._client.start_notify(TO_GUEST[self._place], self._notified)

    def lost(self) -> None:
        self._received.put(None)
        self._has_room.set()

    # In bleak's thread

    def _notified(self, _: BleakGATTCharacteristic, value: bytearray) -> None:
        try:
            sdu, acknowledgement = self._chunks.take(bytes(value))
        except BrokenFraming:
            return self.lost()
        self._has_room.set()
        if acknowledgement:
            task = self._loop.loop.create_task(self._write(acknowledgement))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        if sdu:
            self._received.put(sdu)
        if self._chunks.has_ended:
            self.lost()

    async def _write(self, value: bytes) -> None:
        with suppress(BleakError, EOFError):
            await self._client.write_gatt_char(self._to_host, value, response=False)

    async def _send(self, sdu: bytes) -> None:
        room = min(self._to_host.max_write_without_response_size, LONGEST_VALUE)
        for chunk in self._chunks.cut(sdu, room):
            while not self._chunks.may_leave and self._client.is_connected:
                self._has_room.clear()
                await self._has_room.wait()
            await self._client.write_gatt_char(self._to_host, chunk, response=False)

    async def _close(self) -> None:
        if self._client.is_connected:
            await self._write(self._chunks.end)
            await self._client.stop_notify(TO_GUEST[self._place])
        await self._client.disconnect()

    # In the guest's thread

    def send(self, sdu: bytes) -> None:
        try:
            self._loop.run(self._send(sdu), CONNECT)
        except (BleakError, EOFError) as error:
            raise ChannelClosed from error

    def receive(self, timeout: float) -> bytes | None:
        try:
            sdu = self._received.get(timeout=max(timeout, 0.001))
        except queue.Empty:
            return None
        if sdu is None:
            self._received.put(None)
            raise ChannelClosed
        return sdu

    def close(self) -> None:
        with suppress(BleakError, EOFError, TimeoutError):
            self._loop.run(self._close(), STEP)


class GattRadio:
    """Scans for hosts and links to them, for `Guest`."""

    def __init__(self, adapter: str | None) -> None:
        self._loop = Loop()
        self._options: dict[str, Any] = {"bluez": {"adapter": adapter}} if adapter else {}
        self._devices: dict[str, BLEDevice] = {}

    def listen(self, name: str | None = None, timeout: float = STEP, *, relays: bool = False) -> Heard:
        """Waits for a host with this name, or for any; or for a relay to it."""
        return self._loop.run(self._listen(name, timeout, relays), timeout + STEP)

    async def _listen(self, name: str | None, timeout: float, relays: bool) -> Heard:
        found: asyncio.Future[Heard] = asyncio.get_running_loop().create_future()

        def heard(device: BLEDevice, said: AdvertisementData) -> None:
            try:
                advertisement = Advertisement.read(said.manufacturer_data.get(COMPANY, b""))
            except Malformed:
                return
            one = Heard(advertisement, device.address, *Tail.read(said.local_name or ""))
            # The head of the identifier and the name are complete once the scan response has been received as well.
            if one.tail and one.is_relay == relays and name in (None, one.name) and not found.done():
                self._devices[device.address] = device
                found.set_result(one)

        async with BleakScanner(heard, [str(service_uuid())], **self._options):
            return await asyncio.wait_for(found, timeout)

    def dial(self, host: Heard) -> GattChannel:
        try:
            return self._loop.run(self._dial(self._devices[host.address]), CONNECT + 2 * STEP)
        except (BleakError, EOFError, TimeoutError) as error:
            raise ChannelClosed from error

    async def _dial(self, device: BLEDevice) -> GattChannel:
        opened: list[GattChannel] = []
        client = BleakClient(
            device, lambda _: [channel.lost() for channel in opened], timeout=CONNECT, **self._options
        )
        await client.connect()
        try:
            [place] = await client.read_gatt_char(PLACE)
            if place == NO_PLACE:
                raise BleakError("the host has no place for a guest that has GATT alone")
            opened.append(GattChannel(self._loop, client, place))
            await opened[0].open()
            return opened[0]
        except BaseException:
            await client.disconnect()
            raise


def tell(event: str, **fields: Any) -> None:
    print(json.dumps({"event": event, **fields}), flush=True)


class Phone:
    """A guest that stays until the quit command."""

    def __init__(self, guest: Guest, host: str | None) -> None:
        self._guest = guest
        self._host = host
        self._lines: queue.Queue[str] = queue.Queue()
        self._wishes: list[str] = []
        """Votes that no snapshot has shown yet."""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in sys.stdin:
            self._lines.put(line.strip())
        self._lines.put("quit")

    def run(self) -> None:
        tell("ready", id=self._guest.key.identifier.hex())
        while True:
            try:
                self._join()
                while self._guest.talk:
                    if self._obey():
                        return self._guest.leave()
                    self._guest.serve(0.01)
                    self._show()
            except (ChannelClosed, LinkEnded, TimeoutError, BleakError) as error:
                tell("lost", why=f"{type(error).__name__}: {error}")
                self._guest.lose_link()

    def _join(self) -> None:
        began = monotonic()
        self._guest.join(self._host, timeout=CONNECT)
        self._guest.until(lambda: self._guest.view.state is not None, "the state")
        tell("joined", seconds=round(monotonic() - began, 3))

    def _obey(self) -> bool:
        """Runs a typed command. Returns true for quit."""
        with suppress(queue.Empty):
            word, *arguments = self._lines.get_nowait().split() or [""]
            if word == "quit":
                return True
            if word == "vote":
                self._guest.vote(arguments[0])
                self._wishes.append(arguments[0])
        return False

    def _show(self) -> None:
        state = self._guest.view.state
        for song in list(self._wishes):
            if state and self._guest.key.identifier in (state.voters(song) or ()):
                self._wishes.remove(song)
                tell("shown", song=song, queue=[item.song.id for item in state.queue])


def main() -> None:
    parser = argparse.ArgumentParser(description="A guest that has nothing but GATT.")
    parser.add_argument("name")
    parser.add_argument("songs", nargs="*")
    parser.add_argument("--host", help="the host's name; without it the first that is heard")
    parser.add_argument("--adapter", help="on Linux: the adapter, such as hci0")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    guest = Guest(options.name, GattRadio(options.adapter))  # type: ignore[arg-type]
    if options.json:
        return Phone(guest, options.host).run()
    guest.join(options.host, timeout=CONNECT)
    for song in options.songs:
        guest.vote(song)
    for song in options.songs:
        guest.until_shown(song)
    guest.until(lambda: guest.view.state is not None)
    assert guest.view.state
    print("\n".join(queue_lines(guest.view.state)))
    guest.leave()


if __name__ == "__main__":
    main()
