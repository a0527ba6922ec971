"""Regular ends: who receives which reason when a program ends, and how the others continue."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from helpers import (
    START,
    await_joined,
    cast,
    identity,
    last_snapshot,
    shows_peers,
    start_guests,
    start_host,
    voters,
)
from runner import Box, Lab, Program

End = Callable[[Program], None]


def terminate(program: Program) -> None:
    program.signal("TERM")


def interrupt(program: Program) -> None:
    program.signal("INT")


def quit(program: Program) -> None:
    program.say("quit")


def end_of_input(program: Program) -> None:
    program.close_input()


def expect_bye(program: Program, reason: str) -> None:
    """The program ends with code 0, and `bye` is its last event."""
    assert program.wait() == 0
    assert program.events[-1]["event"] == "bye"
    assert program.events[-1]["reason"] == reason
    assert not [line.text for line in program.lines if line.stream == "err"]


@pytest.mark.parametrize(
    ("how", "reason", "code", "states"),
    [
        (terminate, "terminated", "hostStopped", ["reconnecting"]),
        (interrupt, "terminated", "hostStopped", ["reconnecting"]),
    ],
)
def test_guests_are_told_what_becomes_of_the_session_of_a_host_that_goes(
    road: Lab, car: Box, family: Box, how: End, reason: str, code: str, states: list[str]
) -> None:
    host = start_host(car)
    guests = start_guests(family, "Ana", "Bob", "Cy")
    how(host)
    for guest in guests:
        expect_goodbye(guest, code, states)
    expect_bye(host, reason)


def expect_goodbye(guest: Program, code: str, states: list[str]) -> None:
    gone = guest.expect("peerDisconnected")
    assert gone["reason"] == "goodbye" and gone["peer"]["name"] == "Dad's Car"
    notice = guest.expect_seen("notice", code=code)
    assert notice["message"].startswith("Dad's Car")
    assert not guest.seen("notice", code="connectionLost")
    for state in states:
        assert guest.expect("connection")["state"] == state


@pytest.mark.parametrize(
    ("how", "reason"),
    [(quit, "quit"), (end_of_input, "endOfInput"), (terminate, "terminated")],
)
def test_the_host_is_told_that_a_guest_has_left_and_the_others_stay(
    road: Lab, car: Box, family: Box, how: End, reason: str
) -> None:
    host = start_host(car)
    ana, bob, cy = start_guests(family, "Ana", "Bob", "Cy")
    cast(ana, "s5", seen_by=[host])
    how(ana)
    gone = host.expect("peerDisconnected")
    assert gone["reason"] == "goodbye" and gone["peer"]["id"] == identity(ana)
    for one in (host, bob, cy):
        one.expect("snapshot", shows_peers("Bob", "Cy"))
    expect_bye(ana, reason)
    # Ana's votes stay, and the others can still vote.
    cast(bob, "s5", seen_by=[host, bob, cy])
    assert sorted(voters(last_snapshot(host), "s5")) == sorted([identity(ana), identity(bob)])
    assert not bob.seen("peerDisconnected") and not cy.seen("peerDisconnected")


def test_a_host_goes_on_when_its_input_ends(road: Lab, car: Box, family: Box) -> None:
    host = start_host(car)
    host.close_input()
    [guest] = start_guests(family, "Ana")
    cast(guest, "s2", seen_by=[host, guest])
    assert host.running


def test_a_guest_that_leaves_stays_alone_until_told_otherwise(road: Lab, car: Box, family: Box) -> None:
    host = start_host(car)
    [guest] = start_guests(family, "Ana")
    guest.say("leave")
    guest.expect("connection", state="disconnected")
    assert host.expect("peerDisconnected")["reason"] == "goodbye"
    guest.say("vote s3")
    guest.expect("vote", songID="s3", state="queued")
    guest.never("peerConnected", during=2)
    guest.say("retry")
    await_joined(guest)
    guest.expect_seen("vote", songID="s3", state="confirmed")


def test_the_end_of_a_session_begins_the_next_one_and_the_host_goes_on(road: Lab, car: Box, family: Box) -> None:
    host = start_host(car)
    guests = start_guests(family, "Ana", "Bob", "Cy")
    cast(guests[2], "s5", seen_by=[host, *guests])
    first = last_snapshot(host)
    host.say("end")
    for guest in guests:
        # The guest looks for a host again; after a stopped host it waits.
        expect_goodbye(guest, "hostEnded", ["disconnected", "connecting"])
    guests[0].say("vote s7")
    for guest in guests:
        snapshot = await_joined(guest)
        assert snapshot["epoch"] > first["epoch"] and not voters(snapshot, "s5")
    host.expect("snapshot", shows_peers("Ana", "Bob", "Cy"), timeout=START)
    guests[0].expect_seen("vote", songID="s7", state="confirmed")
    cast(guests[1], "s7", seen_by=[host, *guests])
    assert sorted(voters(last_snapshot(host), "s7")) == sorted(identity(guest) for guest in guests[:2])
    assert host.running and not host.seen("bye")


def test_a_kicked_guest_is_told_so_and_is_not_let_in_again_until_the_session_ends(
    road: Lab, car: Box, family: Box
) -> None:
    host = start_host(car)
    ana, bob = start_guests(family, "Ana", "Bob")
    host.say("kick Ana")
    gone = ana.expect("peerDisconnected")
    assert gone["reason"] == "refused"
    assert ana.expect("notice", code="kicked")["critical"]
    assert ana.expect("connection", state="failed")["error"] == "refused: banned"
    assert host.expect("peerDisconnected")["peer"]["id"] == identity(ana)
    for one in (host, bob):
        one.expect("snapshot", shows_peers("Bob"))
    # A removed guest does not come back: not automatically, not by asking, and not after a restart.
    ana.never("peerConnected", during=1)
    ana.say("retry")
    ana.expect("notice", code="kicked", timeout=START)
    ana.say("quit")
    ana.wait()
    ana = ana.again()
    ana.expect("notice", code="kicked", timeout=START)
    assert not ana.seen("peerConnected")
    assert not bob.seen("peerDisconnected")
    cast(bob, "s2", seen_by=[host, bob])
    host.say("end")
    host.expect_seen("notice", code="sessionEnded")
    ana.say("retry")
    await_joined(ana)
    await_joined(bob)


def test_kicking_nobody_is_told_and_harms_nobody(road: Lab, car: Box, family: Box) -> None:
    host = start_host(car)
    [guest] = start_guests(family, "Ana")
    host.say("kick Bob")
    assert "Bob" in host.expect("notice", code="noSuchGuest")["message"]
    cast(guest, "s2", seen_by=[host, guest])
