"""Tests of a single link in virtual time."""

from __future__ import annotations

import pytest
from air.airtime import transfer_airtime
from air.connection_events import FIRST_EVENT, LinkParameters
from air.link import INSTANT_INTERVALS
from bumble.hci import HCI_ErrorCode as Error
from bumble.hci import Phy
from pairs import INTERVAL, SIZE, TIMEOUT, Air, Pair, Party

# A single link behaves the same whether links take turns or their events collide.
AIRS = pytest.mark.parametrize("collide", [False, True], ids=["turns", "collide"])


def airtime(down: int, up: int = 0) -> float:
    return transfer_airtime(down, up, Phy.LE_1M, data_length=27, encrypted=False)


@AIRS
def test_data_waits_for_the_next_connection_event(collide: bool) -> None:
    pair = Pair(Air(collide))
    pair.air.clock.advance(FIRST_EVENT + 0.01)
    pair.send(pair.near)
    pair.air.clock.advance(INTERVAL)
    assert pair.came == [pytest.approx(FIRST_EVENT + INTERVAL + airtime(SIZE))]


def test_data_is_sent_at_once_without_connection_events() -> None:
    pair = Pair()
    pair.air.connection_events = False
    pair.air.clock.advance(0.01)
    pair.send(pair.near)
    pair.air.clock.advance(INTERVAL)
    assert pair.came == [pytest.approx(0.01 + airtime(SIZE))]


@AIRS
def test_queued_packets_are_sent_in_one_event(collide: bool) -> None:
    pair = Pair(Air(collide))
    for _ in range(3):
        pair.send(pair.near)
    pair.air.clock.advance(INTERVAL)
    assert pair.came == [pytest.approx(FIRST_EVENT + number * airtime(SIZE)) for number in (1, 2, 3)]


@AIRS
def test_a_lost_packet_is_sent_again_in_the_next_event(collide: bool) -> None:
    pair = Pair(Air(collide))
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


@AIRS
def test_a_cut_shorter_than_the_timeout_loses_nothing(collide: bool) -> None:
    pair = Pair(Air(collide))
    pair.air.clock.advance(1.0)
    pair.cut(True)
    pair.send(pair.near)
    pair.air.clock.advance(TIMEOUT - INTERVAL - 0.01)
    pair.cut(False)
    pair.air.clock.advance(INTERVAL * 2)
    assert len(pair.came) == 1 and pair.link.open


@AIRS
def test_a_longer_cut_ends_the_link_for_both_after_the_timeout(collide: bool) -> None:
    pair = Pair(Air(collide))
    pair.air.clock.advance(1.0)
    pair.cut(True)
    pair.air.clock.advance(TIMEOUT - INTERVAL)
    assert pair.link.open
    pair.air.clock.advance(INTERVAL)
    assert pair.central.links.reasons == pair.peripheral.links.reasons == [Error.CONNECTION_TIMEOUT_ERROR]
    assert pair.air.closed == [Error.CONNECTION_TIMEOUT_ERROR]


@AIRS
def test_a_link_that_the_peripheral_lacks_ends_after_six_intervals(collide: bool) -> None:
    pair = Pair(Air(collide), deaf=True)
    pair.air.clock.advance(FIRST_EVENT + 6 * INTERVAL - 0.001)
    assert pair.link.open
    pair.air.clock.advance(0.002)
    assert pair.central.links.reasons == [Error.CONNECTION_FAILED_TO_BE_ESTABLISHED_ERROR]


@AIRS
def test_enough_losses_end_an_idle_link(collide: bool) -> None:
    pair = Pair(Air(collide))
    pair.air.clock.advance(1.0)
    pair.path.loss = 1.0
    pair.link.air_changed()
    pair.air.clock.advance(TIMEOUT + 3 * INTERVAL)
    assert pair.air.closed == [Error.CONNECTION_TIMEOUT_ERROR]


@AIRS
def test_the_disconnecting_side_gets_its_own_reason(collide: bool) -> None:
    pair = Pair(Air(collide))
    reason, local = Error.REMOTE_USER_TERMINATED_CONNECTION_ERROR, Error.CONNECTION_TERMINATED_BY_LOCAL_HOST_ERROR
    pair.link.terminate(pair.near, reason, local)
    pair.air.clock.advance(INTERVAL)
    assert (pair.central.links.reasons, pair.peripheral.links.reasons) == ([local], [reason])


@AIRS
def test_new_parameters_apply_six_events_after_their_announcement(collide: bool) -> None:
    pair = Pair(Air(collide))
    changed = LinkParameters(0.0075, 0, TIMEOUT)
    pair.link.update_parameters(pair.near, changed)
    announced = FIRST_EVENT + airtime(12)
    pair.air.clock.advance(announced + INSTANT_INTERVALS * INTERVAL - 0.001)
    assert pair.link.parameters.interval == INTERVAL
    pair.air.clock.advance(0.002)
    assert pair.link.parameters is changed
    assert pair.central.links.changes == pair.peripheral.links.changes == ["parameters"]
