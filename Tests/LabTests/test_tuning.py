"""Link-layer requests: which processes may make them, and their results."""

from __future__ import annotations

import time

from helpers import Figures, await_joined, cast, hold, identity, links_of, start_guests, start_host
from runner import Box, Lab, Program

# Intervals that a host advises its only guest, in milliseconds: with data, and without.
BRISK, CALM = 8.75, 36.25

# Five seconds of silence, and the time of the change.
UNTIL_CALM = 9.0

# Longer than a link stays fast after a vote.
SILENCE = 6.0


def link(program: Program, **wanted: object) -> dict:
    """The next report of a link with these values."""
    return program.expect("link", lambda one: all(one.get(name) == value for name, value in wanted.items()), timeout=UNTIL_CALM)


def vote_time(guest: Program, number: int) -> float:
    """Time from a command typed at the guest to its confirmation. Every second command takes back the vote of the
    one before."""
    guest.skip()
    started = time.monotonic()
    word, wish = ("vote", "vote") if number % 2 == 0 else ("unvote", "takeBack")
    guest.say(f"{word} s{2 + number // 2 % 5}")
    return guest.expect("vote", state="confirmed", wish=wish)["_received"] - started


def vote_times(lab: Lab, guest: Program, pause: float, count: int = 8) -> list[float]:
    """Times of votes with a silent pause before each."""
    seconds = []
    for number in range(count):
        hold(lab, pause)
        seconds.append(vote_time(guest, number))
    return seconds


def test_a_link_is_fast_while_somebody_votes_and_calm_while_nobody_does(
    road: Lab, car: Box, family: Box, figures: Figures
) -> None:
    host = start_host(car)
    [ana] = start_guests(family, "Ana")
    fast = link(ana, phy="2M", interval=BRISK, supervisionTimeout=720, dataLength=251)
    assert fast["asked"] == {"interval": BRISK, "phy": "2M", "supervisionTimeout": 720} and fast["notPermitted"] == []
    [on_air] = links_of(road, car.hci(0))
    assert (on_air["phy"], on_air["intervalMilliseconds"], on_air["timeoutMilliseconds"]) == ("2M", BRISK, 720)
    # The host sees the same values, and has requested nothing.
    assert link(host, phy="2M", interval=BRISK)["asked"] == {}
    link(ana, interval=CALM, supervisionTimeout=720)
    silent = []
    for number in range(4):
        link(ana, interval=CALM)
        silent.append(vote_time(ana, number))
        link(ana, interval=BRISK)
    figures.times("tuned, a vote after a silence: typed to confirmed", silent)
    figures.times("tuned, a vote among others: typed to confirmed", vote_times(road, ana, 0.5))
    assert not ana.seen("peerDisconnected")


def test_a_user_without_capabilities_has_the_link_that_the_system_gives(
    road: Lab, car: Box, family: Box, figures: Figures
) -> None:
    start_host(car, uid=1000)
    ana = family.roadmesh("guest", "Ana", uid=1000)
    await_joined(ana)
    told = link(ana, asked={})
    # The kernel reports a PHY only if it was changed.
    assert "interval" not in told and "phy" not in told
    assert told["notPermitted"] == ["phy", "interval", "supervisionTimeout", "dataLength"]
    figures.times("not tuned, a vote after a silence: typed to confirmed", vote_times(road, ana, SILENCE, 4))
    figures.times("not tuned, a vote among others: typed to confirmed", vote_times(road, ana, 0.5))
    [on_air] = links_of(road, car.hci(0))
    assert (on_air["phy"], on_air["intervalMilliseconds"], on_air["timeoutMilliseconds"]) == ("1M", 50, 420)
    assert not ana.seen("notice") and not ana.seen("peerDisconnected")


def test_a_host_that_may_tunes_for_a_guest_that_may_not(road: Lab, car: Box, family: Box) -> None:
    host = start_host(car)
    ana = family.roadmesh("guest", "Ana", uid=1000)
    await_joined(ana)
    fast = link(host, phy="2M", interval=BRISK)
    assert fast["asked"]["interval"] == BRISK and fast["supervisionTimeout"] == 720
    # The kernel reports the PHY to any process.
    assert link(ana, phy="2M")["notPermitted"]
    cast(ana, "s2", seen_by=[host, ana])


def test_a_controller_that_knows_only_the_old_commands_is_asked_once(road: Lab, car: Box) -> None:
    plain = road.boxes.get("plain") or road.box("plain", profile="plain")
    host = start_host(car)
    [ana] = start_guests(plain, "Ana")
    told = link(ana, interval=BRISK, supervisionTimeout=720)
    assert told["phy"] == "1M"
    hold(road, 3)
    [on_air] = links_of(road, car.hci(0))
    assert (on_air["phy"], on_air["intervalMilliseconds"]) == ("1M", BRISK)
    cast(ana, "s2", seen_by=[host, ana])
    assert not host.seen("peerDisconnected")


def test_a_shadow_shorter_than_the_longer_timeout_breaks_no_link(
    road: Lab, car: Box, family: Box, figures: Figures
) -> None:
    host = start_host(car)
    [ana] = start_guests(family, "Ana")
    link(ana, supervisionTimeout=720)
    for _ in range(3):
        road.air.cut(car, family)
        hold(road, 0.5)
        road.air.heal()
        cast(ana, f"s{2 + _}", seen_by=[host, ana])
    assert not ana.seen("peerDisconnected")
    started = time.monotonic()
    road.air.cut(car, family)
    told = ana.expect("peerDisconnected")["_received"] - started
    figures.note(f"a gap is told after {told * 1e3:.0f} ms with a supervision timeout of 720 ms")
    road.air.heal()
    await_joined(ana)
    assert identity(ana)
