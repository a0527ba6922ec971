# SPDX-License-Identifier: Apache-2.0
"""What other versions say: a newer minor one is understood, another major one is refused by name."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from roadmesh_peer import democracy_dj
from roadmesh_peer import protobuf as pb
from roadmesh_peer.guest import Talk
from roadmesh_peer.noise_link import ClearReason, Forged, Handshake, Key, Packet, prologue
from roadmesh_peer.wire import Frame, Introduction, Kind, Unit, ack, app_start, message, ping
from roadmesh_program.program import Program

Call = Callable[..., Talk]

UNKNOWN = Frame(0x7F, b"from the future")


def with_more(frame: Frame) -> Frame:
    return Frame(frame.kind, frame.body + b" and more")


@pytest.mark.parametrize("known", [False, True], ids=["a stranger", "a known guest"])
def test_a_guest_of_a_newer_minor_version_joins_and_votes(
    known: bool, host_key: bytes, call: Call, host: Program
) -> None:
    talk = call()
    introduction = Introduction(7, "Eve", minor_version=9)
    payload = bytes(with_more(app_start(introduction))) + bytes(UNKNOWN)
    if known:
        talk.recognise(host_key, payload)
    else:
        talk.introduce(talk.greet(), payload)
    talk.hear_of(Kind.SELF_INFO)
    newer_vote = democracy_dj.vote("n5") + pb.data(99, "a field of the future") + pb.number(98, 7)
    talk.say(UNKNOWN, with_more(ping(1)), Frame(0xFF), message(Unit(newer_vote, 1)), UNKNOWN)
    assert host.expect("intent", songID="n5", accepted=True)["peer"]["name"] == "Eve"
    assert talk.hear_of(Kind.ACK)[:1] == b"\x01"
    # A rejection, so that there is something to acknowledge with more bytes than there are today.
    talk.say(message(Unit(democracy_dj.vote("no"), 2)))
    while Unit.read(talk.hear_of(Kind.MESSAGE)).latest:
        pass
    talk.say(with_more(ack(1)), Frame(Kind.PONG, b"\x63more"))
    talk.say(Frame(Kind.GOODBYE, b"until next year"))
    talk.closed()
    assert host.expect("peerDisconnected")["reason"] == "goodbye"


@pytest.mark.parametrize("version", [0, 2, 255])
def test_a_guest_of_another_major_version_is_told_which_one_the_host_speaks(
    version: int, call: Call, host_key: bytes, host: Program
) -> None:
    key = Key()
    for packet, known in ((Packet.XX_1, None), (Packet.IK_1, host_key)):
        talk = call()
        handshake = Handshake(key, host_key=known, prologue=prologue(version=version))
        talk.send_packet(handshake.write(packet, version=version))
        assert talk.clearly_refused() == (1, ClearReason.VERSION)
        talk.closed()
    assert not host.seen("peerConnected")


def test_a_version_that_was_changed_on_the_way_gets_nobody_in(call: Call) -> None:
    talk = call()
    # The packet says 1, the guest's prologue another.
    handshake = Handshake(talk.key, prologue=prologue(version=2))
    talk.send_packet(handshake.write(Packet.XX_1))
    with pytest.raises(Forged):
        handshake.read(Packet.XX_2, talk.receive_packet())
