# SPDX-License-Identifier: Apache-2.0
"""`ping` and `trace` of the real program: a host, gaps, and relays of both implementations."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from roadmesh_program.fixtures import StartHost
from roadmesh_program.program import START, Event
from roadmesh_program.tools import StartTool
from roadmesh_program.town import CAR, Town

UNAVAILABLE = 69


def events(output: bytes) -> list[Event]:
    return [json.loads(line) for line in output.splitlines()]


def test_a_ping_measures_a_host_that_knows_nothing_of_pings(tool: StartTool, start_host: StartHost) -> None:
    start_host()
    run = tool("ping", "ana", "dad's car", "-c", "5", "-i", "0.05", "--json")
    output, _ = run.process.communicate(timeout=START)
    assert run.process.returncode == 0
    found = events(output)
    assert [one["event"] for one in found] == ["ready", "path", *["echo"] * 5, "hop"]
    assert found[1]["hops"] == 1 and found[1]["via"] is None and found[1]["host"] == CAR
    assert all(0 < one["roundTrip"] < 2_000 for one in found[2:7])
    last = found[-1]
    assert (last["sent"], last["answered"], last["loss"]) == (5, 5, 0)
    assert last["least"] <= last["mean"] <= last["most"] and last["jitter"] >= 0


def test_pings_in_a_gap_are_lost_and_the_next_ones_are_not(tool: StartTool, start_host: StartHost, air: Path) -> None:
    start_host()
    run = tool("ping", "ana", CAR, "-i", "0.1", "--json")
    assert run.process.stdout
    seen: list[Event] = []

    def until(fits: Callable[[Event], bool]) -> None:
        assert run.process.stdout
        for line in run.process.stdout:
            seen.append(json.loads(line))
            if fits(seen[-1]):
                return
        raise AssertionError(seen[-5:])

    until(lambda one: one["event"] == "echo" and one["roundTrip"] is not None)
    (air / "ana.cut").touch()
    until(lambda one: one["event"] == "echo" and one["roundTrip"] is None)
    (air / "ana.cut").unlink()
    until(lambda one: one["event"] == "echo" and one["roundTrip"] is not None)
    run.process.send_signal(signal.SIGINT)
    until(lambda one: one["event"] == "hop")
    assert run.ended() == 0
    assert 0 < seen[-1]["loss"] < 1


def test_a_person_gets_a_summary_at_ctrl_c(tool: StartTool, start_host: StartHost) -> None:
    start_host()
    run = tool("ping", "ana", CAR, "-i", "0.05")
    assert run.process.stdout
    lines = [run.process.stdout.readline().decode() for _ in range(3)]
    run.process.send_signal(signal.SIGINT)
    rest = run.process.stdout.read().decode()
    assert run.ended() == 0
    assert lines[0].startswith(f"{CAR} ") and lines[0].endswith("linked directly\n")
    assert lines[1].startswith(f"1  {CAR} ") and lines[1].endswith(" ms\n")
    assert "answered  0 % lost" in rest


def test_a_ping_of_nobody_says_so(tool: StartTool) -> None:
    run = tool("ping", "ana", "Nobody", "--wait", "0.5")
    assert run.ended() == UNAVAILABLE


@pytest.mark.parametrize("kind", ["real", "of the document"])
def test_ping_and_trace_measure_each_relay_on_the_way(kind: str, town: Town, binary: Path) -> None:
    town.real_host()
    if kind == "real":
        for name, before in (("one", "car"), ("two", "one")):
            town.real_relay(name, name, before).expect("connection", state="connected")
    else:
        town.relay("one", "car")
        town.relay("two", "one")
    town.roads.join("ana", "two")
    place = ["--radio", "virtual", "--air", str(town.roads.air("ana")), "--adapter", "ana", "--json"]
    for command in (["ping", CAR, "-c", "4", "-i", "0.1"], ["trace", CAR, "-c", "4"]):
        ran = subprocess.run([binary, *command, *place], capture_output=True, timeout=START)
        assert ran.returncode == 0, ran
        found = events(ran.stdout)
        path = next(one for one in found if one["event"] == "path")
        assert path["hops"] == 3 and path["via"].lower() == "two"
        hops = [one for one in found if one["event"] == "hop"]
        assert [one["hop"] for one in hops] == [1, 2, 3]
        assert [one["answered"] for one in hops] == [4, 4, 4]
        assert [one["name"].lower() for one in hops] == ["two", "relay 2", CAR.lower()]
