"""The connection intervals that a node gives its incoming links, in units of 1.25 ms, like `IntervalPlan` in
MeshProtocol, which says why each link has its own. The numbers are those of the program's Limits.swift.

- A link has the numbers of its slot: the lowest slot that was free when it came up.
- With few links, a link has its number of BRISK while data flows and its number of CALM while it is idle.
- Once a slot after the first eight is in use, each link has one number of MANY for both. Short intervals for many links
  would leave no airtime to some of them.
- A single link has the numbers of ALONE.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Protocol

LIMITS = Path(__file__).parents[2] / "Sources/MeshProtocol/Limits.swift"


def _limit(name: str) -> tuple[int, ...]:
    found = re.search(rf"static let {name} = (.*)\n", LIMITS.read_text())
    assert found, f"{LIMITS} has no {name}"
    return tuple(int(number) for number in re.findall(r"\d+", found[1]))


BRISK, CALM = _limit("fewIntervals")[::2], _limit("fewIntervals")[1::2]
MANY, ALONE = _limit("manyIntervals"), _limit("aloneIntervals")


class IntervalPlan(Protocol):
    """Chooses the intervals of all links of a node. The caller numbers the links."""

    def opened(self, link: int) -> None: ...

    def closed(self, link: int) -> None: ...

    def wants_speed(self, link: int, wants: bool) -> None:
        """Called when data begins to flow (True) or stops (False)."""

    def units(self, link: int) -> int:
        """The interval for this link."""


class OwnIntervals:
    """A different interval for each link."""

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
    """The same interval for all links."""

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
    """Parses `own`, `equal:UNITS`, `equal:BRISK/CALM`, or other numbers for BRISK/CALM/MANY: `9,11/29,31/19,21,23`."""
    if text == "own":
        return OwnIntervals()
    if text.startswith("equal:"):
        brisk, _, calm = text.removeprefix("equal:").partition("/")
        return EqualIntervals(int(brisk), int(calm or brisk))
    brisk, calm, many = (_numbers(part) for part in text.split("/"))
    return OwnIntervals(brisk, calm, many)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in text.split(",") if one)
