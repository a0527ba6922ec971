# SPDX-License-Identifier: Apache-2.0
"""Kills a server of a cluster while all cars vote, and measures the outage of the cars and of a bare client."""

from __future__ import annotations

import random
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from paho.mqtt.client import Client, MQTTv311
from paho.mqtt.enums import CallbackAPIVersion
from runner.brokers import Cluster

from .cars import Node, Road, cars, shows

CARS = 8
# The delay each way, in seconds.
DELAY = 0.030
# How many times a server is killed, and the pause before each.
LOSSES = 12
SETTLED = 5.0
# The limit for a car if the cluster elects no leader first: two connections and a handshake.
SOON = 1.5
# The limit for all votes: a cluster elects a leader within some ten seconds.
BACK = 90.0
# The interval of a bare client's messages, and how long it waits for a server before it tries the next, as nodes do.
PAUSE, PATIENCE = 0.1, 2.0


class Bare:
    """A client that knows all servers and subscribes to its own messages."""

    def __init__(self, ports: list[int], first: int) -> None:
        self._ports = ports
        self._next = first
        self._name = f"bare{first}"
        self._ends = False
        self.server: int | None = None
        """The index of its present server."""
        self._heard = [time.monotonic()]
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ends:
            with suppress(OSError):
                self._stay(self._next % len(self._ports))
            self.server = None
            self._next += 1

    def _stay(self, server: int) -> None:
        topic = f"bare/{self._name}"
        granted: list[object] = []
        client = Client(CallbackAPIVersion.VERSION2, client_id=self._name, protocol=MQTTv311)
        client.on_connect = lambda *_: client.subscribe(topic, 0)
        client.on_subscribe = lambda *_: granted.append(None)
        client.on_message = lambda *_: self._heard.append(time.monotonic())
        client.connect("127.0.0.1", self._ports[server])
        began = said = time.monotonic()
        while not self._ends and client.loop(0.02) == 0:
            now = time.monotonic()
            if not granted and now - began > PATIENCE:
                break
            if granted:
                self.server = server
            if granted and now - said > PAUSE:
                said = now
                client.publish(topic, b"", 0)
        client.disconnect()

    def is_back(self) -> bool:
        return time.monotonic() - self._heard[-1] < 5 * PAUSE

    def away(self, since: float) -> float:
        """The longest time without a message."""
        heard = [at for at in self._heard if at > since - 5 * PAUSE]
        return max((then - at for at, then in pairwise(heard)), default=0.0)

    def close(self) -> None:
        self._ends = True
        self._thread.join()


@dataclass
class Loss:
    """The results of killing one server."""

    led: bool
    """Whether the killed server led the group of the MQTT sessions."""
    shown: list[float]
    """The time until each car showed all votes."""
    notices: int
    bare: float | None
    """The outage of a bare client of that server, if it had one."""

    @property
    def cells(self) -> list[str]:
        late = sum(seconds > SOON for seconds in self.shown)
        led = "yes" if self.led else "no"
        bare = "–" if self.bare is None else f"{self.bare:.1f}"
        return [led, f"{max(self.shown):.1f}", str(late), str(self.notices), bare]


def measure_losses(folder: Path) -> list[Loss]:
    """Kills one of three servers, all of which every car knows. Uses a new cluster each time, because a
    restarted server may not be complete for minutes (nats-server 2.9)."""
    losses = []
    for _ in range(LOSSES):
        cluster = Cluster(Path(tempfile.mkdtemp(dir=folder)))
        cluster.start()
        roads = [Road([port], DELAY) for port in cluster.ports]
        ports = [road.port for road in roads]
        bare = [Bare(ports, number) for number in range(len(ports))]
        try:
            with cars(Path(tempfile.mkdtemp(dir=folder)), ports, CARS) as nodes:
                time.sleep(SETTLED)
                losses.append(lose(cluster, random.randrange(len(ports)), nodes, bare))
        finally:
            for one in (*bare, *roads):
                one.close()
            cluster.kill()
        print("bench: a server is killed:", " | ".join(losses[-1].cells), file=sys.stderr)
    return losses


def lose(cluster: Cluster, number: int, nodes: list[Node], bare: list[Bare]) -> Loss:
    starts = [len(node.events) for node in nodes]
    led = cluster.leads_sessions(number)
    there = [one for one in bare if one.server == number]
    began = time.monotonic()
    cluster.brokers[number].kill()
    for node in nodes[1:]:
        node.say("vote s4")
    voted = shows("s4", CARS - 1)
    shown = [node.when(start, voted, BACK) - began for node, start in zip(nodes, starts, strict=True)]
    while not all(one.is_back() for one in bare):
        time.sleep(PAUSE)
    away = max((one.away(began) for one in there), default=None)
    told = [event for node, start in zip(nodes, starts, strict=True) for _, event in node.events[start:]]
    return Loss(led, shown, sum(event["event"] == "notice" for event in told), away)
