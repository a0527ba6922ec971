"""An advertising set of a controller, and its advertising reports for scanners."""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random
from typing import Any, Protocol

from .addresses import Address
from .airtime import ADVERTISING_EVENT
from .clock import Clock, Timer
from .counters import RadioCounters
from .radio import Radio

# Bits of the event type in an LE Extended Advertising Report (Volume 4, Part E, 7.7.65.13). In the same order they
# are the advertising event properties of LE Set Extended Advertising Parameters.
CONNECTABLE, SCANNABLE, DIRECTED, SCAN_RESPONSE, LEGACY = 0x01, 0x02, 0x04, 0x08, 0x10

# The event types of the older LE Advertising Report (7.7.65.2), by advertising properties.
LEGACY_EVENT_TYPES = {
    CONNECTABLE | SCANNABLE: 0x00,
    CONNECTABLE | DIRECTED: 0x01,
    SCANNABLE: 0x02,
    0: 0x03,
}
LEGACY_SCAN_RESPONSE = 0x04

# An advertising event follows its interval plus a random delay (Volume 6, Part B, 4.4.2.2.1). Without the delay two
# advertisers with the same interval could collide for ever.
MAXIMUM_DELAY = 0.010

UNIT = 0.625e-3

# An extended report must fit in one HCI event.
MAXIMUM_DATA = 229


class Report:
    """The bytes of an advertising report without the signal strength. Built once, sent many times."""

    __slots__ = ("_extended", "_legacy", "fingerprint")

    def __init__(self, address: Address, properties: int, data: bytes, set_id: int) -> None:
        kind, raw = address
        response = bool(properties & SCAN_RESPONSE)
        self.fingerprint = (raw, response, data)
        is_legacy = bool(properties & LEGACY)
        body = struct.pack("<HB6sBB", properties, kind, raw, 1, 0 if is_legacy else 1)
        head = bytes((0x0D, 1)) + body + bytes((0xFF if is_legacy else set_id, 0x7F))
        tail = bytes(9) + bytes((len(data),)) + data
        self._extended = (bytes((0x04, 0x3E, len(head) + 1 + len(tail))) + head, tail)
        self._legacy: bytes | None = None
        if is_legacy:
            event = LEGACY_SCAN_RESPONSE if response else LEGACY_EVENT_TYPES[properties & ~LEGACY]
            body = struct.pack("<BBBB6sB", 0x02, 1, event, kind, raw, len(data)) + data
            self._legacy = bytes((0x04, 0x3E, len(body) + 1)) + body

    def extended(self, rssi: int) -> bytes:
        head, tail = self._extended
        return head + bytes((rssi & 0xFF,)) + tail

    def legacy(self, rssi: int) -> bytes | None:
        """None for extended advertising, which a legacy scanner cannot receive."""
        return self._legacy + bytes((rssi & 0xFF,)) if self._legacy else None


Ended = Callable[["Advertiser", bool], None]


class AdvertisingAir(Protocol):
    """The air as an advertiser uses it."""

    chances: Random
    events_collide: bool

    @property
    def clock(self) -> Clock: ...

    def advertise(self, advertiser: Advertiser) -> None: ...


class Sender(Protocol):
    """The controller as an advertiser uses it."""

    name: str
    counters: RadioCounters
    radio: Radio

    def own_address(self, own_address_type: int) -> Address: ...

    def announce(self, event: str, **fields: Any) -> None: ...


class Advertiser:
    """Sends advertising events on time while it is running."""

    def __init__(self, air: AdvertisingAir, sender: Sender, handle: int, ended: Ended) -> None:
        """`ended` is called when the duration (True) or the number of events (False) is reached."""
        self.sender = sender
        self.handle = handle
        self._air = air
        self._ended = ended
        self.properties = CONNECTABLE | SCANNABLE | LEGACY
        self.interval = 1.28
        self.own_address_type = 0
        self.random_address: bytes | None = None
        self.directed_to: Address | None = None
        self.set_id = 0
        self.data = b""
        self.scan_response = b""
        self.running = False
        self._timer: Timer | None = None
        self._report: Report | None = None
        self._response: Report | None = None

    @property
    def address(self) -> Address:
        if self.own_address_type & 1 and self.random_address:
            return 1, self.random_address
        return self.sender.own_address(self.own_address_type)

    @property
    def connectable(self) -> bool:
        return bool(self.properties & CONNECTABLE)

    def report(self) -> Report:
        if self._report is None:
            self._report = Report(self.address, self.properties, self.data, self.set_id)
        return self._report

    def response(self) -> Report | None:
        """The answer to an active scanner; None if the set is not scannable."""
        if not self.properties & SCANNABLE:
            return None
        if self._response is None:
            self._response = Report(self.address, self.properties | SCAN_RESPONSE, self.scan_response, self.set_id)
        return self._response

    def changed(self) -> None:
        """Call this when a value in the reports has changed."""
        self._report = self._response = None

    def start(self, duration: float = 0, events: int = 0) -> None:
        """Advertises until stopped, for a duration, or for a number of events (0: no limit)."""
        self.stop()
        self.running = True
        self.changed()
        self._events_left = events or None
        now = self._air.clock.time()
        self._ends = now + duration if duration else None
        self._timer = self._air.clock.call_at(now, self._event, now)
        self.sender.announce("advertising", on=True, handle=self.handle)

    def stop(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if self.running:
            self.running = False
            self.sender.announce("advertising", on=False, handle=self.handle)

    def _event(self, due: float) -> None:
        if (self._ends is not None and due >= self._ends) or self._events_left == 0:
            self.stop()
            self._ended(self, self._events_left != 0)
            return
        if self._events_left:
            self._events_left -= 1
        radio = self.sender.radio
        # Connection events have priority: an advertising event that does not fit before the next one is skipped.
        held = not self._air.events_collide or radio.is_free(due, due + ADVERTISING_EVENT)
        if held:
            self.sender.counters.advertising_events += 1
            radio.occupy(due, ADVERTISING_EVENT)
        else:
            self.sender.counters.advertising_events_skipped += 1
        # The next event counts from the due time of this one, so a late timer does not slow the set down.
        delay = MAXIMUM_DELAY * self._air.chances.random()
        clock = self._air.clock
        due = max(due + self.interval + delay, clock.time())
        self._timer = clock.call_at(due, self._event, due)
        if held:
            self._air.advertise(self)
