# SPDX-License-Identifier: Apache-2.0
"""A host that runs on its own, with guests on channels and in circuits, by docs/protocol.md."""

from __future__ import annotations

import dataclasses
from collections import deque
from dataclasses import dataclass, field, replace

from . import democracy_dj
from . import protobuf as pb
from .circuit_frames import HOPS, CircuitOpen, CloseReason, inner_mtu
from .circuits import CIRCUITS_OF_A_RELAY, Circuit
from .conversation import Conversation
from .democracy_dj import QueueItem, Rejection, Song, State, Why
from .link import SILENCE_IN_A_CIRCUIT, Link
from .link_sides import Responder
from .net import Bearer, Net
from .noise_link import ClearReason, Key, Packet
from .rejoin import Kept
from .signed_state import SigningKey
from .ways import NAME_BYTES, InnerEnd, cut
from .wire import (
    LARGEST_SDU,
    MAJOR_VERSION,
    Advertisement,
    Hello,
    Reason,
    Route,
    Tail,
    Unit,
)

PSM = 0x80
GUESTS, GUESTS_ON_CIRCUITS = 16, 1_024
HALF_OPEN_ON_CIRCUITS, HALF_OPEN_OF_A_LINK = 1_792, 256
"""Maximum number of half-open circuits: in total, and behind one link, so that one link cannot use all slots."""
HEARTBEAT = 5.0


@dataclass
class HostGuest:
    """A linked guest."""

    link: Link
    is_relay: bool
    updates: deque[Unit] = field(default_factory=deque)
    """State that waits for room on its link."""
    answer: Unit | None = None
    """A requested snapshot, or a heartbeat."""
    since_whole: int = 0
    whole: int = 0
    beat_at: float = 0.0


