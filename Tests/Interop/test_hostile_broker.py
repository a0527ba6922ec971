# SPDX-License-Identifier: Apache-2.0
"""Nodes in Python at a hostile broker: what test_real_hostile_broker.py does not test with the real program."""

from __future__ import annotations

import secrets

import pytest
from roadmesh_peer import broker
from roadmesh_peer.broker_faults import Passed, delayed, dropped, sometimes
from roadmesh_peer.broker_nodes import CAR, BrokerNodes
from roadmesh_peer.broker_wire import ANSWER, Presence, Topics, address_of, client_id
from roadmesh_peer.chunks import WINDOW
from roadmesh_peer.hostile_broker import HostileBroker
from roadmesh_peer.mesh_client import Client
from roadmesh_peer.mesh_host import Host
from roadmesh_peer.mqtt import Publish
from roadmesh_peer.noise_link import Key
from roadmesh_peer.wire import Advertisement, Tail

TOPICS = Topics()
VALUES = TOPICS.to("+")
SONGS = tuple(f"n{number}" for number in range(1, 9))


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


def test_an_advertisement_that_is_late_is_heard_all_the_same(
    car: Host, hostile: HostileBroker, nodes: BrokerNodes
) -> None:
    hostile.fault = sometimes(1.0, delayed(1.0), TOPICS.here())
    nodes.vote(nodes.guest("Ana", hostile.url), "n1")


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


# Faults of connections


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
