# SPDX-License-Identifier: Apache-2.0
"""The real program at a hostile broker: no vote is lost or counted twice, and nothing can be read."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic

import pytest
from roadmesh_peer.broker_faults import Passed, altered, delayed, doubled, dropped, late, sometimes
from roadmesh_peer.broker_nodes import CAR
from roadmesh_peer.broker_wire import ANSWER, LARGEST_VALUE, Call, Presence, Topics, client_id
from roadmesh_peer.hostile_broker import HostileBroker
from roadmesh_peer.mqtt import Publish
from roadmesh_peer.noise_link import Key
from roadmesh_peer.wire import Advertisement, Tail, service_uuid
from roadmesh_program.fixtures import Start, StartHost
from roadmesh_program.measuring import resident
from roadmesh_program.program import Program
from roadmesh_program.votes import has_counted

TOPICS = Topics()
CALLS, VALUES = TOPICS.to("+", "call"), TOPICS.to("+")
SONGS = tuple(f"n{number}" for number in range(1, 13))
SHARE = 0.2
BACK = 90.0
# Shorter than the detection of a lost path: 6 s for an unacknowledged message, 30 s for silence.
SOON = 4.0
# More advertisements than this within so many seconds are a storm.
STORM, LOOKS = 30, 5.0
FLOOD = 5_000
LARGEST_GROWTH = 16 << 10
"""In KiB."""


def identifier(program: Program) -> bytes:
    return bytes.fromhex(program.seen("ready")[0]["peer"]["id"])


def address(program: Program) -> str:
    return identifier(program)[:8].hex()


class Pair:
    """A real host and a real guest, connected only by a hostile broker."""

    def __init__(self, car: Program, bob: Program, broker: HostileBroker) -> None:
        self.car, self.bob, self.broker = car, bob, broker
        self._cast: list[str] = []

    def cast(self, *songs: str) -> None:
        for song in songs:
            self.bob.say(f"vote {song}")
        self._cast += songs

    def counted(self) -> None:
        for song in self._cast:
            self.bob.expect_seen("vote", songID=song, state="confirmed", timeout=BACK)

    def vote(self, *songs: str) -> None:
        self.cast(*songs)
        self.counted()

    def until_lost(self, timeout: float = BACK) -> None:
        self.bob.expect("connection", state="reconnecting", timeout=timeout)

    @property
    def channels(self) -> set[str]:
        """The channels that values have gone over so far, without those in which a node sends to itself."""
        topics = [(seen.client, *seen.message.topic.split("/")[-2:]) for seen in self.broker.published(VALUES)]
        places = [place for client, to, place in topics if client != client_id(to)]
        return {place for place in places if place != "call"}

    def hold_true(self) -> None:
        """Each vote has counted once, no program has crashed, and the broker could read nothing."""
        has_counted(self.car, {"Bob": self._cast})
        seen = bytes(self.broker.heard)
        assert CAR.encode() in seen
        for secret in (b"Mile", b"Milestones", b"Bob", identifier(self.car), identifier(self.bob)):
            assert secret not in seen, secret


@pytest.fixture
def pair(hostile: HostileBroker, start_host: StartHost, start: Start, air: Path) -> Iterator[Pair]:
    """A host and a guest that are linked over the broker, after a vote has counted."""
    car = start_host(20, "Mile", "--broker", hostile.url)
    bob = start("guest", "Bob", "bob", "--air", str(air / "far"), "--broker", hostile.url, "--host", CAR)
    bob.expect("connection", state="connected", timeout=BACK)
    made = Pair(car, bob, hostile)
    made.vote(SONGS[0])
    yield made
    made.hold_true()


# A correct broker


def test_all_that_is_said_is_what_the_document_says(pair: Pair) -> None:
    pair.broker.cut()
    pair.until_lost()
    pair.vote(*SONGS[1:])
    broker, car, bob = pair.broker, address(pair.car), address(pair.bob)
    assert {connect.client for connect in broker.connects} == {client_id(car), client_id(bob)}
    assert all(connect.is_clean for connect in broker.connects)
    wills = {connect.client: connect.will for connect in broker.connects}
    assert wills[client_id(car)] == Publish(TOPICS.here(car), b"", 0, retain=True)
    assert broker.subscribed and all(qos == 0 for _, _, qos in broker.subscribed)
    for who in (car, bob):
        assert next(topic for client, topic, _ in broker.subscribed if client == client_id(who)) == TOPICS.to(who)
    # The sender and the receiver of each value.
    heres = broker.published(TOPICS.here())
    assert all(seen.client == client_id(seen.message.topic.rpartition("/")[2]) for seen in heres)
    assert {seen.client for seen in heres if seen.message.payload} == {client_id(car)}
    calls = [Call.read(seen.message.payload) for seen in broker.published(CALLS)]
    assert {(call.service, call.caller) for call in calls} == {(service_uuid(), bob)}
    assert {seen.message.topic for seen in broker.published(CALLS)} == {TOPICS.call(car)}
    assert {call.channel for call in calls} == pair.channels and len(calls) == len(pair.channels)
    for seen in broker.seen:
        assert seen.message.qos == 0 and seen.message.retain == (seen in heres), seen
        assert len(seen.message.payload) <= LARGEST_VALUE
    runs = [Presence.read(seen.message.payload).run for seen in heres if seen.message.payload]
    assert len(set(runs)) == 2


def test_every_channel_begins_with_the_answer_to_its_call_which_was_heard(pair: Pair) -> None:
    both = [(client_id(address(program)), ANSWER) for program in (pair.car, pair.bob)]
    for channel in pair.channels:
        values = pair.broker.published(TOPICS.to("+", channel))
        assert [(seen.client, seen.message.payload) for seen in values[:2]] == both


# Faults of messages


@pytest.mark.sample(2)
@pytest.mark.parametrize("what", [dropped, doubled, late, altered], ids=["dropped", "doubled", "reordered", "altered"])
def test_no_vote_is_lost_or_doubled_where_some_values_are(what: Callable[[Publish], Passed], pair: Pair) -> None:
    pair.broker.fault = sometimes(SHARE, what, VALUES)
    channels = len(pair.channels)
    for song in SONGS[1:-1]:
        said = len(pair.broker.seen)
        pair.cast(song)
        pair.broker.until(lambda said=said: len(pair.broker.seen) > said, "a message", timeout=BACK)  # type: ignore[misc]
    pair.broker.until(lambda: len(pair.channels) > channels, "another channel", timeout=BACK)
    pair.broker.fault = None
    pair.vote(SONGS[-1])


@pytest.mark.parametrize("share", [0.5, 1.0], ids=["half", "everything"])
@pytest.mark.long
def test_nothing_is_lost_or_doubled_where_a_link_loses(share: float, pair: Pair) -> None:
    pair.broker.fault = sometimes(share, dropped, VALUES)
    pair.cast(*SONGS[1:])
    pair.until_lost()
    pair.broker.fault = None
    pair.counted()


def test_a_link_that_is_only_slow_goes_on(pair: Pair) -> None:
    pair.broker.fault = sometimes(1.0, delayed(1.0), VALUES)
    channels = len(pair.channels)
    pair.vote(*SONGS[1:])
    assert len(pair.channels) == channels and not pair.bob.seen("connection", state="reconnecting")


@pytest.mark.long
def test_calls_that_are_lost_are_made_again_on_other_channels(pair: Pair) -> None:
    pair.broker.fault = sometimes(1.0, dropped, CALLS)
    calls = len(pair.broker.published(CALLS))
    pair.broker.cut()
    pair.broker.until(lambda: len(pair.broker.published(CALLS)) >= calls + 2, "two calls", timeout=BACK)
    pair.broker.fault = None
    pair.vote(*SONGS[1:])
    channels = [Call.read(seen.message.payload).channel for seen in pair.broker.published(CALLS)]
    assert len(set(channels)) == len(channels)


def test_calls_that_are_doubled_open_one_channel_each(pair: Pair) -> None:
    pair.broker.fault = sometimes(1.0, doubled, CALLS)
    pair.broker.cut()
    pair.until_lost()
    channels = len(pair.channels)
    pair.vote(*SONGS[1:])
    assert len(pair.channels) == channels + 1


def test_a_last_will_that_is_late_hides_no_host(pair: Pair) -> None:
    here = TOPICS.here(address(pair.car))
    pair.broker.fault = lambda message: [(0.0 if message.payload else 1.0, message)]
    published = len(pair.broker.published(here))
    pair.broker.cut(client_id(address(pair.car)))
    pair.broker.until(
        lambda: len(pair.broker.published(here)) >= published + 3, "the end, a new one, and once more", timeout=BACK
    )
    assert pair.broker.retained[here].payload == pair.broker.published(here)[-1].message.payload
    pair.vote(*SONGS[1:])


@pytest.mark.long
def test_an_advertisement_that_is_removed_again_and_again_is_put_back_at_leisure(pair: Pair) -> None:
    """Any client can cause this: it only has to publish an empty message there."""
    here = TOPICS.here(address(pair.car))
    published = len(pair.broker.published(here))

    def removed(message: Publish) -> Passed:
        more = [(0.0, replace(message, payload=b""))] if message.topic == here and message.payload else []
        return [(0.0, message), *more]

    pair.broker.fault = removed
    pair.broker.forge(Publish(here, b"", 1, retain=True))
    pair.vote(*SONGS[1:])
    pair.broker.until(lambda: len(pair.broker.published(here)) >= published + 2, "the advertisement", timeout=BACK)
    began, before = monotonic(), len(pair.broker.published(here))
    with suppress(TimeoutError):
        pair.broker.until(lambda: len(pair.broker.published(here)) > before + STORM, timeout=LOOKS)
    assert monotonic() - began >= LOOKS, "a storm"
    pair.broker.fault = None
    pair.broker.forge(Publish(here, b"", 1, retain=True))
    pair.broker.until(lambda: here in pair.broker.retained, "the advertisement", timeout=BACK)


# Forged messages


def forged_presence(of: bytes, at: str, name: str = CAR) -> Publish:
    presence = Presence(secrets.token_bytes(4), Advertisement(0x80, of[:4]), f"{name}{Tail(of[4:9])}")
    return Publish(TOPICS.here(at), bytes(presence), 1, retain=True)


@pytest.mark.parametrize("is_gone_first", [False, True], ids=["at once", "after its end"])
def test_another_run_ends_the_link_and_a_new_one_goes_on(is_gone_first: bool, pair: Pair) -> None:
    # The host publishes its own advertisement again when it sees that it is gone.
    pair.broker.fault = sometimes(1.0, dropped, TOPICS.here())
    if is_gone_first:
        pair.broker.forge(Publish(TOPICS.here(address(pair.car)), b"", 1, retain=True))
    pair.broker.forge(forged_presence(identifier(pair.car), address(pair.car)))
    pair.until_lost(SOON)
    pair.broker.fault = None
    pair.vote(*SONGS[1:])


def test_false_advertisements_by_the_hundred_keep_the_guest_from_nothing(pair: Pair) -> None:
    strangers = [Key().identifier for _ in range(300)]
    pair.broker.forge(
        *[forged_presence(stranger, stranger[:8].hex()) for stranger in strangers],
        *[forged_presence(identifier(pair.car), stranger[:8].hex()) for stranger in strangers[:20]],
        *[Publish(TOPICS.here(secrets.token_hex(8)), secrets.token_bytes(40), 1, retain=True) for _ in range(20)],
        Publish(TOPICS.here("no-address"), b"?", 1, retain=True),
    )
    pair.vote(*SONGS[1:6])
    pair.broker.cut(client_id(address(pair.bob)))
    pair.until_lost()
    pair.vote(*SONGS[6:])


def forged_calls(to: Program, count: int) -> list[Publish]:
    calls = [Call(service_uuid(), secrets.token_hex(8), secrets.token_hex(8)) for _ in range(count)]
    return [Publish(TOPICS.call(address(to)), bytes(call), 1) for call in calls]


@pytest.mark.long
def test_calls_by_the_thousand_keep_nobody_out_and_take_no_memory(pair: Pair) -> None:
    before = resident(pair.car.pid)
    pair.broker.forge(*forged_calls(pair.car, FLOOD), *forged_calls(pair.bob, FLOOD))
    pair.vote(*SONGS[1:6])
    pair.broker.cut(client_id(address(pair.bob)))
    pair.until_lost()
    pair.vote(*SONGS[6:])
    assert resident(pair.car.pid) - before < LARGEST_GROWTH


def test_hundreds_of_calls_that_speak_end_no_other_link(pair: Pair) -> None:
    """Each sends bytes that could begin a handshake."""
    for call in forged_calls(pair.car, 200):
        channel = Call.read(call.payload).channel
        value = b"\xc0\x00\x22\x01\x02" + secrets.token_bytes(32)
        pair.broker.forge(call, Publish(TOPICS.to(address(pair.car), channel), value, 1))
    pair.vote(*SONGS[1:])
    assert not pair.bob.seen("connection", state="reconnecting")


@pytest.mark.parametrize(
    "value",
    [b"", b"\0", b"\x80", b"\xc0\x00\x05hello", b"\xff" * 2_300, bytes(60_000), secrets.token_bytes(100)],
    ids=["empty", "an end", "half a header", "an SDU", "too long", "much too long", "noise"],
)
@pytest.mark.parametrize("side", ["host", "guest"])
@pytest.mark.long
def test_a_value_that_nobody_has_sent_ends_the_link_at_most(side: str, value: bytes, pair: Pair) -> None:
    to = pair.car if side == "host" else pair.bob
    for channel in pair.channels:
        pair.broker.forge(Publish(TOPICS.to(address(to), channel), value, 1))
    pair.vote(*SONGS[1:])


@pytest.mark.sample(2)
@pytest.mark.parametrize("value", [b"\x50", b"\x7e", b"\xc1\x00\x01x"], ids=["an acknowledgement", "another", "a gap"])
@pytest.mark.parametrize("side", ["host", "guest"])
def test_a_side_that_gets_what_cannot_be_says_that_the_channel_is_over(side: str, value: bytes, pair: Pair) -> None:
    to, other = (pair.car, pair.bob) if side == "host" else (pair.bob, pair.car)
    [channel] = pair.channels
    pair.broker.forge(Publish(TOPICS.to(address(to), channel), value, 1))
    ends = TOPICS.to(address(other), channel)

    def ended() -> bool:
        said = [seen.message.payload for seen in pair.broker.published(ends)]
        return any(len(value) == 1 and not value[0] & 0xC0 for value in said)

    pair.broker.until(ended, "the end, with any number", timeout=BACK)
    pair.until_lost()
    pair.vote(*SONGS[1:])


def test_garbage_to_every_topic_is_not_looked_at(pair: Pair) -> None:
    for to in (pair.car, pair.bob):
        for place in ("call", "", "x", secrets.token_hex(8), "F" * 16, "\N{DANGO}"):
            for value in (b"", ANSWER, b"\0", b"\x02" + bytes(32), bytes(33), bytes(60_000)):
                pair.broker.forge(Publish(TOPICS.to(address(to), place), value, 1))
    pair.vote(*SONGS[1:])
    assert not pair.bob.seen("connection", state="reconnecting")


def test_what_was_recorded_counts_for_nothing_later(pair: Pair) -> None:
    recorded = [seen.message for seen in pair.broker.seen]
    pair.vote(SONGS[1])
    pair.broker.cut()
    pair.until_lost()
    pair.vote(SONGS[2])
    pair.broker.forge(*recorded)
    pair.vote(*SONGS[3:])


# Faults of connections


@pytest.mark.parametrize("side", ["host", "guest"])
@pytest.mark.long
def test_who_is_cut_comes_back_before_any_silence_is_noticed(side: str, pair: Pair) -> None:
    for song in SONGS[1:5]:
        pair.cast(song)
        pair.broker.cut(client_id(address(pair.car if side == "host" else pair.bob)))
        pair.until_lost(SOON)
        pair.counted()


@pytest.mark.parametrize("code", [4, 5], ids=["a bad password", "not authorized"])
def test_who_is_refused_says_so_and_tries_again(code: int, pair: Pair) -> None:
    pair.broker.refusal = code
    pair.broker.cut()
    pair.cast(*SONGS[1:])
    for program in (pair.car, pair.bob):
        program.expect("broker", state="refused", timeout=BACK)
    pair.broker.refusal = 0
    pair.counted()


@pytest.mark.long
def test_a_broker_that_answers_nothing_is_left_and_come_back_to(pair: Pair) -> None:
    pair.broker.is_mute = True
    pair.cast(*SONGS[1:])
    pair.until_lost()
    pair.broker.is_mute = False
    pair.counted()


def test_a_broker_that_answers_no_new_connection_is_left_and_come_back_to(pair: Pair) -> None:
    pair.broker.is_mute = True
    connections = pair.broker.connections
    pair.broker.cut()
    pair.until_lost()
    pair.cast(*SONGS[1:])
    pair.broker.is_mute = False
    pair.counted()
    assert pair.broker.connections > connections


@pytest.mark.parametrize("side", ["host", "guest"])
@pytest.mark.long
def test_who_is_forgotten_by_the_broker_connects_anew(side: str, pair: Pair) -> None:
    connections = pair.broker.connections
    pair.broker.forget(client_id(address(pair.car if side == "host" else pair.bob)))
    pair.vote(*SONGS[1:])
    assert pair.broker.connections == connections + 1
