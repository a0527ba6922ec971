# SPDX-License-Identifier: Apache-2.0
"""Invitations: the independent peer joins a real host with them, and so does the program."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from roadmesh_peer.guest import Guest, Refused
from roadmesh_peer.invitation import Invitation
from roadmesh_peer.noise_link import Packet
from roadmesh_peer.wire import Malformed, Reason
from roadmesh_program.fixtures import MakeGuest, Place, Start, StartHost
from roadmesh_program.person import Person
from roadmesh_program.program import START, Program

PIN = "314159"
NAME = "Dad's Car"
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "protocol.md"


@pytest.fixture
def locked(start_host: StartHost) -> Program:
    return start_host(20, "Mile", "--pin", PIN)


def invited(host: Program, span: str = "") -> str:
    host.say(f"invite {span}".strip())
    text: str = host.expect("invitation")["text"]
    return text


def bearing(guest: Guest, text: str) -> Guest:
    guest.secret = Invitation.read(text).proof
    return guest


def reason_of(guest: Guest) -> int:
    with pytest.raises(Refused) as refused:
        guest.join(NAME)
    return refused.value.reason


def test_the_document_s_example_is_what_this_implementation_writes() -> None:
    text = re.search(r"^roadmesh:\S+$", DOCUMENT.read_text(), re.MULTILINE)
    assert text
    host = bytes.fromhex("f35e5616160a30bf3c6e79fa73c576d4")
    example = Invitation(host, bytes(range(8)), bytes(range(16, 32)), "democracy-dj")
    assert example.text == text[0] and Invitation.read(text[0]) == example
    assert Invitation.read(f" see http://10.0.0.1:80/join?invitation={text[0][9:]}&x=1") == example
    for spoilt in (text[0][:-1], text[0][:-2] + "AA", "roadmesh:", "http://10.0.0.1/join"):
        with pytest.raises((Malformed, ValueError)):
            Invitation.read(spoilt)


def test_one_guest_comes_in_by_an_invitation_and_stays_known_and_nobody_else_does(
    locked: Program, make_guest: MakeGuest
) -> None:
    text = invited(locked)
    assert len(locked.expect("invitations")["invitations"]) == 1
    ana, eve = bearing(make_guest("Ana"), text), bearing(make_guest("Eve"), text)
    assert ana.join(NAME).answer.proof
    assert locked.expect("invitations")["invitations"] == []
    assert reason_of(eve) == Reason.INVITATION
    ana.leave()
    ana.secret = None
    assert [packet[0] for packet in ana.join().packets] == [Packet.IK_1, Packet.IK_2]
    ana.until(lambda: ana.view.state is not None, "the first snapshot")
    assert not locked.seen("pinGuessed")


def test_an_invitation_for_a_time_is_for_everybody_and_is_kept_over_a_restart(
    locked: Program, start_host: StartHost, make_guest: MakeGuest
) -> None:
    text = invited(locked, "2h")
    bearing(make_guest("Ana"), text).join(NAME)
    locked.end()
    again = start_host(20, "Mile", "--pin", PIN)
    assert again.expect("invitations")["invitations"][0]["text"] == text
    bearing(make_guest("Bob"), text).join(NAME)
    again.say("invite none")
    assert again.expect("notice")["code"] == "invitationsTakenBack"
    assert reason_of(bearing(make_guest("Eve"), text)) == Reason.INVITATION


def test_a_wrong_secret_and_a_name_that_was_never_given_are_refused_and_are_no_guesses(
    locked: Program, make_guest: MakeGuest
) -> None:
    true = Invitation.read(invited(locked))
    for number in range(8):
        forged = dataclasses.replace(true, secret=bytes(16)) if number % 2 else dataclasses.replace(true, name=bytes(8))
        eve = make_guest(f"Eve {number}")
        eve.secret = forged.proof
        assert reason_of(eve) == Reason.INVITATION
    assert not locked.seen("pinGuessed")
    bearing(make_guest("Ana"), true.text).join(NAME)


def test_who_has_an_invitation_comes_in_while_others_guess_the_pin(locked: Program, make_guest: MakeGuest) -> None:
    text = invited(locked)
    for number in range(7):
        eve = make_guest(f"Eve {number}")
        eve.secret = dataclasses.replace(Invitation.read(text).proof, known=b"271828", invitation=b"")
        assert reason_of(eve) == (Reason.WRONG_PROOF if number < 5 else Reason.TOO_MANY_GUESSES)
    bearing(make_guest("Ana"), text).join(NAME)


def test_the_program_joins_by_text_and_by_link_the_host_that_it_was_invited_to(locked: Program, start: Start) -> None:
    text = invited(locked, "1h")
    for name, join in (("Ana", text), ("Bob", f"http://192.168.4.1:8080/join?invitation={text[9:]}")):
        guest = start("guest", name, name.lower(), "--join", join)
        guest.expect("connection", state="connected")
        assert not guest.seen("notice")
    once = invited(locked)
    start("guest", "Cleo", "cleo", "--join", once).expect("connection", state="connected")
    late = start("guest", "Dan", "dan", "--join", once)
    assert late.expect("notice")["code"] == "invitationOver"


def test_a_host_gives_so_many_invitations_and_no_more(locked: Program) -> None:
    for _ in range(32):
        invited(locked)
    locked.say("invite")
    assert locked.expect("notice")["code"] == "tooManyInvitations"
    for wrong in ("5", "2x", "99d", "0h", "-1h", "h"):
        locked.say(f"invite {wrong}")
        assert locked.expect("notice")["code"] == "noSpan"


def test_who_is_banned_stays_out_beyond_the_session_until_the_driver_says_otherwise(
    start_host: StartHost, make_guest: MakeGuest
) -> None:
    host = start_host(20, "Mile")
    eve, tom = make_guest("Eve"), make_guest("Tom")
    for guest in (eve, tom):
        guest.join(NAME)
        host.expect("peerConnected")
    host.say("ban Eve")
    assert [ban["peer"]["name"] for ban in host.expect("bans")["bans"]] == ["Eve"]
    host.say("ban Tom 1h")
    bans = host.expect("bans", lambda one: len(one["bans"]) == 2)["bans"]
    assert bans[0]["until"] is None and bans[1]["until"] and not bans[1]["session"]
    for guest in (eve, tom):
        guest.lose_link()
        assert reason_of(guest) == Reason.BANNED
    host.say("end")
    host.expect("notice", code="sessionEnded")
    for guest in (eve, tom):
        assert reason_of(guest) == Reason.BANNED
    host.say("quit")
    assert host.ended() == 0
    again = start_host(20, "Mile")
    assert len(again.expect_seen("bans")["bans"]) == 2
    assert reason_of(eve) == Reason.BANNED
    again.say("unban Eve")
    again.expect("bans", lambda one: len(one["bans"]) == 1)
    eve.join(NAME)
    assert reason_of(tom) == Reason.BANNED


@pytest.mark.parametrize(("rows", "is_shown"), [(50, True), (24, False)])
def test_an_invitation_at_a_terminal_can_be_copied_and_its_picture_is_shown_where_it_fits(
    binary: Path, place: Place, rows: int, is_shown: bool
) -> None:
    person = Person(binary, "host", "Car", *place("car"), columns=80, rows=rows)
    person.see("is on the air", timeout=START)
    person.enter("invite")
    person.see("On another device:")
    person.look(lambda: person.prompt == ">", "the prompt")
    # The terminal has broken the line, so that it copies one line.
    copied = "".join(person.lines[person.row - 2 : person.row])
    assert copied.startswith("  roadmesh guest NAME --join roadmesh:")
    assert Invitation.read(copied.split()[-1]).service == "democracy-dj"
    text = "".join(person.lines)
    assert ("▀" in text) == is_shown and "30;107m" not in text
    person.end()


def test_a_link_is_quoted_in_the_command_that_a_shell_gets(binary: Path, place: Place) -> None:
    more = ["--http", "127.0.0.1:0", "--web-guests"]
    person = Person(binary, "host", "Car", *place("car"), *more, columns=400, rows=24)
    person.see("is on the air", timeout=START)
    person.enter("invite")
    person.see("  roadmesh guest NAME --join 'http://")
    (line,) = [line for line in person.lines if "--join" in line]
    assert "/join?invitation=" in line and line.endswith("'")
    person.end()


def test_an_invitation_that_was_broken_into_lines_is_read(locked: Program, start: Start) -> None:
    text = invited(locked)
    start("guest", "Ana", "ana", "--join", f"{text[:40]}\n  {text[40:]}").expect("connection", state="connected")
