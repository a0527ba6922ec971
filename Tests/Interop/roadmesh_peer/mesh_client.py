# SPDX-License-Identifier: Apache-2.0
"""A guest that runs on its own, and joins its host directly or through a relay, by docs/protocol.md."""

from __future__ import annotations

from . import democracy_dj
from .circuit_frames import HOPS, CircuitOpen, CloseReason, inner_mtu
from .circuits import Circuit
from .conversation import Conversation, new_epoch
from .link import SILENCE_IN_A_CIRCUIT, Link
from .link_sides import Initiator
from .net import SILENCE, Bearer, Net
from .noise_link import Key
from .rejoin import Kept
from .signed_state import ForgedState, Waiting, checked
from .virtual_air import Heard
from .ways import NAME_BYTES, RELAYED_NAME_BYTES, Candidate, InnerEnd, cut
from .wire import (
    CIRCUITS_ONLY,
    LARGEST_SDU,
    NO_ROOM,
    PLACES_FOR_RELAYS,
    PROOF_WANTED,
    Hello,
    Kind,
    Malformed,
    Reason,
    Route,
    Unit,
    goodbye,
    identifier,
)

LOOKING = 0.1
"""Seconds for which a guest listens before it chooses."""
FRESH = 0.5
HOLD = 5.0
"""Seconds for which a guest avoids a node that has failed or refused."""
NO_STATE = 10.0
WAITS_FOR_ROUTE = 1.0
TOO_OFTEN, OFTEN = 2, 10.0
"""A guest leaves a relay if more circuits than this end within so many seconds. A relay that alters records ends
them."""
UNACKNOWLEDGED, UNANSWERED = 2.0, 4.0


