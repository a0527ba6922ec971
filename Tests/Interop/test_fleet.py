# SPDX-License-Identifier: Apache-2.0
"""Drives of several cars, collected through a real broker by the real program, and the report across them."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

import pytest
from roadmesh_program.program import START, Program

USAGE = 64
MUCH = 60.0


class Broker:
    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._settings = folder / "mosquitto.conf"
        listener = f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence false\n"
        self._settings.write_text(listener + "log_dest none\nuser root\nmessage_size_limit 4096\n")
        self.url = f"mqtt://127.0.0.1:{self.port}/fleet"
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(["/usr/sbin/mosquitto", "-c", self._settings], stderr=subprocess.DEVNULL)
        deadline = monotonic() + START
        while not self._listens():
            assert self._process.poll() is None and monotonic() < deadline

    def _listens(self) -> bool:
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    made = Broker(tmp_path)
    yield made
    made.kill()


class Fleet:
    def __init__(self, binary: Path, air: Path, folder: Path, broker: Broker) -> None:
        (self.binary, self.air, self.folder, self.broker) = (binary, air, folder, broker)
        self.running: list[Program] = []

    def car(self, role: str, name: str, *more: str, drive: str, share: bool = True) -> Program:
        place = ["--radio", "virtual", "--air", str(self.air), "--adapter", name.lower(), "--http", "none"]
        shared = ["--broker", self.broker.url, "--share"] if share else []
        state = ["--state", str(self.folder / name.lower()), "--drive", drive]
        program = Program(self.binary, "fieldtest", "record", role, name, *place, *state, *shared, *more)
        self.running.append(program)
        program.expect("ready", timeout=START)
        return program

    def collector(self) -> Program:
        state = ["--state", str(self.folder / "office")]
        program = Program(self.binary, "fieldtest", "collect", "--broker", self.broker.url, *state)
        self.running.append(program)
        program.expect("broker", timeout=START, state="connected")
        return program

    def fieldtest(self, *arguments: str, of: str) -> str:
        line = [self.binary, "fieldtest", *arguments, "--state", self.folder / of]
        return subprocess.run(line, check=True, capture_output=True, text=True, timeout=START).stdout


@pytest.fixture
def fleet(binary: Path, air: Path, tmp_path: Path, broker: Broker) -> Iterator[Fleet]:
    made = Fleet(binary, air, tmp_path, broker)
    yield made
    assert all(program.end() in (0, -signal.SIGKILL) for program in made.running)


@pytest.mark.long
def test_every_row_of_every_car_is_there_once_whatever_is_killed(fleet: Fleet, broker: Broker) -> None:
    # Before the collection starts there are two drives: one whose power is cut, and one that must not be collected.
    cut = fleet.car("guest", "Ana", drive="Cut off")
    cut.say("mark before")
    cut.expect("mark")
    subprocess_sees(lambda: "before" in fleet.fieldtest("export", "last", "-o", "-", of="ana"))
    cut.kill()
    own = fleet.car("guest", "Ana", drive="Own", share=False)
    own.end()

    office = fleet.collector()
    car = fleet.car("host", "Car", drive="Morning")
    ana = fleet.car("guest", "Ana", drive="Evening")
    office.expect_seen("drive", timeout=MUCH, state="complete", name="Cut off", ending="cutOff")
    office.expect_seen("drive", timeout=MUCH, state="begins", name="Evening")
    for number in range(80):
        ana.say(f"mark {number}")
    office.kill()
    broker.kill()
    ana.expect("mark", text="79", timeout=MUCH)
    broker.start()
    office = fleet.collector()
    ana.say("mark after")
    ana.expect("mark", text="after")
    ana.end()
    car.end()
    # The events that were not sent at the end are sent in the next run.
    again = [fleet.car("guest", "Ana", drive="Night"), fleet.car("host", "Car", drive="Night")]
    for name in ("Evening", "Morning"):
        subprocess_sees(lambda name=name: listed(fleet, "office").get(name) == "complete", MUCH)
    for program in again:
        program.say("quit")
        program.ended()
    office.end()

    assert "Own" not in listed(fleet, "office")
    for name, car_name in (("Cut off", "ana"), ("Evening", "ana"), ("Morning", "car")):
        assert fleet.fieldtest("export", name, "-o", "-", of="office") == fleet.fieldtest(
            "export", name, "-o", "-", of=car_name
        )


@pytest.mark.long
def test_the_report_of_a_fleet_is_one_page_without_anything_from_elsewhere(fleet: Fleet) -> None:
    office = fleet.collector()
    car = fleet.car("host", "Car", drive="Day")
    ana = fleet.car("guest", "Ana", drive="Day with <b>Ana</b>")
    ana.expect("connection", state="connected", timeout=START)
    for program in (ana, car):
        program.say("quit")
        program.ended()
    subprocess_sees(lambda: len(listed(fleet, "office")) == 2)
    office.end()
    page = fleet.folder / "fleet.html"
    said = fleet.fieldtest("fleet", "-o", str(page), of="office")
    assert said.startswith("2 drives of 2 cars")
    text = page.read_text()
    assert "By version" in text and "&lt;b&gt;Ana&lt;/b&gt;" in text and "<b>Ana</b>" not in text
    assert not re.search(r"<script|https?:|url\(|<img", text)
    figures = json.loads(fleet.fieldtest("fleet", "--json", "-", of="office"))
    assert {one["of"] for one in figures["byVersion"]} == {figures["drives"][0]["header"]["version"]}
    assert len(figures["byCar"]) == 2 and figures["all"]["drives"] == 2
    assert fleet.fieldtest("fleet", "--csv", "-", of="office").startswith("drive,name,car,id,version,role,at,gap,")


def test_what_is_missing_is_told_before_anything_starts(binary: Path, tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        line = [binary, "fieldtest", *arguments, "--state", tmp_path / "state"]
        return subprocess.run(line, capture_output=True, text=True, timeout=START)

    done = run("record", "guest", "Ana", "--share", "--radio", "virtual")
    assert done.returncode == USAGE and "--share needs the broker" in done.stderr
    done = run("collect")
    assert done.returncode == USAGE and "name it with --broker" in done.stderr
    done = run("fleet", "-o", "-")
    assert done.returncode and "There are no drives here" in done.stderr


def listed(fleet: Fleet, of: str) -> dict[str, str]:
    drives = [json.loads(line) for line in fleet.fieldtest("list", "--json", of=of).splitlines()]
    return {one["name"]: one["ending"] for one in drives}


def subprocess_sees(fits: Callable[[], bool], timeout: float = START) -> None:
    deadline = monotonic() + timeout
    while not fits():
        assert monotonic() < deadline, "not seen in time"
