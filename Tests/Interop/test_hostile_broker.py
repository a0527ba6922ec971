# SPDX-License-Identifier: Apache-2.0
"""A hostile broker: no vote is lost or counted twice, no node is deceived, and nothing can be read."""

from __future__ import annotations

import secrets
from collections.abc import Callable

import pytest
from roadmesh_peer import broker
from roadmesh_peer.broker_faults import Passed, altered, delayed, doubled, dropped, late, sometimes
from roadmesh_peer.broker_nodes import CAR, PATIENCE, BrokerNodes
from roadmesh_peer.broker_wire import ANSWER, Call, Presence, Topics, address_of, client_id
from roadmesh_peer.chunks import WINDOW
from roadmesh_peer.hostile_broker import HostileBroker
from roadmesh_peer.mesh_client import Client
from roadmesh_peer.mesh_host import Host
from roadmesh_peer.mqtt import Publish
from roadmesh_peer.noise_link import Key
from roadmesh_peer.wire import Advertisement, Tail, service_uuid

TOPICS = Topics()
CALLS, VALUES = TOPICS.to("+", "call"), TOPICS.to("+")
SONGS = tuple(f"n{number}" for number in range(1, 9))
SHARE = 0.2


def votes(host: Host, guest: Client) -> list[str]:
    """A guest's votes that have counted, each as often as it was counted."""
    return sorted(song for who, song in host.intents if who == guest.key.identifier)


@pytest.fixture
def car(hostile: HostileBroker, nodes: BrokerNodes) -> Host:
    return nodes.host(hostile.url)


@pytest.fixture
def ana(car: Host, hostile: HostileBroker, nodes: BrokerNodes) -> Client:
    """A guest that has joined and voted."""
    guest = nodes.guest("Ana", hostile.url)
    nodes.vote(guest, SONGS[0])
    return guest


# Faults of messages


@pytest.mark.parametrize(
    "what",
    [dropped, doubled, late, altered, delayed(1.0)],
    ids=["dropped", "doubled", "reordered", "altered", "delayed"],
)
@pytest.mark.long
def test_no_vote_is_lost_or_doubled_where_some_values_are(
    what: Callable[[Publish], Passed], car: Host, ana: Client, hostile: HostileBroker, nodes: BrokerNodes
) -> None:
    hostile.fault = sometimes(SHARE, what, VALUES)
    for song in SONGS[1:-1]:
        nodes.cast(ana, song)
        nodes.net.pass_time(0.2)
    nodes.net.until(lambda: bool(ana.ends), "the end of a link", timeout=PATIENCE)
    hostile.fault = None
    nodes.vote(ana, SONGS[-1])
    nodes.until_counted(ana, *SONGS)
    assert votes(car, ana) == sorted(SONGS)


def test_a_link_that_is_only_slow_goes_on(car: Host, ana: Client, hostile: HostileBroker, nodes: BrokerNodes) -> None:
    hostile.fault = sometimes(1.0, delayed(1.0), VALUES)
    nodes.vote(ana, *SONGS[1:])
    assert votes(car, ana) == sorted(SONGS) and not ana.ends


@pytest.mark.long
def test_a_link_that_nothing_comes_over_is_given_up(
    car: Host, ana: Client, hostile: HostileBroker, nodes: BrokerNodes
) -> None:
    hostile.fault = sometimes(1.0, dropped, VALUES)
    nodes.cast(ana, *SONGS[1:])
    nodes.until_lost(ana)
    hostile.fault = None
    nodes.until_counted(ana, *SONGS)
    assert votes(car, ana) == sorted(SONGS)


def test_a_call_that_is_lost_is_made_again_on_another_channel(
    car: Host, hostile: HostileBroker, nodes: BrokerNodes
) -> None:
    hostile.fault = sometimes(1.0, dropped, CALLS)
    ana = nodes.calling("Ana", hostile.url)
    nodes.net.until(lambda: bool(hostile.published(CALLS)), "a call")
    hostile.fault = None
    nodes.until_in(ana)
    calls = [Call.read(seen.message.payload) for seen in hostile.published(CALLS)]
    assert len(calls) == 2 and calls[0].channel != calls[1].channel
    # The caller reports the end of the first channel, whether or not that message arrives.
    ended = TOPICS.to(address_of(car.key.identifier), calls[0].channel)
    assert [seen.message.payload for seen in hostile.published(ended)] == [b"\0"]


def test_a_doubled_call_opens_one_channel(car: Host, hostile: HostileBroker, nodes: BrokerNodes) -> None:
    hostile.fault = sometimes(1.0, doubled, CALLS)
    ana = nodes.guest("Ana", hostile.url)
    nodes.vote(ana, "n1")
    assert len(nodes.radios[CAR].channels) == 1 and not ana.ends


def test_an_advertisement_that_is_late_is_heard_all_the_same(
    car: Host, hostile: HostileBroker, nodes: BrokerNodes
) -> None:
    hostile.fault = sometimes(1.0, delayed(1.0), TOPICS.here())
    nodes.vote(nodes.guest("Ana", hostile.url), "n1")


