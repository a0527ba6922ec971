"""Tests of links on the air, without boxes: two controllers, with this test as their hosts."""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import Awaitable, Callable
from typing import Any

from air.controller import LabController
from air.medium import Medium
from box.h4 import ACL_DATA, EVENT
from bumble import hci

CONNECTION_COMPLETE, DISCONNECTION_COMPLETE, COMPLETED_PACKETS = 0x3E, 0x05, 0x13
ADVERTISEMENT = bytes.fromhex("020106")

# Units of HCI: 20 ms of advertising, 15 ms of interval, 200 ms of supervision.
ADVERTISING_INTERVAL, INTERVAL, TIMEOUT = 32, 12, 20


class Host:
    """Sends commands and data, and waits for packets."""

    def __init__(self, medium: Medium, name: str, number: int) -> None:
        self.controller = LabController(name, medium, f"02:00:00:00:00:{number:02X}", "plain")
        self.controller.front.port = self
        self._packets: asyncio.Queue[bytes] = asyncio.Queue()
        self._kept: list[bytes] = []

    def send(self, packet: bytes) -> None:
        self._packets.put_nowait(packet)

    def do(self, command: hci.HCI_Command) -> None:
        self.controller.front.on_packet(bytes(command))

    def send_data(self, handle: int, data: bytes) -> None:
        self.controller.front.on_packet(struct.pack("<BHH", ACL_DATA, handle, len(data)) + data)

    async def packet(self, wanted: Callable[[bytes], bool], timeout: float = 2) -> bytes:
        async with asyncio.timeout(timeout):
            while True:
                packet = await self._packets.get()
                if wanted(packet):
                    return packet

    async def event(self, code: int) -> hci.HCI_Packet:
        return hci.HCI_Packet.from_bytes(await self.packet(lambda one: one[0] == EVENT and one[1] == code))

    def advertise(self) -> None:
        self.do(
            hci.HCI_LE_Set_Advertising_Parameters_Command(
                ADVERTISING_INTERVAL, ADVERTISING_INTERVAL, 0, 0, 0, hci.Address.ANY, 7, 0
            )
        )
        self.do(hci.HCI_LE_Set_Advertising_Data_Command(ADVERTISEMENT))
        self.do(hci.HCI_LE_Set_Advertising_Enable_Command(1))

    def dial(self, peer: Host) -> None:
        address = hci.Address(peer.controller.public_address, hci.AddressType.PUBLIC_DEVICE)
        self.do(hci.HCI_LE_Create_Connection_Command(96, 96, 0, 0, address, 0, INTERVAL, INTERVAL, 0, TIMEOUT, 0, 0))

    async def connected(self) -> int:
        while True:
            event = await self.event(CONNECTION_COMPLETE)
            if isinstance(event, hci.HCI_LE_Connection_Complete_Event):
                assert event.status == 0
                return event.connection_handle


def on_air(test: Callable[[Medium, Host, Host], Awaitable[None]]) -> None:
    async def run() -> None:
        medium = Medium(asyncio.get_running_loop(), lambda event: None, lambda text: None, seed=1)
        await test(medium, Host(medium, "car", 1), Host(medium, "guest", 2))

    asyncio.run(run())


async def link(car: Host, guest: Host) -> tuple[int, int]:
    car.advertise()
    guest.dial(car)
    return await car.connected(), await guest.connected()


async def proven_link(car: Host, guest: Host) -> tuple[int, int]:
    """A link that has carried data. Before that, a loss would count as a link that was never established."""
    at_car, at_guest = await link(car, guest)
    guest.send_data(at_guest, b"!")
    await car.packet(is_data)
    return at_car, at_guest


def everywhere(medium: Medium, **changes: Any) -> None:
    medium.change_everywhere(**changes)


def is_data(packet: bytes) -> bool:
    return packet[0] == ACL_DATA


def test_data_arrives_and_its_buffer_is_freed() -> None:
    async def test(medium: Medium, car: Host, guest: Host) -> None:
        at_car, at_guest = await link(car, guest)
        guest.send_data(at_guest, b"hello")
        packet = await car.packet(is_data)
        assert packet[5:] == b"hello" and struct.unpack_from("<H", packet, 1)[0] & 0xFFF == at_car
        await guest.event(COMPLETED_PACKETS)

    on_air(test)


def test_advertising_stops_with_the_resulting_link() -> None:
    async def test(medium: Medium, car: Host, guest: Host) -> None:
        await link(car, guest)
        assert not car.controller.advertising.running

    on_air(test)


def test_a_short_cut_loses_nothing() -> None:
    async def test(medium: Medium, car: Host, guest: Host) -> None:
        _, at_guest = await proven_link(car, guest)
        everywhere(medium, cut=True)
        for number in range(5):
            guest.send_data(at_guest, bytes((number,)))
        await asyncio.sleep(0.1)
        everywhere(medium, cut=False)
        assert [(await car.packet(is_data))[5] for _ in range(5)] == [0, 1, 2, 3, 4]

    on_air(test)


def test_a_long_cut_ends_the_link_for_both_after_the_timeout() -> None:
    async def test(medium: Medium, car: Host, guest: Host) -> None:
        await proven_link(car, guest)
        started = time.monotonic()
        everywhere(medium, cut=True)
        for host in (car, guest):
            event = await host.event(DISCONNECTION_COMPLETE)
            assert isinstance(event, hci.HCI_Disconnection_Complete_Event)
            assert event.reason == hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR
        assert 0.17 < time.monotonic() - started < 0.4

    on_air(test)


