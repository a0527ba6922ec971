"""Ends without a goodbye: a program is killed or frozen, or its box loses power, at any moment."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from helpers import (
    NOTICED,
    SILENCE_NOTICED,
    START,
    Figures,
    await_joined,
    cast,
    hold,
    identity,
    last_snapshot,
    links_of,
    service_uuid,
    shows_peers,
    shows_vote,
    start_guests,
    start_host,
)
from runner import Box, Lab, Program

# Time limit until a host that was killed and restarted has its guests back.
HEALED = 5.0
HOST_DEATHS = 10

Moment = Callable[[Program], object]


def at_once(guest: Program) -> object:
    return None


def when_ready(guest: Program) -> object:
    return guest.expect("ready", timeout=START)


def while_dialling(guest: Program) -> object:
    return guest.expect("peerDiscovered", timeout=START)


def while_joining(guest: Program) -> object:
    """The link is up, and no hello has been sent."""
    assert guest.controller
    return guest.box.lab.air.expect("linkUp", central=guest.controller.name, timeout=START)


def when_joined(guest: Program) -> object:
    return await_joined(guest)


MOMENTS = [at_once, when_ready, while_dialling, while_joining, when_joined]


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: moment.__name__)
def test_a_guest_that_is_killed_leaves_no_ghost_and_the_next_one_gets_in(
    road: Lab, car: Box, family: Box, moment: Moment
) -> None:
    host = start_host(car)
    [bob] = start_guests(family, "Bob")
    guest = family.roadmesh("guest", "Ana", adapter="hci1")
    moment(guest)
    guest.kill()
    # Cy uses the dead guest's adapter, so Cy can join only if the state that was left on it does no harm.
    cy = family.roadmesh("guest", "Cy", adapter="hci1")
    await_joined(cy)
    for one in (host, bob, cy):
        one.expect_seen("snapshot", shows_peers("Bob", "Cy"))
        # The dead peer is gone permanently: no later snapshot contains it.
        cast(cy if one is bob else bob, f"s{(host, bob, cy).index(one) + 2}", seen_by=[host, bob, cy])
        assert shows_peers("Bob", "Cy")(last_snapshot(one))
    assert not bob.seen("peerDisconnected")
    assert not bob.seen("notice")


def test_a_guest_that_is_killed_while_it_votes_is_missed_by_the_host_at_once(
    road: Lab, car: Box, family: Box, figures: Figures
) -> None:
    host = start_host(car)
    ana, bob = start_guests(family, "Ana", "Bob")
    seconds = []
    for song in ("s2", "s3", "s4"):
        ana.say(f"vote {song}")
        ana.expect("vote", songID=song, state="sent")
        started = time.monotonic()
        ana.kill()
        gone = host.expect("peerDisconnected", timeout=NOTICED)
        assert gone["peer"]["id"] == identity(ana) and gone["reason"] == "linkLost"
        seconds.append(gone["_received"] - started)
        for one in (host, bob):
            one.expect("snapshot", shows_peers("Bob"))
        ana = ana.again()
        await_joined(ana)
        host.expect("peerConnected")
    figures.times("guest killed: until the host tells it", seconds, NOTICED)
    assert not bob.seen("peerDisconnected") and not bob.seen("notice")


@pytest.mark.parametrize("moment", MOMENTS[2:], ids=lambda moment: moment.__name__)
def test_guests_survive_a_host_that_is_killed_and_find_it_when_it_is_back(
    road: Lab, car: Box, family: Box, moment: Moment
) -> None:
    host = start_host(car)
    [bob] = start_guests(family, "Bob")
    ana = family.roadmesh("guest", "Ana", adapter="hci1")
    moment(ana)
    host.kill()
    assert bob.expect("peerDisconnected", timeout=NOTICED)["reason"] == "linkLost"
    bob.expect("notice", code="connectionLost")
    assert bob.expect("connection")["state"] == "reconnecting"
    bob.say("vote s3")
    bob.expect("vote", songID="s3", state="queued")
    again = host.again()
    again.expect("ready", timeout=START)
    for guest in (ana, bob):
        guest.expect("connection", state="connected", timeout=START)
    again.expect("snapshot", shows_peers("Ana", "Bob"), timeout=START)
    bob.expect_seen("vote", songID="s3", state="confirmed")
    cast(ana, "s3", seen_by=[again, ana, bob])


def test_a_killed_host_goes_on_where_it_was_and_its_guests_are_back_without_a_hand(
    road: Lab, car: Box, family: Box, figures: Figures
) -> None:
    host = start_host(car)
    guests = start_guests(family, "Ana", "Bob", "Cy")
    host.say("skip")
    cast(guests[0], "s7", seen_by=[host, *guests])
    cast(guests[1], "s7", seen_by=[host, *guests])
    cast(guests[2], "s5", seen_by=[host, *guests])
    listener = road.stranger("listener")
    current = []
    for _ in range(HOST_DEATHS):
        before = last_snapshot(host)
        host.kill()
        for guest in guests:
            guest.expect("peerDisconnected", timeout=NOTICED)
        host = host.again()
        back = host.expect("ready", timeout=START)["_received"]
        first = host.expect("snapshot")
        assert [(one["id"], one["voters"]) for one in first["queue"]] == [
            (one["id"], one["voters"]) for one in before["queue"]
        ]
        assert first["nowPlaying"] == before["nowPlaying"] and first["epoch"] > before["epoch"]
        joined = [await_joined(guest)["_received"] for guest in guests]
        current.append(max(joined) - back)
        host.expect_seen("snapshot", shows_peers("Ana", "Bob", "Cy"), timeout=START)
        # If a host is killed during registration, bluetoothd keeps its advertisement. The restarted host must advertise
        # again.
        listener.find(service_uuid())
        hold(road, 0.5)
    figures.times("host killed: from its return until everybody sees the queue", current, HEALED)
    assert max(current) < HEALED


def test_guests_notice_that_the_hosts_box_has_lost_power_and_come_back_when_it_has_booted(
    road: Lab, car: Box, family: Box, figures: Figures
) -> None:
    host = start_host(car)
    guests = start_guests(family, "Ana", "Bob", "Cy")
    started = time.monotonic()
    car.power_cut()
    seconds = []
    for guest in guests:
        gone = guest.expect("peerDisconnected", timeout=NOTICED)
        assert gone["reason"] == "linkLost"
        seconds.append(gone["_received"] - started)
        guest.expect("notice", code="connectionLost")
        assert guest.running
    figures.times("host's power cut: until the guests tell it", seconds, NOTICED)
    guests[0].say("vote s2")
    car.boot()
    again = host.again()
    for guest in guests:
        await_joined(guest)
    again.expect("snapshot", shows_peers("Ana", "Bob", "Cy"), timeout=START)
    again.expect_seen("snapshot", shows_vote("s2", identity(guests[0])))


def test_a_frozen_guest_is_missed_and_comes_back_when_it_thaws(
    road: Lab, car: Box, family: Box, figures: Figures
) -> None:
    host = start_host(car)
    ana, bob = start_guests(family, "Ana", "Bob")
    started = time.monotonic()
    ana.pause()
    gone = host.expect("peerDisconnected", timeout=SILENCE_NOTICED)
    assert gone["peer"]["id"] == identity(ana) and gone["reason"] == "linkLost"
    figures.times("guest frozen: until the host tells it", [gone["_received"] - started], SILENCE_NOTICED)
    for one in (host, bob):
        one.expect("snapshot", shows_peers("Bob"))
    cast(bob, "s4", seen_by=[host, bob])
    ana.resume()
    ana.expect("peerDisconnected", timeout=START)
    assert shows_vote("s4", identity(bob))(await_joined(ana))
    cast(ana, "s4", seen_by=[host, ana, bob])
    assert not bob.seen("peerDisconnected")


def test_a_frozen_host_is_missed_and_has_its_guests_back_when_it_thaws(
    road: Lab, car: Box, family: Box, figures: Figures
) -> None:
    host = start_host(car)
    guests = start_guests(family, "Ana", "Bob")
    started = time.monotonic()
    host.pause()
    seconds = []
    for guest in guests:
        gone = guest.expect("peerDisconnected", timeout=SILENCE_NOTICED)
        assert gone["reason"] == "linkLost"
        seconds.append(gone["_received"] - started)
    figures.times("host frozen: until the guests tell it", seconds, SILENCE_NOTICED)
    host.resume()
    for guest in guests:
        await_joined(guest)
    cast(guests[0], "s2", seen_by=[host, *guests])
    host.expect_seen("snapshot", shows_peers("Ana", "Bob"))


def test_the_radio_link_of_a_guest_that_has_gone_is_given_back(road: Lab, car: Box, family: Box) -> None:
    host = start_host(car)
    ana, bob, _ = start_guests(family, "Ana", "Bob", "Cy")
    ana.say("quit")
    bob.kill()
    host.expect("snapshot", shows_peers("Cy"))
    # The kernel keeps a link for 2 to 4 s after its last channel has closed, and an adapter has room for few.
    down = {road.air.expect("linkDown", peripheral="car:hci0", timeout=8)["central"] for _ in range(2)}
    assert down == {"family:hci0", "family:hci1"}
    assert [link["central"] for link in links_of(road, car.hci(0))] == ["family:hci2"]
