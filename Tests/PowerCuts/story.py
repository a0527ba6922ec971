# SPDX-License-Identifier: Apache-2.0
"""The input and output of the boxes. The invariants are judged only by these."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from box import Event, Printed
from hour import HOST


class Version(NamedTuple):
    """Identifies a state of the host. States follow each other in this order."""

    epoch: int
    revision: int

    def __str__(self) -> str:
        return f"{self.epoch}.{self.revision}"


@dataclass(frozen=True)
class State:
    """A state of the host as any box has shown it, without the connected guests. `at` is when it was first shown."""

    version: Version
    playing: str | None
    is_playing: bool
    queue: tuple[tuple[str, tuple[str, ...]], ...]
    at: float
    shown_by: str
    playing_voters: tuple[str, ...] = ()

    @property
    def votes(self) -> dict[str, tuple[str, ...]]:
        """The voters of all songs, including the current song."""
        return self.voters | ({self.playing: self.playing_voters} if self.playing else {})

    @property
    def songs(self) -> list[str]:
        return [song for song, _ in self.queue]

    @property
    def voters(self) -> dict[str, tuple[str, ...]]:
        return dict(self.queue)

    @property
    def content(self) -> tuple[object, ...]:
        return self.playing, self.is_playing, self.queue, self.playing_voters


@dataclass(frozen=True)
class Said:
    """A line that was typed at a box."""

    at: float
    box: str
    life: int
    word: str
    song: str = ""


@dataclass(frozen=True)
class Told:
    """A guest's report on a wish of its person. `seen` is the state that it showed at that time."""

    at: float
    guest: str
    life: int
    wish: str
    song: str
    state: str
    reason: str | None
    seen: State | None

    def __str__(self) -> str:
        return f"{self.guest}'s {self.wish} for {self.song}, {self.state} at {self.at:.3f} in its life {self.life}"


@dataclass
class Story:
    # Whether the host limits the songs of one guest in a row.
    is_fair: bool = False
    said: list[Said] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)
    # The host's answer to a guest's wish: the time, the guest's identifier, the wish, and whether it is followed.
    judged: list[tuple[float, str, str, bool]] = field(default_factory=list)
    # The first box to show each state, and the boxes that show it differently, which is a fault.
    states: dict[Version, State] = field(default_factory=dict)
    contradictions: list[str] = field(default_factory=list)
    # The epoch of each of the host's lives, if it has shown one.
    epochs: dict[int, int] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    deaths: list[tuple[float, str, int]] = field(default_factory=list)
    latest: dict[str, State] = field(default_factory=dict)

    def take(self, printed: Printed) -> None:
        event = printed.event
        if event is None:
            return
        match event["event"]:
            case "ready":
                self._ready(printed.box, event)
            case "snapshot":
                self._snapshot(printed.box, printed.life, event)
            case "vote":
                wish, reason = event.get("wish", "vote"), event.get("reason")
                seen = self.latest.get(printed.box)
                self.told.append(
                    Told(event["at"], printed.box, printed.life, wish, event["songID"], event["state"], reason, seen)
                )
            case "intent":
                self.judged.append((event["at"], event["peer"]["id"], event["songID"], event["accepted"]))

    def _ready(self, box: str, event: Event) -> None:
        identifier = event["peer"]["id"]
        if self.ids.setdefault(box, identifier) != identifier:
            self.contradictions.append(f"{box} was {self.ids[box]} and says that it is {identifier}")

    def _snapshot(self, box: str, life: int, event: Event) -> None:
        queue = tuple((item["id"], tuple(item["voters"])) for item in event["queue"])
        playing = event["nowPlaying"] and event["nowPlaying"]["id"]
        playing_voters = tuple(event["nowPlaying"].get("voters", ())) if playing else ()
        version = Version(event["epoch"], event["revision"])
        state = State(version, playing, event["isPlaying"], queue, event["at"], box, playing_voters)
        self.contradictions += [
            f"{box} counts {item['votes']} votes for {item['id']}, of {len(item['voters'])} voters"
            for item in event["queue"]
            if item["votes"] != len(item["voters"])
        ]
        known = self.states.setdefault(version, state)
        if known.content != state.content:
            self.contradictions.append(f"{box} and {known.shown_by} show {version} differently")
        elif state.at < known.at:
            self.states[version] = state
        self.latest[box] = state
        if box == HOST:
            self.epochs.setdefault(life, version.epoch)

    @property
    def timeline(self) -> list[State]:
        """The host's shown states in order."""
        return [self.states[version] for version in sorted(self.states)]

    def said_by(self, box: str, words: set[str], song: str, before: float, after: float = 0.0) -> list[Said]:
        return [
            said
            for said in self.said
            if said.box == box and said.word in words and said.song == song and after < said.at < before
        ]
