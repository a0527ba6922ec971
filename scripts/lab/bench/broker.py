"""Cars that a broker alone joins: `scripts/bench broker`. Debian's mosquitto, and a cluster of three nats-servers behind one address.

What a car has of the network is a delay: each byte of a connection to the broker takes so long, each way. A vote from one car that
all others show has passed the broker twice, to the host and back, so that two of the broker's own round trips, measured in the same
run by clients that do nothing else, are the least it can take.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from lab.brokers import Mosquitto, NatsCluster
from paho.mqtt.client import Client, MQTTv311
from paho.mqtt.enums import CallbackAPIVersion

from .machine import facts

Event = dict[str, Any]
Broker = Mosquitto | NatsCluster

CARS = 8
VOTES = 30
ECHOES = 50
DELAYS = (0.0, 0.030)
# A vote may take so much longer than two round trips.
ALLOWED = 0.050
JOINED = 60.0
# A host follows only so many wishes of one guest a second.
BETWEEN_VOTES = 0.25


class Road:
    """What lies between the cars and the broker: one address, behind it whatever servers live, and a delay each way."""

    def __init__(self, ports: list[int], delay: float) -> None:
        self._ports = ports
        self._delay = delay
        self._next = 0
        self._loop = asyncio.new_event_loop()
        self._server = self._loop.run_until_complete(asyncio.start_server(self._carry, "127.0.0.1", 0))
        self.port = self._server.sockets[0].getsockname()[1]
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in self._ports:
            port = self._ports[self._next % len(self._ports)]
            self._next += 1
            with suppress(OSError):
                there = await asyncio.open_connection("127.0.0.1", port)
                await asyncio.gather(self._one_way(reader, there[1]), self._one_way(there[0], writer))
                return
        writer.close()

    async def _one_way(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                # Those behind it wait no longer than they would: each has its own time.
                self._loop.call_later(self._delay, self._write, writer, data)
        self._loop.call_later(self._delay, writer.close)

    def _write(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        if not writer.is_closing():
            writer.write(data)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.call_soon(self._loop.stop)


class Node:
    """A `roadmesh` and the events that it has told."""

    def __init__(self, *arguments: str) -> None:
        command = [os.environ["ROADMESH_BINARY"], *arguments, "--json", "--radio", "virtual", "--http", "none"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._changed = threading.Condition()
        self.events: list[tuple[float, Event]] = []
        threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True).start()

    def _read(self, output: IO[str]) -> None:
        for line in output:
            with self._changed:
                self.events.append((time.monotonic(), json.loads(line)))
                self._changed.notify_all()

    def say(self, line: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def when(self, start: int, holds: Any, timeout: float = JOINED) -> float:
        """When an event first held that came behind the first `start`."""
        deadline = time.monotonic() + timeout
        with self._changed:
            at = start
            while True:
                while at < len(self.events):
                    if holds(self.events[at][1]):
                        return self.events[at][0]
                    at += 1
                if not self._changed.wait(deadline - time.monotonic()) and time.monotonic() > deadline:
                    raise TimeoutError(f"not within {timeout:g} s: {self.events[-1:]}")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def shows(song: str, voters: int) -> Any:
    return lambda event: event["event"] == "snapshot" and any(
        one["id"] == song and one["votes"] == voters for one in event["queue"]
    )


@contextmanager
def cars(folder: Path, port: int, count: int) -> Iterator[list[Node]]:
    """A host and guests that have no air in common. All are joined."""
    broker = f"mqtt://127.0.0.1:{port}"
    nodes: list[Node] = []

    def car(role: str, name: str, *arguments: str) -> None:
        places = ("--air", str(folder / f"air {name}"), "--state", str(folder / f"state {name}"))
        nodes.append(Node(role, name, "--broker", broker, *places, *arguments))

    try:
        car("host", "Front")
        for number in range(1, count):
            car("guest", f"Car {number}", "--host", "Front")
        all_there = lambda event: event["event"] == "snapshot" and len(event["connectedPeers"]) == count - 1  # noqa: E731
        for node in nodes:
            node.when(0, all_there)
        yield nodes
    finally:
        for node in nodes:
            node.close()


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
    client.on_connect = lambda *_: client.subscribe("echo/one", 1)
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
        client.publish("echo/one", bytes(40), 1)
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
        with cars(place, road.port, CARS) as nodes:
            votes = []
            for number in range(VOTES):
                voter = nodes[1 + number % (CARS - 1)]
                votes.append(vote(nodes, voter, "s3", "vote", 1))
                vote(nodes, voter, "s3", "unvote", 0)
                time.sleep(BETWEEN_VOTES)
            if isinstance(broker, NatsCluster) and delay:
                lose_a_server(broker, nodes)
        road.close()
        rows.append(Row(title, delay, echo, votes))
        print("bench:", " | ".join(rows[-1].cells), file=sys.stderr)
    return rows


def lose_a_server(cluster: NatsCluster, nodes: list[Node]) -> None:
    """One of three is killed while everybody votes: how long until all have all votes, and that each counts once."""
    starts = [len(node.events) for node in nodes]
    began = time.monotonic()
    cluster.servers[0].kill()
    for node in nodes[1:]:
        node.say("vote s4")
    last = max(node.when(start, shows("s4", CARS - 1)) for node, start in zip(nodes, starts, strict=True))
    told = sum(event["event"] == "notice" for node, start in zip(nodes, starts, strict=True) for _, event in node.events[start:])
    print(f"bench: a server of the cluster killed: all votes with all after {last - began:.1f} s, {told} notices", file=sys.stderr)
    LOST.append((last - began, told))
    cluster.servers[0].start()


LOST: list[tuple[float, int]] = []


@dataclass
class Load:
    sessions: int
    joined: float
    idle: float
    """Bytes of a session a second, of both ends together."""
    votes: list[float]
    node: float
    """Bytes of memory of a node."""
    broker: float
    """Bytes of memory of the broker for a session."""
    processor: float
    """Share of a processor that the broker takes while nobody says anything."""

    @property
    def cells(self) -> list[str]:
        return [
            f"{self.sessions:,}", f"{self.joined:.1f}", f"{self.idle:.0f}", spread(self.votes), f"{self.node / 1e6:.2f}",
            f"{self.broker / 1e3:.0f}", f"{self.processor * 100:.0f} %",
        ]  # fmt: skip


# What a process may have open at once bounds its nodes: libmosquitto waits with select(2).
HOSTS, GUESTS = 6, 16
IDLE = 30.0


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
            assert process.stdout
            joined.append(json.loads(process.stdout.readline()))
        seconds = time.monotonic() - began
        per_session = (broker.resident() - before) / (count * HOSTS * GUESTS)
        busy, at = broker.processor(), time.monotonic()
        for process in processes:
            assert process.stdin
            process.stdin.write("\n")
            process.stdin.flush()
        time.sleep(IDLE)
        share = (broker.processor() - busy) / (time.monotonic() - at)
        done = [json.loads(process.stdout.readline()) for process in processes if process.stdout]
        nodes = count * HOSTS * (GUESTS + 1)
        return Load(
            sum(one["sessions"] for one in joined),
            seconds,
            sum(one["idleBytes"] / one["idleSeconds"] for one in done) / (count * HOSTS * GUESTS),
            [vote for one in done for vote in one["votes"]],
            sum(one["resident"] for one in done) / nodes,
            per_session,
            share,
        )
    finally:
        for process in processes:
            process.kill()
            process.wait()
        broker.kill()


PAGE = """# A broker between cars

