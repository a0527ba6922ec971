"""A link by itself, in virtual time: two controllers that only count what they are told."""

from __future__ import annotations

from random import Random
from typing import cast

import pytest
from bumble.hci import HCI_ErrorCode as Error
from bumble.hci import Phy
from virtual_clock import VirtualClock

from air.airtime import transfer_airtime
from air.connection_events import FIRST_EVENT, LinkParameters
from air.controller import LabController
from air.link import INSTANT_INTERVALS, End, Link, Pdu
from air.paths import Path
from air.radio import Radio

INTERVAL, TIMEOUT = 0.05, 0.42
SIZE = 100


class Told:
    """What a controller's links are told."""

    def __init__(self) -> None:
        self.reasons: list[int] = []
        self.changes: list[str] = []

    def closed(self, end: End, reason: int) -> None:
        self.reasons.append(reason)

    def parameters_changed(self, end: End) -> None:
        self.changes.append("parameters")

    def phy_changed(self, end: End) -> None:
        self.changes.append("phy")

    def data_length_changed(self, end: End) -> None:
        self.changes.append("data length")


class Party:
    def __init__(self) -> None:
        self.radio = Radio()
        self.links = Told()


class Air:
    connection_events = True

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.chances = Random(1)
        self.closed: list[int] = []

    def link_closed(self, link: Link, reason: int) -> None:
        self.closed.append(reason)


class Pair:
    """A link, and the times at which what was sent over it came."""

    def __init__(self, air: Air | None = None, central: Party | None = None, deaf: bool = False) -> None:
        self.air = air or Air()
        self.central, self.peripheral = central or Party(), Party()
        self.path = Path()
        self.near, self.far = (End(cast(LabController, one)) for one in (self.central, self.peripheral))
        self.link = Link(self.air, self.near, self.far, self.path, LinkParameters(INTERVAL, 0, TIMEOUT), deaf)
        self.came: list[float] = []

    def send(self, end: End) -> None:
        self.link.send(end, Pdu(SIZE, lambda: self.came.append(self.air.clock.time())))

    def cut(self, cut: bool) -> None:
        self.path.cut = cut
        self.link.air_changed()


def airtime(down: int, up: int = 0) -> float:
    return transfer_airtime(down, up, Phy.LE_1M, data_length=27, encrypted=False)


def test_data_waits_for_the_next_connection_event() -> None:
    pair = Pair()
    pair.air.clock.advance(FIRST_EVENT + 0.01)
    pair.send(pair.near)
    pair.air.clock.advance(INTERVAL)
    assert pair.came == [pytest.approx(FIRST_EVENT + INTERVAL + airtime(SIZE))]


def test_without_connection_events_it_goes_at_once() -> None:
    pair = Pair()
    pair.air.connection_events = False
    pair.air.clock.advance(0.01)
    pair.send(pair.near)
    pair.air.clock.advance(INTERVAL)
    assert pair.came == [pytest.approx(0.01 + airtime(SIZE))]


def test_what_is_queued_goes_in_one_event_back_to_back() -> None:
    pair = Pair()
    for _ in range(3):
        pair.send(pair.near)
    pair.air.clock.advance(INTERVAL)
    assert pair.came == [pytest.approx(FIRST_EVENT + number * airtime(SIZE)) for number in (1, 2, 3)]


def test_a_lost_packet_is_sent_again_in_the_next_event() -> None:
    pair = Pair()
    pair.send(pair.near)
    pair.path.loss = 1.0
    pair.air.clock.advance(FIRST_EVENT + 0.02)
    assert pair.came == [] and pair.far.received.lost == 1
    pair.path.loss = 0.0
    pair.air.clock.advance(INTERVAL)
    assert pair.came == [pytest.approx(FIRST_EVENT + INTERVAL + airtime(SIZE))]


def test_two_links_of_one_controller_take_turns() -> None:
    air, car = Air(), Party()
    pairs = [Pair(air, car) for _ in range(2)]
    for pair in pairs:
        for _ in range(2):
            pair.send(pair.near)
    air.clock.advance(INTERVAL)
    one, other = (pair.came for pair in pairs)
    assert sorted(one + other) == [pytest.approx(FIRST_EVENT + number * airtime(SIZE)) for number in (1, 2, 3, 4)]
    assert one[0] < other[0] < one[1] < other[1]


def test_a_cut_shorter_than_the_timeout_loses_nothing() -> None:
    pair = Pair()
    pair.air.clock.advance(1.0)
    pair.cut(True)
    pair.send(pair.near)
    pair.air.clock.advance(TIMEOUT - INTERVAL - 0.01)
    pair.cut(False)
    pair.air.clock.advance(INTERVAL * 2)
    assert len(pair.came) == 1 and pair.link.open


def test_a_longer_cut_ends_it_for_both_after_the_timeout() -> None:
    pair = Pair()
    pair.air.clock.advance(1.0)
    pair.cut(True)
    pair.air.clock.advance(TIMEOUT - INTERVAL)
    assert pair.link.open
    pair.air.clock.advance(INTERVAL)
    assert pair.central.links.reasons == pair.peripheral.links.reasons == [Error.CONNECTION_TIMEOUT_ERROR]
    assert pair.air.closed == [Error.CONNECTION_TIMEOUT_ERROR]


def test_a_link_of_which_the_peripheral_never_heard_ends_after_six_intervals() -> None:
    pair = Pair(deaf=True)
    pair.air.clock.advance(FIRST_EVENT + 6 * INTERVAL - 0.001)
    assert pair.link.open
    pair.air.clock.advance(0.002)
    assert pair.central.links.reasons == [Error.CONNECTION_FAILED_TO_BE_ESTABLISHED_ERROR]


def test_enough_losses_end_an_idle_link() -> None:
    pair = Pair()
    pair.air.clock.advance(1.0)
    pair.path.loss = 1.0
    pair.link.air_changed()
    pair.air.clock.advance(TIMEOUT + 3 * INTERVAL)
    assert pair.air.closed == [Error.CONNECTION_TIMEOUT_ERROR]


def test_who_disconnects_is_told_of_that_and_not_of_the_others_reason() -> None:
    pair = Pair()
    reason, local = Error.REMOTE_USER_TERMINATED_CONNECTION_ERROR, Error.CONNECTION_TERMINATED_BY_LOCAL_HOST_ERROR
    pair.link.terminate(pair.near, reason, local)
    pair.air.clock.advance(INTERVAL)
    assert (pair.central.links.reasons, pair.peripheral.links.reasons) == ([local], [reason])


def test_new_parameters_hold_six_events_after_they_were_announced() -> None:
    pair = Pair()
    changed = LinkParameters(0.0075, 0, TIMEOUT)
    pair.link.update_parameters(pair.near, changed)
    announced = FIRST_EVENT + airtime(12)
    pair.air.clock.advance(announced + INSTANT_INTERVALS * INTERVAL - 0.001)
    assert pair.link.parameters.interval == INTERVAL
    pair.air.clock.advance(0.002)
    assert pair.link.parameters is changed
    assert pair.central.links.changes == pair.peripheral.links.changes == ["parameters"]
