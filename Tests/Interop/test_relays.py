# SPDX-License-Identifier: Apache-2.0
"""Guests that join through relays, all written from docs/protocol.md alone, on simulated time."""

from __future__ import annotations

import pytest
from roadmesh_peer import democracy_dj
from roadmesh_peer.conversation import Conversation
from roadmesh_peer.link_sides import Initiator
from roadmesh_peer.mesh_client import Client
from roadmesh_peer.mesh_host import Host
from roadmesh_peer.mesh_relay import Relay
from roadmesh_peer.net import Net
from roadmesh_peer.noise_link import Packet
from roadmesh_peer.roads import Roads
from roadmesh_peer.signed_state import LARGEST_LOG, NAME_BYTES, name_of
from roadmesh_peer.wire import (
    CHECKPOINT,
    CIRCUITS_ONLY,
    PROOF_WANTED,
    SHARED,
    Frame,
    Kind,
    Unit,
)

CAR = "Dad's Car"


@pytest.fixture
def car(net: Net, roads: Roads) -> Host:
    return Host(net, roads.radio("car"), CAR)


@pytest.fixture
def relay(net: Net, roads: Roads, car: Host) -> Relay:
    """A relay in range of the host."""
    made = Relay(net, roads.radio("relay", "car"), "Rita")
    net.until(lambda: made.is_connected, "the relay's link")
    return made


@pytest.fixture
def ana(net: Net, roads: Roads, relay: Relay) -> Client:
    """A guest with only the relay in range, which has joined."""
    return joined(Client(net, roads.radio("ana", "relay"), "Ana"))


def joined(guest: Client) -> Client:
    guest.net.until(lambda: guest.is_connected and guest.view.state is not None, f"{guest.name} sees the queue")
    return guest


def votes(guest: Client, song: str) -> None:
    guest.vote(song)
    guest.net.until(lambda: guest.shows_vote(song), f"{guest.name}'s vote for {song}")


def test_a_stranger_meets_a_host_behind_a_relay_by_xx_and_comes_back_by_what_both_have_kept_or_by_ik(
    net: Net, ana: Client, relay: Relay, car: Host
) -> None:
    def packets(guest: Client) -> list[int]:
        return [packet[0] for packet in guest.session.packets] if guest.session else []

    assert packets(ana) == [Packet.XX_2]
    for attempt in (1, 2):
        comes_back(net, ana)
        assert packets(ana) == [], "all was sealed"
        assert isinstance(ana.session, Initiator) and ana.session.kept and ana.session.kept.attempt == attempt
        assert ana.session.their_hello and ana.session.their_hello.name == car.name
        net.until(lambda: {guest.name for guest in car.state.guests} == {"Rita", "Ana"}, "the name that was kept")
    car.kept_guests.clear()
    before = car.circuits_asked
    comes_back(net, ana)
    assert packets(ana) == [Packet.IK_2] and car.circuits_asked == before + 1, "in the same circuit"
    # No node keeps a relay's key, so the carrier's handshake is that of a stranger.
    assert ana.up and [packet[0] for packet in ana.up.packets] == [Packet.XX_2]


def comes_back(net: Net, guest: Client) -> None:
    """Waits until the guest is back in another circuit of its relay."""
    last = guest.session
    assert last
    last.close("lost")
    net.until(lambda: guest.is_connected and guest.session is not last, "another circuit")


def test_a_relay_is_heard_under_its_hosts_name_with_its_hops_and_whose_it_is(relay: Relay, car: Host) -> None:
    advertisement, name, tail = relay.advertised()
    assert advertisement.critical == CIRCUITS_ONLY and advertisement.head == relay.key.identifier[:4]
    assert (name, tail.hops, tail.host_head) == (CAR, 1, car.key.identifier[:5])
    assert tail.more_head == relay.key.identifier[4:9]


