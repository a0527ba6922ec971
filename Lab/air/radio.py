"""A controller's radio, which does one thing at a time: an advertising event, or an exchange of one of its links.

Two rules resolve conflicts. By default a link waits until the radio is free. If events collide
(`Medium.collide`), as on real controllers, each link reserves its events, and the event that began first keeps the
radio: see `link.py`.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Protocol

# The time that a controller needs in addition to the packets of an event, to start and stop its radio. Zephyr's link
# layer reserves 300 and 40 microseconds (EVENT_OVERHEAD_START_US, EVENT_OVERHEAD_END_US).
EVENT_OVERHEAD = 340e-6


class Sharer(Protocol):
    """A link, as its radios see it."""

    next_event: float
    """The start of the link's next reserved event; infinity if events do not collide."""

    def resume(self, now: float) -> None:
        """A radio is free that the link has waited for. Starts the exchange if the link is up and still waits."""


class Radio:
    def __init__(self) -> None:
        self.busy_until = 0.0
        """The end of its current or last activity."""
        self.crystal_ppm = 0.0
        """How many ppm its clock is fast. The events of a link follow the central's clock."""
        self.links: list[Sharer] = []
        self._exchanging: Sharer | None = None
        self._waiting: deque[Sharer] = deque()

    # Colliding events

    def is_free(self, start: float, end: float) -> bool:
        """Whether the radio is idle in this time, and no link has reserved it."""
        return self.busy_until <= start and self.next_reserved(None) >= end + EVENT_OVERHEAD

    def next_reserved(self, besides: Sharer | None) -> float:
        """The start of the next event of another link."""
        first = math.inf
        for link in self.links:
            if link.next_event < first and link is not besides:
                first = link.next_event
        return first

    # Links that take turns

    def occupy(self, start: float, length: float) -> None:
        """Reserves the radio for something other than an exchange, once it is free."""
        self.busy_until = max(start, self.busy_until) + length

    def begin(self, link: Sharer, end: float) -> None:
        """Starts an exchange of this link."""
        self._exchanging = link
        self.busy_until = end

    def wait(self, link: Sharer) -> bool:
        """Queues a link until another link's exchange ends. False if no such exchange would wake it."""
        if self._exchanging is None or self._exchanging is link:
            return False
        self._waiting.append(link)
        return True

    def release(self, link: Sharer, now: float) -> None:
        """Ends a link's use of the radio. The link that has waited longest is next."""
        if self._exchanging is link:
            self._exchanging = None
        while self._waiting and not self._exchanging:
            self._waiting.popleft().resume(now)
