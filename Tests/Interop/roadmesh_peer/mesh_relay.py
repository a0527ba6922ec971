# SPDX-License-Identifier: Apache-2.0
"""A relay that runs on its own, by docs/protocol.md: a guest that also forwards circuits.

python -m roadmesh_peer.mesh_relay AIR NAME    relays on the virtual radio, until it is interrupted
"""

from __future__ import annotations

import sys
from collections import deque
from contextlib import suppress
from pathlib import Path

from .circuit_frames import CREDITS, HOPS, CircuitOpen, CloseReason, inner_mtu
from .circuits import CIRCUITS_OF_A_RELAY, Circuit
from .conversation import new_epoch
from .link import Link
from .link_sides import Initiator, Responder
from .mesh_client import Client
from .net import Net, NetRadio
from .noise_link import Key
from .signed_state import Follower, SharedLog, name_of
from .ways import RELAYED_NAME_BYTES, Candidate, cut
from .wire import (
    CIRCUITS_ONLY,
    LARGEST_SDU,
    NO_ROOM,
    PLACES_FOR_RELAYS,
    PROOF_WANTED,
    RELAYS,
    Advertisement,
    Frame,
    Hello,
    Kind,
    Reason,
    Route,
    Tail,
    Unit,
)

PSM = 0x80
CHILDREN = 7
PLACES, PLACES_KEPT = 6, 2
"""A relay's slots for other nodes, of the links that a radio can hold; and how many of them are reserved for relays."""
CIRCUITS_THAT_PASS = 1_024
WITHOUT_PARENT = 0.5
"""Seconds for which a relay looks for another parent before it reports the loss to its children."""


class PassageSide:
    """One half of a forwarded circuit. SDUs that arrive on it leave on the other half."""

    def __init__(self, relay: Relay, link: Link, circuit: Circuit, *, is_up: bool) -> None:
        self.relay = relay
        self.link = link
        self.circuit = circuit
        self.is_up = is_up
        self.other: PassageSide | None = None
        self.leaving: deque[tuple[bytes, bool]] = deque()
        """SDUs to send on this half, and whether each returns a credit on the other half."""

    def opened(self, mtu: int) -> None:
        """Only the upper half is opened by its other side. Then the lower half is accepted."""
        assert self.other
        self.relay.passage_opened(self, self.other, mtu)

    def came(self, sdu: bytes) -> None:
        if self.other:
            self.relay.pass_on(sdu, self, self.other)

    def next_sdu(self) -> bytes | None:
        if not self.leaving:
            return None
        sdu, is_due = self.leaving.popleft()
        if is_due and self.other:
            self.other.circuit.passed_on()
        return sdu

    def closed(self, reason: CloseReason) -> None:
        self.relay.circuits_passing -= 1
        if self.other:
            other, self.other = self.other, None
            other.other = None
            other.circuit.close(CloseReason.ENDED if reason == CloseReason.MISUSED else reason)

    @property
    def is_over(self) -> bool:
        return self.other is None and not self.leaving


