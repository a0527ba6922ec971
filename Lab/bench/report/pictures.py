"""The plots and their data."""

from __future__ import annotations

from .. import theory
from ..measurements import costs, goodput, start, voting, way_back
from ..results import Results
from ..settings import FULL, SETTINGS, TUNED
from ..systems import BARE, GATT, GATT_COMMANDS, JSON, ROADMESH
from .plot import THEORY, Bar, Curve, bars, lines


def pictures(results: Results) -> dict[str, str]:
    """The plots by name, without those that have no data."""
    made = {
        "way-back": _bars(
            results, "End of a gap to the state (bare socket: to its first round trip)", "ms",
            [(way_back.STATE, ROADMESH, ""), (way_back.ROUND_TRIP, BARE, ""), (way_back.STATE, GATT, "")], log=True,
        ),
        "start": _bars(
            results, "Start to first state", "ms", [(start.METRIC, ROADMESH, ""), (start.METRIC, GATT, "")], log=True
        ),
        "votes": _bars(
            results, "A vote typed to seen by all", "ms",
            [
                *((voting.SEEN, ROADMESH, str(size)) for size in FULL.crowds),
                (voting.SEEN, JSON, "8"),
                (voting.SEEN, GATT, "1"),
            ],
            case="{case} guests",
        ),
        "bytes": _bars(
            results, "Bytes of a vote, 8 guests and 50 songs", "bytes",
            [(voting.BYTES, ROADMESH, ""), (voting.BYTES, JSON, "")],
        ),
        "goodput": _goodput(results),
        "radio": _bars(
            results, "Radio on while idle", "%",
            [(costs.DUTY, system, side) for side in ("host", "guest") for system in (ROADMESH, GATT, JSON)],
            case="{case}",
        ),
    }  # fmt: skip
    return {name: picture for name, picture in made.items() if picture}


def _bars(
    results: Results, title: str, unit: str, places: list[tuple[str, str, str]], log: bool = False, case: str = ""
) -> str:
    rows = []
    for metric, system, which in places:
        for setting in SETTINGS:
            if series := results.find(metric, system, setting.name, which):
                parts = [system, case.format(case=which), setting.title]
                rows.append(Bar(", ".join(part for part in parts if part), system, series.summary))
    return bars(title, unit, rows, log) if rows else ""


def _goodput(results: Results) -> str:
    curves = []
    for phy in theory.PHYS:
        sizes = [*FULL.sdus, FULL.messages[-1]]
        best = theory.largest_goodput(phy) / 1e3
        curve = [(size, theory.goodput(size, phy) / 1e3) for size in FULL.sdus]
        curves.append(Curve(f"theory, {phy}", THEORY, [*curve, (sizes[-1], best)]))
        for system, name in ((BARE, "SDUs"), (ROADMESH, "messages"), (GATT, ""), (GATT_COMMANDS, "")):
            if points := _points(results, system, phy):
                curves.append(Curve(f"{system} {name}".strip() + f", {phy}", system, points))
    measured = [one for one in curves if one.system != THEORY]
    return lines(f"Goodput, {TUNED.title}", "bytes of an SDU, a message or a value", "kB/s", curves) if measured else ""


def _points(results: Results, system: str, phy: str) -> list[tuple[float, float]]:
    found = [
        (float(series.case.split()[1]), series.summary.median)
        for series in results.of(goodput.METRIC)
        if series.system == system and series.setting == TUNED.name and series.case.startswith(f"{phy} ")
    ]
    return sorted(found)
