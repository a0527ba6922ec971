# SPDX-License-Identifier: Apache-2.0
"""How a relay and a host must treat circuits, whatever arrives on a carrier, by docs/protocol.md."""

from __future__ import annotations

import pytest
from roadmesh_peer import document
from roadmesh_peer.circuit_frames import (
    CREDITS,
    CircuitCredit,
    CircuitOpen,
    CloseReason,
    circuit_close,
    circuit_credit,
    circuit_data,
    inner_mtu,
)
from roadmesh_peer.circuits import CIRCUITS_OF_A_GUEST, NUMBERS, REFUSALS_THAT_WAIT, Circuits
from roadmesh_peer.link import Link
from roadmesh_peer.mesh_client import Client
from roadmesh_peer.mesh_host import Host
from roadmesh_peer.mesh_relay import Relay
from roadmesh_peer.net import Net
from roadmesh_peer.noise_link import Key, Packet
from roadmesh_peer.roads import Roads
from roadmesh_peer.signed_state import ForgedState, SigningKey, checked
from roadmesh_peer.wire import CHECKPOINT, LARGEST_SDU, MAJOR_VERSION, SHARED, Frame, Kind, Reader, Route, Unit, message

MTU = inner_mtu(LARGEST_SDU)


class Eve(Client):
    """A child of a relay, or a guest of a host, that opens no circuit of its own."""

    def routed(self, link: Link, route: Route) -> None:
        self.route = route

    def _await_route(self) -> None:
        pass

    def say(self, *frames: Frame) -> None:
        assert self.up
        for frame in frames:
            self.up.say(frame)

    def told(self, kind: Kind, count: int = 1) -> list[Frame]:
        """The first frames of a type, as many as are asked for."""
        self.net.until(lambda: self.up is not None and len(self.up.heard_of(kind)) >= count, f"{count} of {kind.name}")
        assert self.up
        return self.up.heard_of(kind)

    def closed(self, circuit: int) -> CloseReason:
        def reason() -> CloseReason | None:
            for frame in self.up.heard_of(Kind.CIRCUIT_CLOSE) if self.up else []:
                reader = Reader(frame.body)
                if reader.varint() == circuit:
                    return CloseReason(reader.byte())
            return None

        self.net.until(lambda: reason() is not None, f"the end of circuit {circuit}")
        return reason() or CloseReason.UNSPECIFIED


@pytest.fixture
def car(net: Net, roads: Roads) -> Host:
    return Host(net, roads.radio("car"), "Dad's Car")


@pytest.fixture
def relay(net: Net, roads: Roads, car: Host) -> Relay:
    made = Relay(net, roads.radio("relay", "car"), "Rita")
    net.until(lambda: made.is_connected)
    return made


@pytest.fixture
def eve(net: Net, roads: Roads, relay: Relay) -> Eve:
    made = Eve(net, roads.radio("eve", "relay"), "Eve")
    net.until(lambda: made.up is not None and made.up.is_connected)
    return made


@pytest.fixture
def ana(net: Net, roads: Roads, relay: Relay) -> Client:
    made = Client(net, roads.radio("ana", "relay"), "Ana")
    net.until(lambda: made.is_connected and made.view.state is not None)
    return made


def opening(car: Host, circuit: int = 2, hops: int = 64, mtu: int = MTU, passed: tuple[bytes, ...] = ()) -> Frame:
    return CircuitOpen(circuit, car.key.identifier, hops, mtu, passed).frame()


def lives(net: Net, *guests: Client) -> None:
    """These guests are still linked, and their votes count."""
    net.pass_time(0.2)
    assert all(guest.ends == [] for guest in guests)


# Signatures


def test_a_signing_key_follows_from_the_identity_and_signs_what_the_document_says() -> None:
    key = SigningKey(document.CAR.private)
    assert key.public.hex() == "67e25fa1e4966da6e3841f4a1e96e3dcd6e8b3f0421c8ded49f51686a70883fa"
    unit = key.sign(b"the state", b"the name", whole=True)
    assert bytes(unit)[0] == 7 and checked(unit, key.public) == b"the state"


@pytest.mark.parametrize("what", ["body", "flags", "key", "too short"])
def test_no_part_of_what_is_signed_can_be_changed(what: str) -> None:
    key = SigningKey(document.CAR.private)
    unit = key.sign(b"the state", b"the name", whole=True)
    wrong = {
        "body": Unit(unit.body + b"!", 1, latest=True, shared=unit.shared),
        "flags": Unit(unit.body, 1, latest=True, shared=unit.shared | CHECKPOINT),
        "too short": Unit(unit.body[:40], 1, latest=True, shared=unit.shared),
    }
    signer = SigningKey(document.ANA.private) if what == "key" else key
    with pytest.raises(ForgedState):
        checked(wrong.get(what, unit), signer.public)


# Opening


