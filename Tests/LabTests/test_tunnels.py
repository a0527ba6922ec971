"""Guests go out of range and come back: what each side reports, and what happens to its votes."""

from __future__ import annotations

import time

import pytest
from helpers import (
    NOTICED,
    Figures,
    await_joined,
    cast,
    hold,
    identity,
    last_snapshot,
    shows_peers,
    shows_vote,
    start_guests,
    start_host,
    voters,
)
from runner import Box, Event, Lab, Program

# The supervision timeout is 420 ms.
SHORT_GAP, SHORT_GAP_LIMIT = 0.2, 0.35
GAP = 5.0
GAPS = 2

RETRY_OFFERED, GIVEN_UP = 10.0, 30.0

# Time from the end of a gap to a view of the queue. A dial is pending all the time. Advertisements come every 20 ms and
# a little.
BACK_LIMIT = 1.5

Party = tuple[Program, list[Program]]


@pytest.fixture
def party(road: Lab, car: Box, family: Box) -> Party:
    host = start_host(car)
    return host, start_guests(family, "Ana", "Bob", "Cy")


def expect_lost(host: Program, guest: Program, since: float) -> tuple[Event, Event]:
    """Both sides report the loss of the link after this time. Returns both events."""

    def is_news_of_it(one: Event) -> bool:
        return one["peer"]["id"] == identity(guest) and one["_received"] > since

    told = guest.expect("peerDisconnected", timeout=NOTICED)
    assert told["reason"] == "linkLost" and told["peer"]["id"] == identity(host)
    notice = guest.expect("notice", code="connectionLost")
    assert notice["critical"] and "lost" in notice["message"] and notice["button"] is None
    assert guest.expect("connection")["state"] == "reconnecting"
    heard = host.expect_seen("peerDisconnected", is_news_of_it, timeout=NOTICED)
    assert heard["reason"] == "linkLost"
    return told, heard


def expect_back(guest: Program) -> tuple[Event, Event]:
    connected = guest.expect("connection", state="connected", timeout=20)
    return connected, guest.expect("snapshot")


def accepted(host: Program, guest: Program, song: str) -> int:
    return len(host.seen("intent", lambda one: one["peer"]["id"] == identity(guest), songID=song, accepted=True))


def test_a_gap_shorter_than_the_supervision_timeout_is_noticed_by_nobody(
    road: Lab, car: Box, family: Box, party: Party
) -> None:
    host, guests = party
    for song in ("s2", "s3", "s4", "s5", "s6"):
        road.air.skip()
        road.air.cut(car, family)
        guests[0].say(f"vote {song}")
        hold(road, SHORT_GAP)
        road.air.heal()
        start, end = (road.air.expect("airChanged")["monotonic"] for _ in range(2))
        assert end - start < SHORT_GAP_LIMIT, "this machine is too slow for gaps this short"
        for one in [host, *guests]:
            one.expect("snapshot", shows_vote(song, identity(guests[0])))
    for one in [host, *guests]:
        assert not one.seen("peerDisconnected")
        assert not one.seen("notice")
    assert not road.air.seen("linkDown")


def test_who_only_listens_stays_connected(road: Lab, party: Party) -> None:
    host, guests = party
    # Longer than any timeout of a link: pings every second must keep it.
    hold(road, 12)
    for one in [host, *guests]:
        assert not one.seen("peerDisconnected"), one.seen("peerDisconnected")
        assert not one.seen("notice")
        links = one.seen("link")
        assert len(links) >= 8 * (3 if one is host else 1)
        assert all(link["rssi"] == -50 and link["rttMilliseconds"] < 1_000 for link in links[-3:])


def test_after_a_gap_of_five_seconds_everybody_is_back_at_once_with_the_votes_cast_in_it(
    road: Lab, car: Box, family: Box, party: Party, figures: Figures
) -> None:
    host, guests = party
    to_connected, to_snapshot, to_told = [], [], []
    for gap in range(GAPS):
        song = f"s{gap + 2}"
        started = time.monotonic()
        road.air.cut(car, family)
        to_told += [one["_received"] - started for guest in guests for one in expect_lost(host, guest, started)]
        host.expect("snapshot", shows_peers())
        for guest in guests:
            guest.say(f"vote {song}")
            guest.expect("vote", songID=song, state="queued")
        hold(road, GAP - (time.monotonic() - started))
        for guest in guests:
            assert [one["state"] for one in guest.seen("vote", songID=song)] == ["queued"]
        healed = time.monotonic()
        road.air.heal()
        for guest in guests:
            connected, snapshot = expect_back(guest)
            to_connected.append(connected["_received"] - healed)
            to_snapshot.append(snapshot["_received"] - healed)
            guest.expect_seen("noticeCleared", code="connectionLost")
            guest.expect_seen("vote", songID=song, state="confirmed")
        for one in [host, *guests]:
            one.expect_seen("snapshot", lambda snapshot: len(voters(snapshot, song)) == 3)  # noqa: B023
        host.expect_seen("snapshot", shows_peers("Ana", "Bob", "Cy"))
        for guest in guests:
            assert accepted(host, guest, song) == 1
            assert voters(last_snapshot(host), song).count(identity(guest)) == 1
    figures.times("gap: from its start until both sides tell it", to_told, NOTICED)
    figures.times("gap of 5 s: heal to connected", to_connected)
    assert figures.times("gap of 5 s: heal to snapshot", to_snapshot, BACK_LIMIT) < BACK_LIMIT


