"""The connection intervals that a node asks for its links, in units of 1.25 ms.

Two links whose intervals are equal, or of which one is a multiple of the other, once their events overlap, overlap in
every event of the slower one until their clocks have drifted apart again. So each link of a node has an interval of its
own: with intervals a and b at most one in a / gcd(a, b) events of the second falls into the first one's.

- A calm link has the number of its place in CALM: the lowest place that was free when it came up. Its number stays as
  long as the link does, whoever comes or goes.
- A link that needs speed now takes the first number of BRISK that is free, and gives it back. Where none is free it
  stays calm: short intervals for many would leave no gap to send in. Who has much to send comes before who has little,
  and takes a number back from it.
- A number is free when no link has been asked to take it, and none has it by the word of the controller: a change takes
  effect six events after it was sent, and longer where events are skipped.
- The shortest, 7, is for those who are among few: it is left out while a link has a place after the first eight.
"""

from __future__ import annotations

from typing import Protocol

# No two of the first eight have a divisor in common, and no two of all one of more than a third of the smaller: no link
# loses more than one event in three to any other one. The longest of the first sixteen, 58.75 ms, has twelve events
# within 720 ms. 40, the kernel's own, is that of links that have just come up.
CALM = (25, 27, 29, 31, 32, 37, 41, 43, 47, 38, 46, 34, 45, 36, 35, 28, 49, 53, 59, 61)

# None of CALM is a multiple of 11 or 13, and none of its first eight one of 7.
BRISK = (7, 11, 13)

FEW_LINKS = 8


class IntervalPlan(Protocol):
    """Decides for all links of a node. A link is known by a number of the caller's."""

    def opened(self, link: int) -> None: ...

    def closed(self, link: int) -> None: ...

    def has(self, link: int, units: int) -> None:
        """What the controller says that the link has now."""

    def wants_speed(self, link: int, wants: bool, much: bool = False) -> None:
        """Data flows, or no longer. `much`: a transfer, not a vote or a state update."""

    def units(self, link: int) -> int:
        """What this link is to have."""


class OwnIntervals:
    """To each link an interval of its own."""

    def __init__(self, brisk: tuple[int, ...] = BRISK, calm: tuple[int, ...] = CALM) -> None:
        self._brisk, self._calm = brisk, calm
        self._places: dict[int, int] = {}
        self._fast: dict[int, int] = {}
        self._has: dict[int, int] = {}
        self._much: set[int] = set()

    def opened(self, link: int) -> None:
        taken = set(self._places.values())
        self._places[link] = next(place for place in range(len(self._calm)) if place not in taken)
        for other, units in list(self._fast.items()):
            if units not in self._offered():
                del self._fast[other]

    def closed(self, link: int) -> None:
        for numbers in (self._places, self._fast, self._has):
            numbers.pop(link, None)
        self._much.discard(link)

    def has(self, link: int, units: int) -> None:
        self._has[link] = units

    def wants_speed(self, link: int, wants: bool, much: bool = False) -> None:
        if wants and much:
            self._much.add(link)
        else:
            self._much.discard(link)
        if not wants:
            self._fast.pop(link, None)
        elif link not in self._fast:
            self._give(link)

    def _give(self, link: int) -> None:
        leaving = {units for other, units in self._has.items() if other != link and units != self.units(other)}
        taken = leaving.union(self._fast.values())
        free = [units for units in self._offered() if units not in taken]
        much = link in self._much
        if free and (much or self._much <= self._fast.keys()):
            self._fast[link] = free[0]
        elif much and leaving.isdisjoint(self._offered()):
            # The other one has to leave it first; then it is free.
            little = {units: other for other, units in self._fast.items() if other not in self._much}
            if little:
                del self._fast[little[min(little)]]

    def units(self, link: int) -> int:
        return self._fast.get(link, self._calm[self._places[link]])

    def _offered(self) -> tuple[int, ...]:
        many = max(self._places.values()) >= FEW_LINKS
        return self._brisk[1:] if many else self._brisk


class EqualIntervals:
    """The same for all."""

    def __init__(self, brisk: int, calm: int) -> None:
        self._brisk, self._calm = brisk, calm
        self._fast: set[int] = set()

    def opened(self, link: int) -> None:
        pass

    def closed(self, link: int) -> None:
        self._fast.discard(link)

    def has(self, link: int, units: int) -> None:
        pass

    def wants_speed(self, link: int, wants: bool, much: bool = False) -> None:
        if wants:
            self._fast.add(link)
        else:
            self._fast.discard(link)

    def units(self, link: int) -> int:
        return self._brisk if link in self._fast else self._calm


def plan(text: str) -> IntervalPlan:
    """`own`; `equal:UNITS`, or `equal:BRISK/CALM`; or numbers to try instead of BRISK and CALM: `7,11,13/25,27,29`."""
    if text == "own":
        return OwnIntervals()
    if text.startswith("equal:"):
        brisk, _, calm = text.removeprefix("equal:").partition("/")
        return EqualIntervals(int(brisk), int(calm or brisk))
    fast, _, slow = text.partition("/")
    return OwnIntervals(_numbers(fast), _numbers(slow))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in text.split(",") if one)
