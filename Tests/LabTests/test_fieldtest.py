"""A drive, recorded by the real program in boxes: the report is compared with the air's log, and a power cut tests
what is left of a recording."""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from helpers import IS_QUIET, START, Figures, hold, identity, song_list, start_host
from runner import Box, Lab, Program
from runner.drive import Step, follow, recorded

DRIVES = Path(__file__).parents[2] / "docs" / "drives"

# Allowed difference between a gap's start or end in the report and in the air's log.
AGREEMENT = 0.050
# A reported gap and a gap of the air that are no further apart than this are the same gap.
MATCH = 0.4
# The clocks of air and box are compared by the quickest lines within this time around a gap.
NEARBY = 60.0
# Hours of recorded drives to replay, with gaps back to back. A quarter of an hour is all three drives, once.
HOURS = [float(one) for one in os.environ.get("ROADMESH_DRIVE_HOURS", "0.25").split()]
WHICH = os.environ.get("ROADMESH_DRIVE", "*")


# Songs that fit into a queue.
SONGS = 90

Wish = tuple[str, str]
"""A guest's wish, as the host reports it, and the song."""


@dataclass(frozen=True)
class Gap:
    start: float
    end: float


def record(box: Box, *arguments: str, state: Path | None = None) -> Program:
    """A guest that has joined and whose drive is recorded."""
    guest = box.roadmesh(
        "fieldtest", "record", "guest", "Ana", "--http", "none", *arguments, state=state, name="recorded"
    )
    guest.expect("snapshot", lambda one: not one["stale"], timeout=START)
    return guest


def fieldtest(lab: Lab, *arguments: object) -> str:
    """Runs a command about drives, on the machine: a state folder is in the run's folder."""
    return subprocess.run(
        [lab.binary(), "fieldtest", *map(str, arguments)], capture_output=True, text=True, check=True
    ).stdout


def report(lab: Lab, guest: Program, drive: str = "last") -> dict[str, Any]:
    return dict(json.loads(fieldtest(lab, "report", drive, "--state", guest.state, "--json", "-"))["drives"][0])


def clock_offset(guest: Program, around: float) -> float:
    """The offset from the box's clock to the air's. No line can arrive before it is printed."""
    offsets = [(one["_received"] - one["at"], abs(one["_received"] - around)) for one in guest.events]
    near = [offset for offset, away in offsets if away < NEARBY]
    return min(near or [offset for offset, _ in offsets])


def gaps_of_air(lab: Lab) -> list[Gap]:
    """The gaps in the air's log: from the cut to the heal."""
    changes = [one for one in lab.air.events if one["event"] == "airChanged" and "cut" in one]
    return [
        Gap(one["monotonic"], next(other["monotonic"] for other in changes[number:] if not other["cut"]))
        for number, one in enumerate(changes)
        if one["cut"]
    ]


def compare(lab: Lab, guest: Program, figures: Figures, what: str) -> None:
    """Compares each reported gap with the air's log. A cut before the guest was back belongs to the previous gap. A
    link that was lost without a cut belongs to the link layer: weak signals lose packets, and many lost packets end
    a link."""
    said = report(lab, guest)
    began = said["header"]["began"]
    air = gaps_of_air(lab)
    downs = [one["monotonic"] for one in lab.air.events if one["event"] == "linkDown"]
    starts, ends, losses, met, uncut = [], [], [], 0, 0
    for gap in said["gaps"]:
        offset = clock_offset(guest, gap["lost"] + began + clock_offset(guest, 0))
        start = began + gap["start"] + offset
        end = began + min(gap.get(phase, 1e12) for phase in ("inReach", "dialled", "resumed")) + offset
        losses.append(min((began + gap["lost"] + offset - down for down in downs), key=abs))
        assert abs(losses[-1]) <= MATCH, f"the air knows nothing of the gap at {gap}"
        covered = [one for one in air if start - MATCH <= one.start < end]
        if not covered:
            uncut += 1
            continue
        met += len(covered)
        starts.append(start - covered[0].start)
        ends.append(end - covered[-1].end)
    note = figures.note
    note(
        f"{what}: {len(air)} cuts of the air, {len(said['gaps'])} gaps in the report, which cover {met} of them; "
        f"{uncut} links lost without a cut"
    )
    lengths = [end - start for start, end in zip(starts, ends, strict=False)]
    for name, values in (("losses of links", losses), ("starts", starts), ("ends", ends), ("lengths", lengths)):
        ordered = sorted(values)
        within = sum(abs(value) <= AGREEMENT for value in values) / len(values)
        note(
            f"{what}: {name}, report less air: median {statistics.median(ordered) * 1e3:+.0f} ms, "
            f"{ordered[0] * 1e3:+.0f} to {ordered[-1] * 1e3:+.0f} ms, within {AGREEMENT * 1e3:.0f} ms: {within:.0%}"
        )
        if IS_QUIET:
            # With a weak signal, packets are lost, so the last packet received is not always the last one before the
            # cut.
            assert within >= (0.5 if name in ("starts", "lengths") else 0.75)
            assert abs(statistics.median(ordered)) <= AGREEMENT
        else:
            # A box on a busy machine reads packets late.
            assert within >= 0.25
    assert met == len(air), "the report has every gap of the air"


