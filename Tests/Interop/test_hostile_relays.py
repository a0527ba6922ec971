# SPDX-License-Identifier: Apache-2.0
"""What a hostile relay can do to nodes that rely on it, and what it cannot: docs/threat-model.md, on relays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest
from roadmesh_peer.hostile_relays import (
    Altering,
    ContradictingItself,
    Delaying,
    Dropping,
    Hostile,
    LyingAboutHops,
    LyingAboutItsHost,
    Recording,
    Reordering,
    Replaying,
)
from roadmesh_peer.mesh_client import Client
from roadmesh_peer.mesh_host import Host
from roadmesh_peer.mesh_relay import Relay
from roadmesh_peer.net import Net
from roadmesh_peer.roads import Roads
from roadmesh_peer.wire import Kind

CAR = "Dad's Car"

Kept = TypeVar("Kept", bound=Hostile)


@pytest.fixture
def car(net: Net, roads: Roads) -> Host:
    return Host(net, roads.radio("car"), CAR)


@pytest.fixture
def mallory(net: Net, roads: Roads, car: Host) -> Callable[[type[Kept]], Kept]:
    """A hostile relay in range of the host."""

    def make(kind: type[Kept]) -> Kept:
        made = kind(net, roads.radio("mallory", "car"), "Mallory")
        net.until(lambda: made.is_connected)
        return made

    return make


def joined(guest: Client) -> Client:
    guest.net.until(lambda: guest.is_connected and guest.view.state is not None, f"{guest.name} sees the queue")
    return guest


@pytest.fixture
def behind(net: Net, roads: Roads) -> Callable[[Hostile], Client]:
    """Ana is in range of Mallory and an honest relay, and has chosen Mallory."""

    def make(mallory: Hostile) -> Client:
        ana = joined(Client(net, roads.radio("ana", "mallory"), "Ana"))
        ana.vote("n1")
        net.until(lambda: not ana.conversation.outbox and ana.shows_vote("n1"))
        honest = Relay(net, roads.radio("honest", "car"), "Rita")
        net.until(lambda: honest.is_connected)
        net.pass_time(0.1)
        roads.join("ana", "honest")
        return ana

    return make


def is_counted_once(net: Net, car: Host, ana: Client, song: str, timeout: float = 20) -> float:
    """Ana's vote counts exactly once, whatever Mallory does, and Ana sees it. Returns how long that took."""
    begun = net.now
    ana.vote(song)
    net.until(lambda: ana.shows_vote(song) and not ana.conversation.outbox, f"the vote for {song}", timeout)
    assert car.intents.count((ana.key.identifier, song)) == 1
    return net.now - begun


Mallory = Callable[[type[Hostile]], Hostile]
Behind = Callable[[Hostile], Client]


def leaves_mallory(ana: Client) -> bool:
    return ana.parent is not None and ana.parent.heard.address == "honest"


def test_one_that_drops_everything_delays_a_vote_by_seconds_and_is_left(
    net: Net, car: Host, mallory: Callable[[type[Dropping]], Dropping], behind: Behind
) -> None:
    relay = mallory(Dropping)
    ana = behind(relay)
    relay.is_armed = True
    assert 6.0 < is_counted_once(net, car, ana, "n2") < 7.0
    assert leaves_mallory(ana)


def test_one_that_drops_what_a_guest_says_and_passes_on_what_the_host_says_is_left_as_soon(
    net: Net, car: Host, mallory: Callable[[type[Dropping]], Dropping], behind: Behind
) -> None:
    """The host's pings and heartbeats keep arriving, but they show nothing about the other direction."""
    relay = mallory(Dropping)
    ana = behind(relay)
    relay.passes_down = relay.is_armed = True
    assert 6.0 < is_counted_once(net, car, ana, "n2") < 7.0


@pytest.mark.parametrize("kind", [Dropping, Reordering, Replaying, Altering], ids=lambda kind: kind.__name__)
def test_one_that_drops_some_reorders_replays_or_alters_ends_circuits_and_is_left(
    kind: type[Hostile], net: Net, car: Host, mallory: Mallory, behind: Behind
) -> None:
    relay = mallory(kind)
    ana = behind(relay)
    if isinstance(relay, Dropping):
        relay.keeps_every_other = True
    relay.is_armed = True
    for number in range(2, 6):
        assert is_counted_once(net, car, ana, f"n{number}") < 8.0
    assert leaves_mallory(ana)
    assert [song for _, song in car.intents] == [f"n{number}" for number in range(1, 6)]


def test_one_that_alters_what_the_host_says_is_left_too(
    net: Net, car: Host, mallory: Callable[[type[Altering]], Altering], behind: Behind
) -> None:
    relay = mallory(Altering)
    relay.downwards = True
    ana = behind(relay)
    relay.is_armed = True
    assert is_counted_once(net, car, ana, "n2") < 8.0
    assert "circuit: forgedRecord" in ana.ends and leaves_mallory(ana)


