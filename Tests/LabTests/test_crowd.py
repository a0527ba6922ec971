"""A full bus: eight guests on one host, who vote all the time."""

from __future__ import annotations

import time

import pytest
from helpers import START, Figures, await_joined, identity, last_snapshot, milliseconds, song_list, voters
from runner import Box, Lab, Program

GUESTS = 8
VOTES_PER_SECOND = 10
SECONDS = 60
VOTES_EACH = VOTES_PER_SECOND * SECONDS // GUESTS

# Voting has ended by then, and the remaining votes arrive.
SETTLE = 25.0


@pytest.fixture(scope="module")
def bus(air_of_file: Lab) -> list[Box]:
    """Two boxes with four adapters each. Each box has one processor, and eight guests need more than one."""
    return [air_of_file.box(name, controllers=GUESTS // 2) for name in ("front", "back")]


def ballots() -> list[tuple[int, str]]:
    """Voters and their songs, in order: the guests take turns, each votes for each song once, and within a round for
    different songs."""
    return [
        (guest, f"n{(turn + 9 * guest) % VOTES_EACH + 1}") for turn in range(VOTES_EACH) for guest in range(GUESTS)
    ]


class Voter:
    """A guest that votes again when its previous vote is confirmed."""

    def __init__(self, guest: Program) -> None:
        self._guest = guest
        self._read = 0
        self._waits_for: str | None = None

    def is_ready(self) -> bool:
        events = self._guest.events
        # Each event is read once, because there are thousands.
        while self._read < len(events):
            one = events[self._read]
            self._read += 1
            if one["event"] == "vote" and one["state"] == "confirmed" and one["songID"] == self._waits_for:
                self._waits_for = None
        return self._waits_for is None

    def vote(self, song: str) -> float:
        self._waits_for = song
        cast = time.monotonic()
        self._guest.say(f"vote {song}")
        return cast


def vote_without_pause(lab: Lab, guests: list[Program], figures: Figures) -> dict[tuple[int, str], float]:
    """Casts all votes: ten a second, or as many as this machine's boxes can follow. Returns the time of each."""
    cast = {}
    crowd = [Voter(guest) for guest in guests]
    started = time.monotonic()
    for number, (guest, song) in enumerate(ballots()):
        due = started + number / VOTES_PER_SECOND
        lab.hub.wait_for(lambda: None, due - time.monotonic())
        assert lab.hub.wait_for(lambda one=crowd[guest]: one.is_ready() or None, SETTLE), f"{guests[guest]!r} waits for a vote"
        cast[guest, song] = crowd[guest].vote(song)
    rate = len(cast) / (time.monotonic() - started)
    figures.note(f"{GUESTS} guests: {rate:.1f} votes/s")
    return cast


def traffic(lab: Lab) -> tuple[int, int]:
    """Packets and bytes that the host's adapter has sent and received on its links so far."""
    counters = lab.air.counters()["car:hci0"]
    parts = [counters["sent"], counters["received"]]
    return sum(part["packets"] for part in parts), sum(part["channelBytes"] for part in parts)


def report(figures: Figures, guests: list[Program], cast: dict[tuple[int, str], float]) -> None:
    confirmed = {
        (number, one["songID"]): one["_received"]
        for number, guest in enumerate(guests)
        for one in guest.seen("vote", state="confirmed")
    }
    figures.times(f"{GUESTS} guests, {VOTES_PER_SECOND} votes/s: vote to its confirmation", [
        confirmed[key] - at for key, at in cast.items()
    ])  # fmt: skip
    shown = sum(len(guest.seen("snapshot")) for guest in guests) / GUESTS / SECONDS
    rtts = sorted(one["rttMilliseconds"] for guest in guests for one in guest.seen("link") if one["rttMilliseconds"])
    figures.note(
        f"{GUESTS} guests: {shown:.1f} snapshots/s a guest; round trip median {rtts[len(rtts) // 2]:.0f} ms,"
        f" max {rtts[-1]:.0f} ms"
    )


def test_a_host_with_eight_guests_and_ten_votes_a_second_holds_for_a_minute_and_loses_none(
    road: Lab, car: Box, bus: list[Box], figures: Figures
) -> None:
    host = car.roadmesh("host", "Dad's Bus", "--library", str(song_list(road, VOTES_EACH)))
    host.expect("ready", timeout=START)
    adapters = [box.hci(index) for box in bus for index in range(GUESTS // 2)]
    guests = [
        adapter.box.roadmesh("guest", f"Guest {number}", adapter=adapter, name=f"guest-{number}")
        for number, adapter in enumerate(adapters)
    ]
    for guest in guests:
        await_joined(guest)
    host.expect("snapshot", lambda snapshot: len(snapshot["connectedPeers"]) == GUESTS)
    packets, volume = traffic(road)
    started = time.monotonic()

    cast = vote_without_pause(road, guests, figures)

    ids = [identity(guest) for guest in guests]
    everybody = sorted(ids)
    everything = GUESTS * VOTES_EACH
    total = lambda snapshot: sum(item["votes"] for item in snapshot["queue"])  # noqa: E731
    for one in [host, *guests]:
        one.expect("snapshot", lambda snapshot: total(snapshot) == everything, timeout=SETTLE)
    since = milliseconds(time.monotonic() - max(cast.values()))
    figures.note(f"{GUESTS} guests: everybody sees everything {since} after the last vote")
    elapsed = time.monotonic() - started
    after = traffic(road)
    figures.note(
        f"{GUESTS} guests: {(after[0] - packets) / elapsed:.0f} packets/s, {(after[1] - volume) / elapsed / 1024:.0f} KiB/s"
        " of channel data at the host's adapter"
    )

    # The host and every guest show each vote once.
    for one in [host, *guests]:
        snapshot = last_snapshot(one)
        for number in range(1, VOTES_EACH + 1):
            assert sorted(voters(snapshot, f"n{number}")) == everybody, f"votes for n{number} as {one!r} sees them"
    accepted = [(one["peer"]["id"], one["songID"]) for one in host.seen("intent", accepted=True)]
    assert len(accepted) == everything
    assert sorted(accepted) == sorted((ids[guest], song) for guest, song in cast)
    for number, guest in enumerate(guests):
        wanted = {song for voter, song in cast if voter == number}
        assert {one["songID"] for one in guest.seen("vote", state="confirmed")} == wanted
        assert not guest.seen("vote", state="rejected")
    # No guest lost its connection.
    for one in [host, *guests]:
        assert not one.seen("peerDisconnected"), one.seen("peerDisconnected")
        assert not one.seen("notice", critical=True)
    assert len(road.air.seen("linkDown")) == 0
    report(figures, guests, cast)
