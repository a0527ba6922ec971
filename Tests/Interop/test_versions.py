# SPDX-License-Identifier: Apache-2.0
"""Other protocol versions: a newer minor version is understood, another major version is refused with its number."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from roadmesh_peer import democracy_dj
from roadmesh_peer import protobuf as pb
from roadmesh_peer.guest import Talk
from roadmesh_peer.noise_link import CIRCUIT, ClearReason, Forged, Handshake, Key, Packet, prologue
from roadmesh_peer.wire import Frame, Hello, Kind, Reason, Unit, ack, app_start, message, part, ping
from roadmesh_program.program import Program

Call = Callable[..., Talk]

UNKNOWN = Frame(0x7F, b"from the future")


def with_more(frame: Frame) -> Frame:
    return Frame(frame.kind, frame.body + b" and more")


def with_part(kind: int) -> Hello:
    return Hello(7, "Eve", minor_version=9, more=part(kind, b"from the future"))


@pytest.mark.parametrize("known", [False, True], ids=["a stranger", "a known guest"])
def test_a_guest_of_a_newer_minor_version_joins_and_votes(
    known: bool, host_key: bytes, call: Call, host: Program
) -> None:
    talk = call()
    payload = bytes(app_start(with_part(99))) + bytes(UNKNOWN)
    if known:
        talk.recognise(host_key, payload)
    else:
        talk.introduce(talk.greet(), payload)
    talk.hear_of(Kind.SELF_INFO)
    newer_vote = democracy_dj.vote("n5") + pb.data(99, "a field of the future") + pb.number(98, 7)
    talk.say(UNKNOWN, with_more(ping(1)), Frame(0xFF), message(Unit(newer_vote, 1)), UNKNOWN)
    assert host.expect("intent", songID="n5", accepted=True)["peer"]["name"] == "Eve"
    assert talk.hear_of(Kind.ACK)[:1] == b"\x01"
    # A rejection, so that there is something to acknowledge, with more bytes than today's.
    talk.say(message(Unit(democracy_dj.vote("no"), 2)))
    while Unit.read(talk.hear_of(Kind.MESSAGE)).latest:
        pass
    talk.say(with_more(ack(1)), Frame(Kind.PONG, b"\x63more"))
    talk.say(Frame(Kind.GOODBYE, b"until next year"))
    talk.closed()
    assert host.expect("peerDisconnected")["reason"] == "goodbye"


@pytest.mark.parametrize("known", [False, True], ids=["a stranger", "a known guest"])
def test_a_guest_with_a_part_that_has_to_be_known_is_told_that_the_host_speaks_another_version(
    known: bool, host_key: bytes, call: Call, host: Program
) -> None:
    talk = call()
    payload = bytes(app_start(with_part(200)))
    if known:
        talk.recognise(host_key, payload)
    else:
        talk.introduce(talk.greet(), payload)
    assert talk.hear_of(Kind.REFUSAL)[0] == Reason.VERSION
    talk.closed()
    assert not host.seen("peerConnected")


@pytest.mark.parametrize("version", [0, 1, 3, 255])
def test_a_guest_of_another_major_version_is_told_which_one_the_host_speaks(
    version: int, call: Call, host_key: bytes, host: Program
) -> None:
    key = Key()
    for packet, known in ((Packet.XX_1, None), (Packet.IK_1, host_key)):
        talk = call()
        handshake = Handshake(key, host_key=known, prologue=prologue(version=version))
        talk.send_packet(handshake.write(packet, version=version))
        assert talk.clearly_refused() == (2, ClearReason.VERSION)
        talk.closed()
    assert not host.seen("peerConnected")


def test_a_handshake_that_was_made_for_a_circuit_gets_nobody_in_on_a_channel(call: Call) -> None:
    talk = call()
    handshake = Handshake(talk.key, prologue=prologue(kind=CIRCUIT))
    talk.send_packet(handshake.write(Packet.XX_1))
    with pytest.raises(Forged):
        handshake.read(Packet.XX_2, talk.receive_packet())


def test_a_version_that_was_changed_on_the_way_gets_nobody_in(call: Call) -> None:
    talk = call()
    # The packet says version 2, the guest's prologue another.
    handshake = Handshake(talk.key, prologue=prologue(version=3))
    talk.send_packet(handshake.write(Packet.XX_1))
    with pytest.raises(Forged):
        handshake.read(Packet.XX_2, talk.receive_packet())
