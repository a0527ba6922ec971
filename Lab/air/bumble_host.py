"""A Bluetooth host by Bumble, on its own controller and on the same air, that shares no code with ours.

It scans, opens or accepts channels, and sends any data that a scenario gives it, well-formed or not.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from typing import Any

from bumble import hci, l2cap
from bumble.core import UUID, AdvertisingData
from bumble.device import Advertisement, Connection, Device, DeviceConfiguration
from bumble.gatt import Service
from bumble.host import Host

from .bumble_adapter import forget_channel
from .controller import LabController
from .gatt_client import GattClient, keep_intervals, preferences

# The stranger's parameters of a channel. The MPS fills a 251-byte packet.
CHANNEL_MTU, CHANNEL_MPS, CHANNEL_CREDITS = 2048, 247, 64

Emit = Callable[..., None]


class HostCable:
    """Connects a controller and a Bumble host in one process. Defers calls, since the two must not nest."""

    def __init__(self, receive: Callable[[bytes], None]) -> None:
        self._receive = receive
        self._loop = asyncio.get_running_loop()

    def send(self, packet: bytes) -> None:
        self._loop.call_soon(self._receive, packet)

    on_packet = send


def advertisement_summary(advertisement: Advertisement) -> dict[str, Any]:
    data = advertisement.data

    def text(kind: AdvertisingData.Type) -> str | None:
        value = data.get(kind, raw=True)
        return bytes(value).decode("utf-8", "replace") if isinstance(value, (bytes, bytearray)) else None

    manufacturer = data.get(AdvertisingData.Type.MANUFACTURER_SPECIFIC_DATA, raw=True)
    uuids: list[str] = []
    for kind in (
        AdvertisingData.Type.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS,
        AdvertisingData.Type.INCOMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS,
    ):
        for value in data.get_all(kind, raw=True):
            raw = bytes(value)
            uuids += [raw[at : at + 16][::-1].hex() for at in range(0, len(raw), 16)]
    return {
        "address": advertisement.address.to_string(False),
        "addressType": "public" if advertisement.address.is_public else "random",
        "rssi": advertisement.rssi,
        "connectable": advertisement.is_connectable,
        "scanResponse": advertisement.is_scan_response,
        "name": text(AdvertisingData.Type.COMPLETE_LOCAL_NAME) or text(AdvertisingData.Type.SHORTENED_LOCAL_NAME),
        "services": uuids,
        "manufacturerData": bytes(manufacturer).hex() if isinstance(manufacturer, (bytes, bytearray)) else None,
        "data": bytes(data).hex(),
    }


class Stranger(GattClient):
    def __init__(self, name: str, controller: LabController, emit: Emit) -> None:
        self.name = name
        self.controller = controller
        self._emit = emit
        self._channels: dict[int, l2cap.LeCreditBasedChannel] = {}
        self._next_channel = 1
        host = Host()
        host.set_packet_sink(HostCable(controller.front.on_packet))
        controller.front.port = HostCable(host.on_packet)
        self.device = Device(config=DeviceConfiguration(name=name), host=host)
        self.device.on("advertisement", self._heard)
        self.device.on("connection", self._connected)

    async def start(self) -> None:
        await self.device.power_on()

    def _heard(self, advertisement: Advertisement) -> None:
        self._emit("heard", stranger=self.name, **advertisement_summary(advertisement))

    def _connected(self, connection: Connection) -> None:
        peer = connection.peer_address.to_string(False)
        self._emit("connected", stranger=self.name, peer=peer)
        connection.on(
            "disconnection", lambda reason: self._emit("disconnected", stranger=self.name, peer=peer, reason=reason)
        )

    # Operations for scenarios. Each method is one operation of the control socket.

    async def scan(self, on: bool, active: bool = True) -> None:
        if on:
            await self.device.start_scanning(active=active, filter_duplicates=True)
        else:
            await self.device.stop_scanning()

    async def advertise(self, data: str, scan_response: str = "", interval_milliseconds: float = 30) -> None:
        self.device.advertising_interval_min = self.device.advertising_interval_max = interval_milliseconds
        await self.device.start_advertising(
            advertising_data=bytes.fromhex(data),
            scan_response_data=bytes.fromhex(scan_response),
            own_address_type=hci.OwnAddressType.PUBLIC,
            auto_restart=True,
        )

    async def offer(self, service: int) -> None:
        self.device.add_service(Service(UUID.from_16_bits(service), []))

    async def hush(self) -> None:
        await self.device.stop_advertising()

    async def listen(self, psm: int, mtu: int = CHANNEL_MTU) -> int:
        server = self.device.create_l2cap_server(
            l2cap.LeCreditBasedChannelSpec(psm, mtu, CHANNEL_MPS, CHANNEL_CREDITS), handler=self._accepted
        )
        return server.psm

    async def connect(self, address: str, address_type: str, psm: int, mtu: int = CHANNEL_MTU) -> int:
        """Opens a channel. Dials first, unless a link is up."""
        connection = await self._link(address, address_type)
        spec = l2cap.LeCreditBasedChannelSpec(psm, mtu, CHANNEL_MPS, CHANNEL_CREDITS)
        return self._adopt(await connection.create_l2cap_channel(spec))

    async def link(self, address: str, address_type: str, interval_milliseconds: float | None = None) -> None:
        """Dials without opening a channel. If an interval is given, requests for other intervals are refused."""
        await self._link(address, address_type, interval_milliseconds)

    async def _link(self, address: str, address_type: str, interval: float | None = None) -> Connection:
        kind = hci.AddressType.PUBLIC_DEVICE if address_type == "public" else hci.AddressType.RANDOM_DEVICE
        peer = hci.Address(address, kind)
        connection = next((one for one in self.device.connections.values() if one.peer_address == peer), None)
        if interval is not None:
            keep_intervals(self.device)
        return connection or await self.device.connect(
            peer,
            connection_parameters_preferences=preferences(interval) if interval is not None else None,
            own_address_type=hci.OwnAddressType.PUBLIC,
        )

    def _adopt(self, channel: l2cap.LeCreditBasedChannel) -> int:
        number, self._next_channel = self._next_channel, self._next_channel + 1
        self._channels[number] = channel

        def received(sdu: bytes) -> None:
            self._emit("sdu", stranger=self.name, channel=number, data=base64.b64encode(sdu).decode())

        def closed() -> None:
            self._channels.pop(number, None)
            forget_channel(self.device, channel)
            self._emit("channelClosed", stranger=self.name, channel=number)

        channel.sink = received
        channel.on(channel.EVENT_CLOSE, closed)
        return number

    def _accepted(self, channel: l2cap.LeCreditBasedChannel) -> None:
        number = self._adopt(channel)
        self._emit("channelAccepted", stranger=self.name, channel=number, psm=channel.psm)

    async def send(self, channel: int, data: str) -> None:
        """Sends one SDU once the peer's credits allow it, since Bumble would merge queued SDUs."""
        link = self._open_channel(channel)
        await link.drain()
        link.write(base64.b64decode(data))
        await link.drain()

    async def send_frame(self, channel: int, data: str) -> None:
        """Sends a K-frame unchanged, regardless of credits and lengths, for a peer that breaks the rules."""
        self._open_channel(channel).send_pdu(base64.b64decode(data))

    def _open_channel(self, number: int) -> l2cap.LeCreditBasedChannel:
        if number not in self._channels:
            raise ConnectionError(f"channel {number} is closed")
        return self._channels[number]

    async def close(self, channel: int) -> None:
        if link := self._channels.get(channel):
            await link.disconnect()

    async def disconnect(self) -> None:
        for connection in list(self.device.connections.values()):
            await connection.disconnect()
