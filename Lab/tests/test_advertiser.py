"""Tests of a single advertising set in virtual time."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from air.addresses import Address
from air.advertiser import CONNECTABLE, LEGACY, MAXIMUM_DELAY, Advertiser
from air.counters import RadioCounters
from air.radio import Radio
from air.virtual_clock import VirtualClock

INTERVAL = 0.02
PUBLIC, RANDOM = (0, bytes(6)), (1, b"random")


class Air:
    events_collide = False

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.chances = Random(1)
        self.times: list[float] = []

    def advertise(self, advertiser: Advertiser) -> None:
        self.times.append(self.clock.time())


class Sender:
    name = "car"

    def __init__(self) -> None:
        self.counters = RadioCounters()
        self.radio = Radio()
        self.announced: list[bool] = []

    def own_address(self, own_address_type: int) -> Address:
        return RANDOM if own_address_type & 1 else PUBLIC

    def announce(self, event: str, **fields: Any) -> None:
        self.announced.append(fields["on"])


class Set:
    def __init__(self) -> None:
        self.air, self.sender = Air(), Sender()
        self.ends: list[bool] = []
        self.advertiser = Advertiser(self.air, self.sender, 0, lambda _, timed_out: self.ends.append(timed_out))
        self.advertiser.interval = INTERVAL


def test_events_are_an_interval_and_a_random_delay_apart() -> None:
    one = Set()
    one.advertiser.start()
    one.air.clock.advance(1.0)
    gaps = [after - before for before, after in zip(one.air.times, one.air.times[1:], strict=False)]
    assert all(INTERVAL <= gap <= INTERVAL + MAXIMUM_DELAY + 1e-9 for gap in gaps)
    assert max(gaps) - min(gaps) > MAXIMUM_DELAY / 2
    assert one.sender.counters.advertising_events == len(one.air.times) > 30


@pytest.mark.parametrize(("duration", "events", "timed_out"), [(0.1, 0, True), (0, 3, False)])
def test_a_set_ends_after_its_duration_or_its_number_of_events(duration: float, events: int, timed_out: bool) -> None:
    one = Set()
    one.advertiser.start(duration, events)
    one.air.clock.advance(1.0)
    assert one.ends == [timed_out] and one.sender.announced == [True, False]
    if events:
        assert len(one.air.times) == events
    else:
        assert max(one.air.times) < duration


def test_a_stopped_set_is_silent_and_reports_no_end() -> None:
    one = Set()
    one.advertiser.start()
    one.air.clock.advance(0.05)
    one.advertiser.stop()
    heard = len(one.air.times)
    one.air.clock.advance(1.0)
    assert (len(one.air.times), one.ends) == (heard, [])


def test_a_set_has_its_own_address_or_its_controllers() -> None:
    advertiser = Set().advertiser
    advertiser.properties = CONNECTABLE | LEGACY
    assert advertiser.address == PUBLIC
    advertiser.own_address_type = 1
    assert advertiser.address == RANDOM
    advertiser.random_address = b"of set"
    assert advertiser.address == (1, b"of set")
