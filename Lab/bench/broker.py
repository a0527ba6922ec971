"""Cars that only a broker connects: `scripts/bench broker`. The brokers are Debian's mosquitto and a cluster of three
nats-servers behind one address, or at three addresses when one server is killed.

The network of a car is modelled as a delay: each byte of a connection to the broker takes this long, each way. A vote
from one car passes the broker twice until all others show it: to the host and back. So its minimum is two round trips of the
broker, which clients without other work measure in the same run.
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

from paho.mqtt.client import Client, MQTTv311
from paho.mqtt.enums import CallbackAPIVersion
from runner.brokers import Cluster, Mosquitto

from .cars import JOINED, Node, Road, cars, shows
from .losses import measure_losses
from .machine import facts
from .report.marks import filled

Broker = Mosquitto | Cluster

CARS = 8
VOTES = 30
ECHOES = 50
DELAYS = (0.0, 0.030)
# A vote may take this much longer than two round trips.
ALLOWED = 0.050
# A host limits the rate of one guest's wishes.
BETWEEN_VOTES = 0.25


def vote(nodes: list[Node], voter: Node, song: str, word: str, voters: int) -> float:
    starts = [len(node.events) for node in nodes]
    began = time.monotonic()
    voter.say(f"{word} {song}")
    return max(node.when(start, shows(song, voters)) for node, start in zip(nodes, starts, strict=True)) - began


def echoes(port: int) -> list[float]:
    """The broker's own round trips: the times until a client receives its own message."""
    came = threading.Event()
    ready = threading.Event()
    client = Client(CallbackAPIVersion.VERSION2, client_id="echo", protocol=MQTTv311)
    client.on_connect = lambda *_: client.subscribe("echo/one", 0)
    client.on_subscribe = lambda *_: ready.set()
    # Delays of the client itself would count as the broker's.
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
        """The time of a vote beyond two round trips."""
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
    """Bytes per session and second, at both ends together."""
    votes: list[float]
    """The times of votes, measured in one party after another."""
    crowd: list[float]
    """The times of votes of all parties at once; empty if they did not end."""
    lost: int
    """How often a guest had lost its host before."""
    node: float
    """Bytes of memory per node."""
    broker: float
    """Bytes of the broker's memory per session."""
    processor: float
    """The broker's share of a processor on idle sessions."""

    @property
    def cells(self) -> list[str]:
        return [
            f"{self.sessions:,}", f"{self.joined:.1f}", f"{self.idle:.0f}", spread(self.votes), str(self.lost),
            spread(self.crowd) if self.crowd else "–", f"{self.node / 1e6:.2f}",
            f"{self.broker / 1e3:.0f}", f"{self.processor * 100:.0f} %",
        ]  # fmt: skip


# The limit of open descriptors limits the nodes of a process: libmosquitto waits with select(2).
HOSTS, GUESTS = 6, 16
IDLE = 30.0
# Votes of all parties at once take seconds, or do not end because the nodes themselves use up the machine.
PATIENCE = 60.0


def say(process: subprocess.Popen[str], command: str) -> None:
    assert process.stdin
    process.stdin.write(command + "\n")
    process.stdin.flush()


def hear(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout
    return json.loads(process.stdout.readline())


def at_once(processes: list[subprocess.Popen[str]]) -> list[float]:
    """One guest in each party of all processes votes at the same moment. Empty if that takes longer than `PATIENCE`."""
    for process in processes:
        say(process, "vote")
    votes, ends = [], time.monotonic() + PATIENCE
    for process in processes:
        if not select.select([process.stdout], [], [], max(0, ends - time.monotonic()))[0]:
            return []
        votes += hear(process)["votes"]
    return votes


def load(program: Path, sessions: int, folder: Path) -> Load:
    """The results with this many sessions at one broker, most of them idle, with a vote now and then."""
    broker = Mosquitto(folder)
    broker.start()
    assert broker.is_running
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
            # Starts one group after another: ten thousand starts at once would test this machine, not the broker.
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
    return [("mosquitto", Mosquitto(folder)), ("NATS, three", Cluster(folder))]


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench broker", description=__doc__)
    parser.add_argument("--sessions", type=int, nargs="*", default=[100, 1_000, 10_000])
    parser.add_argument("--load", type=Path, help="the release build of broker-load")
    parser.add_argument("--only-load", action="store_true", help="sessions alone")
    parser.add_argument("-o", "--output", type=Path)
    chosen = parser.parse_args()
    # The folder below is in memory. A run that ends early must remove it, or the next run lacks that memory.
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
        # Sessions are nodes of `--load`, a release build.
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
