# SPDX-License-Identifier: Apache-2.0
"""A real host on a virtual radio, and guests that share no code with it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from roadmesh_peer.guest import Guest, Talk
from roadmesh_peer.net import Net
from roadmesh_peer.noise_link import Key
from roadmesh_peer.roads import Roads
from roadmesh_peer.virtual_air import Heard, Radio
from roadmesh_program.fixtures import MakeGuest
from roadmesh_program.program import Program
from roadmesh_program.town import Town

addresses = (f"radio{number}" for number in itertools.count(1))

pytest_plugins = [
    "roadmesh_program.measuring",
    "roadmesh_program.fixtures",
    "roadmesh_program.brokers",
    "roadmesh_program.tools",
]


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
