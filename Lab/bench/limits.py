"""The limits of the bench: ratios and differences of medians."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .measurements import goodput, start, voting, way_back
from .results import Results
from .settings import CAPABILITY, INSTALLED, TUNED
from .systems import BARE, GATT, JSON, ROADMESH

# The format of a value, by its unit.
FORMATS = {"ratio": "{:.2f}", "ms": "{:.0f} ms", "share": "{:.4f}"}


@dataclass(frozen=True)
class Limit:
    what: str
    measurement: str
    """The name of the measurement for `scripts/bench --only`."""
    value: Callable[[Results], float | None]
    """The measured value; None if it was not measured."""
    limit: float
    unit: str = "ratio"
    at_least: bool = False
    quick: float | None = None
    """The limit for a few values on a busy machine; None: not checked then."""


@dataclass(frozen=True)
class Verdict:
    what: str
    measurement: str
    value: float
    limit: float
    unit: str
    at_least: bool

    @property
    def met(self) -> bool:
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    @property
    def measured(self) -> str:
        return FORMATS[self.unit].format(self.value)

    @property
    def bound(self) -> str:
        return ("at least " if self.at_least else "at most ") + FORMATS[self.unit].format(self.limit)

    def __str__(self) -> str:
        return f"{'met' if self.met else 'NOT MET'}: {self.what}: {self.measured}, {self.bound}"


def _median(results: Results, metric: str, system: str, setting: str, case: str = "") -> float | None:
    series = results.find(metric, system, setting, case)
    return series.summary.median if series else None


Place = tuple[str, str, str, str]
"""Metric, system, setting and case."""


def _ratio(above: Place, below: Place) -> Callable[[Results], float | None]:
    def value(results: Results) -> float | None:
        one, other = _median(results, *above), _median(results, *below)
        return one / other if one is not None and other else None

    return value


def _difference(one: Place, other: Place) -> Callable[[Results], float | None]:
    def value(results: Results) -> float | None:
        first, second = _median(results, *one), _median(results, *other)
        return first - second if first is not None and second is not None else None

    return value


def _alone(place: Place) -> Callable[[Results], float | None]:
    return lambda results: _median(results, *place)


def _limits() -> list[Limit]:
    best_state = (way_back.STATE, ROADMESH, TUNED.name, "")
    found = [
        Limit(
            "state after a gap, as a share of bleak's on the same advertising and intervals",
            "way-back", _ratio(best_state, (way_back.STATE, GATT, TUNED.name, "")), 1, quick=1.3,
        ),
        Limit(
            "state after a gap, with the capability: how many times faster than bleak, untuned",
            "way-back",
            _ratio((way_back.STATE, GATT, INSTALLED.name, ""), (way_back.STATE, ROADMESH, CAPABILITY.name, "")),
            25, at_least=True,
        ),
        Limit(
            "state after a gap, all tuning: how many times faster than bleak, untuned",
            "way-back", _ratio((way_back.STATE, GATT, INSTALLED.name, ""), best_state), 25,
            at_least=True, quick=10,
        ),
        Limit(
            "start to first state, with the capability",
            "start", _alone((start.METRIC, ROADMESH, CAPABILITY.name, "")), 700, unit="ms",
        ),
    ]  # fmt: skip
    for setting in (CAPABILITY, TUNED):
        connected = (way_back.CONNECTED, ROADMESH, setting.name, "")
        state = (way_back.STATE, ROADMESH, setting.name, "")
        trip = (way_back.ROUND_TRIP, BARE, setting.name, "")
        is_tuned = setting is TUNED
        # Systems other than RoadMesh do not use the capability, so they are not measured with it.
        others = TUNED if is_tuned else INSTALLED
        found += [
            Limit(
                f"connected after a gap, {setting.title}, as a share of the bare socket's first round trip",
                "way-back", _ratio(connected, trip), 1.05, quick=2 if is_tuned else None,
            ),
            Limit(
                f"state after a gap, {setting.title}, later than connected",
                "way-back", _difference(state, connected), 10, unit="ms",
            ),
            Limit(
                f"a vote seen by all of 16 guests, {setting.title}, beyond two connection intervals",
                "voting",
                _alone((voting.BEYOND, ROADMESH, setting.name, "16")), 20, unit="ms",
            ),
            Limit(
                f"bytes of a vote, {setting.title}, as a share of JSON snapshots'",
                "voting",
                _ratio((voting.BYTES, ROADMESH, setting.name, ""), (voting.BYTES, JSON, others.name, "")),
                1 / 50, quick=1 / 40 if is_tuned else None, unit="share",
            ),
        ]  # fmt: skip
    for phy in goodput.PROFILES:
        case = f"{phy} {LARGEST_MESSAGE}"
        ours = (ROADMESH, TUNED.name, case)
        gatts = (goodput.METRIC, GATT, TUNED.name, f"{phy} {goodput.GATT_VALUE}")
        found += [
            Limit(
                f"goodput on {phy}, as installed, as a share of the theory of the air",
                "goodput", _alone((goodput.SHARE, ROADMESH, INSTALLED.name, case)), 0.97, unit="share",
                at_least=True,
            ),
            Limit(
                f"goodput on {phy}, all tuning, as a share of what the host's own advertising leaves of the theory",
                "goodput", _alone((goodput.LEFT, *ours)), 0.97, unit="share", at_least=True, quick=0.85,
            ),
            Limit(
                f"goodput on {phy}, all tuning, times that of the GATT pair",
                "goodput", _ratio((goodput.METRIC, *ours), gatts), 3, at_least=True, quick=2,
            ),
        ]  # fmt: skip
    return found


LARGEST_MESSAGE = 65535
LIMITS = _limits()


def unmeasured(results: Results) -> list[Limit]:
    """Limits that a quick run should have measured, and has not."""
    return [one for one in LIMITS if one.quick is not None and one.value(results) is None]


def verdicts(results: Results, quick: bool = False) -> list[Verdict]:
    """The verdicts on all measured limits."""
    found = []
    for one in LIMITS:
        limit = one.quick if quick else one.limit
        value = one.value(results)
        if limit is not None and value is not None:
            found.append(Verdict(one.what, one.measurement, value, limit, one.unit, one.at_least))
    return found