def test_relays_carry_on_that_their_host_asks_for_a_proof_and_only_who_is_known_there_dials(
    net: Net, roads: Roads, car: Host, relay: Relay
) -> None:
    far = Relay(net, roads.radio("far", "relay"), "Rolf")
    net.until(lambda: far.is_connected, "the second relay's link")
    ana = joined(Client(net, roads.radio("ana", "far"), "Ana"))
    assert [one.advertised()[0].critical for one in (relay, far)] == [CIRCUITS_ONLY] * 2
    # The host restarts with a PIN.
    car.critical = PROOF_WANTED
    assert relay.session
    relay.session.close("lost")

    def is_back(one: Client) -> bool:
        return one.is_connected and bool(one.session and one.session.their_hello and one.session.their_hello.critical)

    net.until(lambda: all(is_back(one) for one in (relay, far, ana)), "new links of all who are known")
    assert [one.advertised()[0].critical for one in (relay, far)] == [CIRCUITS_ONLY | PROOF_WANTED] * 2
    eve = Client(net, roads.radio("eve", "far"), "Eve")
    net.pass_time(2)
    assert eve.up is None and not eve.is_connected


def test_a_relay_that_has_no_way_to_a_host_is_not_heard(net: Net, roads: Roads) -> None:
    Relay(net, roads.radio("relay", "car"), "Rita")
    ana = Client(net, roads.radio("ana", "relay"), "Ana")
    net.pass_time(2)
    assert ana.up is None and not ana.ends


def test_of_two_ways_the_shorter_one_is_taken(net: Net, roads: Roads, relay: Relay) -> None:
    second = Relay(net, roads.radio("second", "relay"), "Rolf")
    net.until(lambda: second.is_connected)
    ana = joined(Client(net, roads.radio("ana", "relay", "second"), "Ana"))
    assert ana.hops == 2 and ana.parent and ana.parent.heard.address == "relay"


# Shared updates


def test_the_state_crosses_each_link_once_however_many_are_behind_it(
    net: Net, roads: Roads, car: Host, relay: Relay, ana: Client
) -> None:
    others = [joined(Client(net, roads.radio(f"guest{one}", "relay"), f"Guest {one}")) for one in range(3)]
    net.pass_time(0.1)
    assert relay.up and relay.session is relay.up
    before = relay.log.end
    messages = len(relay.up.heard_of(Kind.MESSAGE))
    votes(ana, "n5")
    net.until(
        lambda: all(ana.key.identifier in (one.view.state.voters("n5") or ()) for one in others if one.view.state)
    )
    assert relay.log.end - before == len(relay.up.heard_of(Kind.MESSAGE)) - messages == 1
    # Messages that the host sends to one guest in its circuit are not state.
    assert not any(one.told_alone for one in others)


def test_a_newcomer_gets_the_state_from_the_relay_and_the_host_is_not_asked(
    net: Net, roads: Roads, car: Host, relay: Relay, ana: Client
) -> None:
    votes(ana, "n2")
    bob = joined(Client(net, roads.radio("bob", "relay"), "Bob"))
    assert bob.view.state and bob.view.state.voters("n2") == (ana.key.identifier,)
    net.pass_time(2)
    assert not bob.told_alone
    assert bob.view.state == car.state


@pytest.mark.parametrize("is_known", [True, False])
def test_who_says_which_states_it_has_is_sent_what_follows_where_the_relay_has_it(
    net: Net, roads: Roads, relay: Relay, ana: Client, is_known: bool
) -> None:
    for song in ("n1", "n2", "n3"):
        votes(ana, song)
    units = relay.log.units
    name = name_of(units[-2])
    # Its newest state never reached the relay. If it is known, the two before it did.
    names = [bytes(NAME_BYTES)] + ([name, name_of(units[-3])] if is_known else [])
    bob = Client(net, roads.radio("bob", "relay"), "Bob")
    net.until(lambda: bob.up is not None and bob.up.is_connected, "the carrier")
    assert bob.up
    child = relay.children[bob.key.identifier]
    bob.up.say(Frame(Kind.STATE, b"".join(names)))
    net.until(lambda: bob.is_connected)
    net.pass_time(0.5)
    shared = [Unit.read(frame.body).body for frame in bob.up.heard_of(Kind.MESSAGE) if Unit.read(frame.body).shared]
    told = [frame.body for frame in bob.up.heard_of(Kind.STATE)]
    assert child not in relay.known
    assert told == ([name] if is_known else [])
    # The update about Bob follows.
    expected = [unit.body for unit in (units[-1:] if is_known else units)]
    assert shared[: len(expected)] == expected


