"""A vote: the time from the typed line until all guests show it, and its bytes on the air."""

from __future__ import annotations

import time
from collections.abc import Callable

from runner import Box, Controller, Event, Program

from ..results import Results
from ..settings import Effort
from ..stage import START, Stage
from ..systems import GATT, JSON, ROADMESH, gatt, json_snapshots, roadmesh

SEEN, BEYOND, BYTES = "voteSeenByAll", "voteBeyondTwoIntervals", "voteBytes"

# The crowd and the queue for the count of bytes.
COUNTED_GUESTS, COUNTED_SONGS = 8, 50

CROWD_START = 150.0

# The pause between votes: short enough for a link to keep its parameters, long enough for one vote to end.
PAUSE = 0.3

# The time after joining until links have their final parameters and all guests know each other.
SETTLING = 6.0


def measure(stage: Stage, results: Results, effort: Effort) -> None:
    if effort.crowds:
        _roadmesh_crowds(stage, results, effort)
        stage.clear()
    _roadmesh_bytes(stage, results, effort)
    stage.clear()
    if not stage.setting.for_everybody:
        return
    _json(stage, results, effort)
    stage.clear()
    if effort.votes:
        _gatt(stage, results, effort)


# Latency


def _seen_at(program: Program, event: Event) -> float:
    """When the program printed an event, as this machine's time.time(). Excludes the way out of the box, a
    serial line, on which a large event takes some time."""
    to_wall = time.time() - time.monotonic()
    with program.box.lab.hub.changed:
        lines = [line for one in program.box.programs.values() for line in one.lines[-200:]]
        offset = min(line.received + to_wall - line.at for line in lines)
        at = next(line.at for line in reversed(program.lines) if line.received == event["_received"])
    return at + offset


def _vote(
    stage: Stage, voter: Program, command: str, everybody: list[Program], shows: Callable[[Event], bool], kind: str
) -> float:
    """Types a line, and waits until all programs show its effect. Returns the seconds of the slowest."""
    marks = [len(one.events) for one in everybody]
    typed = time.time()
    voter.say(command)

    def first(program: Program, mark: int) -> Event | None:
        return next((one for one in program.events[mark:] if one["event"] == kind and shows(one)), None)

    def all_seen() -> list[Event] | None:
        found = [first(program, mark) for program, mark in zip(everybody, marks, strict=True)]
        return [one for one in found if one] if all(found) else None

    seen = stage.await_that(all_seen, f"everybody shows {command!r}")
    return max(_seen_at(program, event) for program, event in zip(everybody, seen, strict=True)) - typed


# RoadMesh


