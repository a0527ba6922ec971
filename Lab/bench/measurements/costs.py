"""The cost of a host and a guest: processor time, memory, and the radio's time when idle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from runner import Program

from .. import theory
from ..results import Results
from ..settings import Effort
from ..stage import DAEMONS, START, Stage
from ..systems import GATT, JSON, ROADMESH, gatt, json_snapshots, roadmesh

IDLE, PER_VOTE, DAEMONS_PER_VOTE, MEMORY, DUTY = "idleProcessor", "voteProcessor", "voteDaemons", "memory", "idleRadio"

JSON_SONGS = 8
PAUSE = 0.2
SAMPLES = 4

# Votes per round.
VOTES = 8
SETTLING = 6.0

# The unit of times in /proc, the same on every Linux.
TICKS_PER_SECOND = 100


@dataclass
class Pair:
    """A connected host and guest, and how to vote."""

    system: str
    host: Program
    guest: Program
    vote: Callable[[int], None]

    @property
    def sides(self) -> list[tuple[str, Program]]:
        return [("host", self.host), ("guest", self.guest)]


def measure(stage: Stage, results: Results, effort: Effort) -> None:
    for make in (_roadmesh, _gatt, _json) if stage.setting.for_everybody else (_roadmesh,):
        pair = make(stage)
        # After this silence a link has its idle parameters.
        stage.hold(SETTLING)
        _measure(stage, results, pair, effort)
        stage.clear()
    roadmesh.start_host(stage, stage.box("car"))
    stage.hold(2)
    duty = _duty(stage, ["car:hci0"], effort.idle_seconds)
    results.add(DUTY, ROADMESH, stage.setting.name, "host alone", "%", [100 * duty["car:hci0"]])


def _roadmesh(stage: Stage) -> Pair:
    host = roadmesh.start_host(stage, stage.box("car"))
    guest = roadmesh.start_guest(stage, stage.box("family").hci(0), "Ana")
    roadmesh.await_joined(guest)

    def vote(number: int) -> None:
        guest.skip()
        word, wish = ("vote", "vote") if number % 2 == 0 else ("unvote", "takeBack")
        guest.say(f"{word} s{2 + number // 2 % 5}")
        guest.expect("vote", state="confirmed", wish=wish)

    return Pair(ROADMESH, host, guest, vote)


def _gatt(stage: Stage) -> Pair:
    server = gatt.start_server(stage, stage.box(gatt.CAR))
    client = gatt.start_client(stage, stage.box(gatt.FAMILY).hci(0))
    client.expect("listening", timeout=START)

    def vote(number: int) -> None:
        client.say(f"vote s{2 + number % 5}")
        client.expect("state", timeout=START)

    return Pair(GATT, server, client, vote)


def _json(stage: Stage) -> Pair:
    car = json_snapshots.car(stage)
    host = json_snapshots.start_host(stage, car, JSON_SONGS)
    guest = json_snapshots.start_guest(stage, json_snapshots.adapters(stage, 1)[0], car)
    guest.expect("state", timeout=START)

    def vote(number: int) -> None:
        guest.say(f"vote s{2 + number % 5}")
        guest.expect("state", timeout=START)

    return Pair(JSON, host, guest, vote)


def _measure(stage: Stage, results: Results, pair: Pair, effort: Effort) -> None:
    name = stage.setting.name
    controllers = {side: program.box.hci(0).name for side, program in pair.sides}
    for _ in range(effort.rounds):
        before = {side: _spent(program) for side, program in pair.sides}
        duty = _duty(stage, list(controllers.values()), effort.idle_seconds)
        for side, program in pair.sides:
            idle, _ = _minus(_spent(program), before[side])
            results.add(IDLE, pair.system, name, side, "ms/min", [1e3 * idle * 60 / effort.idle_seconds])
            results.add(DUTY, pair.system, name, side, "%", [100 * duty[controllers[side]]])
    for _ in range(effort.rounds):
        before = {side: _spent(program) for side, program in pair.sides}
        for number in range(VOTES):
            pair.vote(number)
            stage.hold(PAUSE)
        for side, program in pair.sides:
            own, daemons = _minus(_spent(program), before[side])
            results.add(PER_VOTE, pair.system, name, side, "ms", [1e3 * own / VOTES])
            results.add(DAEMONS_PER_VOTE, pair.system, name, side, "ms", [1e3 * daemons / VOTES])
    for side, program in pair.sides:
        results.add(MEMORY, pair.system, name, side, "MB", [_resident(program)])


# Processor and memory


def _spent(program: Program) -> tuple[float, float]:
    """Seconds of processor time of a program, and of the daemons that work for it."""
    box = program.box
    daemons = [box.programs[name].pid for name in DAEMONS]
    lines = box.run(f"cat {' '.join(f'/proc/{pid}/stat' for pid in (program.pid, *daemons))}").splitlines()
    # The name, in brackets, may contain spaces. The third field follows it; user and system time are fields 14 and 15.
    fields = [line.rpartition(")")[2].split() for line in lines]
    own, *others = ((int(one[11]) + int(one[12])) / TICKS_PER_SECOND for one in fields)
    return own, sum(others)


def _minus(after: tuple[float, float], before: tuple[float, float]) -> tuple[float, float]:
    return after[0] - before[0], after[1] - before[1]


def _resident(program: Program) -> float:
    """Megabytes of the program's own resident memory, without pages of files that other programs may map as well."""
    return int(program.box.run(f"grep RssAnon /proc/{program.pid}/status").split()[1]) / 1024


# The radio


def _duty(stage: Stage, controllers: list[str], seconds: float) -> dict[str, float]:
    """The share of the time in which a radio is on, 0 to 1: advertising, connection events with and without data, listening
    for advertisements. The air does not send the empty packets of an idle event, so their airtime is added here."""
    before = stage.lab.air.counters()
    listening = dict.fromkeys(controllers, 0.0)
    events = dict.fromkeys(controllers, 0.0)
    for _ in range(SAMPLES):
        stage.hold(seconds / SAMPLES)
        now = stage.lab.air.counters()
        for name in controllers:
            listening[name] += now[name]["listeningShare"] / SAMPLES
        for link in stage.lab.air.links():
            for name in {link["central"], link["peripheral"]} & set(controllers):
                empty = theory.empty_event(link["phy"])
                events[name] += empty / (link["intervalMilliseconds"] / 1e3) / SAMPLES
    after = stage.lab.air.counters()
    on = {}
    for name in controllers:
        sent, advertised = 0, after[name]["advertisingEvents"] - before[name]["advertisingEvents"]
        for way in ("sent", "received"):
            sent += after[name][way]["bytes"] - before[name][way]["bytes"]
        busy = theory.advertising_airtime(advertised) + theory.payload_airtime(sent, "1M")
        on[name] = min(1.0, busy / seconds + events[name] + listening[name])
    return on