def test_a_last_will_that_is_late_hides_no_host(car: Host, hostile: HostileBroker, nodes: BrokerNodes) -> None:
    """The last will of a lost connection arrives after the host's next connection has been advertised."""
    here = TOPICS.here(address_of(car.key.identifier))
    nodes.net.until(lambda: here in hostile.retained, "the advertisement")

    def late_will(message: Publish) -> Passed:
        return [(0.0 if message.payload else 1.0, message)]

    hostile.fault = late_will
    hostile.cut(client_id(address_of(car.key.identifier)))
    nodes.net.until(lambda: len(hostile.published(here)) == 4, "the advertisement, its end, a new one, and once more")
    assert hostile.retained[here].payload == hostile.published(here)[-1].message.payload
    nodes.guest("Ana", hostile.url)


def test_no_more_is_under_way_than_the_window(car: Host, hostile: HostileBroker, nodes: BrokerNodes) -> None:
    hostile.fault = keeps_acknowledgements
    ana = nodes.guest("Ana", hostile.url)
    [channel] = nodes.radios["Ana"].channels
    for _ in range(2 * WINDOW):
        assert ana.session
        ana.session.say_ping()
        nodes.net.pass_time(0.02)
    said = hostile.published(TOPICS.to(address_of(car.key.identifier), channel))
    assert len([seen for seen in said if len(seen.message.payload) > 1]) == WINDOW


def keeps_acknowledgements(message: Publish) -> Passed:
    return [] if len(message.payload) == 1 and message.payload != ANSWER else [(0.0, message)]


# Forged messages


def forged_presence(of: bytes, address: str, name: str = CAR) -> Publish:
    """An advertisement of a node with this identifier, at an address of another."""
    presence = Presence(secrets.token_bytes(4), Advertisement(0x80, of[:4]), f"{name}{Tail(of[4:9])}")
    return Publish(TOPICS.here(address), bytes(presence), 1, retain=True)


def forged_call(to: Key, number: int) -> Publish:
    call = Call(service_uuid(), f"{number:016x}", secrets.token_hex(8))
    return Publish(TOPICS.call(address_of(to.identifier)), bytes(call), 1)


def test_a_host_that_is_somebody_else_is_not_joined(car: Host, hostile: HostileBroker, nodes: BrokerNodes) -> None:
    """The host's advertisement points to another node, which does not have the host's key."""
    mallory = nodes.host(hostile.url, "Mallory")
    address = address_of(mallory.key.identifier)
    nodes.net.until(lambda: TOPICS.here(address) in hostile.retained, "Mallory's advertisement")
    hostile.forge(forged_presence(mallory.key.identifier, address))
    ana = nodes.calling("Ana", hostile.url, host_name="nobody")
    ana.wanted, ana.host_name = car.key.identifier, CAR
    nodes.until_in(ana)
    nodes.vote(ana, "n1")
    assert votes(car, ana) == ["n1"] and not mallory.intents


def test_a_host_that_is_not_there_keeps_nobody_from_the_host_that_is(
    car: Host, ana: Client, hostile: HostileBroker, nodes: BrokerNodes
) -> None:
    stranger = Key().identifier
    hostile.forge(
        forged_presence(stranger, address_of(stranger)),
        forged_presence(car.key.identifier, address_of(stranger)),
        Publish(TOPICS.here("no-address"), b"?", 1, retain=True),
    )
    hostile.cut()
    nodes.vote(ana, *SONGS[1:])
    assert votes(car, ana) == sorted(SONGS)


def test_another_run_ends_the_link_and_a_new_one_goes_on(
    car: Host, ana: Client, hostile: HostileBroker, nodes: BrokerNodes
) -> None:
    hostile.forge(forged_presence(car.key.identifier, address_of(car.key.identifier)))
    nodes.until_lost(ana)
    nodes.vote(ana, *SONGS[1:])
    assert votes(car, ana) == sorted(SONGS)


def test_calls_by_the_hundred_keep_nobody_out_for_long(
    car: Host, ana: Client, hostile: HostileBroker, nodes: BrokerNodes
) -> None:
    calls = [forged_call(car.key, number) for number in range(600)]
    hostile.forge(*calls)
    nodes.vote(ana, SONGS[1])
    # Half of the callers send a value, and none continues.
    for message in calls[::2]:
        channel = Call.read(message.payload).channel
        hostile.forge(Publish(TOPICS.to(address_of(car.key.identifier), channel), b"\xc0\x00\x21\x01" + bytes(32), 1))
    nodes.vote(ana, SONGS[2])
    bob = nodes.guest("Bob", hostile.url)
    nodes.vote(bob, SONGS[1])
    assert not ana.ends
    nodes.net.until(lambda: len(nodes.radios[CAR].channels) == 2, "the end of the others")


@pytest.mark.parametrize(
    "value",
    [b"", b"\0", b"\x80", b"\xc0\x00\x05hello", b"\xff" * 2_300, secrets.token_bytes(100)],
    ids=["empty", "an end", "half a header", "an SDU", "too long", "noise"],
)
def test_a_value_that_nobody_has_sent_ends_the_link_at_most(
    value: bytes, car: Host, ana: Client, hostile: HostileBroker, nodes: BrokerNodes
) -> None:
    [channel] = nodes.radios["Ana"].channels
    hostile.forge(*[Publish(TOPICS.to(one, channel), value, 1) for one in addresses(car, ana)])
    nodes.until_lost(ana)
    nodes.vote(ana, *SONGS[1:])
    assert votes(car, ana) == sorted(SONGS)


