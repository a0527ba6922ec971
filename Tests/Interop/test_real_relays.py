# SPDX-License-Identifier: Apache-2.0
"""Relays with the real program in each role: host, guest and relay. The other nodes are Python's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from roadmesh_peer.circuit_frames import CircuitOpen, CloseReason, circuit_credit, circuit_data, inner_mtu
from roadmesh_peer.link_sides import Initiator
from roadmesh_peer.mesh_client import Client
from roadmesh_peer.noise_link import Key, Packet
from roadmesh_peer.wire import LARGEST_SDU, MAJOR_VERSION, Frame, Kind, Reader, Route
from roadmesh_program.program import Event, Program
from roadmesh_program.town import CAR, Town

MTU = inner_mtu(LARGEST_SDU)


def counts_once(car: Program, song: str) -> Event:
    """A vote for a song has counted at the real host, which may print that after other nodes show it."""
    told = car.expect_seen("intent", songID=song, accepted=True)
    assert len(car.seen("intent", songID=song, accepted=True)) == 1
    return told


# The host is real


def test_a_guest_joins_the_real_host_through_a_relay_and_its_vote_counts_once(town: Town) -> None:
    car = town.real_host()
    relay = town.relay("relay", "car")
    ana = town.guest("ana", "relay")
    assert ana.hops == 2 and ana.session and ana.session.in_circuit
    assert car.expect("peerConnected")["peer"]["name"] == "Relay"
    assert car.expect("peerConnected")["peer"] == {"id": ana.key.identifier.hex(), "name": "Ana"}
    town.vote(ana, "n3")
    assert counts_once(car, "n3")["peer"]["name"] == "Ana"
    town.net.until(lambda: relay.view.state == ana.view.state, "both see the same")
    # State for everybody comes signed over the carrier, and no part of it comes in the circuit.
    assert not ana.told_alone


def test_a_guest_joins_the_real_host_through_two_relays(town: Town) -> None:
    car = town.real_host()
    town.relay("relay", "car")
    second = town.relay("second", "relay")
    ana = town.guest("ana", "second")
    assert (second.hops, ana.hops) == (2, 3)
    town.vote(ana, "n1")
    town.vote(second, "n2")
    counts_once(car, "n1")
    counts_once(car, "n2")


def test_a_guest_comes_back_to_the_real_host_by_another_relay_and_no_vote_is_lost_or_doubled(town: Town) -> None:
    car = town.real_host()
    relay, _ = town.relay("relay", "car"), town.relay("other", "car")
    ana = town.guest("ana", "relay")
    town.vote(ana, "n1")
    town.roads.join("ana", "other")
    town.net.do(lambda: ana.vote("n2"))
    town.net.do(relay.close)
    town.vote(ana, "n3")
    for song in ("n1", "n2", "n3"):
        counts_once(car, song)
    assert car.expect("peerConnected", lambda one: one["peer"]["name"] == "Ana")
    assert isinstance(ana.session, Initiator) and ana.session.kept, "by what both have kept of the first handshake"


def test_a_guest_that_moves_from_a_relay_to_the_real_host_goes_on_with_its_numbers(town: Town) -> None:
    car = town.real_host()
    relay = town.relay("relay", "car")
    ana = town.guest("ana", "relay")
    town.vote(ana, "n1")
    town.roads.join("ana", "car")
    town.net.do(relay.close)
    town.net.until(lambda: ana.is_connected and ana.hops == 1, "a link to the host itself")
    town.vote(ana, "n2")
    assert ana.conversation.last == 2
    counts_once(car, "n1")
    counts_once(car, "n2")


@pytest.mark.long
def test_the_real_host_answers_a_guest_that_has_no_state_and_asks(town: Town) -> None:
    town.real_host()
    relay = town.relay("relay", "car")
    relay.next_latest = lambda link: None  # type: ignore[method-assign]
    ana = town.guest("ana", "relay")
    assert ana.told_alone


def test_a_plain_guest_of_the_real_host_is_sent_nothing_signed(town: Town) -> None:
    town.real_host()
    ana = town.guest("ana", "car")
    assert ana.session and ana.session.their_hello and not ana.session.their_hello.signing_key
    town.vote(ana, "n1")
    assert not ana.waiting.units and ana.view.snapshots + ana.view.changes >= 2


def test_a_guest_behind_relays_is_asked_for_the_hosts_pin_before_it_dials_any_of_them(town: Town) -> None:
    pin = ("--pin", "314159")
    car = town.real_host(*pin)
    relays = [town.real("guest", name, name, [before], "--relay", *pin) for name, before in (("one", "car"), ("two", "one"))]
    for relay in relays:
        relay.expect("connection", state="connected")
    bob = town.real_guest("Bob", "bob", "two")
    assert bob.expect("notice", code="proofRequired")
    assert not any(one["peer"]["name"] == "Bob" for one in car.seen("pinGuessed") + car.seen("peerConnected"))
    # The guest has not dialled a relay to reach that host.
    assert not bob.seen("linkEnded")
    bob.say("pin 314159")
    bob.expect("connection", state="connected")
    assert car.expect("peerConnected", lambda one: one["peer"]["name"] == "Bob")


def test_the_real_host_keeps_its_last_places_for_relays(town: Town) -> None:
    town.real_host()
    town.relay("relay", "car")
    guests = [town.guest(f"guest{number}", "car") for number in range(4)]
    # The host has seven slots. Two are free, and one of the five other guests relays.
    cleo = town.guest("cleo", "car", "relay")
    assert cleo.hops == 2
    second = town.relay("second", "car", "relay")
    assert second.hops == 1, "it relays"
    # One of the two slots is taken: guests that do not relay are asked to move behind a relay. Python's guests may
    # ignore that.
    town.net.until(lambda: any(guest.up and guest.up.heard_of(Kind.MAKE_ROOM) for guest in guests), "somebody is asked")
    assert not second.up or not second.up.heard_of(Kind.MAKE_ROOM)
    ana = town.guest("ana", "car")
    assert ana.hops == 1, "it hears nothing else"
    for guest in (guests[0], cleo, ana):
        town.vote(guest, "n1" if guest is cleo else "n2")


@pytest.mark.long
def test_the_real_guest_makes_room_for_relays_and_its_votes_count_once(town: Town) -> None:
    car = town.real_host()
    town.relay("relay", "car")
    for number in range(3):
        town.guest(f"guest{number}", "car")
    bob = town.real_guest("Bob", "bob", "car", "relay")
    bob.expect("connection", state="connected")
    bob.say("vote n1")
    bob.expect("vote", songID="n1", state="confirmed")
    bob.expect("link", hops=0)
    # The latest guest is asked first. It stays, since no relay is in its range. After four seconds Bob is asked.
    town.guest("last", "car")
    bob.expect("link", hops=1, timeout=20)
    bob.say("vote n2")
    bob.expect("vote", songID="n2", state="confirmed")
    assert not bob.seen("peerDisconnected")
    for song in ("n1", "n2"):
        counts_once(car, song)


class Eve(Client):
    """A guest that opens no circuit of its own."""

    def routed(self, link: object, route: Route) -> None:
        self.route = route

    def _await_route(self) -> None:
        pass

    def closes(self) -> list[tuple[int, int]]:
        readers = [Reader(frame.body) for frame in self.up.heard_of(Kind.CIRCUIT_CLOSE)] if self.up else []
        return [(reader.varint(), reader.byte()) for reader in readers]


def eve_says(town: Town, neighbour: str, *frames: Frame) -> Eve:
    eve = town.net.do(lambda: Eve(town.net, town.roads.radio("eve", neighbour), "Eve"))
    town.net.until(lambda: eve.up is not None and eve.up.is_connected, "Eve's link")

    def say() -> None:
        assert eve.up
        for frame in frames:
            eve.up.say(frame)

    town.net.do(say)
    return eve


def heads(count: int) -> tuple[bytes, ...]:
    return tuple(number.to_bytes(4) for number in range(count))


def without_credits(host: bytes) -> tuple[Frame, ...]:
    hello = bytes((Packet.XX_1, MAJOR_VERSION)) + Key().public
    return (CircuitOpen(2, host, 64, MTU).frame(), circuit_data(2, hello))


def with_a_third_field(host: bytes) -> tuple[Frame, ...]:
    """Credits of an opener have no inner MTU, and a reader ignores one."""
    opening, hello = without_credits(host)
    return (opening, circuit_credit(2, 4, 600), hello)


def is_answered(town: Town, eve: Eve) -> None:
    """Waits until an XX-2 has arrived in the circuit."""

    def answers() -> list[int]:
        return [len(frame.body) for frame in eve.up.heard_of(Kind.CIRCUIT_DATA)] if eve.up else []

    town.net.until(lambda: answers() == [1 + 1 + 96], "XX-2")


def wrong_frames(host: bytes) -> list[tuple[Frame, ...]]:
    return [
        (CircuitOpen(2, bytes(16), 64, MTU).frame(),),
        (CircuitOpen(2, host, 64, 511).frame(),),
        (CircuitOpen(2, host, 64, MTU).frame(), circuit_credit(2, 4), *[circuit_data(2, b"\x01\x02" + bytes(32))] * 9),
        (CircuitOpen(2, host, 64, MTU).frame(), circuit_credit(2, 4), circuit_data(2, bytes(2_196))),
    ]


@pytest.mark.sample(2)
@pytest.mark.parametrize("number", range(4), ids=["another host", "small SDUs", "too many", "too long"])
def test_the_real_host_closes_a_circuit_that_is_misused_and_nothing_else(number: int, town: Town) -> None:
    car = town.real_host()
    host = bytes.fromhex(car.seen("ready")[0]["peer"]["id"])
    eve = eve_says(town, "car", *wrong_frames(host)[number])
    town.net.until(lambda: [circuit for circuit, _ in eve.closes()] == [2], "the end of the circuit")
    assert eve.ends == [] and eve.is_connected


@pytest.mark.parametrize("frames", [without_credits, with_a_third_field])
def test_the_real_host_answers_an_opener_at_once(frames: Callable[[bytes], tuple[Frame, ...]], town: Town) -> None:
    host = bytes.fromhex(town.real_host().seen("ready")[0]["peer"]["id"])
    is_answered(town, eve_says(town, "car", *frames(host)))


def test_the_real_host_accepts_no_circuit_that_has_passed_more_than_64_relays(town: Town) -> None:
    host = bytes.fromhex(town.real_host().seen("ready")[0]["peer"]["id"])
    eve = eve_says(town, "car", *(CircuitOpen(2 * n, host, 0, MTU, heads(63 + n)).frame() for n in (1, 2, 3)))
    town.net.until(lambda: (6, CloseReason.TOO_FAR) in eve.closes(), "the last")
    assert eve.closes() == [(4, CloseReason.TOO_FAR), (6, CloseReason.TOO_FAR)]


@pytest.mark.long
def test_circuits_in_which_nobody_says_anything_are_closed_and_keep_nobody_away(town: Town) -> None:
    car = town.real_host()
    host = bytes.fromhex(car.seen("ready")[0]["peer"]["id"])
    numbers = range(2, 702, 2)
    eve = eve_says(town, "car", *(CircuitOpen(number, host, 64, MTU).frame() for number in numbers))
    ana = town.guest("ana", "car")
    town.vote(ana, "n1")
    # The first eight wait as long as a guest may take for its hello. That leaves no room for the others, and some of
    # them are refused.
    first = {number for number in numbers[:8]}
    town.net.until(lambda: first <= {number for number, _ in eve.closes()}, "the end of those that there were")
    assert CloseReason.NO_ROOM in {reason for _, reason in eve.closes()}
    assert eve.ends == [] and eve.is_connected


# The guest is real


def confirmed(guest: Program, song: str) -> None:
    guest.say(f"vote {song}")
    guest.expect("vote", songID=song, state="confirmed", timeout=30)


def test_the_real_guest_joins_through_a_relay_and_its_vote_is_confirmed(town: Town) -> None:
    car = town.host()
    town.relay("relay", "car")
    bob = town.real_guest("Bob", "bob", "relay")
    bob.expect("connection", state="connected")
    bob.expect("snapshot")
    confirmed(bob, "n3")
    assert [song for _, song in town.net.do(lambda: list(car.intents))] == ["n3"]
    assert bob.seen("peerConnected")[0]["peer"] == {"id": car.key.identifier.hex(), "name": CAR}


def test_the_real_guest_comes_back_by_another_relay_and_no_vote_is_lost_or_doubled(town: Town) -> None:
    car = town.host()
    relay, _ = town.relay("relay", "car"), town.relay("other", "car")
    bob = town.real_guest("Bob", "bob", "relay")
    bob.expect("connection", state="connected")
    confirmed(bob, "n1")
    town.roads.join("bob", "other")
    town.net.do(relay.close)
    for song in ("n2", "n3"):
        bob.say(f"vote {song}")
    for song in ("n2", "n3"):
        bob.expect_seen("vote", songID=song, state="confirmed")
    assert sorted(song for _, song in town.net.do(lambda: list(car.intents))) == ["n1", "n2", "n3"]
    assert any(kept.attempt for kept in car.kept_guests.values()), "by what both have kept of the first handshake"


@pytest.mark.long
def test_the_real_guest_asks_for_the_state_where_its_relay_brings_none(town: Town) -> None:
    car = town.host()
    relay = town.relay("relay", "car")
    relay.next_latest = lambda link: None  # type: ignore[method-assign]
    bob = town.real_guest("Bob", "bob", "relay")
    assert bob.expect("snapshot", timeout=30)["revision"] <= car.state.revision


def test_the_real_guest_passes_over_a_relay_without_room(town: Town) -> None:
    town.host()
    full, other = town.relay("full", "car"), town.relay("other", "car")
    full.most_children = 0
    bob = town.real_guest("Bob", "bob", "full", "other")
    bob.expect("connection", state="connected")
    assert len(other.children) == 1 and not full.child_ends


def test_all_parts_but_the_relay_are_real(town: Town) -> None:
    car = town.real_host()
    town.relay("relay", "car")
    town.relay("second", "relay")
    bob = town.real_guest("Bob", "bob", "second")
    bob.expect("connection", state="connected")
    confirmed(bob, "n5")
    counts_once(car, "n5")


# The relay is real


def test_a_guest_joins_through_the_real_relay(town: Town) -> None:
    car = town.host()
    relay = town.real_relay("Rita", "relay", "car")
    relay.expect("connection", state="connected")
    ana = town.guest("ana", "relay")
    assert ana.hops == 2
    town.vote(ana, "n3")
    assert town.net.do(lambda: list(car.intents)) == [(ana.key.identifier, "n3")]
    assert not ana.told_alone
    newcomer = town.guest("newcomer", "relay")
    assert newcomer.view.state and newcomer.view.state.voters("n3") == (ana.key.identifier,)


@pytest.mark.parametrize("first", ["real", "Python's"])
def test_the_real_relay_stands_above_or_below_another(first: str, town: Town) -> None:
    car = town.host()
    if first == "real":
        town.real_relay("Rita", "relay", "car").expect("connection", state="connected")
        town.relay("second", "relay")
    else:
        town.relay("relay", "car")
        town.real_relay("Rolf", "second", "relay").expect("connection", state="connected")
    ana = town.guest("ana", "second")
    assert ana.hops == 3
    for number in range(1, 6):
        town.vote(ana, f"n{number}")
    assert len(town.net.do(lambda: list(car.intents))) == 5


def test_the_real_relay_tells_its_children_when_it_has_no_way_and_when_it_has_one_again(town: Town) -> None:
    car = town.host()
    town.real_relay("Rita", "relay", "car").expect("connection", state="connected")
    ana = town.guest("ana", "relay")
    town.vote(ana, "n1")
    town.roads.part("car", "relay")

    def lose() -> None:
        for guest in list(car.guests.values()):
            if not guest.link.in_circuit:
                guest.link.close("lost")

    town.net.do(lose)
    town.net.until(lambda: "no way" in ana.ends, "the relay says that it leads nowhere")
    town.roads.join("car", "relay")
    town.vote(ana, "n2")
    assert [song for _, song in town.net.do(lambda: list(car.intents))] == ["n1", "n2"]


@pytest.mark.sample(2)
@pytest.mark.parametrize("number", range(4), ids=["another host", "small SDUs", "too many", "too long"])
def test_the_real_relay_closes_a_circuit_that_is_misused_and_nothing_else(number: int, town: Town) -> None:
    car = town.host()
    town.real_relay("Rita", "relay", "car").expect("connection", state="connected")
    eve = eve_says(town, "relay", *wrong_frames(car.key.identifier)[number])
    town.net.until(lambda: [circuit for circuit, _ in eve.closes()] == [2], "the end of the circuit")
    assert eve.ends == []
    town.vote(town.guest("ana", "relay"), "n1")


@pytest.mark.parametrize("frames", [without_credits, with_a_third_field])
def test_the_real_relay_passes_the_answer_on_at_once(
    frames: Callable[[bytes], tuple[Frame, ...]], town: Town
) -> None:
    car = town.host()
    town.real_relay("Rita", "relay", "car").expect("connection", state="connected")
    is_answered(town, eve_says(town, "relay", *frames(car.key.identifier)))


def test_an_acknowledgement_on_a_carrier_of_the_real_relay_is_impossible(town: Town) -> None:
    town.host()
    relay = town.real_relay("Rita", "relay", "car")
    relay.expect("connection", state="connected")
    eve = eve_says(town, "relay")

    def acknowledge(number: bytes) -> None:
        assert eve.up
        eve.up.say(Frame(Kind.ACK, number))

    town.net.do(lambda: acknowledge(b"\0"))
    town.vote(town.guest("ana", "relay"), "n1")
    assert eve.ends == []
    town.net.do(lambda: acknowledge(b"\1"))
    town.net.until(lambda: bool(eve.ends), "the end of Eve's link")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("opening", "reason"),
    [
        (lambda host, head: CircuitOpen(2, host, 0, MTU), CloseReason.TOO_FAR),
        (lambda host, head: CircuitOpen(2, host, 64, MTU, (head,)), CloseReason.LOOP),
        (lambda host, head: CircuitOpen(2, bytes(16), 64, MTU), CloseReason.NO_HOST),
        (lambda host, head: CircuitOpen(2, host, 64, MTU, heads(64)), CloseReason.TOO_FAR),
        (lambda host, head: CircuitOpen(2, host, 64, MTU, heads(255)), CloseReason.TOO_FAR),
    ],
    ids=["no hops left", "a loop", "another host", "it has passed 64 relays", "it has passed 255 relays"],
)
def test_the_real_relay_says_why_it_does_not_pass_a_circuit_on(
    opening: Callable[[bytes, bytes], CircuitOpen], reason: CloseReason, town: Town
) -> None:
    car = town.host()
    relay = town.real_relay("Rita", "relay", "car")
    relay.expect("connection", state="connected")
    head = bytes.fromhex(relay.seen("ready")[0]["peer"]["id"])[:4]
    eve = eve_says(town, "relay", opening(car.key.identifier, head).frame())
    town.net.until(lambda: eve.closes() == [(2, reason)], reason.name)
    assert eve.ends == []


def test_every_part_is_real(town: Town) -> None:
    car = town.real_host()
    for relay in (town.real_relay("Rita", "relay", "car"), town.real_relay("Rolf", "second", "relay")):
        relay.expect("connection", state="connected")
    bob = town.real_guest("Bob", "bob", "second")
    bob.expect("connection", state="connected")
    confirmed(bob, "n5")
    counts_once(car, "n5")


# A PIN behind relays


def test_who_stands_behind_a_relay_proves_the_pin_to_the_host_and_not_to_the_relay(town: Town) -> None:
    pin = "314159"
    car = town.real_host("--pin", pin)
    relay = town.real("guest", "Row 8", "relay", ["car"], "--relay", "--pin", pin)
    relay.expect("connection", state="connected")
    eve = town.real("guest", "Eve", "eve", ["relay"], "--pin", "271828")
    eve.expect("notice", code="wrongPIN")
    assert car.expect("pinGuessed")["peer"]["name"] == "Eve"
    assert not relay.seen("pinGuessed")
    ana = town.real("guest", "Ana", "ana", ["relay"])
    ana.expect("notice", code="proofRequired")
    ana.say(f"pin {pin}")
    ana.expect("connection", state="connected")
    assert car.expect("peerConnected", lambda one: one["peer"]["name"] == "Ana")
    ana.say("vote n3")
    ana.expect("vote", songID="n3", state="confirmed")
