"""A clock that moves only on request. Calls that become due on the way run at their own times."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from typing import Any


class VirtualTimer:
    def __init__(self, callback: Callable[..., object], arguments: tuple[Any, ...]) -> None:
        self.callback: Callable[..., object] | None = callback
        self.arguments = arguments

    def cancel(self) -> None:
        self.callback = None


class VirtualClock:
    def __init__(self) -> None:
        self._now = 0.0
        self._numbers = itertools.count()
        self._due: list[tuple[float, int, VirtualTimer]] = []

    def time(self) -> float:
        return self._now

    def call_at(self, when: float, callback: Callable[..., object], *args: Any) -> VirtualTimer:
        timer = VirtualTimer(callback, args)
        heapq.heappush(self._due, (max(when, self._now), next(self._numbers), timer))
        return timer

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any) -> VirtualTimer:
        return self.call_at(self._now + delay, callback, *args)

    def call_soon(self, callback: Callable[..., object], *args: Any) -> VirtualTimer:
        return self.call_at(self._now, callback, *args)

    def advance(self, seconds: float) -> None:
        until = self._now + seconds
        while self._due and self._due[0][0] <= until:
            self._now, _, timer = heapq.heappop(self._due)
            if timer.callback:
                timer.callback(*timer.arguments)
        self._now = until