def test_what_is_said_to_unknown_channels_is_not_looked_at(
    car: Host, ana: Client, hostile: HostileBroker, nodes: BrokerNodes
) -> None:
    for one in addresses(car, ana):
        for value in (b"", ANSWER, b"\0", b"\xc0\x00\x05hello"):
            hostile.forge(Publish(TOPICS.to(one, secrets.token_hex(8)), value), Publish(TOPICS.to(one, "call"), value))
    nodes.vote(ana, *SONGS[1:])
    assert votes(car, ana) == sorted(SONGS) and not ana.ends


def test_what_was_recorded_counts_for_nothing_later(
    car: Host, ana: Client, hostile: HostileBroker, nodes: BrokerNodes
) -> None:
    recorded = [seen.message for seen in hostile.published(VALUES)]
    hostile.cut()
    nodes.until_lost(ana)
    nodes.until_in(ana)
    hostile.forge(*recorded)
    nodes.vote(ana, *SONGS[1:])
    assert votes(car, ana) == sorted(SONGS)


def addresses(*of: Host | Client) -> list[str]:
    return [address_of(node.key.identifier) for node in of]


# Faults of connections


def test_a_guest_whose_connection_is_cut_comes_back(
    car: Host, ana: Client, hostile: HostileBroker, nodes: BrokerNodes
) -> None:
    for song in SONGS[1:]:
        nodes.cast(ana, song)
        hostile.cut(client_id(address_of(ana.key.identifier)))
        nodes.until_counted(ana, song)
    assert votes(car, ana) == sorted(SONGS) and "lost" in ana.ends


def test_a_guest_comes_back_to_a_host_whose_connection_is_cut(
    car: Host, ana: Client, hostile: HostileBroker, nodes: BrokerNodes
) -> None:
    """The host's next run reports that the channel is gone, long before silence would show it."""
    for song in SONGS[1:]:
        nodes.cast(ana, song)
        hostile.cut(client_id(address_of(car.key.identifier)))
        nodes.until_counted(ana, song)
    assert votes(car, ana) == sorted(SONGS) and set(ana.ends) == {"lost"}


@pytest.mark.parametrize("code", [4, 5], ids=["a bad password", "not authorized"])
def test_who_is_refused_tries_again(
    code: int, car: Host, ana: Client, hostile: HostileBroker, nodes: BrokerNodes
) -> None:
    hostile.refusal = code
    hostile.cut()
    connections = hostile.connections
    nodes.cast(ana, *SONGS[1:])
    nodes.net.until(lambda: hostile.connections >= connections + 4, "another connection")
    hostile.refusal = 0
    nodes.until_counted(ana, *SONGS)
    assert votes(car, ana) == sorted(SONGS)


@pytest.mark.long
def test_a_broker_that_answers_nothing_is_left_and_come_back_to(
    car: Host, ana: Client, hostile: HostileBroker, nodes: BrokerNodes
) -> None:
    hostile.is_mute = True
    nodes.cast(ana, *SONGS[1:])
    nodes.until_lost(ana)
    hostile.is_mute = False
    nodes.until_counted(ana, *SONGS)
    assert votes(car, ana) == sorted(SONGS)


@pytest.mark.parametrize("side", ["host", "guest"])
@pytest.mark.long
def test_who_is_forgotten_by_the_broker_connects_anew(
    side: str, car: Host, ana: Client, hostile: HostileBroker, nodes: BrokerNodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker, "QUIET", 2.0)
    connections = hostile.connections
    hostile.forget(client_id(address_of((car if side == "host" else ana).key.identifier)))
    nodes.vote(ana, *SONGS[1:])
    assert votes(car, ana) == sorted(SONGS) and hostile.connections == connections + 1


def test_who_is_only_quiet_stays_connected(
    car: Host, ana: Client, hostile: HostileBroker, nodes: BrokerNodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker, "QUIET", 0.2)
    connections = hostile.connections
    own = TOPICS.to(address_of(car.key.identifier))
    to_itself = client_id(address_of(car.key.identifier))
    nodes.net.until(lambda: [seen.client for seen in hostile.published(own)].count(to_itself) >= 5, "it asks itself")
    assert hostile.connections == connections and not ana.ends


# Privacy at a broker


def test_nothing_but_names_and_addresses_can_be_read(
    car: Host, ana: Client, hostile: HostileBroker, nodes: BrokerNodes
) -> None:
    nodes.vote(ana, *SONGS[1:])
    hostile.cut()
    nodes.until_lost(ana)
    nodes.until_in(ana)
    seen = bytes(hostile.heard)
    assert CAR.encode() in seen
    for secret in (b"Mile", b"Milestones", b"Ana", ana.key.identifier, car.key.identifier, ana.key.public):
        assert secret not in seen