def test_one_that_delays_is_stood_up_to_some_seconds_and_then_left(
    net: Net, car: Host, mallory: Callable[[type[Delaying]], Delaying], behind: Behind
) -> None:
    relay = mallory(Delaying)
    ana = behind(relay)
    relay.is_armed = True
    assert 1.0 <= is_counted_once(net, car, ana, "n2") < 2.1 and not leaves_mallory(ana)
    relay.seconds = 8.0
    assert is_counted_once(net, car, ana, "n3") < 8.0
    assert leaves_mallory(ana)


def test_a_recorded_vote_is_not_counted_in_another_circuit(
    net: Net, car: Host, mallory: Callable[[type[Recording]], Recording], behind: Behind
) -> None:
    relay = mallory(Recording)
    behind(relay)
    before = list(car.intents)
    said = relay.replay(list(relay.recorded))
    net.until(lambda: said.reason is not None)
    assert car.intents == before


def test_one_that_lies_about_hops_is_chosen_and_gives_nothing_but_an_honest_link_or_none(
    net: Net, roads: Roads, car: Host
) -> None:
    """The relay first claims to be three links away, then to have no route at all."""
    first = Relay(net, roads.radio("first", "car"), "Rita")
    net.until(lambda: first.is_connected)
    mallory = LyingAboutHops(net, roads.radio("mallory", "first"), "Mallory")
    net.until(lambda: mallory.is_connected)
    mallory.is_armed = True
    ana = joined(Client(net, roads.radio("ana", "mallory"), "Ana"))
    assert is_counted_once(net, car, ana, "n1") < 1.0
    roads.join("ana", "car")
    roads.part("mallory", "first")
    assert mallory.up
    mallory.up.close("lost")
    # The relay keeps claiming that it has a route. Ana's circuit ends, the next is closed, and she chooses another
    # route.
    assert is_counted_once(net, car, ana, "n2") < 3.0
    assert ana.hops == 1


def test_one_that_says_that_it_is_further_away_than_a_circuit_can_go_gets_no_time_for_it(
    net: Net, roads: Roads, car: Host, mallory: Callable[[type[LyingAboutHops]], LyingAboutHops]
) -> None:
    """If Ana added a tenth of a second for each of 255 hops, she would wait 25 s for an answer."""
    relay = mallory(LyingAboutHops)
    relay.claimed, relay.is_armed = 255, True
    ana = Client(net, roads.radio("ana", "mallory"), "Ana")
    net.until(lambda: ana.ends == ["too far"])
    assert not relay.circuits_passing
    roads.join("ana", "car")
    assert is_counted_once(net, car, joined(ana), "n1") < 1.0


def test_one_that_leads_a_guest_that_comes_back_to_another_host_gets_nowhere(
    net: Net, roads: Roads, car: Host, mallory: Callable[[type[LyingAboutItsHost]], LyingAboutItsHost], behind: Behind
) -> None:
    relay = mallory(LyingAboutItsHost)
    ana = behind(relay)
    van = Host(net, roads.radio("van"), "Grandma's Van")
    roads.part("mallory", "car")
    roads.part("ana", "honest")
    roads.join("mallory", "van")
    relay.wanted = b""
    assert relay.up and ana.session
    relay.up.close("lost")
    relay.claimed_host, relay.claimed_name, relay.is_armed = car.key.identifier, CAR, True
    net.until(lambda: relay.is_connected and any("circuit" in end for end in ana.ends))
    net.pass_time(8)
    assert not ana.is_connected and ana.key.identifier not in van.conversations
    roads.join("ana", "honest")
    assert is_counted_once(net, car, ana, "n2", timeout=30) < 15.0


def test_one_whose_hello_contradicts_its_advertisement_is_left_at_once(net: Net, roads: Roads, car: Host) -> None:
    van = Host(net, roads.radio("van"), "Grandma's Van")
    mallory = ContradictingItself(net, roads.radio("mallory", "van"), "Mallory")
    net.until(lambda: mallory.is_connected)
    mallory.advertised_host, mallory.claimed_name = car.key.identifier, CAR
    ana = Client(net, roads.radio("ana", "mallory"), "Ana", host_name=CAR)
    mallory.claimed_host, mallory.is_armed = van.key.identifier, True
    net.until(lambda: "changedIdentity" in ana.ends)
    assert ana.session is None and not any("circuit" in end for end in ana.ends)


def test_a_relay_sees_nothing_of_what_is_said(
    net: Net, car: Host, mallory: Callable[[type[Recording]], Recording], behind: Behind
) -> None:
    relay = mallory(Recording)
    ana = behind(relay)
    passed = b"".join(relay.recorded)
    assert relay.recorded and ana.name.encode() not in passed and b"n1" not in passed
    assert ana.key.public not in passed and ana.key.identifier not in passed
    assert not [frame for frame in relay.children[ana.key.identifier].heard if frame.kind == Kind.MESSAGE]
