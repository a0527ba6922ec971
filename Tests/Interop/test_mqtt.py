# SPDX-License-Identifier: Apache-2.0
"""The tests' broker behaves like mosquitto until a test makes it misbehave."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic

import pytest
from paho.mqtt.client import Client, MQTTMessage, MQTTv311
from paho.mqtt.enums import CallbackAPIVersion
from roadmesh_peer.broker_faults import delayed, doubled, dropped, late, sometimes
from roadmesh_peer.hostile_broker import HostileBroker
from roadmesh_peer.mqtt import Publish, matches
from roadmesh_program.brokers import Broker

AnyBroker = Broker | HostileBroker

PATIENCE = 20.0
STEP = 0.01


class User:
    """A client that a test controls."""

    def __init__(self, name: str, port: int, will: str | None = None, keep_alive: int = 60) -> None:
        self.codes: list[int] = []
        self.granted: list[int] = []
        self.heard: list[tuple[str, bytes, bool]] = []
        self.acknowledged = 0
        self.is_lost = False
        client = self.client = Client(
            CallbackAPIVersion.VERSION2, client_id=name, protocol=MQTTv311, reconnect_on_failure=False
        )
        if will:
            client.will_set(will, b"gone", 1, retain=True)
        client.on_connect = self._connected
        client.on_subscribe = lambda *about: self.granted.extend(reason.value for reason in about[3])
        client.on_message = self._came
        client.on_publish = self._published
        client.on_disconnect = self._disconnected
        client.connect("127.0.0.1", port, keep_alive)

    def _connected(self, *about: object) -> None:
        self.codes.append(getattr(about[3], "value", 0))

    def _came(self, _: object, __: object, message: MQTTMessage) -> None:
        self.heard.append((message.topic, message.payload, message.retain))

    def _published(self, *_: object) -> None:
        self.acknowledged += 1

    def _disconnected(self, *_: object) -> None:
        self.is_lost = True


class Users:
    """Clients of one broker."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._users: list[User] = []

    def connecting(self, name: str, will: str | None = None, keep_alive: int = 60) -> User:
        self._users.append(User(name, self._port, will, keep_alive))
        return self._users[-1]

    def connected(self, name: str, *topics: str, qos: int = 1, will: str | None = None, keep_alive: int = 60) -> User:
        user = self.connecting(name, will, keep_alive)
        self.until(lambda: user.codes == [0])
        for topic in topics:
            user.client.subscribe(topic, qos)
        self.until(lambda: len(user.granted) == len(topics))
        return user

    def said(self, user: User, topic: str, payload: bytes, qos: int = 1, retain: bool = False) -> None:
        """A client has published a message, and the broker has it."""
        acknowledged = user.acknowledged
        user.client.publish(topic, payload, qos, retain)
        self.until(lambda: user.acknowledged > acknowledged)

    def until(self, holds: Callable[[], bool]) -> None:
        deadline = monotonic() + PATIENCE
        while not holds():
            assert monotonic() < deadline, [user.heard for user in self._users]
            for user in self._users:
                user.client.loop(STEP)

    def close(self) -> None:
        for user in self._users:
            user.client.disconnect()


@pytest.fixture(params=["mosquitto", "hostile"])
def broker(request: pytest.FixtureRequest) -> AnyBroker:
    made: AnyBroker = request.getfixturevalue(request.param)
    return made


@pytest.fixture
def users(broker: AnyBroker) -> Iterator[Users]:
    made = Users(broker.port)
    yield made
    made.close()


@pytest.fixture
def victims(hostile: HostileBroker) -> Iterator[Users]:
    """Clients of the broker that can misbehave."""
    made = Users(hostile.port)
    yield made
    made.close()


# All brokers


def test_what_is_published_reaches_who_has_subscribed(users: Users) -> None:
    ana, bob = users.connected("ana", "a/+/c"), users.connected("bob", "a/b/+", "x")
    eve = users.connected("eve")
    for topic in ("a/b/c", "a/b", "a/b/c/d", "x"):
        users.said(eve, topic, topic.encode())
    users.until(lambda: len(ana.heard) == 1 and len(bob.heard) == 2)
    assert ana.heard == [("a/b/c", b"a/b/c", False)]
    assert bob.heard == [("a/b/c", b"a/b/c", False), ("x", b"x", False)]


@pytest.mark.parametrize("published", [0, 1])
@pytest.mark.parametrize("subscribed", [0, 1])
def test_the_quality_is_the_lesser_of_both(published: int, subscribed: int, users: Users) -> None:
    qualities: list[int] = []
    ana = users.connected("ana", "a", qos=subscribed)
    assert ana.granted == [subscribed]
    ana.client.on_message = lambda _, __, message: qualities.append(message.qos)
    users.said(users.connected("eve"), "a", b"1", published)
    users.until(lambda: bool(qualities))
    assert qualities == [min(published, subscribed)]


def test_hundreds_of_messages_come_in_order(users: Users) -> None:
    ana, eve = users.connected("ana", "a"), users.connected("eve")
    for number in range(300):
        eve.client.publish("a", number.to_bytes(2, "big") * 1_000, 1)
    users.until(lambda: len(ana.heard) == 300)
    assert [int.from_bytes(payload[:2], "big") for _, payload, _ in ana.heard] == list(range(300))


