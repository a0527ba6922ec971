"""The results as data, in a file from which pages are rendered."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Summary:
    count: int
    median: float
    low: float
    high: float


def summary(values: Iterable[float]) -> Summary:
    """Median and spread: the first and third quartile of twelve values or more, the minimum and the maximum of fewer."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("there are no values")
    low, high = ordered[0], ordered[-1]
    if len(ordered) >= QUARTILES_FROM:
        low, _, high = statistics.quantiles(ordered, n=4, method="inclusive")
    return Summary(len(ordered), statistics.median(ordered), low, high)


QUARTILES_FROM = 12


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value that is not below this share of the values (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


@dataclass
class Series:
    """The values of one quantity, in its unit."""

    metric: str
    system: str
    setting: str
    case: str
    """Distinguishes series of one metric: a number of guests, a PHY, a size."""
    unit: str
    values: list[float] = field(default_factory=list)

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.metric, self.system, self.setting, self.case

    @property
    def summary(self) -> Summary:
        return summary(self.values)


class Results:
    def __init__(self, facts: dict[str, Any]) -> None:
        self.facts = facts
        """Date, machine, versions."""
        self.notes: list[str] = []
        """Failures and omissions."""
        self._series: dict[tuple[str, str, str, str], Series] = {}

    def add(self, metric: str, system: str, setting: str, case: str, unit: str, values: Iterable[float]) -> None:
        made = Series(metric, system, setting, case, unit)
        series = self._series.setdefault(made.key, made)
        series.values += values

    def include(self, other: Results) -> None:
        self.notes += other.notes
        for one in other._series.values():
            self.add(one.metric, one.system, one.setting, one.case, one.unit, one.values)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def find(self, metric: str, system: str, setting: str, case: str = "") -> Series | None:
        found = self._series.get((metric, system, setting, case))
        return found if found and found.values else None

    def of(self, metric: str) -> list[Series]:
        return [one for one in self._series.values() if one.metric == metric and one.values]

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        series = [asdict(one) for one in self._series.values()]
        path.write_text(json.dumps({"facts": self.facts, "notes": self.notes, "series": series}, indent=1) + "\n")

    @classmethod
    def load(cls, path: Path) -> Results:
        read = json.loads(path.read_text())
        results = cls(read["facts"])
        results.notes = read["notes"]
        for one in read["series"]:
            results.add(**one)
        return results