def test_a_few_gaps(road: Lab, car: Box, family: Box, figures: Figures) -> None:
    start_host(car)
    guest = record(family)
    chance = random.Random(1)
    for _ in range(int(os.environ.get("ROADMESH_GAPS", "6"))):
        hold(road, 2 + chance.random())
        road.air.cut(car, family)
        hold(road, 2 + chance.random() * 2)
        road.air.heal()
        guest.expect("contact", phase="resumed")
        guest.expect("snapshot")
    guest.say("quit")
    guest.wait()
    compare(road, guest, figures, "a few gaps")


def test_a_recording_survives_a_power_cut(road: Lab, car: Box, figures: Figures) -> None:
    start_host(car)
    box = road.box("cut")
    guest = record(box, "--drive", "Cut off", "--mark", "1s=timed")
    guest.say("mark <b>typed</b>")
    guest.expect("mark", text="<b>typed</b>")
    hold(road, 6)
    cut = road.folder.clock()
    last = guest.events[-1]
    box.power_cut()
    [listed] = [json.loads(line) for line in fieldtest(road, "list", "--state", guest.state, "--json").splitlines()]
    assert listed["ending"] == "cutOff" and listed["name"] == "Cut off", listed
    said = report(road, guest)
    assert {mark["text"] for mark in said["marks"]} == {"timed", "<b>typed</b>"}
    lost = last["at"] - said["header"]["began"] - said["seconds"]
    figures.note(f"a power cut at {cut:.1f} s: the recording lacks its last {max(lost, 0) * 1e3:.0f} ms")
    assert lost < 2.0
    page = fieldtest(road, "report", "last", "--state", guest.state, "-o", "-")
    assert "cut off" in page and "&lt;b&gt;typed&lt;/b&gt;" in page and "<b>typed" not in page
    # The next drive has its own recording, and the first is kept.
    box.boot()
    again = guest.again()
    again.expect("snapshot", lambda one: not one["stale"], timeout=START)
    again.say("quit")
    again.wait()
    listing = [json.loads(line) for line in fieldtest(road, "list", "--state", guest.state, "--json").splitlines()]
    assert [one["ending"] for one in listing] == ["cutOff", "complete"]


@pytest.mark.parametrize("hours", HOURS)
def test_hours_of_recorded_drives_lose_nothing_and_the_report_agrees_with_the_air(
    road: Lab, car: Box, family: Box, figures: Figures, hours: float
) -> None:
    """Replays the recorded drives, gaps back to back, for this many hours."""
    drives = [(recorded(road, path), recorded(road, path, fast=True)) for path in sorted(DRIVES.glob(f"{WHICH}.jsonl"))]
    seconds = 0.0
    rounds: list[list[Step]] = []
    for number in count():
        if seconds >= hours * 3600:
            break
        whole, fast = drives[number % len(drives)]
        seconds += whole[-1].at
        rounds.append(fast)
    votes = sum(step.change == "vote" for steps in rounds for step in steps)
    songs = song_list(road, SONGS)
    host = car.roadmesh("host", "Dad's Car", "--library", str(songs), "--http", "none")
    host.expect("ready", timeout=START)
    guest = record(family, "--drive", "Hours")
    cast: list[Wish] = []

    def told(step: Step) -> None:
        if step.change == "vote":
            # Each song gets a vote in turn. In the next round the vote is taken back.
            turn, song = divmod(len(cast), SONGS)
            cast.append(("takeBackVote" if turn % 2 else "vote", f"n{song + 1}"))
            guest.say(f"{'unvote' if turn % 2 else 'vote'} {cast[-1][1]}")

    for steps in rounds:
        follow(road, steps, car, family, told)
    told_of = lambda: len(guest.seen("vote", state="confirmed"))  # noqa: E731
    road.hub.wait_for(lambda: True if told_of() == votes else None, 30)
    me = identity(guest)
    counted: list[Wish] = [
        (one["kind"], one["songID"]) for one in host.seen("intent", accepted=True) if one["peer"]["id"] == me
    ]
    guest.say("quit")
    guest.wait()
    said = report(road, guest)
    gaps = len(said["gaps"])
    figures.note(
        f"{seconds / 3600:.2f} h of recorded drives, back to back in {said['seconds'] / 60:.1f} min: {gaps} gaps, "
        f"{len(cast)} votes cast or taken back, {len(counted)} counted"
    )
    assert sorted(counted) == sorted(cast), "each vote is counted once"
    assert said["deliveries"]["cast"] == len(cast) == said["deliveries"]["delivered"]
    compare(road, guest, figures, f"{seconds / 3600:.2f} h")