class Relay(Client):
    relays = True

    def __init__(
        self, net: Net, radio: NetRadio, name: str, *, host_name: str | None = None, key: Key | None = None
    ) -> None:
        super().__init__(net, radio, name, host_name=host_name, key=key)
        self.children: dict[bytes, Responder] = {}
        self.followers: dict[Link, Follower] = {}
        self.known: dict[Link, list[bytes]] = {}
        """The names of states that children have sent, until their next circuit opens."""
        self.log = SharedLog()
        self.circuits_passing = 0
        self.most_circuits = CIRCUITS_THAT_PASS
        self.most_children = CHILDREN
        self.child_ends: list[str] = []
        self.told = Route(0)
        """The route that the children know."""
        self._last_hops = 0
        self._orphaned_at: float | None = None
        radio.accept(self._dialled)

    # Advertising

    @property
    def own_route(self) -> Route:
        return Route(self.hops, self.wanted) if self.hops else Route(0)

    def tick(self) -> None:
        super().tick()
        self._tell_the_way()
        if self.is_connected:
            self.radio.advertise(*self.advertised())

    def advertised(self) -> tuple[Advertisement, str, Tail]:
        """Advertises the host's name, because people look for that."""
        assert self.session and self.session.their_hello
        full = NO_ROOM if len(self.children) >= self.most_children else 0
        if PLACES - len(self.children) <= PLACES_KEPT:
            full |= PLACES_FOR_RELAYS
        identifier, route = self.key.identifier, self.route_to_tell()
        asks = self.session.their_hello.critical & PROOF_WANTED
        return (
            Advertisement(PSM, identifier[:4], critical=CIRCUITS_ONLY | asks),
            cut(self.session.their_hello.name, RELAYED_NAME_BYTES),
            Tail(identifier[4:9], RELAYS | full, route.hops, route.host[:5]),
        )

    def route_to_tell(self) -> Route:
        return self.own_route

    # The route to the host

    def _tell_the_way(self) -> None:
        """Reports a new route at once, and the loss of one only after looking for another parent."""
        if self.is_connected:
            self._orphaned_at = None
            self._last_hops = self.hops
            if self.told != self.own_route:
                self._tell(self.route_to_tell())
                self.told = self.own_route
        elif self.told.hops:
            if self._orphaned_at is None:
                self._orphaned_at = self.now()
            elif self.now() >= self._orphaned_at + WITHOUT_PARENT:
                self.told = Route(0)
                self._tell(Route(0))
                for child in self.children.values():
                    for circuit in child.circuits:
                        circuit.close(CloseReason.NO_HOST)

    def _tell(self, route: Route) -> None:
        for child in self.children.values():
            child.say(route.frame())

    def connected(self, link: Link) -> None:
        if isinstance(link, Responder):
            self._child_connected(link)
            return
        super().connected(link)
        if link is self.session and link.why is None:
            # The hop count may be unchanged, but waiting children must learn that a route exists again.
            self.told = self.own_route
            self._tell(self.route_to_tell())

    def fits(self, one: Candidate) -> bool:
        """While this relay has children, a new parent must have fewer hops than this relay. So it cannot be below
        this relay."""
        if self.children and self.told.hops and one.hops >= self._last_hops:
            return False
        return super().fits(one)

    @property
    def looks_for(self) -> float:
        return 0.0 if self.told.hops else super().looks_for

    # Children

    def _dialled(self) -> Responder:
        link = Responder(self, self.key, LARGEST_SDU)
        self._links.append(link)
        return link

    def admitted(self, link: Link) -> Hello | int:
        if link.them == self.key.identifier:
            return Reason.TWIN
        if link.them not in self.children and len(self.children) >= self.most_children:
            return Reason.FULL
        return Hello(new_epoch(), self.name, critical=CIRCUITS_ONLY, ignorable=RELAYS, route=self.route_to_tell())

    def _child_connected(self, link: Responder) -> None:
        if older := self.children.pop(link.them, None):
            older.close("replaced")
        self.children[link.them] = link
        if link.their_hello and link.their_hello.relays:
            link.circuits.most = CIRCUITS_OF_A_RELAY

    def ended(self, link: Link, why: str) -> None:
        if isinstance(link, Responder):
            self.child_ends.append(why)
            self.followers.pop(link, None)
            self.known.pop(link, None)
            if self.children.get(link.them) is link:
                del self.children[link.them]
        else:
            super().ended(link, why)

    # Circuits

    def asked(self, link: Link, opening: CircuitOpen, circuit: Circuit) -> None:
        if (reason := self.objection(link, opening)) is not None:
            link.circuits.refuse(circuit, reason)
            return
        assert self.up
        down = circuit.end = PassageSide(self, link, circuit, is_up=False)
        mtu = min(opening.inner_mtu, inner_mtu(link.mtu))
        self._pass_opening(down, self.up, opening, mtu)

    def _pass_opening(self, down: PassageSide, up: Initiator, opening: CircuitOpen, mtu: int) -> None:
        passed = (*opening.passed, self.key.identifier[:4])
        side = PassageSide(self, up, down.circuit, is_up=True)
        side.circuit = up.circuits.open(side, opening.host, opening.hops_left - 1, mtu, passed, CREDITS)
        side.other, down.other = down, side
        self.circuits_passing += 1

    def objection(self, link: Link, opening: CircuitOpen) -> CloseReason | None:
        if not isinstance(link, Responder) or not self.is_connected or opening.host != self.wanted:
            return CloseReason.NO_HOST
        if self.key.identifier[:4] in opening.passed:
            return CloseReason.LOOP
        if not opening.hops_left or len(opening.passed) >= HOPS:
            return CloseReason.TOO_FAR
        if self.circuits_passing >= self.most_circuits:
            return CloseReason.NO_ROOM
        return None

    def passage_opened(self, up: PassageSide, down: PassageSide, mtu: int) -> None:
        link = down.link
        down.circuit.accept(down, min(mtu, inner_mtu(LARGEST_SDU)))
        known = self.known.pop(link, [])
        if link in self.followers and len(link.circuits) > 1:
            # The child has received everything already.
            if known and self.followers[link].next is not None:
                link.say(Frame(Kind.STATE, known[0]))
            return
        follower = self.followers[link] = Follower(self.log, bool(link.their_hello and link.their_hello.relays))
        if (place := self.log.newest(known)) is not None:
            follower.next = place + 1
            link.say(Frame(Kind.STATE, name_of(self.log[place])))

    def knows(self, link: Link, names: list[bytes]) -> None:
        if isinstance(link, Responder):
            self.known[link] = names

    def pass_on(self, sdu: bytes, here: PassageSide, there: PassageSide) -> None:
        there.leaving.append((sdu, True))

    # The state

    def keep_shared(self, unit: Unit) -> None:
        self.log.append(unit)

    def next_latest(self, link: Link) -> Unit | None:
        if link in self.followers:
            return self.followers[link].take()
        return super().next_latest(link)

    def close(self) -> None:
        """Disappears as a killed program does."""
        self.net.nodes.remove(self)
        self.radio.close()
        for channel in [one for one in self.net.channels if one.speaker in self._links]:
            channel.close()


def main(air: str, name: str) -> None:
    net = Net(real=True)
    relay = Relay(net, NetRadio(net, Path(air), name.lower()), name)
    told = None
    while True:
        net.step()
        now = (relay.own_route.hops, len(relay.children), relay.circuits_passing)
        if now != told:
            print(f"{now[0]} hops to the host, {now[1]} children, {now[2]} circuits", flush=True)
        told = now


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main(*sys.argv[1:])
