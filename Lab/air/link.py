"""A link between two controllers: when its packets are sent, and when it is lost.

Time follows the radio. Both sides meet at connection events, one interval apart. In an event they
exchange packets while either side has more to send, and each exchange keeps both controllers busy for its airtime. An
event loop wakes up to a millisecond late. So every step counts from the due end of the previous one, not from
the actual time: steps may be late, but the link never slows down.

If events collide (`Medium.collide`), a link reserves all its events at both radios, including idle ones:

- An event is skipped if it begins while either radio is busy, or within EVENT_OVERHEAD after that. The event that began
  first keeps the radio. Data waits for the next event of its link, and the supervision timer continues.
- The first exchange of an event takes place regardless of its length. Each further one must end before the next
  reserved event of any link at either radio.
- So events of two links with one interval, once they overlap, keep overlapping until their clocks have drifted apart.
  One of the two links is silent for that long.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Protocol

from bumble.hci import Phy

from .airtime import exchange_airtime, transfer_airtime
from .clock import Clock, Timer
from .connection_events import FIRST_EVENT, ConnectionEvents, LinkParameters
from .counters import Traffic
from .paths import Path
from .radio import EVENT_OVERHEAD
from .supervision import Supervision

if TYPE_CHECKING:
    from .bumble_adapter import ConnectionRecord
    from .controller import LabController

# Link parameters change at an instant in the future, at least six events away.
INSTANT_INTERVALS = 6

CONTROL_PDU_BYTES = 12

SHORT_DATA_LENGTH = 27


@dataclass(slots=True)
class Pdu:
    """A packet for the other side."""

    size: int
    deliver: Callable[[], None]
    delivered: Callable[[], None] | None = None
    """Reports to the sender's host that a buffer is free again."""


@dataclass(slots=True)
class End:
    """One side of a link."""

    controller: LabController
    connection: ConnectionRecord | None = None
    """The host's record of the link; None before the host knows the link, and after it was notified of the end."""
    queue: deque[Pdu] = field(default_factory=deque)
    received: Traffic = field(default_factory=Traffic)
    link: Link | None = None
    gone: bool = False
    """This side is not notified of the end: it has left, or never had the link."""

    @property
    def other(self) -> End:
        assert self.link
        return self.link.peripheral if self is self.link.central else self.link.central


class LinkAir(Protocol):
    """The part of the air that a link uses."""

    chances: Random
    connection_events: bool
    """Whether data waits for the next connection event."""
    events_collide: bool
    """True: an event that overlaps another one is skipped."""

    @property
    def clock(self) -> Clock: ...

    def link_closed(self, link: Link, reason: int) -> None: ...