def test_a_lost_connect_request_leaves_a_link_that_is_never_established() -> None:
    async def test(medium: Medium, car: Host, guest: Host) -> None:
        everywhere(medium, lost_connects=1)
        car.advertise()
        guest.dial(car)
        await guest.connected()
        event = await guest.event(DISCONNECTION_COMPLETE)
        assert isinstance(event, hci.HCI_Disconnection_Complete_Event)
        assert event.reason == hci.HCI_ErrorCode.CONNECTION_FAILED_TO_BE_ESTABLISHED_ERROR
        assert not car.controller.links.find(1)
        guest.dial(car)
        await car.connected()

    on_air(test)


def test_a_cancelled_dial_completes_and_the_next_one_is_accepted() -> None:
    async def test(medium: Medium, car: Host, guest: Host) -> None:
        guest.dial(car)
        guest.do(hci.HCI_LE_Create_Connection_Cancel_Command())
        event = await guest.event(CONNECTION_COMPLETE)
        assert isinstance(event, hci.HCI_LE_Connection_Complete_Event)
        assert event.status == hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR
        await link(car, guest)

    on_air(test)


def test_the_loss_of_a_silent_controller_is_noticed_after_the_timeout() -> None:
    async def test(medium: Medium, car: Host, guest: Host) -> None:
        await proven_link(car, guest)
        car.controller.power_off()
        event = await guest.event(DISCONNECTION_COMPLETE)
        assert isinstance(event, hci.HCI_Disconnection_Complete_Event)
        assert event.reason == hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR
        assert not medium.links

    on_air(test)


def test_the_link_that_has_waited_longest_goes_first() -> None:
    """Two guests flood one host: each gets about half of the airtime."""

    async def test(medium: Medium, car: Host, guest: Host) -> None:
        other = Host(medium, "other", 3)
        _, at_guest = await link(car, guest)
        _, at_other = await link(car, other)
        for _ in range(100):
            guest.send_data(at_guest, bytes(251))
            other.send_data(at_other, bytes(251))
        await asyncio.sleep(0.3)
        received = sorted(one.peripheral.received.packets for one in medium.links)
        assert received[0] > 20 and received[1] - received[0] <= 15

    on_air(test)


def test_a_controller_dials_and_is_dialled_while_it_advertises() -> None:
    """A relay is linked to the car above it and to a guest below, and another guest looks for it."""

    async def test(medium: Medium, car: Host, guest: Host) -> None:
        relay, other = Host(medium, "relay", 3), Host(medium, "other", 4)
        at_relay, at_guest = await link(relay, guest)
        relay.advertise()
        car.advertise()
        relay.dial(car)
        upwards = await relay.connected()
        assert relay.controller.advertising.running and upwards != at_relay
        other.dial(relay)
        await other.connected()
        guest.send_data(at_guest, b"vote")
        packet = await relay.packet(is_data)
        relay.send_data(upwards, packet[5:])
        assert (await car.packet(is_data))[5:] == b"vote"
        roles = sorted((one.controllers[0].name, one.controllers[1].name) for one in medium.links)
        assert roles == [("guest", "relay"), ("other", "relay"), ("relay", "car")]

    on_air(test)


def test_the_links_of_both_roles_share_one_radio() -> None:
    """A relay's links to its parent and to its child share one radio: each gets its part of the airtime."""

    async def test(medium: Medium, car: Host, guest: Host) -> None:
        relay = Host(medium, "relay", 3)
        _, at_guest = await link(relay, guest)
        _, upwards = await link(car, relay)
        alone = await flood(medium, [(guest, at_guest)])
        shared = await flood(medium, [(guest, at_guest), (relay, upwards)])
        assert len(shared) == 2 and sum(shared) <= 1.1 * sum(alone)
        assert max(shared) <= 0.7 * sum(alone)

    async def flood(medium: Medium, senders: list[tuple[Host, int]]) -> list[int]:
        """The number of packets that each link carries in the same time."""
        before = {one: one.peripheral.received.packets for one in medium.links}
        for host, handle in senders:
            for _ in range(100):
                host.send_data(handle, bytes(251))
        await asyncio.sleep(0.3)
        carried = [one.peripheral.received.packets - before[one] for one in medium.links]
        while any(one.central.queue for one in medium.links):
            await asyncio.sleep(0.05)
        return [one for one in carried if one]

    on_air(test)


def test_a_stalled_controller_answers_nothing_until_it_is_reset() -> None:
    async def test(medium: Medium, car: Host, guest: Host) -> None:
        await proven_link(car, guest)
        car.controller.faults.stall(resets=2)
        event = await guest.event(DISCONNECTION_COMPLETE)
        assert isinstance(event, hci.HCI_Disconnection_Complete_Event)
        assert event.reason == hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR
        while not car._packets.empty():
            car._packets.get_nowait()
        car.do(hci.HCI_Read_BD_ADDR_Command())
        car.do(hci.HCI_Reset_Command())
        assert car._packets.empty()
        car.do(hci.HCI_Reset_Command())
        assert not car._packets.empty()
        await link(car, guest)

    on_air(test)


def test_a_controller_that_forgets_neither_sends_nor_receives() -> None:
    async def test(medium: Medium, car: Host, guest: Host) -> None:
        car.advertise()
        car.controller.faults.forget_advertising()
        assert not car.controller.advertising.sets
        guest.dial(car)
        guest.controller.faults.go_deaf()
        car.advertise()
        await asyncio.sleep(0.1)
        assert not medium.links
        await link(car, guest)

    on_air(test)
