"""Helper functions of the lab tests."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from bench.results import percentile
from roadmesh_peer import wire
from roadmesh_program.songs import write_songs
from runner import Box, Controller, Event, Lab, Program

# Set if this machine runs nothing else.
IS_QUIET = "QUIET" in os.environ

DAEMONS = ("dbus-daemon", "bluetoothd")

# A program starts slowly in a box with a busy processor, such as during a build. No test measures a time with this.
START = 30.0

# The link layer drops a link after 420 ms without a packet. The kernel, the program and the box's serial line add some
# tens of milliseconds, on a busy machine a few hundred.
NOTICED = 2.0

# Silence on a live link: one ping a second, three seconds until the link counts as dead, and some time for the machine.
SILENCE_NOTICED = 5.0


def service_uuid() -> str:
    """Derived as in the Python guest, without our code."""
    return str(wire.service_uuid())


# Starting nodes


def start_host(box: Box, *arguments: str, name: str = "Dad's Car", **options: object) -> Program:
    """Starts a host and waits until it advertises."""
    host = box.roadmesh("host", name, *arguments, "--library", str(box.lab.songs), **options)
    host.expect("ready", timeout=START)
    host.expect("snapshot")
    return host


def start_guests(box: Box, *names: str) -> list[Program]:
    """Starts guests in one box, each on its own adapter, and waits until they have joined."""
    guests = [box.roadmesh("guest", name, adapter=box.hci(index)) for index, name in enumerate(names)]
    for guest in guests:
        await_joined(guest)
    return guests


def await_joined(guest: Program, timeout: float = START) -> Event:
    """Waits until a guest has joined and sees the queue. Returns what it sees."""
    guest.expect("connection", state="connected", timeout=timeout)
    return guest.expect("snapshot", timeout=timeout)


def song_list(lab: Lab, count: int) -> Path:
    """A library of songs n0, n1, …; the first plays throughout."""
    return write_songs(lab.folder / f"{count}-songs.json", count)


# Peers and their views


def identity(program: Program) -> str:
    return str(program.expect_seen("ready", timeout=START)["peer"]["id"])


def last_snapshot(program: Program) -> Event:
    return program.expect_seen("snapshot")


def voters(snapshot: Event, song: str) -> list[str]:
    """The voters of a song. Fails if it is not queued."""
    return next(list(item["voters"]) for item in snapshot["queue"] if item["id"] == song)


def peers(snapshot: Event) -> set[str]:
    """The names of the guests that a snapshot shows as linked."""
    return {peer["name"] for peer in snapshot["connectedPeers"]}


def shows_vote(song: str, voter: str) -> Callable[[Event], bool]:
    return lambda snapshot: any(item["id"] == song and voter in item["voters"] for item in snapshot["queue"])


def shows_peers(*names: str) -> Callable[[Event], bool]:
    """A condition for a snapshot: exactly these guests are linked."""
    return lambda snapshot: sorted(peer["name"] for peer in snapshot["connectedPeers"]) == sorted(names)


def cast(guest: Program, song: str, seen_by: Iterable[Program], timeout: float = 10.0) -> float:
    """Votes, and waits until every snapshot shows the vote. Returns the seconds that the slowest took."""
    voter = identity(guest)
    started = time.monotonic()
    guest.say(f"vote {song}")
    seen = [one.expect_seen("snapshot", shows_vote(song, voter), timeout=timeout) for one in seen_by]
    # `expect_seen` returns the latest snapshot that shows the vote; this finds the first.
    shows = shows_vote(song, voter)
    firsts = [one.seen("snapshot", shows, epoch=last["epoch"])[0] for one, last in zip(seen_by, seen, strict=True)]
    return max(first["_received"] for first in firsts) - started


# Pause between two votes: a host follows a limited number of wishes of one guest (`DJLimits.wishesPerSecond`).
BETWEEN_VOTES = 0.25


def votes(lab: Lab, voter: Program, song: str, seen_by: Sequence[Program], count: int) -> list[float]:
    """Votes and takes the vote back, repeatedly. Returns the seconds until the last program showed each vote."""
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
    """Waits, for tests that are about time. Ends early only if a box dies."""
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
    """Figures that a test measures, for people to read."""

    def __init__(self, lines: list[str], path: Path) -> None:
        self._lines = lines
        self._path = path

    def times(self, what: str, seconds: Sequence[float], limit: float | None = None) -> float:
        """Records a series of durations. Returns its median."""
        ordered = sorted(seconds)
        median = statistics.median(ordered)
        text = f"{milliseconds(median)} (min {milliseconds(ordered[0])}, max {milliseconds(ordered[-1])}"
        if len(ordered) >= 20:
            text += f", 95th percentile {milliseconds(percentile(ordered, 0.95))}"
        if len(ordered) >= 100:
            text += f", 99th {milliseconds(percentile(ordered, 0.99))}"
        text += f", n={len(ordered)})"
        self.note(f"{what}: median {text}" + (f"; limit {milliseconds(limit)}" if limit is not None else ""))
        return median

    def judged(self, what: str, seconds: Sequence[float], limit: float | None = None) -> float:
        """Records a series of durations. Returns the value to compare with a limit: the median on a quiet machine,
        else the lower quartile, because other programs only make durations longer."""
        median = self.times(what, seconds, limit)
        return median if IS_QUIET else statistics.quantiles(seconds, n=4)[0]

    def note(self, line: str) -> None:
        print(line)
        self._lines.append(line)
        with self._path.open("a") as file:
            file.write(line + "\n")


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms"
