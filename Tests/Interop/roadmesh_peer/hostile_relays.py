# SPDX-License-Identifier: Apache-2.0
"""Relays that each break one rule of docs/protocol.md. They are honest until they are armed."""

from __future__ import annotations

from collections import deque

from .circuit_frames import HOPS, CircuitOpen, CloseReason, inner_mtu
from .link import Link
from .link_sides import Initiator
from .mesh_relay import PassageSide, Relay
from .net import Net, NetRadio
from .noise_link import Key
from .signed_state import SigningKey
from .wire import LARGEST_SDU, Advertisement, Kind, Route, Tail, Unit


class Hostile(Relay):
    is_armed = False

    def __init__(
        self, net: Net, radio: NetRadio, name: str, *, host_name: str | None = None, key: Key | None = None
    ) -> None:
        super().__init__(net, radio, name, host_name=host_name, key=key)
        self.prepare()

    def prepare(self) -> None: ...

    def pass_on(self, sdu: bytes, here: PassageSide, there: PassageSide) -> None:
        if self.is_armed:
            self.do(sdu, here, there)
        else:
            super().pass_on(sdu, here, there)

    def do(self, sdu: bytes, here: PassageSide, there: PassageSide) -> None:
        super().pass_on(sdu, here, there)


class Dropping(Hostile):
    """Accepts all SDUs, gives credits for them, and forwards none; or only those from the host; or every other one."""

    keeps_every_other = False
    passes_down = False
    _turn = False

    def do(self, sdu: bytes, here: PassageSide, there: PassageSide) -> None:
        self._turn = not self._turn
        if (self.keeps_every_other and self._turn) or (self.passes_down and not there.is_up):
            there.leaving.append((sdu, True))
        else:
            here.circuit.passed_on()


class Delaying(Hostile):
    seconds = 1.0

    def prepare(self) -> None:
        self._late: deque[tuple[float, bytes, PassageSide]] = deque()

    def do(self, sdu: bytes, here: PassageSide, there: PassageSide) -> None:
        self._late.append((self.now() + self.seconds, sdu, there))

    def tick(self) -> None:
        while self._late and self._late[0][0] <= self.now():
            _, sdu, there = self._late.popleft()
            there.leaving.append((sdu, True))
        super().tick()


class Reordering(Hostile):
    """Holds an SDU back until the next one has been forwarded."""

    _kept: tuple[bytes, PassageSide] | None = None

    def do(self, sdu: bytes, here: PassageSide, there: PassageSide) -> None:
        if self._kept is None or self._kept[1] is not there:
            self._kept = (sdu, there)
        else:
            there.leaving.extend([(sdu, True), (self._kept[0], True)])
            self._kept = None


class Replaying(Hostile):
    """Forwards each SDU twice."""

    def do(self, sdu: bytes, here: PassageSide, there: PassageSide) -> None:
        there.leaving.extend([(sdu, True), (sdu, False)])


class Recording(Hostile):
    """Records circuits, and replays them in a circuit of its own. Also shows old state as new."""

    def prepare(self) -> None:
        self.recorded: list[bytes] = []
        self.old_state: list[Unit] = []

    def pass_on(self, sdu: bytes, here: PassageSide, there: PassageSide) -> None:
        if there.is_up and not self.is_armed:
            self.recorded.append(sdu)
        super().pass_on(sdu, here, there)

    def keep_shared(self, unit: Unit) -> None:
        if not self.is_armed:
            self.old_state.append(unit)
        super().keep_shared(unit)

    def next_latest(self, link: Link) -> Unit | None:
        if self.is_armed and link in self.followers:
            return self.old_state.pop(0) if self.old_state else None
        return super().next_latest(link)

    def replay(self, sdus: list[bytes]) -> Answers:
        """Sends another node's SDUs to the host in a new circuit."""
        assert self.up
        end = Answers(sdus)
        end.circuit = self.up.circuits.open(end, self.wanted, HOPS, inner_mtu(LARGEST_SDU))
        return end