class Link:
    def __init__(
        self, air: LinkAir, central: End, peripheral: End, path: Path, parameters: LinkParameters, deaf: bool
    ) -> None:
        """`deaf`: the peripheral never received the request to connect."""
        self.central, self.peripheral = central, peripheral
        central.link = peripheral.link = self
        self.controllers = (central.controller, peripheral.controller)
        self._radios = (central.controller.radio, peripheral.controller.radio)
        self.path = path
        self.parameters = parameters
        self._air = air
        self._clock = air.clock
        self.phy = Phy.LE_1M
        self.data_length = SHORT_DATA_LENGTH
        self.encrypted = False
        self.deaf = deaf
        self.open = True
        self.events_held = 0
        self.events_skipped = 0
        self.next_event = math.inf
        now = self._clock.time()
        self._events = self._events_from(now + FIRST_EVENT)
        self._supervision = Supervision(now)
        self._event_timer: Timer | None = None
        self._turn_timer: Timer | None = None
        self._exchange_timer: Timer | None = None
        self._expiry: Timer | None = None
        self._listening: Timer | None = None
        self._waiting = False
        for end in (central, peripheral):
            if not end.gone:
                end.controller.radio.links.append(self)
        self.air_changed()
        if air.events_collide:
            self._reserve(self._events.anchor)
        elif self.audible:
            first = self._events.anchor
            self._listening = self._clock.call_at(first, self._listen, first)

    def _events_from(self, anchor: float) -> ConnectionEvents:
        """The link's connection events, by the central's clock."""
        speed = 1 + self._radios[0].crystal_ppm * 1e-6
        return ConnectionEvents(anchor, self.parameters.interval / speed)

    # Sending

    @property
    def audible(self) -> bool:
        return not (self.deaf or self.path.cut or self.central.gone or self.peripheral.gone)

    def send(self, end: End, pdu: Pdu) -> None:
        end.queue.append(pdu)
        if not self._event_timer:
            self._schedule()

    def _schedule(self) -> None:
        """Schedules an exchange at the next connection event, if data is queued."""
        if self._turn_timer or self._exchange_timer or self._waiting or not self.open or not self.audible:
            return
        if self.central.queue or self.peripheral.queue:
            due = self._next_event(self._clock.time())
            self._turn_timer = self._clock.call_at(due, self._turn, due)

    def _next_event(self, now: float) -> float:
        return self._events.next(now) if self._air.connection_events else now

    def _turn(self, due: float) -> None:
        """Performs one exchange as soon as both controllers are free. Links wait in the order of their requests."""
        self._turn_timer = None
        if not self.audible:
            return
        one, other = self._radios
        free = max(one.busy_until, other.busy_until)
        if free > due:
            busy = one if one.busy_until >= other.busy_until else other
            self._waiting = busy.wait(self)
            if not self._waiting:
                self._turn_timer = self._clock.call_at(free, self._turn, free)
            return
        self._exchange(due)

    def _exchange(self, start: float) -> None:
        one, other = self._radios
        down = self.central.queue[0].size if self.central.queue else 0
        up = self.peripheral.queue[0].size if self.peripheral.queue else 0
        end = start + transfer_airtime(down, up, self.phy, self.data_length, self.encrypted)
        one.begin(self, end)
        other.begin(self, end)
        # The "more data" bit: data that the hosts send from now on waits for the next event.
        more = len(self.central.queue) > 1 or len(self.peripheral.queue) > 1
        self._exchange_timer = self._clock.call_at(end, self._exchanged, end, bool(down), bool(up), more)

    def _exchanged(self, end: float, down: bool, up: bool, more: bool) -> None:
        self._exchange_timer = None
        heard = not self.path.loses(self._air.chances)
        if heard:
            self._supervision.heard(end)
            for side, sent in ((self.central, down), (self.peripheral, up)):
                if sent and self.open:
                    pdu = side.queue.popleft()
                    pdu.deliver()
                    if pdu.delivered:
                        pdu.delivered()
        else:
            self.central.received.lost += up
            self.peripheral.received.lost += down
        self._release_radios(end)
        if not self.open:
            return
        if self._event_timer:
            if not heard:
                self._missed()
            elif more and self._has_room(end):
                self._exchange(end)
            return
        # A lost packet closes the event, and is sent again in the next one.
        if more and heard:
            self._turn_timer = self._clock.call_at(end, self._turn, end)
        else:
            self._schedule()

    def _release_radios(self, now: float) -> None:
        for radio in self._radios:
            radio.release(self, now)

    def resume(self, now: float) -> None:
        """A radio that the link has waited for is free."""
        if self.open and self._waiting:
            self._waiting = False
            self._turn(now)

    # Colliding events

    def rules_changed(self) -> None:
        """Called when the air changes whether events collide."""
        for timer in (self._turn_timer, self._listening, self._event_timer):
            if timer:
                timer.cancel()
        self._turn_timer = self._listening = self._event_timer = None
        self._waiting = False
        if self._air.events_collide:
            self._reserve(self._events.next(self._clock.time()))
        else:
            self.next_event = math.inf
            self.air_changed()

    def crystal_changed(self) -> None:
        if self.open:
            self._events = self._events_from(self._upcoming_event())

    def _upcoming_event(self) -> float:
        return self.next_event if self._event_timer else self._events.next(self._clock.time())

    def _reserve(self, due: float) -> None:
        self.next_event = due
        self._event_timer = self._clock.call_at(due, self._event, due)

    def _event(self, due: float) -> None:
        """Holds or skips a reserved event, idle or not."""
        self._reserve(due + self._events.interval)
        one, other = self._radios
        latest = due - EVENT_OVERHEAD
        if one.busy_until > latest or other.busy_until > latest:
            self.events_skipped += 1
            self._missed()
            return
        self.events_held += 1
        end = due + exchange_airtime(0, 0, self.phy)
        if not self.audible:
            for side, radio in zip((self.central, self.peripheral), self._radios, strict=True):
                if not side.gone:
                    radio.busy_until = end
        elif self.central.queue or self.peripheral.queue:
            self._exchange(due)
        else:
            one.busy_until = other.busy_until = end
            if not self.path.loss or not self.path.loses(self._air.chances):
                self._supervision.heard(end)
            else:
                self._missed()

    def _has_room(self, start: float) -> bool:
        """Whether one more exchange ends before any other event begins."""
        one, other = self._radios
        if one.busy_until > start or other.busy_until > start:
            return False
        down = self.central.queue[0].size if self.central.queue else 0
        up = self.peripheral.queue[0].size if self.peripheral.queue else 0
        end = start + transfer_airtime(down, up, self.phy, self.data_length, self.encrypted) + EVENT_OVERHEAD
        return end <= self.next_event and end <= one.next_reserved(self) and end <= other.next_reserved(self)

    def _give_up_reservations(self, end: End) -> None:
        if not end.gone:
            end.controller.radio.links.remove(self)

    def _missed(self) -> None:
        """No packet was received in this event: the link may be lost before the next one."""
        deadline = self._supervision.deadline(self.parameters)
        if deadline <= self.next_event and not self._expiry and self.audible:
            self._expiry = self._clock.call_at(deadline, self.expire)

    @property
    def longest_silence(self) -> float:
        """The longest time between two received packets."""
        return self._supervision.longest_silence

    # Reception

    def air_changed(self) -> None:
        """Called when the path between the two is cut or healed."""
        if not self.open:
            return
        if self.audible:
            if self._expiry:
                self._expiry.cancel()
                self._expiry = None
            if self._air.events_collide:
                return
            self._schedule()
            if self.path.loss and not self._listening:
                self._listen_next()
            return
        for timer in (self._turn_timer, self._exchange_timer, self._listening):
            if timer:
                timer.cancel()
        self._turn_timer = self._exchange_timer = self._listening = None
        self._waiting = False
        now = self._clock.time()
        self._release_radios(now)
        if not self._expiry:
            # If events collide, each event has also been checked individually.
            lossy = bool(self.path.loss) or self._air.events_collide
            expires = self._supervision.expires_at(now, self._events, self.parameters, lossy)
            self._expiry = self._clock.call_at(expires, self.expire)

    def _listen_next(self) -> None:
        due = self._next_event(self._clock.time()) + self.parameters.interval
        self._listening = self._clock.call_at(due, self._listen, due)

    def _listen(self, due: float) -> None:
        """The empty packets of an idle event. They matter if packets get lost, since enough losses end the link."""
        self._listening = None
        if not self.path.loses(self._air.chances):
            self._supervision.heard(due)
        if self._supervision.overdue(due, self.parameters):
            self.expire()
        elif self.path.loss:
            self._listen_next()

    def expire(self) -> None:
        self.close(self._supervision.reason)

    # The end of a link

    def terminate(self, end: End, reason: int, local_reason: int) -> None:
        """One host disconnects. The other is notified on reception, and this one on the acknowledgement."""

        def deliver() -> None:
            self.close(reason, exempt=end, local_reason=local_reason)

        self.send(end, Pdu(CONTROL_PDU_BYTES, deliver))

    def vanish(self, end: End) -> None:
        """One side disappears (a reset, a power cut). The other side notices this after its timeout."""
        self._give_up_reservations(end)
        end.gone = True
        end.connection = None
        self.air_changed()

    def close(self, reason: int, exempt: End | None = None, local_reason: int = 0) -> None:
        if not self.open:
            return
        self.open = False
        for timer in (self._turn_timer, self._exchange_timer, self._expiry, self._listening, self._event_timer):
            if timer:
                timer.cancel()
        self._exchange_timer = None
        for end in (self.central, self.peripheral):
            self._give_up_reservations(end)
        for end in (self.central, self.peripheral):
            end.controller.links.closed(end, local_reason if end is exempt else reason)
        self._release_radios(self._clock.time())
        self._air.link_closed(self, reason)

    # Changes of a link

    def at_instant(self, end: End, apply: Callable[[], None]) -> None:
        """Sends the announcement of a change. Both sides apply it at one instant some events later."""

        def deliver() -> None:
            delay = INSTANT_INTERVALS * self.parameters.interval
            self._clock.call_later(delay, lambda: apply() if self.open else None)

        self.send(end, Pdu(CONTROL_PDU_BYTES, deliver))

    def update_parameters(self, end: End, parameters: LinkParameters) -> None:
        def apply() -> None:
            anchor = self._upcoming_event() if self._air.connection_events else self._clock.time()
            self.parameters = parameters
            self._events = self._events_from(anchor)
            for side in (self.central, self.peripheral):
                side.controller.links.parameters_changed(side)

        self.at_instant(end, apply)

    def update_phy(self, end: End, phy: Phy) -> None:
        def apply() -> None:
            changed, self.phy = phy is not self.phy, phy
            for side in (self.central, self.peripheral):
                if changed or side is end:
                    side.controller.links.phy_changed(side)

        self.at_instant(end, apply)

    def update_data_length(self, end: End, octets: int) -> None:
        def deliver() -> None:
            if octets != self.data_length:
                self.data_length = octets
                for side in (self.central, self.peripheral):
                    side.controller.links.data_length_changed(side)

        self.send(end, Pdu(CONTROL_PDU_BYTES, deliver))
