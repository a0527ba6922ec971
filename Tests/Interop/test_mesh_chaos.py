# SPDX-License-Identifier: Apache-2.0
"""Small trees in which links, ranges and relays come and go at random. After that, each vote counts once."""

from __future__ import annotations

import os
import random

import pytest
from roadmesh_peer.mesh_client import Client
from roadmesh_peer.mesh_host import Host
from roadmesh_peer.mesh_relay import Relay
from roadmesh_peer.net import Net
from roadmesh_peer.noise_link import Key
from roadmesh_peer.roads import Roads

CAR = "Dad's Car"
SEEDS = int(os.environ.get("MESH_SEEDS", "10"))
SONGS = 12
EVENTS = 25
# A failed relay is avoided for 5 s, and a chain of four may have to wait that long one after another.
QUIET = 60.0


class Chaos:
    def __init__(self, seed: int, net: Net, roads: Roads) -> None:
        self.random = random.Random(seed)
        self.net, self.roads = net, roads
        self.car = Host(net, roads.radio("car"), CAR, songs=SONGS)
        self.relays = [Relay(net, roads.radio(f"relay{number}"), f"Relay {number}") for number in range(4)]
        self.guests = [Client(net, roads.radio(f"guest{number}"), f"Guest {number}") for number in range(5)]
        self.cast: list[tuple[bytes, str]] = []
        # A line that exists whenever the chaos pauses, and random other links.
        self.line = ["car", *(f"relay{number}" for number in range(4))]
        for above, below in zip(self.line, self.line[1:], strict=False):
            roads.join(above, below)
        for guest in self.guests:
            roads.join(guest.radio.address, self.random.choice(self.line[1:]))

    @property
    def everybody(self) -> list[Client]:
        return [*self.relays, *self.guests]

    def event(self) -> None:
        random = self.random
        what = random.random()
        node = random.choice(self.everybody)
        others = [address for address in self.line if address != node.radio.address]
        if what < 0.4:
            song = f"n{random.randint(1, SONGS)}"
            if node.wanted and (node.key.identifier, song) not in self.cast:
                self.cast.append((node.key.identifier, song))
                node.vote(song)
        elif what < 0.6:
            if node.up and node.up.why is None:
                node.up.close("lost")
        elif what < 0.7:
            if node.session and node.session.why is None:
                node.session.close("lost")
        elif what < 0.8:
            self.roads.join(node.radio.address, random.choice(others))
        elif what < 0.9:
            self.roads.part(node.radio.address, random.choice(others))
            if node.up and node.up.why is None:
                node.up.close("lost")
        else:
            self.replace(random.choice(self.relays))
        self.net.pass_time(random.choice([0.0, 0.02, 0.3, 1.0, 3.0]))

    def replace(self, relay: Relay) -> None:
        """Kills a relay and starts it again with its stored state."""
        relay.close()
        again = Relay(self.net, self.roads.radio(relay.radio.address), relay.name, key=Key(relay.key.private))
        again.known_hosts, again.conversations, again.wanted = relay.known_hosts, relay.conversations, relay.wanted
        self.relays[self.relays.index(relay)] = again

    def calm(self) -> None:
        for above, below in zip(self.line, self.line[1:], strict=False):
            self.roads.join(above, below)
        for guest in self.guests:
            self.roads.join(guest.radio.address, self.random.choice(self.line))
        self.net.until(self.is_calm, "everybody is linked and sees the present", timeout=QUIET)

    def is_calm(self) -> bool:
        return all(
            node.is_connected and not node.conversation.outbox and node.view.state == self.car.state
            for node in self.everybody
        )


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, SEEDS))])
def test_whatever_comes_and_goes_each_vote_counts_once_and_all_see_the_same_in_the_end(
    seed: int, net: Net, roads: Roads
) -> None:
    chaos = Chaos(seed, net, roads)
    chaos.calm()
    for _ in range(EVENTS):
        chaos.event()
    chaos.calm()
    assert sorted(chaos.car.intents) == sorted(chaos.cast)
    # No node is above itself, and every node is one hop further than its parent.
    assert all(node.hops == (node.route.hops if node.route else 0) + 1 for node in chaos.everybody)
