# SPDX-License-Identifier: Apache-2.0
"""A host and three guests on one virtual air, driven through an hour."""

from __future__ import annotations

import heapq
import itertools
import json
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic

from box import Box, Printed
from hour import GUESTS, HOST, Deed, Step
from invariants import broken, unanswered
from story import Said, Story, Version

# The host queues a hundred songs of its list. Most are removed again, so that suggestions have room.
LISTED = 400
QUEUED_BY_A_HOST = 100
QUEUED = 24

# After a second or two all boxes are back and every wish is answered. A guest that has lost its host scans for 30 s.
SETTLING = 40.0
STARTING = 30.0


class PromiseBroken(AssertionError):
    pass


class Car:
    def __init__(self, binary: Path, folder: Path, is_fair: bool) -> None:
        self.story = Story(is_fair)
        self.cuts = 0
        self._inbox: SimpleQueue[Printed] = SimpleQueue()
        self._air = folder / "air"
        self._air.mkdir()
        self._tasks: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._fresh = [f"n{number}" for number in range(LISTED, QUEUED_BY_A_HOST, -1)]
        self._shown: dict[str, tuple[int, Version]] = {}
        self._connected: dict[str, bool] = {}
        self._commands: str | None = None
        library = folder / "songs.json"
        library.write_text(json.dumps([_song(f"n{number}") for number in range(LISTED + 1)]))
        self.boxes = {
            name: Box(name, self._command(binary, folder, name, library), folder / f"{name}.log", self._inbox)
            for name in (HOST, *GUESTS)
        }

    def _command(self, binary: Path, folder: Path, name: str, library: Path) -> list[str]:
        role = ["host", "Dad's Car", "--library", str(library)] if name == HOST else ["guest", name.capitalize()]
        if name == HOST and not self.story.is_fair:
            role += ["--songs-in-a-row", "0"]
        if (
            name == HOST
            and "--player" in subprocess.run([binary, "host", "--help"], capture_output=True, text=True).stdout
        ):
            role += ["--player", "none"]
        place = ["--radio", "virtual", "--air", str(self._air), "--adapter", name, "--state", str(folder / name)]
        return [str(binary), *role, *place, "--json"]

    # The beginning and the end.

    def begin(self) -> None:
        host = self.boxes[HOST]
        host.start()
        self._wait(STARTING, lambda: HOST in self._shown, "the host does not start")
        for number in range(QUEUED + 1, QUEUED_BY_A_HOST + 1):
            host.say(f"remove n{number}")
        self._wait(STARTING, lambda: len(self.story.latest[HOST].queue) == QUEUED, "songs cannot be removed")
        # No guest has voted yet for the songs that were queued at the start.
        self.story.states = {self.story.latest[HOST].version: self.story.latest[HOST]}
        for guest in GUESTS:
            self.boxes[guest].start()
        self._wait(STARTING, lambda: self._all_connected, "the guests do not join")
        # The notice about an unknown command lists the commands.
        self.boxes[GUESTS[0]].say("?")
        self._wait(STARTING, lambda: self._commands is not None, "a line that is no command is passed over")

    def settle(self) -> None:
        """Waits until everything has arrived, and compares the state with the promises."""
        while self._tasks:
            self._listen(max(self._tasks[0][0] - monotonic(), 0.0))
        for guest in GUESTS:
            self._say(guest, "retry")
        self._wait(SETTLING, lambda: self._is_settled, "")
        findings = broken(self.story)
        findings += [f"nobody said what became of {told}" for told in unanswered(self.story)]
        host = self.story.latest[HOST]
        findings += [
            f"{guest} shows {self.story.latest[guest].version}, and the host is at {host.version}"
            for guest in GUESTS
            if self._shown.get(guest) is None or self.story.latest[guest].version != host.version
        ]
        self._demand(findings)

    def end(self) -> None:
        codes = {name: box.stop() for name, box in self.boxes.items() if box.has_power}
        if any(codes.values()):
            raise PromiseBroken(f"exit codes {codes}")

    def abandon(self) -> None:
        for box in self.boxes.values():
            if box.has_power:
                box.cut_power()

    @property
    def _all_connected(self) -> bool:
        return all(self._connected.get(guest) and guest in self._shown for guest in GUESTS)

    @property
    def _is_settled(self) -> bool:
        if HOST not in self._shown or not self._all_connected:
            return False
        versions = {self._shown[name][1] for name in self.boxes}
        return len(versions) == 1 and not unanswered(self.story)

    # The hour.

    def do(self, step: Step) -> None:
        self._listen(step.pause)
        match step.deed:
            case Deed.VOTE:
                self._say(step.who, "vote", self._song(step.pick))
            case Deed.TAKE_BACK if "unvote" in (self._commands or ""):
                self._say(step.who, "unvote", self._voted(step.who, step.pick))
            case Deed.SUGGEST:
                # No song is suggested twice by hand: it would come back without its votes.
                self._say(step.who, "suggest", self._fresh.pop() if self._fresh else "n1")
            case Deed.SKIP | Deed.PAUSE | Deed.PLAY:
                self._say(step.who, step.deed.value)
            case Deed.DEAD_ZONE:
                cut = self._air / f"{step.who}.cut"
                cut.touch()
                self._later(step.seconds, lambda: cut.unlink(missing_ok=True))
            case Deed.LEAVE:
                self._say(step.who, "leave")
                self._later(step.seconds, lambda: self._say(step.who, "retry"))
            case Deed.CUT:
                self._cut(step)

    def _cut(self, step: Step) -> None:
        for _ in range(step.boxes):
            while not (powered := [box for box in self.boxes.values() if box.has_power]):
                self._listen(max(self._tasks[0][0] - monotonic(), 0.0))
            box = powered[int(step.pick * len(powered))]
            self.story.deaths.append((box.cut_power(), box.name, box.life))
            self._connected[box.name] = False
            self._shown.pop(box.name, None)
            self._later(step.seconds, box.start)
            self.cuts += 1

    def _song(self, pick: float) -> str:
        """A song that plays, is queued, or is unknown to the host. Songs at the head get more votes."""
        state = self.story.latest[HOST]
        songs = [*state.songs, *([state.playing] if state.playing else []), "n0"]
        return songs[int(pick * pick * len(songs))]

    def _voted(self, guest: str, pick: float) -> str:
        """A song for which this guest's vote is shown or was just cast."""
        voters = self.story.latest[HOST].voters
        shown = [song for song in voters if self.story.ids[guest] in voters[song]]
        just_given = [said.song for said in self.story.said[-8:] if said.box == guest and said.word == "vote"]
        songs = [*shown, *just_given] or ["n0"]
        return songs[int(pick * len(songs))]

    def _say(self, name: str, word: str, song: str = "") -> None:
        box = self.boxes[name]
        if box.has_power:
            life = box.life
            at = box.say(f"{word} {song}".strip())
            self.story.said.append(Said(at, name, life, word, song))

    def _later(self, seconds: float, task: Callable[[], None]) -> None:
        heapq.heappush(self._tasks, (monotonic() + seconds, next(self._numbers), task))

    # Listening.

    def _wait(self, seconds: float, until: Callable[[], bool], otherwise: str) -> None:
        """Listens until the condition holds. If it does not, a broken invariant may explain why."""
        deadline = monotonic() + seconds
        while not until() and monotonic() < deadline:
            self._listen(deadline - monotonic(), until)
        if otherwise and not until():
            self._demand([otherwise, *broken(self.story)])

    def _listen(self, seconds: float, until: Callable[[], bool] = lambda: False) -> None:
        deadline = monotonic() + seconds
        while True:
            while self._tasks and self._tasks[0][0] <= monotonic():
                heapq.heappop(self._tasks)[2]()
            next_task = self._tasks[0][0] if self._tasks else deadline
            left = min(deadline, next_task) - monotonic()
            with suppress(Empty):
                self._hear(self._inbox.get(timeout=max(left, 0.0)))
            if until():
                return
            if monotonic() >= deadline:
                # Only the output up to now: a box that never stops printing must not keep the test running.
                for _ in range(self._inbox.qsize()):
                    self._hear(self._inbox.get())
                return

    def _hear(self, printed: Printed) -> None:
        box = self.boxes[printed.box]
        self.story.take(printed)
        is_its_last = printed.life == box.life and box.has_power
        if printed.event is None:
            if is_its_last:
                raise PromiseBroken(f"{box.name} has stopped unexpectedly, with exit code {box.stop()}")
            return
        if not is_its_last:
            return
        match printed.event["event"]:
            case "snapshot":
                is_first = box.name not in self._shown
                latest = self.story.latest[box.name].version
                self._shown[box.name] = (box.life, latest)
                if box.name == HOST and is_first and box.life > 0:
                    self._demand(broken(self.story))
            case "connection":
                self._connected[box.name] = printed.event["state"] == "connected"
            case "notice" if printed.event["code"] == "badCommand":
                self._commands = printed.event["suggestion"]

    def _demand(self, findings: list[str]) -> None:
        if findings:
            raise PromiseBroken("\n".join(findings[:12]))


def _song(song: str) -> dict[str, object]:
    return {"id": song, "title": f"Mile {song}", "artist": "The Milestones", "duration": 36_000}
