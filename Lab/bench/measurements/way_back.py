"""Reconnecting: the time from the end of a gap until a guest is connected, and until it shows the state."""

from __future__ import annotations

import random

from runner import Program

from ..results import Results
from ..settings import Effort
from ..stage import START, Stage
from ..systems import BARE, GATT, ROADMESH, bare, gatt, roadmesh

CONNECTED, STATE, ROUND_TRIP = "wayBackConnected", "wayBackState", "wayBackRoundTrip"

# The range of gaps is wider than an advertising interval, so a gap ends at any point of it.
SHORTEST, LONGEST = 0.6, 1.9

MORE_BLOCKS = 2


def measure(stage: Stage, results: Results, effort: Effort) -> None:
    car = stage.box("car")
    stage.box("family")
    chances = random.Random(7)
    host = roadmesh.start_host(stage, car)
    server = bare.start_server(stage, car)
    # Alternating, so that both systems have the same load on the machine. If reconnecting takes no longer than the random
    # part of an advertising interval, the medians of a few gaps differ by chance alone.
    for _ in range(effort.blocks * (MORE_BLOCKS if stage.setting.capable else 1)):
        _roadmesh(stage, results, host, chances, effort.gaps)
        _bare(stage, results, server, chances, effort.gaps)
    stage.clear()
    if effort.gatt_gaps and stage.setting.for_everybody:
        _gatt(stage, results, chances, effort.gatt_gaps)
        stage.clear()


def _gap(stage: Stage, chances: random.Random) -> float:
    stage.hold(chances.uniform(SHORTEST, LONGEST))
    return stage.heal()


def _roadmesh(stage: Stage, results: Results, host: Program, chances: random.Random, gaps: int) -> None:
    car, family = stage.box("car"), stage.box("family")
    guest = roadmesh.start_guest(stage, family.hci(0), "Ana")
    roadmesh.await_joined(guest)
    host.expect("peerConnected", timeout=START)
    for _ in range(gaps):
        stage.cut(car, family)
        guest.expect("peerDisconnected")
        host.expect("peerDisconnected")
        healed = _gap(stage, chances)
        connected = guest.expect("connection", state="connected", timeout=START)
        state = guest.expect("snapshot", timeout=START)
        host.expect("peerConnected", timeout=START)
        name = stage.setting.name
        results.add(CONNECTED, ROADMESH, name, "", "ms", [1e3 * (connected["_received"] - healed)])
        results.add(STATE, ROADMESH, name, "", "ms", [1e3 * (state["_received"] - healed)])
    guest.say("quit")
    guest.wait()
    host.expect("peerDisconnected")


def _bare(stage: Stage, results: Results, server: Program, chances: random.Random, gaps: int) -> None:
    car, family = stage.box("car"), stage.box("family")
    if stage.setting.capable and stage.setting.main_conf is None:
        bare.ask_for_fast_links(stage, family.hci(0))
    for _ in range(gaps):
        stage.cut(car, family)
        line = bare.dial(stage, family.hci(0), car, bare.HANDSHAKE_BYTES)
        healed = _gap(stage, chances)
        connected = line.expect("connected", timeout=START)
        echo = line.expect("echo", timeout=START)
        name = stage.setting.name
        results.add(CONNECTED, BARE, name, "", "ms", [1e3 * (connected["_received"] - healed)])
        results.add(ROUND_TRIP, BARE, name, "", "ms", [1e3 * (echo["_received"] - healed)])
        line.kill()
        server.expect("closed", timeout=START)


def _gatt(stage: Stage, results: Results, chances: random.Random, gaps: int) -> None:
    car, family = stage.box(gatt.CAR), stage.box(gatt.FAMILY)
    gatt.start_server(stage, car)
    client = gatt.start_client(stage, family.hci(0))
    client.expect("listening", timeout=START)
    for _ in range(gaps):
        stage.cut(car, family)
        client.expect("lost")
        healed = _gap(stage, chances)
        connected = client.expect("connected", timeout=START)
        state = client.expect("state", timeout=START)
        name = stage.setting.name
        results.add(CONNECTED, GATT, name, "", "ms", [1e3 * (connected["_received"] - healed)])
        results.add(STATE, GATT, name, "", "ms", [1e3 * (state["_received"] - healed)])
        client.expect("listening", timeout=START)
