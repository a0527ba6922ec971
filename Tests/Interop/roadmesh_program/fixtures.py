# SPDX-License-Identifier: Apache-2.0
"""Programs on a virtual radio of their own, and the types of such fixtures. A pytest plugin."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from roadmesh_peer.guest import Guest

from .person import Person
from .program import START, Program
from .songs import SONGS, write_songs

Start = Callable[..., Program]
StartHost = Callable[..., Program]
Place = Callable[[str], list[str]]
MakeGuest = Callable[[str], Guest]


@pytest.fixture
def air() -> Iterator[Path]:
    # Not pytest's own folder: the path of a Unix socket has at most 108 bytes.
    folder = Path(tempfile.mkdtemp(prefix="air"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def place(air: Path, tmp_path: Path) -> Place:
    def place(address: str) -> list[str]:
        return ["--radio", "virtual", "--air", str(air), "--adapter", address, "--state", str(tmp_path / address)]

    return place


@pytest.fixture
def start(binary: Path, place: Place) -> Iterator[Start]:
    """Starts a program on the air. Programs with the same address share a state folder: they are the same node."""
    running: list[Program] = []

    def start(role: str, name: str, address: str, *arguments: str) -> Program:
        running.append(Program(binary, role, name, *place(address), *arguments))
        running[-1].expect("ready", timeout=START)
        return running[-1]

    yield start
    codes = [program.end() for program in running if not program.was_killed]
    # Whatever a test has done to a program, it must end with code 0.
    assert all(code == 0 for code in codes), f"exit codes {codes}"


@pytest.fixture
def shell() -> Iterator[Person]:
    """A shell with job control, and a person who uses it."""
    shell = Person(Path("/bin/bash"), "--norc", "-i", PS1="$ ")
    shell.look(lambda: shell.prompt == "$")
    yield shell
    shell.end()


@pytest.fixture
def start_host(start: Start, tmp_path: Path) -> StartHost:
    """Starts a host that advertises. Its songs are n0 (plays), n1, …"""

    def start_host(songs: int = SONGS, title: str = "Mile", *arguments: str) -> Program:
        path = write_songs(tmp_path / "songs.json", songs, title)
        program = start("host", "Dad's Car", "car", "--library", str(path), *arguments)
        program.expect("snapshot")
        return program

    return start_host


@pytest.fixture
def host(start_host: StartHost) -> Program:
    return start_host()


@pytest.fixture
def bob(host: Program, start: Start) -> Program:
    """A guest that is the real program, and keeps running whatever a test does."""
    guest = start("guest", "Bob", "bob")
    guest.expect("connection", state="connected")
    host.expect("peerConnected")
    return guest
