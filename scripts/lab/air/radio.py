"""A controller's radio, which does one thing at a time: an advertising event, or an exchange of one of its links.

Two rules say what happens when two things fall together. By default a link waits for its turn. Where events collide
(`Medium.collide`), as on real controllers, each link has its events reserved, and the one that began first keeps the
radio: see `link.py`.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Protocol

# What a controller needs beside the packets of an event, to start its radio and to stop it. Zephyr's link layer
# reserves 300 and 40 microseconds (EVENT_OVERHEAD_START_US, EVENT_OVERHEAD_END_US).
EVENT_OVERHEAD = 340e-6


class Sharer(Protocol):
    """A link, as the radios that it needs see it."""

    next_event: float
    """When its next reserved event begins; infinity where events do not collide."""

    def resume(self, now: float) -> None:
        """A radio that it has waited for is free: it takes its turn, unless it has ended or no longer waits."""


class Radio:
    def __init__(self) -> None:
        self.busy_until = 0.0
        """The end of what it is doing, or has done last."""
        self.crystal_ppm = 0.0
        """How much faster than the true time its clock is. The events of a link follow the central's clock."""
        self.links: list[Sharer] = []
        self._exchanging: Sharer | None = None
        self._waiting: deque[Sharer] = deque()

    # Where events collide

    def is_free(self, start: float, end: float) -> bool:
        """Whether it does nothing else in this time, and has no event of a link reserved for it."""
        return self.busy_until <= start and self.next_reserved(None) >= end + EVENT_OVERHEAD

    def next_reserved(self, besides: Sharer | None) -> float:
        """When the next event of another link begins."""
        first = math.inf
        for link in self.links:
            if link.next_event < first and link is not besides:
                first = link.next_event
        return first

    # Where links take turns

    def occupy(self, start: float, length: float) -> None:
        """Does something else than an exchange, once it is free."""
        self.busy_until = max(start, self.busy_until) + length

    def begin(self, link: Sharer, end: float) -> None:
        """Gives itself to an exchange of this link."""
        self._exchanging = link
        self.busy_until = end

    def wait(self, link: Sharer) -> bool:
        """Puts a link in the line for the end of another's exchange. False: there is none that would call it."""
        if self._exchanging is None or self._exchanging is link:
            return False
        self._waiting.append(link)
        return True

    def release(self, link: Sharer, now: float) -> None:
        """The link needs it no more: who has waited longest goes first."""
        if self._exchanging is link:
            self._exchanging = None
        while self._waiting and not self._exchanging:
            self._waiting.popleft().resume(now)
