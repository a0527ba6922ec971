"""Tests of colliding connection events at one controller: two guests of one car, in virtual time."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from air.addresses import Address
from air.advertiser import Advertiser
from air.airtime import ADVERTISING_EVENT, exchange_airtime, transfer_airtime
from air.connection_events import FIRST_EVENT
from air.counters import RadioCounters
from air.radio import EVENT_OVERHEAD, Radio
from bumble.hci import HCI_ErrorCode as Error
from bumble.hci import Phy
from pairs import INTERVAL, SIZE, TIMEOUT, Air, Pair, Party

IDLE = exchange_airtime(0, 0, Phy.LE_1M)
FULL = transfer_airtime(SIZE, 0, Phy.LE_1M, data_length=27, encrypted=False)


def two_guests(apart: float, interval: float = INTERVAL) -> tuple[Air, Pair, Pair]:
    """Two links of one car. The second link's events begin `apart` seconds after the first one's."""
    air, car = Air(events_collide=True), Party()
    first = Pair(air, peripheral=car)
    air.clock.advance(apart)
    return air, first, Pair(air, peripheral=car, interval=interval)


def test_a_guest_with_overlapping_events_is_lost_on_clear_air() -> None:
    air, first, second = two_guests(apart=IDLE / 2)
    air.clock.advance(10.0)
    assert first.link.open and not second.link.open
    assert second.central.links.reasons == [Error.CONNECTION_FAILED_TO_BE_ESTABLISHED_ERROR]


def test_an_event_that_leaves_the_radio_no_time_to_start_is_skipped_as_well() -> None:
    air, _, second = two_guests(apart=IDLE + EVENT_OVERHEAD - 10e-6)
    air.clock.advance(1.0)
    assert second.link.events_held == 0
    air, _, third = two_guests(apart=IDLE + EVENT_OVERHEAD + 10e-6)
    air.clock.advance(1.0)
    assert third.link.events_skipped == 0 and third.link.open


def test_links_that_take_turns_wait_and_lose_nothing() -> None:
    air, car = Air(events_collide=False), Party()
    pairs = [Pair(air, peripheral=car) for _ in range(2)]
    air.clock.advance(10.0)
    assert all(pair.link.open for pair in pairs)


def test_data_of_a_skipped_event_waits_for_the_links_next_one() -> None:
    # The second link's interval is 6 ms longer, so only its first event overlaps one of the first link's.
    air, first, second = two_guests(apart=1e-3, interval=INTERVAL + 6e-3)
    first.send(first.near)
    second.send(second.near)
    air.clock.advance(2 * INTERVAL)
    assert second.link.events_skipped == 1
    assert second.came == [pytest.approx(1e-3 + FIRST_EVENT + INTERVAL + 6e-3 + FULL)]


def test_more_data_extends_an_event_until_the_next_event_of_another_link() -> None:
    air, first, second = two_guests(apart=3.5 * FULL)
    for _ in range(6):
        first.send(first.near)
    air.clock.advance(FIRST_EVENT + INTERVAL)
    # The fourth exchange would overlap the second link's event.
    assert len(first.came) == 3 and second.link.events_skipped == 0
    air.clock.advance(INTERVAL)
    assert len(first.came) == 6


def test_the_first_exchange_of_an_event_takes_place_at_any_length() -> None:
    air, first, second = two_guests(apart=FULL / 2)
    air.clock.advance(INTERVAL)
    held = second.link.events_held
    first.send(first.near)
    air.clock.advance(INTERVAL)
    assert len(first.came) == 1 and second.link.events_held == held and second.link.events_skipped == 1


def test_a_guest_with_a_fast_crystal_meets_its_host_more_often() -> None:
    hundred_ppm = 100e-6
    for speed in (-hundred_ppm, 0, hundred_ppm):
        air, guest = Air(events_collide=True), Party()
        guest.radio.crystal_ppm = speed * 1e6
        pair = Pair(air, central=guest)
        air.clock.advance(1000.0)
        assert pair.link.events_held == pytest.approx(1000.0 * (1 + speed) / INTERVAL, abs=1.5)


def test_events_of_two_links_with_one_interval_drift_until_they_overlap() -> None:
    air, car, fast = Air(events_collide=True), Party(), Party()
    fast.radio.crystal_ppm = 50
    first = Pair(air, peripheral=car)
    air.clock.advance(2e-3)
    second = Pair(air, central=fast, peripheral=car)
    # The second link begins 2 ms later and gains 50 microseconds a second, so they overlap after 24 s.
    reached = (2e-3 - IDLE - EVENT_OVERHEAD) / 50e-6
    air.clock.advance(reached + TIMEOUT - 3 * INTERVAL)
    assert second.link.open
    air.clock.advance(6 * INTERVAL)
    assert first.link.open and second.peripheral.links.reasons == [Error.CONNECTION_TIMEOUT_ERROR]


def test_a_power_cut_at_one_guest_frees_its_time() -> None:
    air, first, second = two_guests(apart=5e-3)
    air.clock.advance(1.0)
    first.link.vanish(first.near)
    air.clock.advance(2 * TIMEOUT)
    assert not first.link.open and second.link.open and second.link.events_skipped == 0


def test_switching_collisions_on_and_off_loses_no_link() -> None:
    air, first, second = two_guests(apart=5e-3)
    for collide in (False, True, False):
        air.clock.advance(3.3)
        air.events_collide = collide
        for pair in (first, second):
            pair.send(pair.near)
            pair.link.rules_changed()
    air.clock.advance(3.3)
    assert first.link.open and second.link.open
    assert len(first.came) == len(second.came) == 3


class Sender:
    name = "car"

    def __init__(self, radio: Radio) -> None:
        self.radio, self.counters = radio, RadioCounters()

    def own_address(self, own_address_type: int) -> Address:
        return 0, bytes(6)

    def announce(self, event: str, **fields: Any) -> None:
        pass


class AdvertisingAir(Air):
    def __init__(self) -> None:
        super().__init__(events_collide=True)
        self.chances = Random(1)
        self.times: list[float] = []

    def advertise(self, advertiser: Advertiser) -> None:
        self.times.append(self.clock.time())


def test_a_host_with_links_advertises_less_often() -> None:
    air, car = AdvertisingAir(), Party()
    pair = Pair(air, peripheral=car)
    sender = Sender(car.radio)
    advertiser = Advertiser(air, sender, 0, lambda advertiser, timed_out: None)
    advertiser.interval = 20e-3
    advertiser.start()
    air.clock.advance(60.0)
    skipped = sender.counters.advertising_events_skipped
    room = ADVERTISING_EVENT + IDLE + 2 * EVENT_OVERHEAD
    assert skipped / (skipped + len(air.times)) == pytest.approx(room / INTERVAL, rel=0.35)
    # Advertising skips no connection event.
    assert pair.link.events_skipped == 0