Made by `scripts/bench broker` on {date}: {processor}, {cores} cores, {system}, roadmesh {revision} ({build} build). [using.md](using.md#out-of-range-a-broker) says how cars are joined by a broker.

## A vote from one car that all show

{cars} cars, one of them the host, that have nothing in common but a broker: Debian's mosquitto, and three nats-servers with JetStream behind
one address. Medians of {count}, with the least and the 95th percentile. *Round trip* is that of a message that a client
publishes and gets back itself, in the same run and over the same delay; a vote passes the broker twice. *Beyond* is what a vote takes more than
two of these.

| broker | delay each way, ms | round trip, ms | vote, ms | beyond, ms |
|---|---|---|---|---|
{votes}

{lost}

## Sessions at one broker

Guests and hosts of {guests} guests each, every one with its own connection, key and database, at one mosquitto; all of them and the
broker on this machine. *Idle* is what a session costs a second in the network, both ends together, with all headers. *Vote* is the time until all
guests of a host show a guest's vote.

| sessions | all joined, s | idle, bytes/s | vote, ms | memory of a node, MB | of the broker a session, KB | the broker's processor, idle |
|---|---|---|---|---|---|---|
{loads}
"""


def table(rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def both(folder: Path) -> list[tuple[str, Broker]]:
    return [("mosquitto", Mosquitto(folder)), ("NATS, three", NatsCluster(folder))]


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench broker", description=__doc__)
    parser.add_argument("--sessions", type=int, nargs="*", default=[100, 1_000, 10_000])
    parser.add_argument("--load", type=Path, help="the program broker-load, built for release")
    parser.add_argument("--only-load", action="store_true", help="sessions alone")
    parser.add_argument("-o", "--output", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="broker", dir="/dev/shm") as name:
        folder = Path(name)
        rows: list[Row] = []
        for title, broker in () if chosen.only_load else both(folder):
            broker.start()
            try:
                rows += measure_votes(title, broker, folder)
            finally:
                broker.kill()
        loads = []
        for sessions in chosen.sessions if chosen.load else []:
            place = Path(tempfile.mkdtemp(dir=folder))
            loads.append(load(chosen.load, sessions, place))
            print("bench:", " | ".join(loads[-1].cells), file=sys.stderr)
    lost = "\n".join(
        f"One server of the three was killed while all cars voted at once: all had all votes, each once, after {seconds:.1f} s; people were "
        f"told {told} notices."
        for seconds, told in LOST
    )
    page = PAGE.format(
        **facts(Path(os.environ["ROADMESH_BINARY"])), cars=CARS, count=VOTES, guests=GUESTS, lost=lost,
        votes=table([row.cells for row in rows]), loads=table([one.cells for one in loads]),
    )  # fmt: skip
    if chosen.output:
        chosen.output.write_text(page)
    else:
        print(page)
    late = [row for row in rows if row.beyond > ALLOWED]
    for row in late:
        print(f"bench: NOT MET: {row.broker}: {row.beyond * 1e3:.0f} ms beyond two round trips", file=sys.stderr)
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
