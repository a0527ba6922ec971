# SPDX-License-Identifier: Apache-2.0
"""Browsing a library without typing, as a program does it: at the host, and at a guest over the air."""

from __future__ import annotations

import pytest
from roadmesh_program.fixtures import Start
from roadmesh_program.program import Program


@pytest.fixture
def ana(host: Program, start: Start) -> Program:
    del host
    guest = start("guest", "Ana", "ana")
    guest.expect("connection", state="connected")
    return guest


@pytest.mark.parametrize("who", ["host", "ana"])
def test_an_artist_is_opened_and_more_of_it_shown(request: pytest.FixtureRequest, who: str) -> None:
    program: Program = request.getfixturevalue(who)
    program.say("artists")
    found = program.expect("searchResults", shelf="artists", total=1, songs=[])
    (artist,) = found["groups"]
    assert (artist["name"], artist["songs"]) == ("The Milestones", 21)
    program.say(f"open artist {artist['id']}")
    songs = program.expect("searchResults", shelf="artist", total=21)["songs"]
    assert len(songs) == 20
    program.say("more")
    more = program.expect("searchResults", shelf="artist")
    assert more["from"] == 20 and len(more["songs"]) == 1
    program.say("open nothing")
    assert program.expect("notice")["code"] == "badCommand"


@pytest.mark.parametrize("who", ["host", "ana"])
def test_a_slip_is_forgiven_and_told(request: pytest.FixtureRequest, who: str) -> None:
    program: Program = request.getfixturevalue(who)
    program.say("search milestnoes")
    assert program.expect("searchResults", query="milestnoes")["lookedFor"] == "milestones"
    program.say("search milestones")
    assert program.expect("searchResults", query="milestones", total=21)["lookedFor"] is None


def test_what_was_played_is_played_again(host: Program, ana: Program) -> None:
    host.say("skip")
    host.expect("snapshot", lambda event: event["nowPlaying"]["id"] == "n1")
    host.say("history")
    assert [song["id"] for song in host.expect("searchResults", shelf="heard")["songs"]] == ["n0"]
    ana.say("history")
    assert [song["id"] for song in ana.expect("searchResults", shelf="heard")["songs"]] == ["n0"]
    ana.say("suggest n0")
    host.expect("snapshot", lambda event: event["queue"][-1]["id"] == "n0")