def _ballot(number: int, guests: list[Program]) -> tuple[Program, str, Callable[[Event], bool]]:
    """The vote with this number: guests take turns, and each takes back its previous vote."""
    guest = guests[number // 2 % len(guests)]
    voter = roadmesh.identity(guest)
    song = f"s{2 + number // 2 % 5}"
    shown = roadmesh.shows_vote(song, voter)
    return (guest, f"vote {song}", shown) if number % 2 == 0 else (guest, f"unvote {song}", lambda one: not shown(one))


def _roadmesh_crowd(stage: Stage, host: Program, adapters: list[Controller], guests: list[Program]) -> None:
    """Adds guests until there is one on each adapter."""
    late = [
        roadmesh.start_guest(stage, adapter, f"Guest {len(guests) + number}")
        for number, adapter in enumerate(adapters[len(guests) :])
    ]
    for guest in late:
        guest.expect("connection", state="connected", timeout=CROWD_START)
        guest.expect("snapshot", timeout=CROWD_START)
    guests += late
    host.expect_seen("snapshot", lambda shown: len(shown["connectedPeers"]) == len(guests), timeout=START)
    stage.hold(SETTLING)


def _roadmesh_crowds(stage: Stage, results: Results, effort: Effort) -> None:
    car = stage.box("car")
    adapters = stage.adapters("bus", max(effort.crowds))
    host = roadmesh.start_host(stage, car)
    guests: list[Program] = []
    for size in effort.crowds:
        _roadmesh_crowd(stage, host, adapters[:size], guests)
        # The first two votes wake up the links, which are slow after a silence.
        for number in range(-2, effort.votes):
            voter, command, shows = _ballot(number + 2, guests)
            interval = max(float(str(link["intervalMilliseconds"])) for link in stage.links_of(car))
            milliseconds = 1e3 * _vote(stage, voter, command, [host, *guests], shows, "snapshot")
            stage.hold(PAUSE)
            if number >= 0:
                results.add(SEEN, ROADMESH, stage.setting.name, str(size), "ms", [milliseconds])
                results.add(BEYOND, ROADMESH, stage.setting.name, str(size), "ms", [milliseconds - 2 * interval])


def _roadmesh_bytes(stage: Stage, results: Results, effort: Effort) -> None:
    car = stage.box("car")
    host = roadmesh.start_host(stage, car, roadmesh.song_list(stage, COUNTED_SONGS))
    guests: list[Program] = []
    _roadmesh_crowd(stage, host, stage.adapters("bus", COUNTED_GUESTS), guests)

    def votes() -> None:
        for number in range(effort.counted_votes):
            voter, command, shows = _ballot(number, guests)
            _vote(stage, voter, command, [host, *guests], shows, "snapshot")
            stage.hold(PAUSE)

    results.add(BYTES, ROADMESH, stage.setting.name, "", "bytes", [_counted(stage, car, votes, effort.counted_votes)])


def _on_air(stage: Stage, car: Box) -> int:
    """Bytes of the packets that the host's adapter has sent and received on its links, L2CAP headers included."""
    counters = stage.lab.air.counters()[car.hci(0).name]
    return int(counters["sent"]["bytes"]) + int(counters["received"]["bytes"])


def _counted(stage: Stage, car: Box, cast: Callable[[], None], votes: int) -> float:
    """Bytes of a vote, without the regular traffic of that time, such as pings."""
    before, began = _on_air(stage, car), time.monotonic()
    cast()
    spent, seconds = _on_air(stage, car) - before, time.monotonic() - began
    stage.hold(1)
    before = _on_air(stage, car)
    stage.hold(seconds)
    idle = _on_air(stage, car) - before
    return (spent - idle) / votes


# The other systems


def _counts(song: str, votes: int) -> Callable[[Event], bool]:
    return lambda shown: shown["votes"].get(song, 0) >= votes


def _json(stage: Stage, results: Results, effort: Effort) -> None:
    car = json_snapshots.car(stage)
    json_snapshots.start_host(stage, car, COUNTED_SONGS)
    adapters = json_snapshots.adapters(stage, COUNTED_GUESTS)
    guests = [json_snapshots.start_guest(stage, adapter, car) for adapter in adapters]
    for guest in guests:
        guest.expect("state", timeout=CROWD_START)
    taken: list[float] = []

    def votes() -> None:
        for number in range(effort.json_votes):
            song, count = f"s{2 + number % 5}", 1 + number // 5
            shows = _counts(song, count)
            taken.append(1e3 * _vote(stage, guests[number % len(guests)], f"vote {song}", guests, shows, "state"))

    results.add(BYTES, JSON, stage.setting.name, "", "bytes", [_counted(stage, car, votes, effort.json_votes)])
    results.add(SEEN, JSON, stage.setting.name, str(COUNTED_GUESTS), "ms", taken)


def _gatt(stage: Stage, results: Results, effort: Effort) -> None:
    gatt.start_server(stage, stage.box(gatt.CAR))
    client = gatt.start_client(stage, stage.box(gatt.FAMILY).hci(0))
    client.expect("listening", timeout=START)
    for number in range(effort.votes):
        song, count = f"s{2 + number % 5}", 1 + number // 5
        shows = _counts(song, count)
        milliseconds = 1e3 * _vote(stage, client, f"vote {song}", [client], shows, "state")
        results.add(SEEN, GATT, stage.setting.name, "1", "ms", [milliseconds])
        stage.hold(PAUSE)
