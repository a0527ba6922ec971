# SPDX-License-Identifier: Apache-2.0
"""A recording with positions of a real gpsd, which gpsfake feeds."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from roadmesh_program.brokers import free_ports
from roadmesh_program.fixtures import Place as Radio
from roadmesh_program.gps import GPSFake, Place, Road
from roadmesh_program.program import START, Program

USAGE = 64
# The first and the last metres of a track that are not shared.
WITHHELD = 200


@pytest.fixture
def record(binary: Path, place: Radio) -> Iterator[Callable[..., Program]]:
    running: list[Program] = []

    def record(*arguments: str) -> Program:
        running.append(Program(binary, "fieldtest", "record", "guest", "Ana", *place("ana"), *arguments))
        running[-1].expect("ready", timeout=START)
        return running[-1]

    yield record
    assert all(program.end() == 0 for program in running)


@pytest.fixture
def gpsd(tmp_path: Path) -> Iterator[Callable[..., GPSFake]]:
    running: list[GPSFake] = []

    def gpsd(road: Road, port: int | None = None) -> GPSFake:
        running.append(GPSFake(tmp_path, road, port))
        return running[-1]

    yield gpsd
    for one in running:
        one.stop()


@pytest.fixture
def rows(binary: Path, tmp_path: Path) -> Callable[..., list[dict[str, Any]]]:
    """The rows of the last recording, exported."""

    def rows(*more: str) -> list[dict[str, Any]]:
        line = [binary, "fieldtest", "export", "last", "-o", "-", "--state", tmp_path / "ana", *more]
        done = subprocess.run(line, check=True, capture_output=True, text=True, timeout=START)
        return [json.loads(row) for row in done.stdout.splitlines()[1:]]

    return rows


def positions(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["kind"] == "position"]


def where(row: dict[str, Any]) -> Place:
    return Place(row["latitude"], row["longitude"])


def test_positions_are_recorded_once_a_second_and_gpsd_may_come_and_go(
    record: Callable[..., Program], gpsd: Callable[..., GPSFake], rows: Callable[..., list[dict[str, Any]]], tmp_path: Path
) -> None:
    port = free_ports(1)[0]
    # gpsd starts after the recording, ends, and starts again. The recording looks for it every five seconds.
    guest = record("--gpsd", f"127.0.0.1:{port}")
    first = Road(seconds=12)
    gpsd(first, port).drive()
    second = Road(seconds=12, start=first.place(100))
    gpsd(second, port).drive()
    guest.end()
    found = positions(rows())
    for road in (first, second):
        on_road = [row for row in found if min(where(row).distance(road.place(at)) for at in range(12)) < 1]
        assert 5 <= len(on_road) <= 12
        assert all(row["speed"] == 20 for row in on_road) and on_road[-1]["accuracy"] > 1
        assert set(on_road[-1]) == {"at", "kind", "latitude", "longitude", "speed", "accuracy"}
        found = [row for row in found if row not in on_road]
    assert not found
    times = [row["at"] for row in positions(rows())]
    assert all(later - earlier > 0.7 for earlier, later in pairwise(times))
    # Only the owner of the node may read the files with positions.
    for file in (tmp_path / "ana").iterdir():
        assert file.stat().st_mode & 0o077 == 0, file


def test_without_positions_gpsd_is_never_called(
    record: Callable[..., Program], rows: Callable[..., list[dict[str, Any]]]
) -> None:
    def calls(*arguments: str) -> bool:
        """Whether gpsd is called before the node has recorded a mark."""
        with socket.create_server(("127.0.0.1", 0)) as listening:
            guest = record("--gpsd", f"127.0.0.1:{listening.getsockname()[1]}", *arguments)
            guest.say("mark here")
            guest.expect("mark")
            listening.settimeout(1)
            try:
                listening.accept()[0].close()
            except TimeoutError:
                return False
            finally:
                guest.end()
            return True

    assert calls()
    assert not calls("--no-position")
    assert not positions(rows())


def test_what_is_shared_has_no_position_of_the_first_and_last_200_metres(
    record: Callable[..., Program], gpsd: Callable[..., GPSFake], rows: Callable[..., list[dict[str, Any]]]
) -> None:
    road = Road(seconds=22, speed=60)
    fake = gpsd(road)
    # No broker is needed: the program sends the rows that it records.
    shared = ["--share", "--broker", f"mqtt://127.0.0.1:{free_ports(1)[0]}"]
    guest = record("--gpsd", f"127.0.0.1:{fake.port}", *shared)
    fake.drive()
    guest.end()
    ends = road.place(0), road.place(road.seconds - 1)
    found = positions(rows())
    assert len(found) >= 6
    assert all(where(row).distance(end) >= WITHHELD for row in found for end in ends)


def test_an_address_that_is_none_is_refused(binary: Path, tmp_path: Path) -> None:
    line = [binary, "fieldtest", "record", "guest", "Ana", "--state", tmp_path / "ana", "--gpsd", "nowhere"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=START)
    assert done.returncode == USAGE and "it is a host and a port, like localhost:2947" in done.stderr
    assert not (tmp_path / "ana").exists()
