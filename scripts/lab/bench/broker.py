"""Cars that a broker alone joins: `scripts/bench broker`. Debian's mosquitto, and a cluster of three nats-servers behind one
address, or, where one of them is killed, at three.

What a car has of the network is a delay: each byte of a connection to the broker takes so long, each way. A vote from one car that
all others show has passed the broker twice, to the host and back, so that two of the broker's own round trips, measured in the same
run by clients that do nothing else, are the least it can take.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.brokers import Mosquitto, NatsCluster
from paho.mqtt.client import Client, MQTTv311
from paho.mqtt.enums import CallbackAPIVersion

from .cars import JOINED, Node, Road, cars, shows
from .losses import measure_losses
from .machine import facts
from .report.marks import filled

Broker = Mosquitto | NatsCluster

CARS = 8
VOTES = 30
ECHOES = 50
DELAYS = (0.0, 0.030)
# A vote may take so much longer than two round trips.
ALLOWED = 0.050
# A host follows only so many wishes of one guest a second.
BETWEEN_VOTES = 0.25


def vote(nodes: list[Node], voter: Node, song: str, word: str, voters: int) -> float:
    starts = [len(node.events) for node in nodes]
    began = time.monotonic()
    voter.say(f"{word} {song}")
    return max(node.when(start, shows(song, voters)) for node, start in zip(nodes, starts, strict=True)) - began


def echoes(port: int) -> list[float]:
    """The broker's own round trips: a message that comes back to who has sent it."""
    came = threading.Event()
    ready = threading.Event()
    client = Client(CallbackAPIVersion.VERSION2, client_id="echo", protocol=MQTTv311)
    client.on_connect = lambda *_: client.subscribe("echo/one", 0)
    client.on_subscribe = lambda *_: ready.set()
    # Its own pauses would count as the broker's.
    client.on_socket_open = lambda _, __, opened: opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    client.on_message = lambda *_: came.set()
    client.connect("127.0.0.1", port)
    client.loop_start()
    assert ready.wait(JOINED)
    seconds = []
    for _ in range(ECHOES):
        came.clear()
        began = time.monotonic()
        client.publish("echo/one", bytes(40), 0)
        assert came.wait(JOINED)
        seconds.append(time.monotonic() - began)
    client.loop_stop()
    client.disconnect()
    return seconds


@dataclass
class Row:
    broker: str
    delay: float
    echo: list[float]
    votes: list[float]

    @property
    def beyond(self) -> float:
        """What a vote takes beyond two round trips."""
        return statistics.median(self.votes) - 2 * statistics.median(self.echo)

    @property
    def cells(self) -> list[str]:
        return [self.broker, f"{self.delay * 1e3:.0f}", spread(self.echo), spread(self.votes), f"{self.beyond * 1e3:.0f}"]


