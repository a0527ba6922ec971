"""What a controller listens for: advertisements to report, and a device to connect to."""

from __future__ import annotations

from dataclasses import dataclass, field

from .addresses import Address
from .advertiser import UNIT, Advertiser, Report
from .connection_events import LinkParameters

# The size of the duplicate filter. Real controllers have small tables too; an advertisement that has left the table is
# reported again.
FILTER_SIZE = 256

# What a controller considers a duplicate if its host has asked it to filter them. Controllers differ. The default is
# leaky, as the kernel expects it of controllers without known quirks.
DUPLICATE_FILTERS = {
    "leaky": "the same data from the same address, within a second",
    "data": "the same data from the same address, for as long as the scan goes on",
    "address": "anything from the same address, for as long as the scan goes on",
    "off": "nothing",
}
MEMORY = 1.0


@dataclass(slots=True)
class Window:
    """Listens for `length` seconds of every `interval`, counted from `start`."""

    interval: float = 10e-3
    length: float = 10e-3
    start: float = 0.0

    @classmethod
    def of(cls, interval_units: int, window_units: int) -> Window:
        return cls(interval_units * UNIT, window_units * UNIT)

    def is_open(self, now: float) -> bool:
        return self.length >= self.interval or (now - self.start) % self.interval < self.length


@dataclass(slots=True)
class Scanner:
    """LE scanning with the host's settings. `extended`: the host uses extended commands and receives extended reports."""

    enabled: bool = False
    active: bool = False
    extended: bool = False
    accept_list_only: bool = False
    filter_duplicates: bool = False
    window: Window = field(default_factory=Window)
    seen: dict[object, float] = field(default_factory=dict)
    """The reported advertisements, and their times."""

    def enable(self, on: bool, filter_duplicates: bool, now: float) -> None:
        self.enabled = on
        self.filter_duplicates = filter_duplicates
        self.window.start = now
        self.seen.clear()

    def takes(self, report: Report, mode: str, now: float) -> bool:
        """False for a duplicate, as `mode` defines it (see DUPLICATE_FILTERS)."""
        if not self.filter_duplicates or mode == "off":
            return True
        fingerprint: object = report.fingerprint[:2] if mode == "address" else report.fingerprint
        reported = self.seen.get(fingerprint)
        if reported is not None and (mode != "leaky" or now - reported < MEMORY):
            return False
        if len(self.seen) >= FILTER_SIZE:
            self.seen.clear()
        self.seen[fingerprint] = now
        return True


@dataclass(slots=True)
class Initiator:
    """A pending LE Create Connection."""

    peer: Address | None
    """The device to connect to. None for any device of the filter accept list."""
    own_address_type: int
    parameters: LinkParameters
    window: Window

    def wants(self, advertiser: Advertiser, own: Address, accept_list: set[Address]) -> bool:
        if not advertiser.connectable:
            return False
        if advertiser.directed_to is not None and advertiser.directed_to != own:
            return False
        address = advertiser.address
        return address == self.peer if self.peer is not None else address in accept_list
