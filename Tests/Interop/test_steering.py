# SPDX-License-Identifier: Apache-2.0
"""A driver steers the queue, as a program does it: positions, undo, back, volume. Guests see the same order."""

from __future__ import annotations

from pathlib import Path

from roadmesh_program.fixtures import Start, StartHost
from roadmesh_program.program import Program


def order(event: dict[str, object]) -> list[str]:
    queue = event["queue"]
    assert isinstance(queue, list)
    return [item["id"] for item in queue]


def shows(program: Program, *songs: str) -> None:
    """Waits until the queue has these songs, in this order."""
    program.expect("snapshot", lambda event: order(event) == list(songs))


def test_a_place_that_the_driver_gives_holds_for_everybody_and_through_a_restart(
    start_host: StartHost, start: Start, tmp_path: Path
) -> None:
    host = start_host(4)
    ana = start("guest", "Ana", "ana")
    shows(ana, "n1", "n2", "n3", "n4")
    host.say("move n4 2")
    for program in (host, ana):
        shows(program, "n1", "n4", "n2", "n3")
    ana.say("vote n3")
    for program in (host, ana):
        shows(program, "n3", "n4", "n1", "n2")
    host.say("next n2")
    for program in (host, ana):
        shows(program, "n2", "n3", "n4", "n1")
    host.say("quit")
    host.expect("bye")
    host.end()
    again = start("host", "Dad's Car", "car", "--library", str(tmp_path / "songs.json"))
    shows(again, "n2", "n3", "n4", "n1")
    ana.expect("connection", state="connected")
    ana.say("vote n1")
    for program in (again, ana):
        shows(program, "n2", "n3", "n4", "n1")
    # n3 and n1 have one vote each, and n2 has a fixed position.
    ana.say("unvote n3")
    for program in (again, ana):
        shows(program, "n2", "n1", "n4", "n3")


def test_what_was_removed_is_back_with_its_votes_where_it_was(start_host: StartHost, start: Start) -> None:
    host = start_host(3)
    ana = start("guest", "Ana", "ana")
    ana.say("vote n3")
    shows(host, "n3", "n1", "n2")
    host.say("remove n3")
    host.expect("steering", undo={"kind": "remove", "title": "Mile 3"})
    shows(ana, "n1", "n2")
    host.say("undo")
    back = ana.expect("snapshot", lambda event: order(event) == ["n3", "n1", "n2"])
    assert back["queue"][0]["votes"] == 1
    host.expect("steering", undo=None)
    host.say("clear")
    host.expect("steering", undo={"kind": "clear"})
    shows(ana)
    host.say("undo")
    shows(ana, "n3", "n1", "n2")
    host.say("undo")
    assert host.expect("notice")["code"] == "nothingToUndo"


def test_a_guest_that_was_sent_away_by_mistake_may_come_again(host: Program, start: Start) -> None:
    ana = start("guest", "Ana", "ana")
    ana.expect("connection", state="connected")
    host.say("kick Ana")
    host.expect("steering", undo={"kind": "kick", "name": "Ana"})
    ana.expect("notice", code="kicked")
    ana.say("retry")
    ana.expect("notice", code="kicked")
    host.say("undo")
    host.expect("steering", undo=None)
    ana.say("retry")
    ana.expect("connection", state="connected")


def test_the_song_before_plays_again_and_the_present_one_is_next(host: Program) -> None:
    host.say("previous")
    assert host.expect("notice")["code"] == "nothingBefore"
    host.say("skip")
    host.expect("steering", canGoBack=True)
    host.say("previous")
    host.expect("snapshot", lambda event: event["nowPlaying"]["id"] == "n0" and order(event)[:2] == ["n1", "n2"])
    host.expect("steering", canGoBack=False)


def test_commands_that_are_not_typed_right_change_nothing(host: Program) -> None:
    for line in ("move n1", "move n1 x", "move n1 0", "volume loud", "volume 101", "move", "volume"):
        host.say(line)
        assert host.expect("notice")["code"] == "badCommand", line
    host.say("volume 40")
    assert host.expect("notice")["code"] == "noVolume"
    host.say("move n99 1")
    assert host.expect("notice")["code"] == "notQueued"
    assert order(host.seen("snapshot")[-1])[:2] == ["n1", "n2"]