def test_what_is_retained_comes_with_the_subscription_until_it_is_emptied(users: Users) -> None:
    eve = users.connected("eve")
    users.said(eve, "a/1", b"old", retain=True)
    users.said(eve, "a/1", b"new", retain=True)
    users.said(eve, "a/2", b"two", retain=True)
    ana = users.connected("ana", "a/+")
    users.until(lambda: len(ana.heard) == 2)
    assert sorted(ana.heard) == [("a/1", b"new", True), ("a/2", b"two", True)]
    users.said(eve, "a/1", b"", retain=True)
    users.until(lambda: len(ana.heard) == 3)
    assert ana.heard[-1] == ("a/1", b"", False)
    bob = users.connected("bob", "a/+")
    users.until(lambda: bool(bob.heard))
    assert bob.heard == [("a/2", b"two", True)]


def test_who_is_lost_has_a_last_will_and_who_leaves_has_none(users: Users) -> None:
    ana = users.connected("ana", "+/will")
    bob, eve = users.connected("bob", will="bob/will"), users.connected("eve", will="eve/will")
    bob.client.disconnect()
    socket = eve.client.socket()
    assert socket
    socket.close()
    users.until(lambda: bool(ana.heard))
    assert ana.heard == [("eve/will", b"gone", False)]


def test_a_client_that_comes_again_takes_the_place_of_its_first_connection(users: Users) -> None:
    ana = users.connected("ana", "+/will", "a")
    first = users.connected("bob", "a", will="first/will")
    second = users.connected("bob", "a", will="second/will")
    users.until(lambda: first.is_lost and bool(ana.heard))
    users.said(ana, "a", b"1")
    users.until(lambda: bool(second.heard))
    assert ana.heard[0] == ("first/will", b"gone", False) and not second.is_lost and not first.heard


def test_nothing_is_kept_for_who_is_away(users: Users) -> None:
    eve = users.connected("eve")
    users.connected("ana", "a").client.disconnect()
    users.said(eve, "a", b"1")
    ana = users.connected("ana", "b")
    users.said(eve, "a", b"2")
    users.said(eve, "b", b"3")
    users.until(lambda: bool(ana.heard))
    assert ana.heard == [("b", b"3", False)]


def test_who_has_ended_a_subscription_hears_no_more_of_it(users: Users) -> None:
    ana, eve = users.connected("ana", "a", "b"), users.connected("eve")
    ended: list[int] = []
    ana.client.on_unsubscribe = lambda *about: ended.append(about[2])
    ana.client.unsubscribe("a")
    users.until(lambda: bool(ended))
    users.said(eve, "a", b"1")
    users.said(eve, "b", b"2")
    users.until(lambda: bool(ana.heard))
    assert ana.heard == [("b", b"2", False)]


def test_who_says_nothing_but_that_it_is_there_stays(users: Users) -> None:
    ana = users.connected("ana", "a", keep_alive=1)
    began = monotonic()
    users.until(lambda: monotonic() > began + 3)
    users.said(users.connected("eve"), "a", b"1")
    users.until(lambda: bool(ana.heard))
    assert not ana.is_lost


def test_patterns() -> None:
    assert matches("a/+/c", "a/b/c") and matches("#", "a/b") and matches("a/#", "a") and matches("a/#", "a/b/c")
    assert not matches("a/+", "a/b/c") and not matches("a/+", "a") and not matches("a/b", "a/c")


# The broker that misbehaves on command


@pytest.mark.parametrize("code", [4, 5])
def test_it_refuses(code: int, hostile: HostileBroker, victims: Users) -> None:
    hostile.refusal = code
    ana = victims.connecting("ana")
    victims.until(lambda: ana.is_lost)
    # The client library reports the codes of MQTT 5.
    assert ana.codes == [{4: 134, 5: 135}[code]]


def test_it_answers_nothing(hostile: HostileBroker, victims: Users) -> None:
    hostile.is_mute = True
    ana = victims.connecting("ana", keep_alive=1)
    victims.until(lambda: ana.is_lost)
    assert not ana.codes and b"MQTT" in hostile.heard


def test_it_cuts_one_or_all(hostile: HostileBroker, victims: Users) -> None:
    ana, bob, eve = (victims.connected(name) for name in ("ana", "bob", "eve"))
    hostile.cut("bob")
    victims.until(lambda: bob.is_lost)
    assert not ana.is_lost and not eve.is_lost
    hostile.cut()
    victims.until(lambda: ana.is_lost and eve.is_lost)


def test_it_drops_doubles_reorders_and_delays(hostile: HostileBroker, victims: Users) -> None:
    ana, eve = victims.connected("ana", "+"), victims.connected("eve")
    faults = dict(dropped=dropped, doubled=doubled, late=late, delayed=delayed(0.5))
    for name, what in faults.items():
        hostile.fault = sometimes(1.0, what, name)
        victims.said(eve, name, b"1")
        victims.said(eve, "end", name.encode())
    victims.until(lambda: len(ana.heard) == 8)
    ends = [("end", name.encode(), False) for name in faults]
    twice = [("doubled", b"1", False)] * 2
    assert ana.heard == [ends[0], *twice, *ends[1:], ("late", b"1", False), ("delayed", b"1", False)]


def test_it_makes_up_what_nobody_has_said_and_says_again_what_somebody_has(
    hostile: HostileBroker, victims: Users
) -> None:
    ana, eve = victims.connected("ana", "a"), victims.connected("eve")
    victims.said(eve, "a", b"1")
    hostile.forge(Publish("a", b"2"), hostile.published("a")[0].message)
    victims.until(lambda: len(ana.heard) == 3)
    assert [payload for _, payload, _ in ana.heard] == [b"1", b"2", b"1"]
    assert [(seen.client, seen.message.payload) for seen in hostile.seen] == [("eve", b"1")]
