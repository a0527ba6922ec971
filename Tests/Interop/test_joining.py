# SPDX-License-Identifier: Apache-2.0
"""An independent guest joins a real host, is recognised later, and its absence is noticed."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from roadmesh_peer.guest import Guest, LinkEnded, Refused, Talk
from roadmesh_peer.noise_link import ClearlyRefused, ClearReason, Forged, Key, Packet
from roadmesh_peer.virtual_air import Heard, Radio
from roadmesh_peer.wire import Farewell, Hello, Kind, Reader, Reason, identifier, ping
from roadmesh_program.fixtures import MakeGuest, Start, StartHost
from roadmesh_program.program import NotExpected, Program

# The handshake of a returning guest, both directions together, must fit a few link-layer packets.
KNOWN_HANDSHAKE = 320

Call = Callable[..., Talk]


def eve(name: str = "Eve") -> Callable[[bytes], Hello]:
    return lambda _: Hello(1, name)


def test_a_stranger_joins_sees_the_queue_votes_and_sees_the_vote(host: Program, make_guest: MakeGuest) -> None:
    ana = make_guest("Ana")
    joining = ana.join("Dad's Car")
    assert [packet[0] for packet in joining.packets] == [Packet.XX_1, Packet.XX_2, Packet.XX_3]
    assert joining.answer.name == "Dad's Car"
    who = {"id": ana.key.identifier.hex(), "name": "Ana"}
    assert host.expect("peerConnected")["peer"] == who
    ana.until(lambda: ana.view.state is not None, "the first snapshot")
    assert ana.view.state and ana.view.state.now_playing and ana.view.state.now_playing.song.id == "n0"
    ana.vote("n7")
    ana.until_shown("n7")
    ana.until_acknowledged()
    assert host.expect("intent") | {"at": 0} == {
        "event": "intent",
        "at": 0,
        "accepted": True,
        "kind": "vote",
        "peer": who,
        "songID": "n7",
    }
    ana.leave()
    assert host.expect("peerDisconnected")["reason"] == "goodbye"


def test_a_known_guest_is_back_after_one_round_trip(host: Program, ana: Guest, measured: list[str]) -> None:
    ana.vote("n3")
    ana.until_shown("n3")
    ana.leave()
    joining = ana.join()
    assert [packet[0] for packet in joining.packets] == [Packet.IK_1, Packet.IK_2]
    there, back = map(len, joining.packets)
    measured.append(
        f"the handshake of a known guest: {there} bytes there, {back} back; limit {KNOWN_HANDSHAKE} together"
    )
    assert joining.handshake_bytes <= KNOWN_HANDSHAKE
    host.expect("peerDisconnected")
    host.expect("peerConnected")
    ana.until_shown("n3")


def test_a_guest_is_known_to_a_host_that_was_restarted(start_host: StartHost, make_guest: MakeGuest) -> None:
    first, ana = start_host(), make_guest("Ana")
    ana.join()
    ana.vote("n3")
    ana.until_acknowledged()
    first.end()
    with pytest.raises(LinkEnded):
        ana.until(lambda: False)
    ana.lose_link()
    start_host()
    assert ana.join().packets[0][0] == Packet.IK_1
    # The numbers continue: this message is not a duplicate, and no message before it is missing.
    ana.vote("n4")
    ana.until_shown("n4")


def test_a_guest_that_takes_the_host_for_another_is_told_so(call: Call, host: Program) -> None:
    talk = call()
    with pytest.raises(ClearlyRefused) as refused:
        talk.join(eve(), known=Key().public)
    assert (refused.value.version, refused.value.reason) == (2, ClearReason.UNKNOWN_KEY)
    talk.closed()
    assert not host.seen("peerConnected")


def test_the_host_is_who_its_advertisement_says(call: Call, heard: Heard, host: Program) -> None:
    talk = call()
    talk.join(eve())
    assert identifier(talk.host_key).hex() == host.seen("ready")[0]["peer"]["id"]
    assert identifier(talk.host_key).startswith(heard.head)
    assert (heard.name, len(heard.head)) == ("Dad's Car", 9)


def test_a_guest_of_another_application_does_not_get_in(call: Call, host: Program) -> None:
    with pytest.raises(Forged):
        call(service="chess").greet()
    knowing = call()
    host_key = knowing.greet().their_key
    with pytest.raises(ClearlyRefused) as refused:
        call(service="chess").recognise(host_key, b"")
    assert refused.value.reason == ClearReason.UNKNOWN_KEY
    assert not host.seen("peerConnected")


def test_both_sides_ping_and_each_is_answered(ana: Guest, host: Program) -> None:
    assert ana.talk
    ana.talk.say(ping(77))
    while Reader(ana.talk.hear_of(Kind.PONG)).varint() != 77:
        pass
    # The host pings as well, and shows a link only if its ping is answered.
    ana.until(lambda: bool(host.seen("link")), "an answered ping")


def test_a_guest_that_falls_silent_is_missed(ana: Guest, host: Program) -> None:
    assert ana.talk
    ana.talk.closed()
    assert host.expect("peerDisconnected")["reason"] == "linkLost"


@pytest.mark.parametrize(("line", "reason"), [("quit", Farewell.STOPPED), ("end", Farewell.ENDED)])
def test_a_host_that_goes_says_goodbye_and_what_becomes_of_its_session(
    line: str, reason: Farewell, ana: Guest, host: Program
) -> None:
    host.say(line)
    with pytest.raises(LinkEnded) as ended:
        ana.until(lambda: False)
    assert ended.value.reason == reason


def test_a_guest_that_was_sent_away_is_refused_now_and_later(ana: Guest, host: Program) -> None:
    host.say("kick Ana")
    with pytest.raises(Refused) as now:
        ana.until(lambda: False)
    assert now.value.reason == Reason.BANNED
    ana.lose_link()
    with pytest.raises(Refused) as later:
        ana.join()
    assert later.value.reason == Reason.BANNED
    ana.known_hosts.clear()
    with pytest.raises(Refused) as as_stranger:
        ana.join()
    assert as_stranger.value.reason == Reason.BANNED


def test_the_seventeenth_guest_finds_no_room(call: Call, host: Program) -> None:
    for number in range(16):
        talk = call()
        talk.join(eve(f"Guest {number}"))
        talk.say(ping(1))
        host.expect("peerConnected")
    talk = call()
    with pytest.raises(Refused) as refused:
        talk.join(eve())
    assert refused.value.reason == Reason.FULL
    talk.closed()


def test_the_same_guest_on_a_newer_link_takes_the_place_of_the_older(
    ana: Guest, host: Program, heard: Heard, air: Path
) -> None:
    older = ana.talk
    assert older
    ana.join_on(Radio(air, "again").dial(heard))
    older.closed()
    assert host.expect("peerDisconnected")["reason"] == "replaced"
    ana.vote("n2")
    ana.until_shown("n2")


def test_a_name_that_cannot_be_shown_becomes_one_that_can(call: Call, host: Program) -> None:
    call_as = {"\x1b[2J\nEve\x00\u202e ": "[2JEve", " \t ": "?", "": "?"}
    for name, shown in call_as.items():
        talk = call()
        talk.join(eve(name))
        talk.say(ping(1))
        assert host.expect("peerConnected")["peer"]["name"] == shown


@pytest.mark.long
def test_two_programs_with_one_identity_are_both_told_and_do_not_throw_each_other_out(
    host: Program, start: Start, tmp_path: Path
) -> None:
    first = start("guest", "Bob", "bob")
    first.expect("connection", state="connected")
    assert first.end() == 0
    shutil.copytree(tmp_path / "bob", tmp_path / "copy")
    guests = [start("guest", "Bob", address) for address in ("bob", "copy")]
    for guest in guests:
        guest.expect("notice", code="sameIdentity")
    host.expect("notice", code="twins")
    # Both guests get the notice for ten seconds. Then the first one that tries again joins, alone.
    for _ in range(10):
        guests[0].say("retry")
        with contextlib.suppress(NotExpected):
            guests[0].expect("connection", state="connected", timeout=2)
            break
    else:
        raise AssertionError("no more guests are admitted")
    assert len(host.seen("peerConnected")) <= 10, "they have not thrown each other out for long"
