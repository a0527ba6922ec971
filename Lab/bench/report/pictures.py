"""The plots of docs/benchmarks.md, by matplotlib. scripts/bench installs it for a run that draws."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .. import theory
from ..measurements import costs, goodput, start, voting, way_back
from ..results import Results
from ..settings import FULL, SETTINGS, TUNED
from ..systems import BARE, GATT, GATT_COMMANDS, JSON, L2TEST, ROADMESH
from .numbers import number

# Grey that can be read on light and dark pages.
INK = "#7d8590"
COLOURS = {
    ROADMESH: "#2f81f7", BARE: "#8b949e", L2TEST: "#0d9488", GATT: "#d97706", GATT_COMMANDS: "#d97706", JSON: "#db2777",
}  # fmt: skip

# The lines and markers that distinguish the curves of one system.
LINES, MARKERS = {"1M": ":", "2M": "--"}, {"1M": "o-", "2M": "s-"}

# In inches.
WIDTH, ROW, CURVES_HEIGHT = 8.0, 0.28, 3.6


@dataclass(frozen=True)
class Bars:
    """A bar for each median, with a line for its spread."""

    title: str
    unit: str
    rows: list[tuple[str, str, str]]
    """Metrics, systems and cases."""
    log: bool = False
    case: str = ""


PLOTS = {
    "way-back": Bars(
        "End of a gap to the state (bare socket: to its first round trip)", "ms",
        [(way_back.STATE, ROADMESH, ""), (way_back.ROUND_TRIP, BARE, ""), (way_back.STATE, GATT, "")], log=True,
    ),
    "start": Bars("Start to first state", "ms", [(start.METRIC, ROADMESH, ""), (start.METRIC, GATT, "")], log=True),
    "votes": Bars(
        "A vote typed to seen by all", "ms",
        [
            *((voting.SEEN, ROADMESH, str(size)) for size in FULL.crowds),
            (voting.SEEN, JSON, "8"), (voting.SEEN, GATT, "1"),
        ],
        case="{case} guests",
    ),
    "bytes": Bars(
        "Bytes of a vote, 8 guests and 50 songs", "bytes", [(voting.BYTES, ROADMESH, ""), (voting.BYTES, JSON, "")]
    ),
    "radio": Bars(
        "Radio on while idle", "%",
        [(costs.DUTY, system, side) for side in ("host", "guest") for system in (ROADMESH, GATT, JSON)], case="{case}",
    ),
}  # fmt: skip


def draw(results: Results, folder: Path) -> list[str]:
    """Writes the plots that have data, and returns their names."""
    folder.mkdir(parents=True, exist_ok=True)
    # Equal data gives an equal file, with text that stays text.
    matplotlib.rcParams |= {"svg.hashsalt": "roadmesh", "svg.fonttype": "none"}
    matplotlib.rcParams |= {f"{what}.color": INK for what in ("text", "xtick", "ytick")}
    matplotlib.rcParams |= {"axes.labelcolor": INK, "axes.edgecolor": INK}
    figures = {name: _bars(results, plot) for name, plot in PLOTS.items()} | {"goodput": _goodput(results)}
    drawn = {name: figure for name, figure in figures.items() if figure}
    for name, figure in drawn.items():
        figure.savefig(folder / f"bench-{name}.svg", transparent=True, metadata={"Date": None})
    return list(drawn)


def _axes(title: str, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, loc="left", weight="bold")
    axes.grid(axis="both" if height == CURVES_HEIGHT else "x", color=INK, alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _bars(results: Results, plot: Bars) -> Figure | None:
    rows = [
        (
            ", ".join(part for part in (system, plot.case.format(case=case), setting.title) if part),
            system,
            series.summary,
        )
        for metric, system, case in plot.rows
        for setting in SETTINGS
        if (series := results.find(metric, system, setting.name, case))
    ]
    if not rows:
        return None
    figure, axes = _axes(plot.title, 1 + len(rows) * ROW)
    if plot.log:
        axes.set_xscale("log")
    spread = [[one.median - one.low for *_, one in rows], [one.high - one.median for *_, one in rows]]
    bars = axes.barh(
        range(len(rows)), [one.median for *_, one in rows], xerr=spread, ecolor=INK,
        color=[COLOURS[system] for _, system, _ in rows], tick_label=[label for label, *_ in rows],
    )  # fmt: skip
    axes.bar_label(bars, [number(one.median) for *_, one in rows], padding=4)
    axes.invert_yaxis()
    axes.set_xlabel(plot.unit + (", logarithmic" if plot.log else ""))
    return figure


def _goodput(results: Results) -> Figure | None:
    figure, axes = _axes(f"Goodput, {TUNED.title}", CURVES_HEIGHT)
    measured = False
    for phy in theory.PHYS:
        best = (FULL.messages[-1], theory.largest_goodput(phy) / 1e3)
        curve = [*((size, theory.goodput(size, phy) / 1e3) for size in FULL.sdus), best]
        axes.plot(*zip(*curve, strict=True), LINES[phy], color=INK, label=f"theory, {phy}")
        for system, name in ((BARE, "SDUs"), (ROADMESH, "messages"), (GATT, ""), (GATT_COMMANDS, "")):
            if points := _points(results, system, phy):
                label = f"{system} {name}".strip() + f", {phy}"
                axes.plot(*zip(*points, strict=True), MARKERS[phy], color=COLOURS[system], label=label)
                measured = True
    axes.set_xscale("log")
    axes.set_xlabel("bytes of an SDU, a message or a value")
    axes.set_ylabel("kB/s")
    figure.legend(loc="outside right upper", frameon=False)
    return figure if measured else None


def _points(results: Results, system: str, phy: str) -> list[tuple[float, float]]:
    found = [
        (float(series.case.split()[1]), series.summary.median)
        for series in results.of(goodput.METRIC)
        if series.system == system and series.setting == TUNED.name and series.case.startswith(f"{phy} ")
    ]
    return sorted(found)
