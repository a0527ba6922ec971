# SPDX-License-Identifier: Apache-2.0
"""A real host on a virtual radio, and guests that share no code with it."""

from __future__ import annotations

import itertools
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from roadmesh_peer.guest import Guest, Talk
from roadmesh_peer.net import Net
from roadmesh_peer.noise_link import Key
from roadmesh_peer.roads import Roads
from roadmesh_peer.virtual_air import Heard, Radio
from roadmesh_program.fixtures import MakeGuest, Place, Start, StartHost
from roadmesh_program.person import Person
from roadmesh_program.program import START, Program
from roadmesh_program.town import Town

SONGS = 20

addresses = (f"radio{number}" for number in itertools.count(1))

pytest_plugins = ["roadmesh_program.measuring", "roadmesh_program.brokers"]


@pytest.fixture
def air() -> Iterator[Path]:
    # Not pytest's own folder: the path of a Unix socket has at most 108 bytes.
    folder = Path(tempfile.mkdtemp(prefix="air"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def net() -> Iterator[Net]:
    made = Net()
    yield made
    made.close()


@pytest.fixture
def roads(air: Path, net: Net) -> Iterator[Roads]:
    made = Roads(air, net)
    yield made
    made.close()


@pytest.fixture
def town(air: Path, binary: Path, tmp_path: Path) -> Iterator[Town]:
    net = Net(real=True)
    made = Town(net, Roads(air, net), binary, tmp_path)
    with net.beside():
        yield made
        codes = [program.end() for program in made.programs]
    made.roads.close()
    net.close()
    assert all(code == 0 for code in codes), f"exit codes {codes}"


@pytest.fixture
def start(binary: Path, air: Path, tmp_path: Path) -> Iterator[Start]:
    """Starts a program on the air. Programs with the same address share a state folder: they are the same node."""
    running: list[Program] = []

    def start(role: str, name: str, address: str, *arguments: str) -> Program:
        place = ["--radio", "virtual", "--air", str(air), "--adapter", address, "--state", str(tmp_path / address)]
        running.append(Program(binary, role, name, *place, *arguments))
        running[-1].expect("ready", timeout=START)
        return running[-1]

    yield start
    codes = [program.end() for program in running if not program.was_killed]
    # Whatever a test has done to a program, it must end with code 0.
    assert all(code == 0 for code in codes), f"exit codes {codes}"


@pytest.fixture
def place(air: Path, tmp_path: Path) -> Place:
    def place(address: str) -> list[str]:
        return ["--radio", "virtual", "--air", str(air), "--adapter", address, "--state", str(tmp_path / address)]

    return place


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
        library = [
            {"id": f"n{number}", "title": f"{title} {number}", "artist": "The Milestones", "duration": 3600}
            for number in range(songs + 1)
        ]
        path = tmp_path / "songs.json"
        path.write_text(json.dumps(library))
        program = start("host", "Dad's Car", "car", "--library", str(path), *arguments)
        program.expect("snapshot")
        return program

    return start_host


@pytest.fixture
def host(start_host: StartHost) -> Program:
    return start_host()


@pytest.fixture
def heard(host: Program, air: Path) -> Heard:
    """The host's advertisement."""
    return Radio(air, next(addresses)).listen()


@pytest.fixture
def make_guest(air: Path) -> Iterator[MakeGuest]:
    made: list[Guest] = []

    def make(name: str) -> Guest:
        made.append(Guest(name, Radio(air, next(addresses))))
        return made[-1]

    yield make
    for guest in made:
        guest.lose_link()


@pytest.fixture
def ana(host: Program, make_guest: MakeGuest) -> Guest:
    """A guest that has joined."""
    guest = make_guest("Ana")
    guest.join()
    host.expect("peerConnected")
    return guest


@pytest.fixture
def bob(host: Program, start: Start) -> Program:
    """A guest that is the real program, and keeps running whatever a test does."""
    guest = start("guest", "Bob", "bob")
    guest.expect("connection", state="connected")
    host.expect("peerConnected")
    return guest


@pytest.fixture
def host_key(call: Callable[..., Talk]) -> bytes:
    """The host's public key, which it sends to every caller."""
    talk = call()
    key = talk.greet().their_key
    talk.channel.close()
    return key


@pytest.fixture
def call(air: Path, heard: Heard) -> Iterator[Callable[..., Talk]]:
    """Opens a channel to the host, on which a test can send anything."""
    opened: list[Talk] = []

    def open_channel(key: Key | None = None, **options: str) -> Talk:
        talk = Talk(Radio(air, next(addresses)).dial(heard), key or Key(), **options)
        opened.append(talk)
        return talk

    yield open_channel
    for talk in opened:
        talk.channel.close()