class Answers:
    """The end of a circuit that sends fixed SDUs."""

    def __init__(self, sdus: list[bytes]) -> None:
        self.said = list(sdus)
        self.heard: list[bytes] = []
        self.reason: CloseReason | None = None
        self.circuit: object = None

    def opened(self, mtu: int) -> None: ...

    def came(self, sdu: bytes) -> None:
        self.heard.append(sdu)

    def next_sdu(self) -> bytes | None:
        return self.said.pop(0) if self.said else None

    def closed(self, reason: CloseReason) -> None:
        self.reason = reason

    is_over = False


class Altering(Hostile):
    """Flips one bit of each SDU to the host, or from it."""

    downwards = False

    def do(self, sdu: bytes, here: PassageSide, there: PassageSide) -> None:
        if there.is_up != self.downwards:
            sdu = sdu[:-1] + bytes((sdu[-1] ^ 1,))
        there.leaving.append((sdu, True))


class Inventing(Hostile):
    """Sends forged messages: state that it has signed itself, and SDUs in other nodes' circuits."""

    def prepare(self) -> None:
        self.invented: list[Unit] = []

    def invent_state(self, body: bytes) -> None:
        self.invented.append(SigningKey(self.key.private).sign(body, bytes(8), whole=True))

    def invent_sdus(self, sdu: bytes) -> None:
        for child in self.children.values():
            for circuit in child.circuits:
                if isinstance(circuit.end, PassageSide):
                    circuit.end.leaving.append((sdu, False))

    def next_latest(self, link: Link) -> Unit | None:
        if link in self.followers and self.invented:
            return self.invented.pop(0)
        return super().next_latest(link)


class Flooding(Hostile):
    """Opens empty circuits to its host without end."""

    a_tick = 50

    def tick(self) -> None:
        super().tick()
        if self.is_armed and self.up and self.is_connected:
            for number in self.up.circuits.skipped_numbers(self.a_tick):
                self.up.say(CircuitOpen(number, self.wanted, HOPS, inner_mtu(LARGEST_SDU)).frame())

    def told_of_circuits(self) -> set[CloseReason]:
        """The reasons of closed circuits."""
        closed = self.up.heard_of(Kind.CIRCUIT_CLOSE) if self.up else []
        return {CloseReason.of(frame.body[-1]) for frame in closed}


class LyingAboutHops(Hostile):
    """Claims that its host is next to it, even without a route."""

    claimed = 1

    def route_to_tell(self) -> Route:
        return Route(self.claimed, self.wanted) if self.is_armed else super().route_to_tell()

    def tick(self) -> None:
        super().tick()
        if self.is_connected:
            self._said = self.advertised()
        elif self.is_armed:
            self.radio.advertise(*self._said)

    def _tell(self, route: Route) -> None:
        super()._tell(self.route_to_tell() if self.is_armed else route)


class LyingAboutItsHost(Hostile):
    """Has a link to one host, and claims a route to a second host. Circuits to the second host end at the first."""

    claimed_host = b""
    claimed_name = ""

    def route_to_tell(self) -> Route:
        return Route(1, self.claimed_host) if self.is_armed else super().route_to_tell()

    def advertised(self) -> tuple[Advertisement, str, Tail]:
        advertisement, name, tail = super().advertised()
        return advertisement, self.claimed_name if self.is_armed else name, tail

    def objection(self, link: Link, opening: CircuitOpen) -> CloseReason | None:
        return None if self.is_armed and self.is_connected else super().objection(link, opening)

    def _pass_opening(self, down: PassageSide, up: Initiator, opening: CircuitOpen, mtu: int) -> None:
        own = CircuitOpen(opening.circuit, self.wanted, HOPS, opening.inner_mtu, opening.passed)
        super()._pass_opening(down, up, own, mtu)


class ContradictingItself(LyingAboutItsHost):
    """Advertises one host, and claims another in its hello."""

    advertised_host = b""

    def advertised(self) -> tuple[Advertisement, str, Tail]:
        advertisement, name, tail = super().advertised()
        return advertisement, name, Tail(tail.more_head, tail.ignorable, tail.hops, self.advertised_host[:5])
