"""The times of a link's connection events (Core Specification, Volume 6, Part B, 4.5.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass

# From the end of CONNECT_IND to the first connection event: the transmit window delay and a typical offset.
FIRST_EVENT = 3.75e-3


@dataclass(slots=True)
class LinkParameters:
    """The parameters of a link, in seconds."""

    interval: float
    latency: int
    timeout: float

    @classmethod
    def of(cls, interval_units: int, latency: int, timeout_units: int) -> LinkParameters:
        return cls(interval_units * 1.25e-3, latency, timeout_units * 10e-3)

    def hci(self) -> tuple[int, int, int]:
        return round(self.interval / 1.25e-3), self.latency, round(self.timeout / 10e-3)


@dataclass(slots=True)
class ConnectionEvents:
    """Events one interval apart, counted from an anchor."""

    anchor: float
    interval: float

    def next(self, now: float) -> float:
        """The next event: now, if one begins now."""
        events = math.ceil((now - self.anchor) / self.interval - 1e-9)
        return self.anchor + max(events, 0) * self.interval

    def last(self, now: float) -> float:
        """The last event that has begun, or the first of all."""
        events = math.floor((now - self.anchor) / self.interval)
        return self.anchor + max(events, 0) * self.interval