def test_a_vote_cast_just_before_the_tunnel_counts_once(road: Lab, car: Box, family: Box, party: Party) -> None:
    host, guests = party
    for guest, song in zip(guests, ("s2", "s3", "s4"), strict=False):
        guest.say(f"vote {song}")
        guest.expect("vote", songID=song, state="sent")
    road.air.cut(car, family)
    for guest in guests:
        guest.expect("connection", state="reconnecting")
    road.air.heal()
    for guest, song in zip(guests, ("s2", "s3", "s4"), strict=False):
        guest.expect_seen("vote", songID=song, state="confirmed")
        host.expect_seen("snapshot", shows_vote(song, identity(guest)))
        assert voters(last_snapshot(host), song) == [identity(guest)]
        assert accepted(host, guest, song) == 1


def test_one_guest_in_a_dead_zone_does_not_disturb_the_others(
    road: Lab, car: Box, family: Box, party: Party
) -> None:
    host, (ana, bob, cy) = party
    for song in ("s3", "s6", "s7"):
        started = time.monotonic()
        road.air.cut(car, family.hci(0))
        # Votes continue from before the loss is detected until after the return.
        latencies = [cast(bob, song, seen_by=[host, bob, cy])]
        expect_lost(host, ana, started)
        latencies.append(cast(cy, song, seen_by=[host, bob, cy]))
        road.air.heal()
        expect_back(ana)
        latencies.append(cast(ana, song, seen_by=[host, ana, bob, cy]))
        assert max(latencies) < 1.0, latencies
    for one in (bob, cy):
        assert not one.seen("peerDisconnected")
        assert not one.seen("notice")
        assert shows_peers("Ana", "Bob", "Cy")(last_snapshot(one))
    assert len(host.seen("peerDisconnected")) == 3


def test_a_long_gap_offers_retry_after_ten_seconds_and_ends_the_wait_after_thirty_but_keeps_the_votes(
    road: Lab, car: Box, family: Box, party: Party, figures: Figures
) -> None:
    host, (ana, bob, cy) = party
    started = time.monotonic()
    road.air.cut(car, family)
    lost = {guest: expect_lost(host, guest, started)[0]["_received"] for guest in (ana, bob, cy)}
    ana.say("vote s4")
    ana.expect("vote", songID="s4", state="queued")
    for guest in (ana, bob, cy):
        retry = guest.expect("notice", code="connectionLost", timeout=RETRY_OFFERED + 2)
        assert retry["button"] == "Retry" and retry["suggestion"]
        assert retry["_received"] - lost[guest] == pytest.approx(RETRY_OFFERED, abs=1)
    # Bob accepts the offer to retry, although no host is there. Cy gives up.
    bob.say("retry")
    cy.say("leave")
    cy.expect("connection", state="disconnected")
    for guest in (ana, bob):
        failed = guest.expect("connection", state="failed", timeout=GIVEN_UP - RETRY_OFFERED + 3)
        assert failed["error"] == "hostNotFound"
        assert failed["_received"] - lost[guest] == pytest.approx(GIVEN_UP, abs=2)
        notice = guest.expect("notice", code="hostNotFound")
        assert notice["button"] == "Retry" and "kept" in notice["suggestion"]
    assert not ana.seen("vote", songID="s4", state="rejected")
    healed = time.monotonic()
    road.air.heal()
    seconds = [await_joined(guest, timeout=20)["_received"] - healed for guest in (ana, bob)]
    figures.times("gap of 30 s: heal to snapshot", seconds)
    for guest in (ana, bob):
        guest.expect_seen("noticeCleared", code="hostNotFound")
    ana.expect_seen("vote", songID="s4", state="confirmed")
    # A host sends before it prints, so the guest's line may be read first.
    host.expect_seen("snapshot", shows_vote("s4", identity(ana)))
    assert accepted(host, ana, "s4") == 1
    cast(bob, "s5", seen_by=[host, ana, bob])
    # A guest that has left comes back only on command.
    assert not cy.seen("peerConnected", lambda one: one["_received"] > healed)
    cy.say("retry")
    await_joined(cy, timeout=20)