def test_a_circuit_is_open_with_the_first_credits_and_they_say_what_fits(eve: Eve, car: Host) -> None:
    eve.say(opening(car), circuit_credit(2, CREDITS))
    assert CircuitCredit.read(eve.told(Kind.CIRCUIT_CREDIT)[0].body) == CircuitCredit(2, CREDITS, 2195)


def test_a_relay_puts_its_head_behind_the_others_and_takes_a_hop_away(
    net: Net, eve: Eve, car: Host, relay: Relay
) -> None:
    eve.say(opening(car, hops=7, passed=(b"abcd",)))
    eve.told(Kind.CIRCUIT_CREDIT)
    at_car = car.guests[relay.key.identifier].link.heard_of(Kind.CIRCUIT_OPEN)
    seen = CircuitOpen.read(at_car[0].body)
    assert (seen.hops_left, seen.passed) == (6, (b"abcd", relay.key.identifier[:4]))


def test_each_guest_says_what_fits_and_a_long_answer_comes_in_pieces_that_do(net: Net, eve: Eve, car: Host) -> None:
    eve.say(opening(car, mtu=512), circuit_credit(2, CREDITS))
    eve.told(Kind.CIRCUIT_CREDIT)
    inner = next(link for link in car._links if link.in_circuit)
    assert inner.mtu == 512


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"hops": 0}, CloseReason.TOO_FAR),
        ({"host": bytes(16)}, CloseReason.NO_HOST),
        ({"loop": True}, CloseReason.LOOP),
        ({"passed": 64}, CloseReason.TOO_FAR),
        ({"passed": 255}, CloseReason.TOO_FAR),
    ],
    ids=["no hops left", "another host", "it has passed here", "it has passed 64 relays", "it has passed 255 relays"],
)
def test_a_circuit_that_leads_nowhere_is_closed_and_the_carrier_stays(
    wrong: dict[str, object], reason: CloseReason, net: Net, eve: Eve, car: Host, relay: Relay
) -> None:
    host = car.key.identifier if "host" not in wrong else bytes(16)
    passed = (relay.key.identifier[:4],) if "loop" in wrong else ()
    passed += tuple(number.to_bytes(4) for number in range(int(str(wrong.get("passed", 0)))))
    eve.say(CircuitOpen(2, host, 0 if "hops" in wrong else 64, MTU, passed).frame())
    assert eve.closed(2) == reason
    lives(net, eve)


def test_a_guest_that_is_no_relay_closes_every_circuit(net: Net, eve: Eve, car: Host, relay: Relay) -> None:
    child = relay.children[eve.key.identifier]
    child.say(CircuitOpen(1, car.key.identifier, 64, MTU).frame())
    net.until(lambda: bool(child.heard_of(Kind.CIRCUIT_CLOSE)))
    assert child.heard_of(Kind.CIRCUIT_CLOSE)[0] == circuit_close(1, CloseReason.NO_RELAY)


def test_a_circuit_that_comes_from_above_is_not_sent_back(net: Net, car: Host, relay: Relay) -> None:
    link = car.guests[relay.key.identifier].link
    link.say(CircuitOpen(1, car.key.identifier, 64, MTU).frame())
    net.until(lambda: bool(link.heard_of(Kind.CIRCUIT_CLOSE)))
    assert link.heard_of(Kind.CIRCUIT_CLOSE)[0] == circuit_close(1, CloseReason.NO_HOST)
    assert car.circuits_asked == 0


@pytest.mark.parametrize("wrong", ["the same again", "a smaller one", "the other side's", "too large"])
def test_a_wrong_number_ends_the_carrier_and_no_other(
    wrong: str, net: Net, eve: Eve, ana: Client, car: Host, relay: Relay
) -> None:
    eve.say(opening(car, 8), circuit_credit(8, CREDITS))
    eve.told(Kind.CIRCUIT_CREDIT)
    said = {
        "the same again": opening(car, 8),
        "a smaller one": opening(car, 6),
        "the other side's": opening(car, 9),
        "too large": opening(car, NUMBERS),
    }
    eve.say(said[wrong])
    net.until(lambda: bool(eve.ends))
    assert relay.child_ends == ["malformedFrame"]
    lives(net, ana)


def test_frames_of_circuits_that_are_not_there_change_nothing(net: Net, eve: Eve, relay: Relay) -> None:
    eve.say(circuit_data(40, b"?"), circuit_credit(40, 1 << 63), circuit_close(40, 99))
    lives(net, eve, relay)


def test_a_circuit_for_smaller_sdus_than_a_handshake_needs_is_refused(net: Net, eve: Eve, car: Host) -> None:
    eve.say(opening(car, mtu=511))
    assert eve.closed(2) == CloseReason.MISUSED
    lives(net, eve)


def test_a_reliable_message_on_a_carrier_is_out_of_place(net: Net, eve: Eve, relay: Relay) -> None:
    assert eve.up
    eve.up.send(Unit(b"to a relay", 1))
    net.until(lambda: bool(eve.ends))
    assert relay.child_ends == ["unexpectedFrame"]