class Client:
    relays = False

    def __init__(
        self, net: Net, radio: Bearer, name: str, *, host_name: str | None = None, key: Key | None = None
    ) -> None:
        self.net = net
        self.radio = radio
        self.name = name
        self.key = key or Key()
        self.host_name = host_name
        self.wanted = b""
        """The full identifier of the host, once it was joined or the user has named it."""
        self.known_hosts: list[bytes] = []
        self.kept_hosts: dict[bytes, Kept] = {}
        """What is kept of the last handshake in a circuit with each host, by its key."""
        self.conversations: dict[bytes, Conversation] = {}
        self.view = democracy_dj.View()
        self.up: Initiator | None = None
        """The link on a channel: to the host, or a carrier to a relay."""
        self.session: Initiator | None = None
        """The link to the host: the link on the channel, or a link in a circuit."""
        self.parent: Candidate | None = None
        self.route: Route | None = None
        """The carrier's route, as the relay reports it."""
        self.signing_key = b""
        self.waiting = Waiting()
        self.ends: list[str] = []
        """Why links have ended. For links on channels this is the reason, for those in circuits `circuit: ` and the
        reason."""
        self.refused_by_relay: CloseReason | None = None
        """Why another node has closed the latest circuit that it closed."""
        self._links: list[Link] = []
        """Links that have not ended, including those that only have a final frame to send."""
        self._is_leaving = False
        self._inner: InnerEnd | None = None
        self._circuits_ended: list[float] = []
        self._candidates: dict[str, Candidate] = {}
        self._held: dict[bytes, float] = {}
        self._looking_since: float | None = None
        self._no_route_since: float | None = None
        self._ask_at: float | None = None
        self._lacked: tuple[int, int] | None = None
        self._to_say: bytes | None = None
        self._unacknowledged_since: float | None = None
        self._probed_at: float | None = None
        self._probe = 0
        net.nodes.append(self)

    def now(self) -> float:
        return self.net.now

    @property
    def is_connected(self) -> bool:
        return self.session is not None and self.session.is_connected

    @property
    def hops(self) -> int:
        """Links from here to the host; 0 without a route."""
        if not self.is_connected:
            return 0
        return self.route.hops + 1 if self.route else 1

    @property
    def conversation(self) -> Conversation:
        return self.conversations.setdefault(self.wanted, Conversation())

    def vote(self, song: str) -> None:
        unit = self.conversation.write(democracy_dj.vote(song))
        if self.is_connected:
            self._send(unit)

    def shows_vote(self, song: str) -> bool:
        return self.view.state is not None and self.key.identifier in (self.view.state.voters(song) or ())

    @property
    def told_alone(self) -> list[bytes]:
        """The messages that the host has sent to this guest alone on this link, without heartbeats. In a circuit none
        of them is a state."""
        frames = self.session.heard_of(Kind.MESSAGE) if self.session else []
        bodies = [Unit.read(frame.body).body for frame in frames]
        return [body for body in bodies if democracy_dj.read_heartbeat(body) is None]

    def leave(self) -> None:
        """Says goodbye to the host, and then to the relay."""
        self._is_leaving = True
        if self.session and self.session is not self.up:
            self.session.finish(goodbye(), "left")
        elif self.up:
            self.up.finish(goodbye(), "left")

    # Choosing a route

    def tick(self) -> None:
        for link in self._links:
            link.tick()
        self._links = [link for link in self._links if not link.is_over]
        if self._is_leaving:
            if self.up and len(self.up.circuits) == 0:
                self.up.finish(goodbye(), "left")
        elif self.up is None:
            self._look()
        elif self.route and self.session is None and self.up.is_connected:
            self._await_route()
        self._keep_state()
        self._keep_alive()

    def _look(self) -> None:
        self.radio.listen(self._heard)
        if self._looking_since is None:
            self._looking_since = self.now()
        if self.now() < self._looking_since + self.looks_for:
            return
        there = [one for one in self._candidates.values() if one.at > self.now() - FRESH and self.fits(one)]
        if there:
            self._dial(min(there, key=lambda one: (self._is_for_others(one), one.hops)))

    def _is_for_others(self, one: Candidate) -> bool:
        """Whether the candidate's remaining slots are for nodes that relay, and this node does not relay."""
        return not self.relays and bool(one.heard.tail and one.heard.tail.ignorable & PLACES_FOR_RELAYS)

    @property
    def looks_for(self) -> float:
        return LOOKING

    def _heard(self, heard: Heard) -> None:
        self._candidates[heard.address] = Candidate(heard, self.now())

    def fits(self, one: Candidate) -> bool:
        heard = one.heard
        if heard.advertisement.critical & ~(CIRCUITS_ONLY | PROOF_WANTED):
            return False
        if heard.advertisement.critical & PROOF_WANTED and not self._is_known(heard.host_head or heard.head):
            return False
        if self._held.get(heard.advertisement.head, 0) > self.now():
            return False
        if heard.advertisement.head == self.key.identifier[:4]:
            return False
        if self.host_name is not None and heard.name != cut(
            self.host_name, RELAYED_NAME_BYTES if one.is_relay else NAME_BYTES
        ):
            return False
        if not one.is_relay:
            return not self.wanted or self.wanted.startswith(heard.head)
        # Without the tail, the relay's host is unknown.
        if heard.tail is None or not heard.tail.hops or heard.tail.ignorable & NO_ROOM:
            return False
        return not self.wanted or self.wanted.startswith(heard.tail.host_head)

    def _is_known(self, host_head: bytes) -> bool:
        """Whether this client has joined the host before. It has no secret, so a host that requires a proof admits it
        only then."""
        return any(identifier(key).startswith(host_head) for key in self.known_hosts)

    def _dial(self, one: Candidate) -> None:
        head = one.heard.head
        keys = [key for key in self.known_hosts if identifier(key).startswith(head)] if not one.is_relay else []
        wanted = self.wanted if self.wanted and not one.is_relay else head
        self.parent, self.route = one, None
        self._circuits_ended.clear()
        self._looking_since = None
        self._candidates.pop(one.heard.address)
        link = Initiator(
            self,
            self.key,
            LARGEST_SDU,
            hello=lambda key: self._carrier_hello() if one.is_relay else self._hello(key),
            wanted=wanted,
            known=keys[0] if len(keys) == 1 else None,
            critical=one.heard.advertisement.critical,
        )
        if self.radio.dial(one.heard, link):
            self.radio.stop_listening()
            self._links.append(link)
            self.up = link
            self.session = None if one.is_relay else link

    def _carrier_hello(self) -> Hello:
        return Hello(new_epoch(), self.name, relays=self.relays)

    def _hello(self, host_key: bytes, *, in_circuit: bool = False) -> Hello:
        conversation = self.conversations.setdefault(identifier(host_key), Conversation())
        if in_circuit:
            return conversation.hello(self.name, silence=SILENCE_IN_A_CIRCUIT)
        return conversation.hello(self.name, silence=self.radio.silence, relays=self.relays)

    def _await_route(self) -> None:
        """On a carrier without a circuit: the relay has no route at present, and may find one."""
        if self._no_route_since is not None and self.now() > self._no_route_since + WAITS_FOR_ROUTE:
            self._give_up("noHost")

    def _open_session(self) -> None:
        assert self.up and self.route
        host = self.route.host
        known = next((key for key in self.known_hosts if identifier(key) == host), None)
        kept = self.kept_hosts.get(known) if known else None
        self._no_route_since = None
        self.session = Initiator(
            self,
            self.key,
            inner_mtu(self.up.mtu),
            hello=lambda key: self._hello(key, in_circuit=True),
            wanted=host,
            known=known,
            kept=kept if kept and self.now() < kept.until else None,
            in_circuit=True,
            hops=self.route.hops,
        )
        self._links.append(self.session)
        self._inner = InnerEnd(self.session)
        self._inner.circuit = self.up.circuits.open(self._inner, host, HOPS, inner_mtu(self.up.mtu))

    def _give_up(self, why: str) -> None:
        """Leaves this route, and avoids it for some time."""
        assert self.up
        if self.parent:
            self._held[self.parent.heard.advertisement.head] = self.now() + HOLD
        self.up.finish(goodbye(), why)

    # Events of links

    def admitted(self, link: Link) -> Hello | int:
        return Reason.UNSPECIFIED

    def kept(self, identifier: bytes) -> Kept | None:
        return None

    def connected(self, link: Link) -> None:
        if link is not self.up:
            self._begin_session(link)
            return
        assert link.their_hello and self.parent
        route = link.their_hello.route
        if self.parent.is_relay != (route is not None):
            link.close("changedIdentity")
        elif route is None:
            self._begin_session(link)
        else:
            self.routed(link, route)

    def routed(self, link: Link, route: Route) -> None:
        if link is not self.up or self.session is self.up:
            return
        assert self.parent and self.parent.heard.tail
        self.route = route
        if not route.hops:
            self.no_way_any_more()
        elif route.hops > HOPS:
            self._give_up("too far")
        elif not route.host.startswith(self.parent.heard.tail.host_head) or not route.host.startswith(self.wanted):
            self._held[self.parent.heard.advertisement.head] = self.now() + HOLD
            link.close("changedIdentity")
        elif self.session is None:
            self._open_session()

    def no_way_any_more(self) -> None:
        assert self.up
        self.up.finish(goodbye(), "no way")

    def _begin_session(self, link: Link) -> None:
        assert link.their_hello
        if link.their_key not in self.known_hosts:
            self.known_hosts.append(link.their_key)
        if self.wanted != link.them:
            self.view.forget()
        self.wanted = link.them
        if isinstance(link, Initiator) and (kept := link.keeps()):
            self.kept_hosts[link.their_key] = kept
        self.conversation.meet(link.their_hello)
        self.view.begin_link()
        self.signing_key = link.their_hello.signing_key
        self._ask_at = self.now() + NO_STATE if link.in_circuit else None
        self._lacked = None
        self._unacknowledged_since = None
        for unit in self.conversation.outbox:
            self._send(unit)
        for unit in self.waiting.take():
            if self.up and self.up.why is None:
                self._take_shared(self.up, unit)

    def _send(self, unit: Unit) -> None:
        assert self.session
        self.session.send(unit)
        if self._unacknowledged_since is None:
            self._unacknowledged_since = self.now()
            self._probed_at = None

    def ended(self, link: Link, why: str) -> None:
        if link is self.up:
            self._link_up_ended(link, why)
        elif link is self.session:
            self.session = None
            self._session_ended(link, why)

    def _link_up_ended(self, link: Link, why: str) -> None:
        self.ends.append(why)
        # Forged state and wrong routes are the relay's fault.
        if self.parent and why not in ("lost", "goodbye", "left", "no way"):
            self._held[self.parent.heard.advertisement.head] = self.now() + HOLD
        inner = self.session if self.session is not link else None
        self.up = self.session = self.route = None
        self.signing_key = b""
        self.waiting = Waiting()
        if inner:
            inner.close("lost")

    def _session_ended(self, link: Link, why: str) -> None:
        self.ends.append(f"circuit: {why}")
        reason = self._inner.reason if self._inner else None
        self.refused_by_relay = reason or self.refused_by_relay
        if self.up is None or self.up.why is not None:
            return
        self._circuits_ended = [at for at in self._circuits_ended if at > self.now() - OFTEN] + [self.now()]
        if len(self._circuits_ended) > TOO_OFTEN:
            self._give_up("circuits end")
        elif why == "lost" and reason == CloseReason.ENDED and link.is_connected:
            self._open_session()
        elif why == "lost" and reason in (CloseReason.ENDED, CloseReason.NO_HOST):
            self._no_route_since = self.now()
        elif why != "left":
            self._give_up(f"circuit {why}")

    def knows(self, link: Link, names: list[bytes]) -> None:
        """A guest that names no states receives no such list."""

    def asked(self, link: Link, opening: CircuitOpen, circuit: Circuit) -> None:
        link.circuits.refuse(circuit, CloseReason.NO_RELAY)

    def acknowledged(self, link: Link, number: int) -> None:
        if link is self.session:
            self.conversation.acknowledged(number)
            self._unacknowledged_since = self.now() if self.conversation.outbox else None
            self._probed_at = None

    # Messages

    def came(self, link: Link, unit: Unit) -> None:
        if unit.shared and link in (self.up, self.session):
            self._take_shared(link, unit)
        elif link is self.session:
            self._take_message(link, unit)
        elif not unit.latest or not link.is_initiator:
            link.close("unexpectedFrame")

    def _take_message(self, link: Link, unit: Unit) -> None:
        if not unit.latest:
            if not self.conversation.take(unit):
                return
            link.say_ack(self.conversation.delivered)
        try:
            beat = democracy_dj.read_heartbeat(unit.body) if link.in_circuit else None
            if beat:
                self.view.heartbeats += 1
                self._lacked = beat if self.view.lacks(*beat) else None
                # The first heartbeat of a missing state starts the time: later ones arrive before it is over.
                if self._lacked and self._ask_at is None:
                    self._ask_at = self.now() + NO_STATE
            else:
                self._say(self.view.hear(unit.body))
        except Malformed:
            pass

    def _take_shared(self, link: Link, unit: Unit) -> None:
        if not self.signing_key:
            self.waiting.add(unit)
            return
        try:
            body = checked(unit, self.signing_key)
        except ForgedState:
            link.close("forgedState")
            return
        try:
            self._say(self.view.hear_shared(body))
        except Malformed:
            return
        self.keep_shared(unit)

    def keep_shared(self, unit: Unit) -> None:
        """A relay overrides this."""

    def _say(self, body: bytes | None) -> None:
        self._to_say = body or self._to_say

    def next_latest(self, link: Link) -> Unit | None:
        if link is not self.session or self._to_say is None:
            return None
        body, self._to_say = self._to_say, None
        return Unit(body, 1, latest=True)

    def _keep_state(self) -> None:
        """In a circuit: requests the state if no state, or not the state that a heartbeat names, has arrived within ten
        seconds."""
        if self._ask_at is None or self.now() < self._ask_at or not self.is_connected:
            return
        self._ask_at = None
        if self.view.state is None or (self._lacked and self.view.lacks(*self._lacked)):
            self._say(self.view.ask())

    def _keep_alive(self) -> None:
        """In a circuit and over a broker, pings are rare. An unacknowledged message triggers one, and only an answer
        counts."""
        session = self.session
        if session is None or not session.is_connected or self._unacknowledged_since is None:
            return
        if not session.in_circuit and self.radio.silence == SILENCE:
            return
        if self._probed_at is None:
            if self.now() >= self._unacknowledged_since + UNACKNOWLEDGED:
                self._probed_at = self.now()
                session.say_ping()
                self._probe = session.ping_number
        elif session.answered >= self._probe:
            self._unacknowledged_since, self._probed_at = self.now(), None
        elif self.now() >= self._probed_at + UNANSWERED:
            session.close("no pong")