class Host:
    def __init__(self, net: Net, radio: Bearer, name: str, songs: int = 8, key: Key | None = None) -> None:
        self.net = net
        self.radio = radio
        self.name = name
        self.key = key or Key()
        self.signing_key = SigningKey(self.key.private)
        self.guests: dict[bytes, HostGuest] = {}
        self.conversations: dict[bytes, Conversation] = {}
        self.kept_guests: dict[bytes, Kept] = {}
        """What is kept of handshakes in circuits, by the guest's identifier."""
        self.intents: list[tuple[bytes, str]] = []
        """The votes that have counted: voter and song."""
        self.ends: list[str] = []
        self.circuits_asked = 0
        self.critical = 0
        """The critical flags that the host advertises."""
        self._links: list[Link] = []
        self._carriers: dict[Link, Link] = {}
        """The link that carries each link in a circuit."""
        self._names: dict[bytes, str] = {}
        queue = [
            QueueItem(Song(f"n{number}", f"Mile {number}", "The Milestones", 3_600_000), self.key.identifier)
            for number in range(1, songs + 1)
        ]
        self.state = State(1_795_256_326, 1, None, False, tuple(queue))
        net.nodes.append(self)
        radio.accept(self._dialled)

    def now(self) -> float:
        return self.net.now

    def tick(self) -> None:
        identifier = self.key.identifier
        advertisement = Advertisement(PSM, identifier[:4], critical=self.critical)
        self.radio.advertise(advertisement, cut(self.name, NAME_BYTES), Tail(identifier[4:9]))
        for link in self._links:
            link.tick()
        self._links = [link for link in self._links if not link.is_over]
        self._carriers = {inner: link for inner, link in self._carriers.items() if not inner.is_over}
        for guest in self.guests.values():
            if self.now() >= guest.beat_at + HEARTBEAT:
                guest.beat_at = self.now()
                if guest.answer is None:
                    guest.answer = self._heartbeat()

    def _heartbeat(self) -> Unit:
        return Unit(democracy_dj.heartbeat(self.state.epoch, self.state.revision), 1, latest=True)

    # Links

    def _dialled(self) -> Responder:
        return self._kept(Responder(self, self.key, LARGEST_SDU))

    def _kept(self, link: Responder) -> Responder:
        self._links.append(link)
        return link

    def asked(self, link: Link, opening: CircuitOpen, circuit: Circuit) -> None:
        self.circuits_asked += 1
        if opening.host != self.key.identifier:
            link.circuits.refuse(circuit, CloseReason.NO_RELAY)
            return
        if len(opening.passed) > HOPS:
            link.circuits.refuse(circuit, CloseReason.TOO_FAR)
            return
        mtu = min(opening.inner_mtu, inner_mtu(link.mtu))
        inner = Responder(self, self.key, mtu, in_circuit=True, hops=len(opening.passed))
        half_open = [one for one in self._links if one.in_circuit and not one.is_connected and one.why is None]
        behind = [one for one in half_open if self._carriers.get(one) is link]
        if len(half_open) >= HALF_OPEN_ON_CIRCUITS or len(behind) >= HALF_OPEN_OF_A_LINK:
            inner.refuse_clearly(bytes((Packet.CLEAR_REFUSAL, MAJOR_VERSION, ClearReason.BUSY)))
        self._carriers[inner] = link
        end = InnerEnd(self._kept(inner))
        end.circuit = circuit
        circuit.accept(end, inner_mtu(link.mtu))

    def admitted(self, link: Link) -> Hello | int:
        assert link.their_hello
        them = link.them
        if them == self.key.identifier:
            return Reason.TWIN
        others = [one for peer, one in self.guests.items() if peer != them and one.link.in_circuit == link.in_circuit]
        if len(others) >= (GUESTS_ON_CIRCUITS if link.in_circuit else GUESTS):
            return Reason.FULL
        conversation = self.conversations.setdefault(them, Conversation())
        signs = link.in_circuit or link.their_hello.relays
        hello = conversation.hello(
            self.name,
            silence=SILENCE_IN_A_CIRCUIT if link.in_circuit else self.radio.silence,
            signing_key=self.signing_key.public if signs else b"",
        )
        return dataclasses.replace(hello, critical=self.critical, rejoins=link.in_circuit)

    def kept(self, identifier: bytes) -> Kept | None:
        kept = self.kept_guests.get(identifier)
        return kept if kept and self.now() < kept.until else None

    def connected(self, link: Link) -> None:
        assert link.their_hello
        if isinstance(link, Responder) and (kept := link.keeps()):
            old = [one for one, other in self.kept_guests.items() if other.their_key == link.their_key]
            for one in old:
                del self.kept_guests[one]
            self.kept_guests[kept.identifier] = kept
        older = self.guests.pop(link.them, None)
        if older:
            older.link.close("replaced")
        conversation = self.conversations[link.them]
        conversation.meet(link.their_hello)
        for unit in conversation.outbox:
            link.send(unit)
        guest = HostGuest(link, is_relay=link.their_hello.relays and not link.in_circuit, beat_at=self.now())
        if guest.is_relay:
            link.circuits.most = CIRCUITS_OF_A_RELAY
        if link.in_circuit:
            # The state comes over the carrier. The heartbeat shows whether the relay is behind.
            guest.answer = self._heartbeat()
        self.guests[link.them] = guest
        self._names[link.them] = link.their_hello.name
        self._guests_changed()

    def ended(self, link: Link, why: str) -> None:
        self.ends.append(why)
        if link.their_key and link.them in self.guests and self.guests[link.them].link is link:
            del self.guests[link.them]
            self._guests_changed()

    def routed(self, link: Link, route: Route) -> None:
        """A host has no parent."""

    def knows(self, link: Link, names: list[bytes]) -> None:
        """This frame has no effect on a link to a host."""

    # Messages

    def acknowledged(self, link: Link, number: int) -> None:
        self.conversations[link.them].acknowledged(number)

    def came(self, link: Link, unit: Unit) -> None:
        envelope = pb.Fields(unit.body)
        if unit.latest:
            if 5 in envelope:
                self.guests[link.them].answer = Unit(democracy_dj.snapshot(self.state), 1, latest=True)
            return
        conversation = self.conversations[link.them]
        if not conversation.take(unit):
            return
        link.say_ack(conversation.delivered)
        intent = pb.Fields(envelope.data(1))
        if 1 in intent:
            self._vote(link, intent.text(1))

    def _vote(self, link: Link, song: str) -> None:
        voters = self.state.voters(song)
        if voters is None:
            rejection = bytes(Rejection(Why.NOT_QUEUED, vote=song))
            link.send(self.conversations[link.them].write(rejection))
        elif link.them in voters:
            self.guests[link.them].answer = Unit(democracy_dj.snapshot(self.state), 1, latest=True)
        else:
            self.intents.append((link.them, song))
            place = next(place for place, item in enumerate(self.state.queue) if item.song.id == song)
            change = democracy_dj.new_voter(self.state, place, link.them)
            queue = list(self.state.queue)
            queue[place] = replace(queue[place], voters=(*voters, link.them))
            self._changed(replace(self.state, queue=tuple(queue)), change)

    # The state

    def _guests_changed(self) -> None:
        guests = tuple(democracy_dj.Guest(peer, self._names[peer]) for peer in self.guests)
        self._changed(replace(self.state, guests=guests), None)

    def _changed(self, state: State, change: bytes | None) -> None:
        """Sends all guests an update: the change if they have its base, else the full state."""
        self.state = replace(state, revision=self.state.revision + 1)
        snapshot = democracy_dj.snapshot(self.state)
        for guest in self.guests.values():
            if guest.link.in_circuit:
                continue
            is_whole = change is None or not guest.whole or len(guest.updates) > 1
            if is_whole:
                guest.updates.clear()
                guest.whole, guest.since_whole = len(snapshot), 0
            body = snapshot if is_whole or change is None else change
            if guest.is_relay:
                guest.updates.append(self.signing_key.sign(body, self._name, whole=is_whole))
            else:
                guest.updates.append(Unit(body, 1, latest=True))
            if not is_whole:
                self._count(guest, len(body), snapshot)

    @property
    def _name(self) -> bytes:
        return democracy_dj.state_name(self.state.epoch, self.state.revision)

    def _count(self, guest: HostGuest, count: int, snapshot: bytes) -> None:
        guest.since_whole += count
        if guest.is_relay and guest.since_whole > guest.whole:
            guest.updates.append(self.signing_key.sign(snapshot, self._name, whole=True, checkpoint=True))
            guest.whole, guest.since_whole = len(snapshot), 0

    def next_latest(self, link: Link) -> Unit | None:
        guest = self.guests.get(link.them) if link.their_key else None
        if guest is None or guest.link is not link:
            return None
        if guest.updates:
            return guest.updates.popleft()
        answer, guest.answer = guest.answer, None
        return answer
