# SPDX-License-Identifier: Apache-2.0
"""`fieldtest bench` between two programs on the virtual radio, and with a listener that misbehaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from roadmesh_program.program import START
from roadmesh_program.tools import StartTool, Tool

USAGE, UNAVAILABLE, CANNOT_CREATE, INTERRUPTED = 64, 69, 73, 130
NAME = "Ana's desk"


@pytest.fixture
def listener(tool: StartTool) -> Tool:
    run = tool("fieldtest", "desk", "bench", "--listen", NAME)
    assert run.process.stderr
    for line in run.process.stderr:
        if line.startswith(b"roadmesh fieldtest bench"):
            assert line == f'roadmesh fieldtest bench "{NAME}"\n'.encode()
            return run
    raise AssertionError(run.process.wait())


def bench(tool: StartTool, address: str, *words: str) -> tuple[int, str, str]:
    run = tool("fieldtest", address, "bench", NAME, "--seconds", "1", *words)
    output, errors = run.process.communicate(timeout=2 * START)
    return run.process.returncode, output.decode(), errors.decode()


def test_a_measurement_has_all_figures_and_nothing_that_identifies_anyone(
    tool: StartTool, listener: Tool, tmp_path: Path
) -> None:
    path = tmp_path / "result.json"
    code, output, _ = bench(tool, "lap", "--gaps", "10", "--distance", "2.5", "--output", str(path))
    assert code == 0, output
    result: dict[str, Any] = json.loads(path.read_text())
    assert (result["roadmeshBench"], result["distance"], result["links"]) == (1, 2.5, 1)
    assert result["caller"] == result["listener"] == {"radio": "virtual", "kernel": os.uname().release}
    assert 0 < result["join"] < START
    assert result["roundTrip"]["count"] == 50 and result["roundTrip"]["lost"] == 0
    [rate] = result["goodput"]
    # A virtual link is a Unix socket. It carries more than Bluetooth does, also in a debug build.
    assert rate["up"] > 100_000 and rate["down"] > 100_000
    again = result["reconnect"]
    assert (again["count"], again["lost"]) == (10, 0)
    assert 0 < again["median"] <= again["percentile95"] <= again["longest"] < START * 1_000
    # Ten seconds have ten keepalives of each side.
    for side in ("caller", "listener"):
        assert 1 < result["idle"][side]["wakeUps"] < 200 and 0 < result["idle"][side]["processor"] < 1
    # A virtual radio has no adapter to switch off.
    assert "powerCycle" not in result
    text = path.read_text()
    assert NAME not in text and "desk" not in text and "lap" not in text
    lines = output.splitlines()
    assert [line.split()[0] for line in lines[:7]] == ["caller", "listener", "join", "round", "goodput", "reconnect", "power"]
    assert lines[-1] == f"The result is in {path}."


def test_the_listener_names_each_caller_once(tool: StartTool, listener: Tool, tmp_path: Path) -> None:
    assert bench(tool, "lap", "--gaps", "2", "--output", str(tmp_path / "result.json"))[0] == 0
    listener.process.send_signal(signal.SIGINT)
    assert listener.process.stderr
    said = listener.process.stderr.read().splitlines()
    assert [line.split(b":")[0] for line in said] == [b"A caller measures"]
    assert listener.ended() == 0


def test_programs_get_the_result_as_one_line(tool: StartTool, listener: Tool, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    code, output, errors = bench(tool, "lap", "--gaps", "0", "--json", "--output", str(path))
    assert (code, errors) == (0, "")
    result = json.loads(output)
    assert result == json.loads(path.read_text())
    assert "reconnect" not in result and output.count("\n") == 1


def test_the_result_says_how_many_callers_were_there_at_once(tool: StartTool, listener: Tool, tmp_path: Path) -> None:
    runs = [
        tool("fieldtest", f"lap{n}", "bench", NAME, "--seconds", "3", "--gaps", "0", "--output", str(tmp_path / f"{n}"))
        for n in range(3)
    ]
    for run in runs:
        run.drain()
        run.drain_output()
        assert run.ended(2 * START) == 0
    assert max(json.loads((tmp_path / f"{n}").read_text())["links"] for n in range(3)) == 3


def test_a_listener_that_is_not_there_is_named(tool: StartTool, tmp_path: Path) -> None:
    code, output, errors = bench(tool, "lap", "--wait", "1", "--output", str(tmp_path / "none.json"))
    assert (code, output) == (UNAVAILABLE, "")
    assert f'{NAME} was not reached in 1 s. Start it with: roadmesh fieldtest bench --listen "{NAME}"' in errors
    assert not (tmp_path / "none.json").exists()


def test_a_listener_that_goes_ends_the_measurement_without_a_result(
    tool: StartTool, listener: Tool, tmp_path: Path
) -> None:
    run = tool("fieldtest", "lap", "bench", NAME, "--seconds", "30", "--output", str(tmp_path / "half.json"))
    assert run.process.stderr
    for line in run.process.stderr:
        if b"data rate" in line:
            break
    listener.drain()
    listener.process.send_signal(signal.SIGINT)
    assert listener.ended() == 0
    assert b"has stopped answering" in run.process.stderr.read()
    assert run.ended() == UNAVAILABLE
    assert not (tmp_path / "half.json").exists()


def test_an_interrupted_measurement_leaves_no_file(tool: StartTool, listener: Tool, tmp_path: Path) -> None:
    run = tool("fieldtest", "lap", "bench", NAME, "--seconds", "30", "--output", str(tmp_path / "half.json"))
    assert run.process.stderr
    for line in run.process.stderr:
        if b"data rate" in line:
            break
    run.process.send_signal(signal.SIGINT)
    run.drain()
    assert run.ended() == INTERRUPTED
    assert not (tmp_path / "half.json").exists()


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ([], USAGE, "Give either the name of a listener, or --listen with a name for this machine."),
        (["Car", "--listen", "Car"], USAGE, "Give either the name of a listener, or --listen"),
        (["Car", "--gaps", "1001"], USAGE, "--gaps"),
        (["Car", "--seconds", "0"], USAGE, "--seconds"),
        (["Car", "--distance", "-1"], USAGE, "--distance"),
    ],
)
def test_what_is_typed_wrong_is_said(binary: Path, words: list[str], code: int, sentence: str) -> None:
    line = [binary, "fieldtest", "bench", *words, "--radio", "virtual"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=START)
    assert done.returncode == code and sentence in done.stderr


def test_a_file_that_cannot_be_written_is_named(tool: StartTool, listener: Tool, tmp_path: Path) -> None:
    path = tmp_path / "none" / "result.json"
    code, _, errors = bench(tool, "lap", "--gaps", "0", "--output", str(path))
    assert code == CANNOT_CREATE
    assert f"{path} cannot be written; name another file with --output." in errors
