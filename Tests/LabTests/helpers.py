"""Words that the lab tests have in common."""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from lab import Box, Controller, Event, Lab, Program
from roadmesh_peer import wire

# Whether the machine is known to do nothing else.
IS_QUIET = "QUIET" in os.environ

DAEMONS = ("dbus-daemon", "bluetoothd")

# Starting a program in a box whose cores are busy compiling takes its time. No test measures by this.
START = 30.0

# The link layer gives a link up after 420 ms without a packet; the kernel, the program and the serial line of the box
# need some tens of milliseconds more, on a busy machine a few hundred.
NOTICED = 2.0

# Silence on a link that stands: a ping a second, three seconds of patience, and some for the machine.
SILENCE_NOTICED = 5.0


def service_uuid() -> str:
    """As the Python guest derives it, without our code."""
    return str(wire.service_uuid())


# Starting nodes


def start_host(box: Box, *arguments: str, name: str = "Dad's Car", **options: object) -> Program:
    """A host that is on the air."""
    host = box.roadmesh("host", name, *arguments, "--library", str(box.lab.songs), **options)
    host.expect("ready", timeout=START)
    host.expect("snapshot")
    return host


def start_guests(box: Box, *names: str) -> list[Program]:
    """Guests in one box, each on an adapter of its own, that have joined."""
    guests = [box.roadmesh("guest", name, adapter=box.hci(index)) for index, name in enumerate(names)]
    for guest in guests:
        await_joined(guest)
    return guests


def await_joined(guest: Program, timeout: float = START) -> Event:
    """Waits until a guest is in and sees the queue. Returns what it sees."""
    guest.expect("connection", state="connected", timeout=timeout)
    return guest.expect("snapshot", timeout=timeout)


def song_list(lab: Lab, count: int) -> Path:
    """A library of songs n0, n1, …; the first plays throughout."""
    songs = [
        {"id": f"n{number}", "title": f"Mile {number}", "artist": "The Milestones", "duration": 3600}
        for number in range(count + 1)
    ]
    path = lab.folder / f"{count}-songs.json"
    path.write_text(json.dumps(songs))
    return path


# Who they are and what they see


def identity(program: Program) -> str:
    return str(program.expect_seen("ready", timeout=START)["peer"]["id"])


def last_snapshot(program: Program) -> Event:
    return program.expect_seen("snapshot")


def voters(snapshot: Event, song: str) -> list[str]:
    """Who has voted for a song; fails where it is not queued."""
    return next(list(item["voters"]) for item in snapshot["queue"] if item["id"] == song)


def peers(snapshot: Event) -> set[str]:
    """The names of the guests that a snapshot shows as linked."""
    return {peer["name"] for peer in snapshot["connectedPeers"]}


def shows_vote(song: str, voter: str) -> Callable[[Event], bool]:
    return lambda snapshot: any(item["id"] == song and voter in item["voters"] for item in snapshot["queue"])


def shows_peers(*names: str) -> Callable[[Event], bool]:
    """Of a snapshot: these guests are linked, and nobody else."""
    return lambda snapshot: sorted(peer["name"] for peer in snapshot["connectedPeers"]) == sorted(names)


def cast(guest: Program, song: str, seen_by: Iterable[Program], timeout: float = 10.0) -> float:
    """Votes, and waits until everybody's snapshot shows it. Returns the seconds that the slowest took."""
    voter = identity(guest)
    started = time.monotonic()
    guest.say(f"vote {song}")
    seen = [one.expect_seen("snapshot", shows_vote(song, voter), timeout=timeout) for one in seen_by]
    # `expect_seen` gives the latest that shows it; the first is when it was noticed.
    firsts = [one.seen("snapshot", shows_vote(song, voter), epoch=last["epoch"])[0] for one, last in zip(seen_by, seen)]
    return max(first["_received"] for first in firsts) - started


# Between a vote and the next: a host follows only so many wishes of one guest (`DJLimits.wishesPerSecond`).
BETWEEN_VOTES = 0.25


def votes(lab: Lab, voter: Program, song: str, seen_by: Sequence[Program], count: int) -> list[float]:
    """Votes and takes it back, again and again. The seconds that each vote took until the last one showed it."""
    shown = shows_vote(song, identity(voter))
    seconds = []
    for _ in range(count):
        started = time.monotonic()
        voter.say(f"vote {song}")
        seconds.append(max(one.expect("snapshot", shown, timeout=START)["_received"] for one in seen_by) - started)
        voter.say(f"unvote {song}")
        for one in {voter, *seen_by}:
            one.expect("snapshot", lambda snapshot: not shown(snapshot), timeout=START)
        hold(lab, BETWEEN_VOTES)
    return seconds


def hold(lab: Lab, seconds: float) -> None:
    """Lets time pass, where time itself is what a test is about. Ends early only where a box dies."""
    deadline = time.monotonic() + seconds
    deaths = list(lab.deaths)
    lab.hub.wait_for(lambda: True if lab.deaths != deaths else None, deadline - time.monotonic())
    assert lab.deaths == deaths, f"these boxes died: {', '.join(lab.deaths)}"


def descriptors(program: Program) -> int:
    """How many file descriptors a program has open."""
    return int(program.box.run(f"ls /proc/{program.pid}/fd | wc -l"))


def links_of(lab: Lab, controller: Controller) -> list[dict]:
    """The links of a controller that are up."""
    return [link for link in lab.air.links() if controller.name in (link["central"], link["peripheral"])]


class Figures:
    """What a test has measured, for people to read."""

    def __init__(self, lines: list[str], path: Path) -> None:
        self._lines = lines
        self._path = path

    def times(self, what: str, seconds: Sequence[float], limit: float | None = None) -> float:
        """Takes down a series of durations. Returns its median."""
        ordered = sorted(seconds)
        median = statistics.median(ordered)
        text = f"{milliseconds(median)} (min {milliseconds(ordered[0])}, max {milliseconds(ordered[-1])}"
        if len(ordered) >= 20:
            text += f", 95th percentile {milliseconds(ordered[int(len(ordered) * 0.95)])}"
        text += f", n={len(ordered)})"
        self.note(f"{what}: median {text}" + (f"; limit {milliseconds(limit)}" if limit is not None else ""))
        return median

    def judged(self, what: str, seconds: Sequence[float], limit: float | None = None) -> float:
        """Takes down a series of durations, and returns what a limit is for: the median where the machine is quiet, else the lower
        quartile, as what others do there makes a duration longer and none shorter."""
        median = self.times(what, seconds, limit)
        return median if IS_QUIET else statistics.quantiles(seconds, n=4)[0]

    def note(self, line: str) -> None:
        print(line)
        self._lines.append(line)
        with self._path.open("a") as file:
            file.write(line + "\n")


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms"
