"""Plots as SVG for light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from ..results import Summary
from ..systems import BARE, GATT, GATT_COMMANDS, JSON, L2TEST, ROADMESH
from .numbers import number

THEORY = "theory"

# The style class of each system.
CLASSES = {
    ROADMESH: "roadmesh",
    BARE: "bare",
    L2TEST: "l2test",
    GATT: "gatt",
    GATT_COMMANDS: "gatt",
    JSON: "json",
    THEORY: "theory",
}

STYLE = """
svg { font: 13px system-ui, sans-serif; }
.title { font-weight: 600; font-size: 15px; } text { fill: #1f2937; } .faint { fill: #6b7280; }
.grid { stroke: #d1d5db; stroke-width: 1; } .whisker { stroke: #1f2937; stroke-width: 1.5; }
.roadmesh { --c: #2563eb; } .bare { --c: #6b7280; } .l2test { --c: #0d9488; } .gatt { --c: #d97706; }
.json { --c: #db2777; } .theory { --c: #9ca3af; } .fill { fill: var(--c); }
.line { stroke: var(--c); fill: none; stroke-width: 2; } .theory.line { stroke-dasharray: 5 4; }
@media (prefers-color-scheme: dark) {
  text { fill: #e5e7eb; } .faint { fill: #9ca3af; } .grid { stroke: #374151; } .whisker { stroke: #e5e7eb; }
  .roadmesh { --c: #60a5fa; } .bare { --c: #9ca3af; } .l2test { --c: #2dd4bf; } .gatt { --c: #fbbf24; }
  .json { --c: #f472b6; } .theory { --c: #6b7280; }
}
"""

WIDTH = 760
TOP, LEFT, RIGHT, ROW, BAR = 44, 290, 80, 26, 16

# The minimum distance between the labels of an axis.
TICK_ROOM = 40


@dataclass(frozen=True)
class Bar:
    label: str
    system: str
    summary: Summary


@dataclass(frozen=True)
class Curve:
    label: str
    system: str
    points: list[tuple[float, float]]


def bars(title: str, unit: str, rows: list[Bar], log: bool = False) -> str:
    """A bar for each median, with a line for its spread."""
    height = TOP + len(rows) * ROW + 30
    most = max(row.summary.high for row in rows) or 1.0
    least = min(row.summary.low for row in rows) if log else 0.0
    scale = _scale(least, most, LEFT, WIDTH - RIGHT, log)
    parts = [
        _text(12, 22, title, "title"),
        _text(WIDTH - 12, 22, unit + (", logarithmic" if log else ""), "faint", "end"),
    ]
    for tick in _ticks(least, most, log):
        x = scale(tick)
        parts += [_line(x, TOP - 6, x, height - 26, "grid"), _text(x, height - 10, number(tick), "faint", "middle")]
    for index, row in enumerate(rows):
        y = TOP + index * ROW
        end = scale(row.summary.median)
        colour = CLASSES[row.system]
        parts.append(_text(LEFT - 10, y + 13, row.label, "", "end"))
        parts.append(
            f'<rect class="fill {colour}" x="{LEFT}" y="{y}" width="{max(end - LEFT, 1):.1f}" height="{BAR}" rx="2"/>'
        )
        if row.summary.count > 1:
            parts.append(_line(scale(row.summary.low), y + BAR / 2, scale(row.summary.high), y + BAR / 2, "whisker"))
        beyond = scale(row.summary.high) if row.summary.count > 1 else end
        parts.append(_text(max(end, beyond) + 6, y + 13, number(row.summary.median)))
    return _svg(height, title, parts)


def lines(title: str, x_label: str, y_label: str, curves: list[Curve]) -> str:
    """Curves over a logarithmic axis, with their names at the right end."""
    height, left, right, bottom = 340, 60, 190, 300
    every = [point for curve in curves for point in curve.points]
    x_least, x_most = min(x for x, _ in every), max(x for x, _ in every)
    y_most = max(y for _, y in every)
    x_at = _scale(x_least, x_most, left, WIDTH - right, True)
    y_at = _scale(0, y_most, bottom, TOP, False)
    parts = [_text(12, 22, title, "title"), _text(WIDTH - 12, 22, y_label, "faint", "end")]
    for tick in _ticks(0, y_most, False):
        y = y_at(tick)
        parts += [_line(left, y, WIDTH - right, y, "grid"), _text(left - 8, y + 4, number(tick), "faint", "end")]
    shown = -math.inf
    for tick in sorted({x for curve in curves if len(curve.points) > 1 for x, _ in curve.points}):
        if x_at(tick) - shown >= TICK_ROOM:
            shown = x_at(tick)
            parts.append(_text(shown, bottom + 18, number(tick), "faint", "middle"))
    parts.append(_text((left + WIDTH - right) / 2, height - 6, x_label, "faint", "middle"))
    # The name of a single value is next to it, that of a curve at its end.
    for curve in (one for one in curves if len(one.points) == 1):
        x, y = curve.points[0]
        parts.append(_text(x_at(x) + 8, y_at(y) + 4, curve.label, "faint"))
        parts.append(f'<circle class="fill {CLASSES[curve.system]}" cx="{x_at(x):.1f}" cy="{y_at(y):.1f}" r="3.5"/>')
    curves = [one for one in curves if len(one.points) > 1]
    for curve, label_y in zip(curves, _apart([y_at(curve.points[-1][1]) for curve in curves]), strict=True):
        colour = CLASSES[curve.system]
        path = " ".join(f"{x_at(x):.1f},{y_at(y):.1f}" for x, y in curve.points)
        parts.append(f'<polyline class="line {colour}" points="{path}"/>')
        if curve.system != THEORY:
            parts += [
                f'<circle class="fill {colour}" cx="{x_at(x):.1f}" cy="{y_at(y):.1f}" r="3.5"/>'
                for x, y in curve.points
            ]
        parts.append(_text(WIDTH - right + 14, label_y + 4, curve.label))
    return _svg(height, title, parts)


def _apart(places: list[float], least: float = 16) -> list[float]:
    """Moves labels down as far as necessary so that they do not overlap."""
    moved = list(places)
    order = sorted(range(len(places)), key=lambda index: places[index])
    for before, index in pairwise(order):
        moved[index] = max(moved[index], moved[before] + least)
    return moved


def _scale(least: float, most: float, start: float, end: float, log: bool) -> Callable[[float], float]:
    if log:
        # The axis begins below the least value, so that its bar is visible.
        low, high = math.log10(least) - 0.15, math.log10(most)
        return lambda value: start + (math.log10(max(value, 10**low)) - low) / (high - low) * (end - start)
    return lambda value: start + value / most * (end - start)


def _ticks(least: float, most: float, log: bool) -> Iterator[float]:
    if log:
        power = math.ceil(math.log10(least) - 0.15)
        while 10**power <= most:
            yield 10.0**power
            power += 1
        return
    step = 10 ** math.floor(math.log10(most))
    step = next(one for one in (step / 5, step / 2, step, 2 * step) if most / one <= 8)
    for count in range(int(most / step) + 1):
        yield count * step


def _text(x: float, y: float, text: str, name: str = "", anchor: str = "start") -> str:
    return f'<text class="{name}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, name: str) -> str:
    return f'<line class="{name}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _svg(height: float, title: str, parts: list[str]) -> str:
    size = f'viewBox="0 0 {WIDTH} {height:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(title)}">'
    return "\n".join([head, f"<style>{STYLE}</style>", *parts, "</svg>", ""])
