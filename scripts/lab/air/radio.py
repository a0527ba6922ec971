"""A controller's radio, which does one thing at a time: an advertising event, or an exchange of one of its links."""

from __future__ import annotations

from collections import deque
from typing import Protocol


class Sharer(Protocol):
    """A link, as the radios that it needs see it."""

    def resume(self, now: float) -> None:
        """A radio that it has waited for is free: it takes its turn, unless it has ended or no longer waits."""


class Radio:
    def __init__(self) -> None:
        self.busy_until = 0.0
        """The end of what it is doing, or has done last."""
        self._exchanging: Sharer | None = None
        self._waiting: deque[Sharer] = deque()

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