def test_a_relay_that_is_behind_is_found_out_by_the_heartbeat_after_the_answer(
    net: Net, roads: Roads, car: Host, relay: Relay, ana: Client
) -> None:
    kept = relay.log.units[0]
    relay.keep_shared = lambda unit: None  # type: ignore[method-assign]
    ana.vote("n1")
    net.until(lambda: ana.shows_vote("n1"), timeout=16)
    assert relay.log.units[0] == kept
    begun = net.now
    bob = Client(net, roads.radio("bob", "relay"), "Bob")
    net.until(
        lambda: bob.view.state is not None and bob.view.state.revision == car.state.revision, timeout=11
    )
    assert net.now - begun < 10.5


def test_what_a_relay_keeps_back_is_found_out_by_the_next_heartbeat(
    net: Net, car: Host, relay: Relay, ana: Client
) -> None:
    relay.followers.clear()
    ana.vote("n4")
    begun = net.now
    net.until(lambda: ana.shows_vote("n4"), timeout=16)
    assert 10.0 < net.now - begun < 15.1
    assert ana.view.state == car.state


def test_state_that_comes_before_its_key_is_known_waits_and_is_looked_at_then(
    net: Net, roads: Roads, relay: Relay
) -> None:
    ana = Client(net, roads.radio("ana", "relay"), "Ana")
    net.until(lambda: ana.up is not None and ana.up.is_connected)
    unit = relay.log.units[0]
    assert ana.up
    ana.came(ana.up, unit)
    assert ana.view.state is None and ana.waiting.units == [unit]
    joined(ana)
    assert not ana.waiting.units


def test_no_more_than_the_limit_waits_for_a_key(net: Net, roads: Roads, relay: Relay) -> None:
    ana = Client(net, roads.radio("ana", "relay"), "Ana")
    net.until(lambda: ana.up is not None)
    unit = Unit(bytes(65_000), 1, latest=True, shared=2)
    assert ana.up
    for _ in range(5):
        ana.came(ana.up, unit)
    assert (len(ana.waiting.units), ana.waiting.dropped) == (2, 3)


def test_a_relay_of_a_relay_gets_checkpoints_so_that_it_has_something_for_newcomers(
    net: Net, roads: Roads, car: Host, relay: Relay
) -> None:
    second = Relay(net, roads.radio("second", "relay"), "Rolf")
    net.until(lambda: second.is_connected)
    ana = joined(Client(net, roads.radio("ana", "second"), "Ana"))
    net.pass_time(0.1)
    snapshots = ana.view.snapshots
    for number in range(1, 9):
        for guest in (ana, second, relay):
            votes(guest, f"n{number}")
    net.pass_time(0.1)
    # In the meantime, the changes took more bytes than a full state.
    kept = [unit.body for unit in relay.log.units]
    assert relay.log.units[0].shared & CHECKPOINT and [unit.body for unit in second.log.units] == kept
    assert ana.view.snapshots == snapshots, "who has everything gets no checkpoint"
    assert joined(Client(net, roads.radio("bob", "second"), "Bob")).view.state == car.state


def test_a_log_of_changes_alone_does_not_grow_for_ever(net: Net, relay: Relay) -> None:
    change = Unit(bytes(60_000), 1, latest=True, shared=SHARED)
    kept = []
    for _ in range(10):
        relay.log.append(change)
        kept.append(sum(len(unit.body) for unit in relay.log.units))
    assert 180_000 < max(kept) <= LARGEST_LOG and kept[-1] == 0


def test_no_state_is_sent_in_a_circuit_to_a_relay_either(net: Net, roads: Roads, relay: Relay) -> None:
    second = Relay(net, roads.radio("second", "relay"), "Rolf")
    net.until(lambda: second.is_connected and second.view.state is not None)
    assert not second.told_alone


# Endings


def test_a_relay_that_loses_its_host_takes_another_parent_and_its_children_stay(
    net: Net, roads: Roads, car: Host, relay: Relay
) -> None:
    """The line is car, relay, second, ana. The second also has another relay of one hop in range."""
    second = Relay(net, roads.radio("second", "relay"), "Rolf")
    net.until(lambda: second.is_connected)
    other = Relay(net, roads.radio("other", "car"), "Olga")
    net.until(lambda: other.is_connected)
    ana = joined(Client(net, roads.radio("ana", "second"), "Ana"))
    carrier = ana.up
    roads.join("second", "other")
    relay.close()
    begun = net.now
    net.until(lambda: second.parent is not None and second.parent.heard.address == "other" and ana.is_connected)
    votes(ana, "n6")
    assert net.now - begun < 1.5 and ana.up is carrier


