"""The connection intervals that a node gives the links which others have made with it, in units of 1.25 ms: as `IntervalPlan` in
BLETransport does.

Two links whose intervals are equal, or of which one is a multiple of the other, once their events overlap, overlap in
every event of the slower one until their clocks have drifted apart again. So each link of a node has an interval of its
own: with intervals a and b at most one in a / gcd(a, b) events of the second falls into the first one's.

- A link has the numbers of its place: the lowest place that was free when it came up.
- Among few a link has a number of BRISK while data flows and one of CALM while nothing is said.
- Once there is a place after the first eight, each has one number of MANY for both: short intervals for many would leave no
  gap to send in.
- A link that is alone has one of ALONE.
"""

from __future__ import annotations

from typing import Protocol

BRISK = (9, 11, 13, 16, 17, 19, 23, 25)
CALM = (29, 31, 37, 35, 28, 24, 30, 41)
MANY = (19, 21, 23, 25, 26, 29, 31, 32, 37, 41, 43, 47, 27, 34, 35, 33)
ALONE = (7, 29)


class IntervalPlan(Protocol):
    """Decides for all links of a node. A link is known by a number of the caller's."""

    def opened(self, link: int) -> None: ...

    def closed(self, link: int) -> None: ...

    def wants_speed(self, link: int, wants: bool) -> None:
        """Data flows, or no longer."""

    def units(self, link: int) -> int:
        """What this link is to have."""


class OwnIntervals:
    """To each link an interval of its own."""

    def __init__(
        self, brisk: tuple[int, ...] = BRISK, calm: tuple[int, ...] = CALM, many: tuple[int, ...] = MANY
    ) -> None:
        self._brisk, self._calm, self._many = brisk, calm, many
        self._places: dict[int, int] = {}
        self._fast: set[int] = set()

    def opened(self, link: int) -> None:
        taken = set(self._places.values())
        self._places[link] = next(place for place in range(len(taken) + 1) if place not in taken)

    def closed(self, link: int) -> None:
        self._places.pop(link, None)
        self._fast.discard(link)

    def wants_speed(self, link: int, wants: bool) -> None:
        if wants:
            self._fast.add(link)
        else:
            self._fast.discard(link)

    def units(self, link: int) -> int:
        place = self._places[link]
        if len(self._places) == 1:
            return ALONE[0] if link in self._fast else ALONE[1]
        if max(self._places.values()) >= len(self._brisk):
            return self._many[place % len(self._many)]
        return self._brisk[place] if link in self._fast else self._calm[place]


class EqualIntervals:
    """The same for all."""

    def __init__(self, brisk: int, calm: int) -> None:
        self._brisk, self._calm = brisk, calm
        self._fast: set[int] = set()

    def opened(self, link: int) -> None:
        pass

    def closed(self, link: int) -> None:
        self._fast.discard(link)

    def wants_speed(self, link: int, wants: bool) -> None:
        if wants:
            self._fast.add(link)
        else:
            self._fast.discard(link)

    def units(self, link: int) -> int:
        return self._brisk if link in self._fast else self._calm


def plan(text: str) -> IntervalPlan:
    """`own`; `equal:UNITS`, or `equal:BRISK/CALM`; or numbers to try instead: `9,11/29,31/19,21,23`, for few links and for many."""
    if text == "own":
        return OwnIntervals()
    if text.startswith("equal:"):
        brisk, _, calm = text.removeprefix("equal:").partition("/")
        return EqualIntervals(int(brisk), int(calm or brisk))
    brisk, calm, many = (_numbers(part) for part in text.split("/"))
    return OwnIntervals(brisk, calm, many)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in text.split(",") if one)
