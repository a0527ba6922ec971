# SPDX-License-Identifier: Apache-2.0
"""What hostile relays can do to the real guest, the real host and the real relay, and what they cannot."""

from __future__ import annotations

import pytest
from roadmesh_peer import democracy_dj
from roadmesh_peer.hostile_relays import (
    Altering,
    Delaying,
    Dropping,
    Flooding,
    Hostile,
    Inventing,
    LyingAboutHops,
    LyingAboutItsHost,
    Recording,
    Reordering,
    Replaying,
)
from roadmesh_peer.mesh_host import Host
from roadmesh_program.measuring import resident
from roadmesh_program.program import Program
from roadmesh_program.town import CAR, Kind, Town

# From a vote to its confirmation, whatever a relay does: silence is detected after 6 s, then another route is used.
LEFT = 30.0


def behind(town: Town, kind: type[Kind]) -> tuple[Host, Kind, Program]:
    """Bob has joined through Mallory. Then an honest relay comes into range."""
    car = town.host()
    mallory = town.relay_of(kind, "mallory", "car")
    bob = town.real_guest("Bob", "bob", "mallory")
    bob.expect("connection", state="connected")
    vote(bob, "n1")
    town.relay("honest", "car")
    town.roads.join("bob", "honest")
    return car, mallory, bob


def vote(bob: Program, song: str) -> None:
    bob.say(f"vote {song}")
    bob.expect_seen("vote", songID=song, state="confirmed", timeout=LEFT)


def counted(town: Town, car: Host) -> list[str]:
    return town.net.do(lambda: [song for _, song in car.intents])


@pytest.mark.parametrize("kind", [Dropping, Delaying, Reordering, Replaying, Altering], ids=lambda kind: kind.__name__)
@pytest.mark.long
def test_no_vote_of_the_real_guest_is_lost_or_doubled_behind_one_that(kind: type[Hostile], town: Town) -> None:
    car, mallory, bob = behind(town, kind)
    if isinstance(mallory, Delaying):
        mallory.seconds = 8.0
    mallory.is_armed = True
    for number in (2, 3, 4):
        vote(bob, f"n{number}")
    assert sorted(counted(town, car)) == ["n1", "n2", "n3", "n4"]


@pytest.mark.parametrize("which", ["every other SDU", "only what goes up"])
@pytest.mark.long
def test_the_real_guest_is_not_fooled_by_one_that_drops(which: str, town: Town) -> None:
    car, mallory, bob = behind(town, Dropping)
    mallory.keeps_every_other = which == "every other SDU"
    mallory.passes_down = not mallory.keeps_every_other
    mallory.is_armed = True
    for number in (2, 3):
        vote(bob, f"n{number}")
    assert sorted(counted(town, car)) == ["n1", "n2", "n3"]


def test_the_real_guest_leaves_one_that_alters_what_the_host_says(town: Town) -> None:
    _, mallory, bob = behind(town, Altering)
    mallory.downwards = mallory.is_armed = True
    vote(bob, "n2")


def test_the_real_guest_does_not_show_what_a_relay_has_signed_itself(town: Town) -> None:
    _, mallory, bob = behind(town, Inventing)
    state = democracy_dj.State(0xFFFFFFFF, 1 << 40)
    town.net.do(lambda: mallory.invent_state(democracy_dj.snapshot(state)))
    town.net.until(lambda: bool(mallory.child_ends), "Bob leaves")
    vote(bob, "n2")
    assert not bob.seen("snapshot", revision=1 << 40)


def test_what_a_relay_says_in_the_real_guests_circuit_is_not_looked_at(town: Town) -> None:
    car, mallory, bob = behind(town, Inventing)
    town.net.do(lambda: mallory.invent_sdus(bytes(100)))
    vote(bob, "n2")
    assert counted(town, car) == ["n1", "n2"]


@pytest.mark.long
def test_old_state_is_not_shown_by_the_real_guest_for_long(town: Town) -> None:
    _, mallory, bob = behind(town, Recording)
    mallory.is_armed = True
    vote(bob, "n2")
    revisions = [one["revision"] for one in bob.seen("snapshot")]
    assert revisions == sorted(revisions)


def test_a_recorded_hello_moves_no_guest_of_the_real_host(town: Town) -> None:
    car = town.real_host()
    mallory = town.relay_of(Recording, "mallory", "car")
    ana = town.guest("ana", "mallory")
    town.vote(ana, "n1")
    car.expect("peerConnected", lambda one: one["peer"]["name"] == "Ana")
    connected = len(car.seen("peerConnected"))
    recorded = town.net.do(lambda: list(mallory.recorded))
    said = town.net.do(lambda: mallory.replay(recorded))
    town.net.until(lambda: said.reason is not None, "the end of the circuit")
    town.vote(ana, "n2")
    assert len(car.seen("peerConnected")) == connected and len(car.seen("intent", songID="n1", accepted=True)) == 1


def test_circuits_without_end_do_not_keep_others_from_the_real_host(town: Town) -> None:
    car = town.real_host()
    ana = town.guest("ana", "car")
    mallory = town.relay_of(Flooding, "mallory", "car")
    town.relay("honest", "car")
    before = resident(car.pid)
    mallory.is_armed = True
    town.net.until(lambda: bool(mallory.told_of_circuits()), "no room for more")
    town.vote(ana, "n1")
    bob = town.guest("bob", "honest")
    town.vote(bob, "n2")
    mallory.is_armed = False
    assert resident(car.pid) - before < 16 << 10


def test_the_real_guest_leaves_one_that_leads_to_another_host_than_it_says(town: Town) -> None:
    van = town.net.do(lambda: Host(town.net, town.roads.radio("van"), "Grandma's Van"))
    car = town.host()
    mallory = town.relay_of(LyingAboutItsHost, "mallory", "van")
    mallory.claimed_host, mallory.claimed_name, mallory.is_armed = car.key.identifier, CAR, True
    bob = town.real_guest("Bob", "bob", "mallory")
    town.net.until(lambda: bool(van.circuits_asked), "Bob's circuit")
    town.roads.join("bob", "car")
    bob.expect("connection", state="connected", timeout=LEFT)
    vote(bob, "n1")
    assert counted(town, car) == ["n1"]
    assert bytes.fromhex(bob.seen("ready")[0]["peer"]["id"]) not in van.conversations


def test_the_real_guest_leaves_one_that_keeps_saying_that_it_has_a_way(town: Town) -> None:
    car = town.host()
    mallory = town.relay_of(LyingAboutHops, "mallory", "car")
    mallory.is_armed = True
    bob = town.real_guest("Bob", "bob", "mallory")
    bob.expect("connection", state="connected")
    vote(bob, "n1")
    town.roads.part("mallory", "car")
    town.roads.join("bob", "car")

    def lose() -> None:
        assert mallory.up
        mallory.up.close("lost")

    town.net.do(lose)
    vote(bob, "n2")
    assert counted(town, car) == ["n1", "n2"]