@pytest.mark.parametrize("signed", [True, False], ids=["signed by the host", "signed by nobody"])
def test_a_child_does_not_tell_its_relay_the_state(signed: bool, net: Net, eve: Eve, relay: Relay) -> None:
    logged = relay.log.end
    eve.say(message(relay.log.units[0] if signed else Unit(bytes(80), 1, latest=True, shared=SHARED)))
    net.until(lambda: bool(eve.ends))
    assert relay.child_ends == ["unexpectedFrame"]
    assert relay.log.end == logged


@pytest.mark.parametrize("said", [None, 511])
def test_a_circuit_is_open_for_512_bytes_where_its_first_credits_say_less(said: int | None) -> None:
    opened: list[int] = []

    class End:
        is_over = False

        def opened(self, mtu: int) -> None:
            opened.append(mtu)

        def came(self, sdu: bytes) -> None: ...

        def next_sdu(self) -> bytes | None:
            return None

        def closed(self, reason: CloseReason) -> None: ...

    circuits = Circuits(is_initiator=True, now=lambda: 0.0, asked=lambda opening, circuit: None)
    circuit = circuits.open(End(), bytes(16), 64, MTU)
    circuits.take(circuit_credit(circuit.number, CREDITS, said))
    assert (opened, circuit.mtu, circuit.is_open) == ([512], 512, True)


def test_a_hello_with_a_point_of_low_order_ends_its_circuit_and_no_more(
    net: Net, eve: Eve, ana: Client, car: Host
) -> None:
    eve.say(opening(car), circuit_credit(2, CREDITS), circuit_data(2, bytes((Packet.XX_1, MAJOR_VERSION)) + bytes(32)))
    assert eve.closed(2) == CloseReason.ENDED
    lives(net, eve, ana)


# Flow


@pytest.mark.parametrize("wrong", ["without credits", "before it is open", "too long", "empty"])
def test_who_sends_more_than_it_may_loses_the_circuit_at_both_ends_and_no_more(
    wrong: str, net: Net, eve: Eve, ana: Client, car: Host
) -> None:
    if wrong == "before it is open":
        # One SDU may come with the opening; the second is too many.
        eve.say(opening(car), circuit_data(2, bytes(40)), circuit_data(2, bytes(40)))
    else:
        eve.say(opening(car, mtu=600 if wrong == "too long" else MTU), circuit_credit(2, CREDITS))
        eve.told(Kind.CIRCUIT_CREDIT)
        assert eve.up
        # The links behind return credits as fast as SDUs arrive, but not within one record.
        sdus = {"without credits": [bytes(40)] * (CREDITS + 2), "too long": [bytes(2196)], "empty": [b""]}
        eve.say(*(circuit_data(2, sdu) for sdu in sdus[wrong]))
    assert eve.closed(2) == CloseReason.MISUSED
    net.until(lambda: sum(link.in_circuit for link in car._links) == 1, "the host has only Ana's")
    lives(net, eve, ana)


def test_who_gives_no_credits_is_answered_once(eve: Eve, car: Host) -> None:
    eve.say(opening(car), circuit_data(2, bytes((Packet.XX_1, MAJOR_VERSION)) + Key().public))
    assert len(Reader(eve.told(Kind.CIRCUIT_DATA)[0].body).rest()) > 96


def test_a_circuit_that_is_not_read_blocks_no_other(net: Net, roads: Roads, eve: Eve, car: Host, relay: Relay) -> None:
    """Eve gives no credits, so an answer to her waits. Ana's answers continue."""
    eve.say(opening(car), circuit_credit(2, 0))
    eve.told(Kind.CIRCUIT_CREDIT)
    bob = Client(net, roads.radio("bob", "relay"), "Bob")
    net.until(lambda: bob.is_connected)
    bob.vote("n2")
    net.until(lambda: bob.shows_vote("n2"))


def test_a_guest_has_as_many_circuits_as_it_may_and_refusals_do_not_pile_up(
    net: Net, eve: Eve, ana: Client, car: Host, relay: Relay
) -> None:
    numbers = range(2, 2 * CIRCUITS_OF_A_GUEST + 2, 2)
    for number in numbers:
        eve.say(opening(car, number), circuit_credit(number, CREDITS))
    eve.told(Kind.CIRCUIT_CREDIT, CIRCUITS_OF_A_GUEST)
    further = numbers.stop
    eve.say(opening(car, further))
    assert eve.closed(further) == CloseReason.NO_ROOM
    child = relay.children[eve.key.identifier]
    # Between two of its records the relay answers only this many refused openings.
    for number in range(further + 2, further + 102, 2):
        child.circuits.take(opening(car, number))
    assert len([f for f in child.circuits.frames() if f.kind == Kind.CIRCUIT_CLOSE]) == REFUSALS_THAT_WAIT
    lives(net, eve, ana)
