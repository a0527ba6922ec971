# SPDX-License-Identifier: Apache-2.0
"""Nodes that share no code with RoadMesh meet at real MQTT brokers. The brokers start, stop and freeze."""

from __future__ import annotations

import pytest
from roadmesh_peer import document
from roadmesh_peer.broker_nodes import CAR, PATIENCE, BrokerNodes
from roadmesh_peer.broker_wire import ANSWER, Call, Presence, Topics, address_of
from roadmesh_peer.document import ANA
from roadmesh_peer.mesh_client import Client
from roadmesh_peer.mesh_host import Host
from roadmesh_peer.wire import LARGEST_SDU, Advertisement, Malformed, Tail, service_uuid
from roadmesh_program.brokers import Broker, Cluster

# An outage that no node notices: it is shorter than a link's silence and than the time a node waits for a broker.
SHORT = 2.0

PRESENCE = Presence(
    bytes.fromhex("0a0b0c0d"),
    Advertisement(0x80, document.CAR.identifier[:4]),
    f"Dad's Car{Tail(document.CAR.identifier[4:9])}",
)
CALL = Call(service_uuid(), address_of(ANA.identifier), "0102030405060708")


def votes(host: Host, guest: Client) -> list[str]:
    """A guest's votes that have counted, each as often as it was counted."""
    return sorted(song for who, song in host.intents if who == guest.key.identifier)


# Published messages


def test_what_nodes_publish_is_what_the_document_shows() -> None:
    topics = Topics()
    for topic in (
        topics.here(address_of(document.CAR.identifier)),
        topics.call(address_of(document.CAR.identifier)),
        topics.to(CALL.caller, CALL.channel),
    ):
        assert f"\n{topic}\n" in document.text()
    # These examples begin with a topic, which is not hexadecimal, and contain no spaces.
    assert document.gives(bytes(PRESENCE))
    assert document.gives(bytes(CALL) + ANSWER + ANSWER)


def test_what_was_published_is_read() -> None:
    assert Presence.read(bytes(PRESENCE)) == PRESENCE
    heard = PRESENCE.heard(address_of(document.CAR.identifier))
    assert (heard.name, heard.head, heard.is_relay) == (CAR, document.CAR.identifier[:9], False)
    assert Call.read(bytes(CALL)) == CALL


@pytest.mark.parametrize(
    "message",
    [
        b"",
        bytes(PRESENCE)[:3],
        bytes(PRESENCE)[:10],
        bytes(4) + b"\x05" + bytes(PRESENCE)[5:10],
        bytes(PRESENCE) + b"\xff",
    ],
    ids=["empty", "half a run", "cut off", "a payload of five bytes", "no UTF-8"],
)
def test_no_advertisement_is_read_from(message: bytes) -> None:
    with pytest.raises(Malformed):
        Presence.read(message)


@pytest.mark.parametrize(
    "message",
    [b"", b"\x02" + bytes(CALL)[1:], bytes(CALL)[:-1], bytes(CALL) + b"\0"],
    ids=["empty", "of another version", "cut off", "too long"],
)
def test_no_call_is_read_from(message: bytes) -> None:
    with pytest.raises(Malformed):
        Call.read(message)


def test_an_advertisement_at_another_address_than_its_own_is_none() -> None:
    with pytest.raises(Malformed):
        PRESENCE.heard(address_of(ANA.identifier))


# One broker


def test_guests_see_one_anothers_votes(mosquitto: Broker, nodes: BrokerNodes) -> None:
    car = nodes.host(mosquitto.url)
    guests = [nodes.guest(name, mosquitto.url) for name in ("Ana", "Bob", "Eve")]
    for guest in guests:
        nodes.cast(guest, "n1", "n2")
    for guest in guests:
        nodes.until_counted(guest, "n1", "n2")
    nodes.net.until(lambda: all(guest.view.state == car.state for guest in guests), "everybody sees the same")


def test_a_host_that_comes_later_is_found(mosquitto: Broker, nodes: BrokerNodes) -> None:
    ana = nodes.calling("Ana", mosquitto.url)
    nodes.net.until(lambda: nodes.radios["Ana"].is_connected)
    car = nodes.host(mosquitto.url)
    nodes.until_in(ana)
    nodes.vote(ana, "n1")
    assert votes(car, ana) == ["n1"]


class Sender:
    """Sends the SDUs that it is given, and keeps those that it receives."""

    def __init__(self, *sdus: bytes) -> None:
        self.owner = self
        self.begun_at = 0.0
        self.is_over = False
        self.to_say = list(sdus)
        self.heard: list[bytes] = []

    def take(self, sdu: bytes) -> None:
        self.heard.append(sdu)

    def next_sdu(self) -> bytes | None:
        return self.to_say.pop(0) if self.to_say else None

    def lost(self) -> None:
        self.is_over = True


def test_more_than_may_be_under_way_arrives_whole_and_in_order(mosquitto: Broker, nodes: BrokerNodes) -> None:
    sdus = [bytes((number,)) * (LARGEST_SDU - number) for number in range(200)]
    called, calling = Sender(), Sender(*sdus)
    nodes.host(mosquitto.url)
    nodes.radios[CAR].accept(lambda: called)
    ana = nodes.calling("Ana", mosquitto.url, host_name="nobody")
    radio = nodes.radios["Ana"]
    nodes.net.until(lambda: bool(radio.present), "the host")
    radio.dial(radio.present[0], calling)
    nodes.net.until(lambda: len(called.heard) == len(sdus), "everything")
    assert called.heard == sdus and not called.is_over and not ana.up
    calling.is_over = True
    nodes.net.until(lambda: called.is_over, "the end")


# A broker that goes away


def test_a_broker_that_stands_still_for_a_moment_ends_no_link(mosquitto: Broker, nodes: BrokerNodes) -> None:
    car = nodes.host(mosquitto.url)
    ana = nodes.guest("Ana", mosquitto.url)
    with mosquitto.frozen():
        nodes.cast(ana, "n1")
        nodes.net.pass_time(SHORT)
        assert not car.intents
    nodes.until_counted(ana, "n1")
    assert votes(car, ana) == ["n1"] and ana.ends == []


@pytest.mark.long
def test_a_broker_that_stands_still_for_long_is_left_and_come_back_to(mosquitto: Broker, nodes: BrokerNodes) -> None:
    car = nodes.host(mosquitto.url)
    ana = nodes.guest("Ana", mosquitto.url)
    with mosquitto.frozen():
        nodes.cast(ana, "n1")
        nodes.until_lost(ana)
    nodes.until_counted(ana, "n1")
    assert votes(car, ana) == ["n1"]


# A cluster


@pytest.fixture
def car_in_cluster(cluster: Cluster, nodes: BrokerNodes) -> Host:
    car = nodes.host(cluster.brokers[0].url)
    here = Topics().here(address_of(car.key.identifier))
    nodes.net.until(lambda: nodes.radios[CAR].is_advertised, "the advertisement", timeout=PATIENCE)
    cluster.until_told(here)
    return car


@pytest.mark.long
def test_no_vote_is_lost_or_doubled_where_a_broker_of_the_cluster_is_killed(
    cluster: Cluster, nodes: BrokerNodes, car_in_cluster: Host
) -> None:
    first, second, third = cluster.brokers
    ana = nodes.guest("Ana", second.url)
    nodes.vote(ana, "n1")
    for number, broker in enumerate((third, first), 2):
        broker.kill()
        nodes.cast(ana, f"n{number}")
        broker.start()
        nodes.until_counted(ana, f"n{number}")
    assert votes(car_in_cluster, ana) == ["n1", "n2", "n3"]
