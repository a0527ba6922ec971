# SPDX-License-Identifier: Apache-2.0
"""A real ride for tests in a browser: a host and guests on the virtual radio, each with its page. A pytest plugin."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from roadmesh_program.program import START, Event, Program

addresses = (f"radio{number}" for number in itertools.count(1))


@dataclass
class Node:
    """A running program, and the URL of its page."""

    program: Program
    url: str
    address: str
    snapshots: list[Event] = field(default_factory=list)


class Ride:
    """An air and its nodes."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self._binary = binary
        self._folder = folder
        # Not pytest's own folder: a Unix socket's path has at most 108 bytes.
        self.air = Path(tempfile.mkdtemp(prefix="air"))
        self.nodes: list[Node] = []

    def start(self, role: str, name: str, *arguments: str, address: str | None = None) -> Node:
        """Starts a node. A second start with the same address uses the same state folder, so it is the same node."""
        address = address or next(addresses)
        place = ["--radio", "virtual", "--air", str(self.air), "--adapter", address]
        state = ["--state", str(self._folder / address)]
        program = Program(self._binary, role, name, *place, *state, *arguments)
        ready = program.expect("ready", timeout=START)
        self.nodes.append(Node(program, ready["http"], address))
        return self.nodes[-1]

    def host(self, *arguments: str, name: str = "Dad's Car") -> Node:
        return self.start("host", name, *arguments)

    def guest(self, name: str, *arguments: str) -> Node:
        node = self.start("guest", name, *arguments)
        node.program.expect("snapshot", timeout=START)
        return node

    @contextmanager
    def dead_zone(self, node: Node) -> Iterator[None]:
        """A dead zone for this node: it receives and sends nothing by radio."""
        cut = self.air / f"{node.address}.cut"
        cut.touch()
        try:
            yield
        finally:
            cut.unlink()

    def end(self) -> None:
        codes = [node.program.end() for node in reversed(self.nodes)]
        shutil.rmtree(self.air)
        # Whatever a test has done to a program, it must end properly.
        assert all(code == 0 for code in codes), f"exit codes {codes}"


MakeRide = Callable[[], Ride]


@pytest.fixture
def ride(binary: Path, tmp_path: Path) -> Iterator[Ride]:
    one = Ride(binary, tmp_path)
    yield one
    one.end()