def test_a_relay_with_children_takes_nobody_below_it_for_its_parent(
    net: Net, roads: Roads, car: Host, relay: Relay
) -> None:
    """A triangle: the second relay is a child of the first. If the first took it as its parent, no node would have a
    route."""
    second = Relay(net, roads.radio("second", "relay"), "Rolf")
    net.until(lambda: second.is_connected)
    roads.part("relay", "car")
    assert relay.up
    relay.up.close("lost")
    net.pass_time(3)
    assert not relay.is_connected and not second.is_connected
    roads.join("relay", "car")
    net.until(lambda: relay.is_connected and second.is_connected, "both are back")
    assert (relay.hops, second.hops) == (1, 2)


def test_a_guest_for_which_no_relay_has_room_gets_in_when_there_is_some(
    net: Net, roads: Roads, relay: Relay, ana: Client
) -> None:
    relay.most_children = 1
    bob = Client(net, roads.radio("bob", "relay"), "Bob")
    net.pass_time(1)
    assert bob.up is None
    ana.leave()
    joined(bob)
    assert len(relay.children) == 1


def test_a_child_too_many_is_refused_where_it_has_not_heard_of_it(
    net: Net, roads: Roads, relay: Relay, ana: Client
) -> None:
    relay.most_children = 2
    both = [Client(net, roads.radio(name, "relay"), name) for name in ("bob", "cid")]
    net.until(lambda: any(one.is_connected for one in both))
    net.pass_time(0.3)
    assert sorted(one.is_connected for one in both) == [False, True]
    assert relay.child_ends == ["refused 1"] or not relay.child_ends


def test_a_guest_that_leaves_says_goodbye_to_the_host_and_the_relay(
    net: Net, car: Host, relay: Relay, ana: Client
) -> None:
    ana.leave()
    net.until(lambda: ana.up is None or ana.up.why is not None)
    net.until(lambda: not relay.children)
    assert car.ends == ["goodbye"] and relay.child_ends == ["goodbye"]
    assert relay.circuits_passing == 0


def test_a_circuit_that_is_idle_stays_and_one_in_which_nothing_arrives_is_left(
    net: Net, roads: Roads, car: Host, relay: Relay, ana: Client
) -> None:
    net.pass_time(60)
    assert ana.ends == [] and car.ends == []
    relay.pass_on = lambda sdu, here, there: here.circuit.passed_on()  # type: ignore[method-assign]
    ana.vote("n7")
    begun = net.now
    net.until(lambda: bool(ana.ends), "the relay that takes and drops is left", timeout=20)
    assert 6.0 <= net.now - begun < 6.2
    roads.join("ana", "car")
    net.until(lambda: ana.shows_vote("n7"), timeout=20)
    assert [song for _, song in car.intents] == ["n7"]


def test_a_guest_wants_the_host_that_it_was_joined_to_and_no_other_of_that_name(
    net: Net, roads: Roads, ana: Client, relay: Relay
) -> None:
    twin = Host(net, roads.radio("twin"), CAR)
    other = Relay(net, roads.radio("other", "twin"), "Olga")
    net.until(lambda: other.is_connected)
    roads.join("ana", "other")
    relay.close()
    net.pass_time(5)
    assert ana.up is None and twin.key.identifier not in ana.conversations


def test_a_rejection_comes_through_the_circuit(net: Net, ana: Client) -> None:
    ana.vote("unheard of")
    net.until(lambda: bool(ana.view.rejections))
    assert ana.view.rejections[0].reason == democracy_dj.Why.NOT_QUEUED


def test_a_relay_keeps_no_conversation_with_its_children(net: Net, relay: Relay, ana: Client) -> None:
    assert list(relay.conversations) == [relay.wanted]
    assert list(ana.conversations) == [ana.wanted] and isinstance(ana.conversation, Conversation)
