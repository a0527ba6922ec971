# SPDX-License-Identifier: Apache-2.0
"""Real programs and Python nodes on the same roads. Each has only its neighbours in range."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from roadmesh_peer.mesh_client import Client
from roadmesh_peer.mesh_host import Host
from roadmesh_peer.mesh_relay import Relay
from roadmesh_peer.net import Net
from roadmesh_peer.roads import Roads

from .program import START, Program
from .songs import write_songs

CAR = "Dad's Car"

Kind = TypeVar("Kind", bound=Relay)


class Town:
    """The nodes and their ranges, real programs among them. The Python nodes run in a thread during the test."""

    def __init__(self, net: Net, roads: Roads, binary: Path, state: Path) -> None:
        self.net = net
        self.roads = roads
        self._binary = binary
        self._state = state
        self.programs: list[Program] = []

    def real(self, role: str, name: str, address: str, neighbours: list[str], *more: str) -> Program:
        self.roads.join(address, *neighbours)
        place = ["--radio", "virtual", "--air", str(self.roads.air(address)), "--adapter", address]
        state = ["--state", str(self._state / address)]
        program = Program(self._binary, role, name, *place, *state, *more)
        self.programs.append(program)
        program.expect("ready", timeout=START)
        return program

    def real_host(self, *more: str) -> Program:
        path = write_songs(self._state / "songs.json")
        program = self.real("host", CAR, "car", [], "--library", str(path), *more)
        program.expect("snapshot")
        return program

    def real_guest(self, name: str, address: str, *neighbours: str) -> Program:
        return self.real("guest", name, address, list(neighbours))

    def real_relay(self, name: str, address: str, *neighbours: str) -> Program:
        return self.real("guest", name, address, list(neighbours), "--relay")

    def host(self) -> Host:
        return self.net.do(lambda: Host(self.net, self.roads.radio("car"), CAR))

    def relay(self, address: str, *neighbours: str) -> Relay:
        return self.relay_of(Relay, address, *neighbours)

    def relay_of(self, kind: type[Kind], address: str, *neighbours: str) -> Kind:
        made = self.net.do(lambda: kind(self.net, self.roads.radio(address, *neighbours), address.capitalize()))
        self.net.until(lambda: made.is_connected, f"the link of {address}")
        return made

    def guest(self, address: str, *neighbours: str) -> Client:
        made = self.net.do(lambda: Client(self.net, self.roads.radio(address, *neighbours), address.capitalize()))
        self.net.until(lambda: made.is_connected and made.view.state is not None, f"{address} sees the queue")
        return made

    def vote(self, guest: Client, song: str) -> None:
        self.net.do(lambda: guest.vote(song))

        def counts() -> bool:
            return guest.shows_vote(song) and not guest.conversation.outbox

        self.net.until(counts, f"the vote for {song}")