def spread(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    last = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return f"{statistics.median(ordered) * 1e3:.1f} ({ordered[0] * 1e3:.1f} to {last * 1e3:.1f})"


def measure_votes(title: str, broker: Broker, folder: Path) -> list[Row]:
    rows = []
    for delay in DELAYS:
        road = Road(broker.ports, delay)
        place = Path(tempfile.mkdtemp(dir=folder))
        echo = echoes(road.port)
        with cars(place, [road.port], CARS) as nodes:
            votes = []
            for number in range(VOTES):
                voter = nodes[1 + number % (CARS - 1)]
                votes.append(vote(nodes, voter, "s3", "vote", 1))
                vote(nodes, voter, "s3", "unvote", 0)
                time.sleep(BETWEEN_VOTES)
        road.close()
        rows.append(Row(title, delay, echo, votes))
        print("bench:", " | ".join(rows[-1].cells), file=sys.stderr)
    return rows


@dataclass
class Load:
    sessions: int
    joined: float
    idle: float
    """Bytes of a session a second, of both ends together."""
    votes: list[float]
    """Of one party after the other."""
    crowd: list[float]
    """Of all parties at the same moment; none if that did not end."""
    lost: int
    """How often a guest had lost its host before that."""
    node: float
    """Bytes of memory of a node."""
    broker: float
    """Bytes of memory of the broker for a session."""
    processor: float
    """Share of a processor that the broker takes while nobody says anything."""

    @property
    def cells(self) -> list[str]:
        return [
            f"{self.sessions:,}", f"{self.joined:.1f}", f"{self.idle:.0f}", spread(self.votes), str(self.lost),
            spread(self.crowd) if self.crowd else "–", f"{self.node / 1e6:.2f}",
            f"{self.broker / 1e3:.0f}", f"{self.processor * 100:.0f} %",
        ]  # fmt: skip


# What a process may have open at once bounds its nodes: libmosquitto waits with select(2).
HOSTS, GUESTS = 6, 16
IDLE = 30.0
# Votes of all parties at once take seconds, or do not end: then the nodes themselves fill the machine.
PATIENCE = 60.0


def say(process: subprocess.Popen[str], command: str) -> None:
    assert process.stdin
    process.stdin.write(command + "\n")
    process.stdin.flush()


def hear(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout
    return json.loads(process.stdout.readline())


def at_once(processes: list[subprocess.Popen[str]]) -> list[float]:
    """A guest of each of a process's parties votes, of all processes at the same moment. Nothing if that takes longer than `PATIENCE`."""
    for process in processes:
        say(process, "vote")
    votes, ends = [], time.monotonic() + PATIENCE
    for process in processes:
        if not select.select([process.stdout], [], [], max(0, ends - time.monotonic()))[0]:
            return []
        votes += hear(process)["votes"]
    return votes


def load(program: Path, sessions: int, folder: Path) -> Load:
    """So many sessions at one broker, most of them silent, and a vote here and there."""
    broker = Mosquitto(folder)
    broker.start()
    assert broker.process
    processes = []
    try:
        before = broker.resident()
        joined = []
        count = -(-sessions // (HOSTS * GUESTS))
        began = time.monotonic()
        for number in range(count):
            arguments = [f"{broker.url}/p{number}", str(HOSTS), str(GUESTS), str(IDLE), str(folder / f"load{number}")]
            process = subprocess.Popen([program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            processes.append(process)
            # One group after the other: ten thousand that start at one moment are a test of this machine.
            joined.append(hear(process))
        seconds = time.monotonic() - began
        per_session = (broker.resident() - before) / (count * HOSTS * GUESTS)
        busy, at = broker.processor(), time.monotonic()
        for process in processes:
            say(process, "idle")
        idle = [hear(process) for process in processes]
        share = (broker.processor() - busy) / (time.monotonic() - at)
        voted = []
        for process in processes:
            say(process, "vote")
            voted.append(hear(process))
        nodes = count * HOSTS * (GUESTS + 1)
        return Load(
            sum(one["sessions"] for one in joined),
            seconds,
            sum(one["idleBytes"] / one["idleSeconds"] for one in idle) / (count * HOSTS * GUESTS),
            [vote for one in voted for vote in one["votes"]],
            at_once(processes),
            sum(one["lost"] for one in voted),
            sum(one["resident"] for one in idle) / nodes,
            per_session,
            share,
        )
    finally:
        for process in processes:
            process.kill()
            process.wait()
        broker.kill()


VOTE_COLUMNS = ["broker", "delay each way, ms", "round trip, ms", "vote, ms", "beyond, ms"]
LOSS_COLUMNS = [
    "led the sessions' group",
    "all cars show all votes after, s",
    "cars that took longer than 1.5 s",
    "notices",
    "a bare client was away for, s",
]
LOAD_COLUMNS = [
    "sessions",
    "all joined, s",
    "idle, bytes/s",
    "vote, ms",
    "links lost",
    "all parties at once, ms",
    "memory of a node, MB",
    "of the broker a session, KB",
    "the broker's processor, idle",
]


def table(columns: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in [columns, ["---"] * len(columns), *rows])


def both(folder: Path) -> list[tuple[str, Broker]]:
    return [("mosquitto", Mosquitto(folder)), ("NATS, three", NatsCluster(folder))]


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench broker", description=__doc__)
    parser.add_argument("--sessions", type=int, nargs="*", default=[100, 1_000, 10_000])
    parser.add_argument("--load", type=Path, help="the program broker-load, built for release")
    parser.add_argument("--only-load", action="store_true", help="sessions alone")
    parser.add_argument("-o", "--output", type=Path)
    chosen = parser.parse_args()
    # The folder below is memory: what is left of a run that was ended early would be missing in the next.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="broker", dir="/dev/shm") as name:
        folder = Path(name)
        rows: list[Row] = []
        for title, broker in () if chosen.only_load else both(folder):
            broker.start()
            try:
                rows += measure_votes(title, broker, folder)
            finally:
                broker.kill()
        losses = [] if chosen.only_load else measure_losses(folder)
        loads = []
        for sessions in chosen.sessions if chosen.load else []:
            place = Path(tempfile.mkdtemp(dir=folder))
            loads.append(load(chosen.load, sessions, place))
            print("bench:", " | ".join(loads[-1].cells), file=sys.stderr)
    made = facts(Path(os.environ["ROADMESH_BINARY"]))
    on = "{date}: {processor}, {cores} cores, {system}, roadmesh {revision}".format(**made)
    parts = {
        "votes": (made["build"], VOTE_COLUMNS, [row.cells for row in rows]),
        "losses": (made["build"], LOSS_COLUMNS, [one.cells for one in losses]),
        # Of `--load`, which is built for release.
        "sessions": ("release", LOAD_COLUMNS, [one.cells for one in loads]),
    }
    tables = {
        name: f"Measured on {on} ({build} build).\n\n{table(columns, cells)}"
        for name, (build, columns, cells) in parts.items()
        if cells
    }
    if chosen.output:
        chosen.output.write_text(filled(chosen.output.read_text(), tables))
    else:
        print("\n\n".join(tables.values()))
    late = [row for row in rows if row.beyond > ALLOWED]
    for row in late:
        print(f"bench: NOT MET: {row.broker}: {row.beyond * 1e3:.0f} ms beyond two round trips", file=sys.stderr)
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
