"""The results as Markdown."""

from __future__ import annotations

from dataclasses import dataclass

from ..limits import Verdict
from ..measurements import costs, goodput, start, voting, way_back
from ..results import Results, Series
from ..settings import CAPABILITY, INSTALLED, SETTINGS
from ..systems import GATT, GATT_COMMANDS, JSON
from .numbers import spread

# Metrics with a second value in the same cell.
BESIDE = {goodput.METRIC: goodput.SHARE}

# Systems that do not use the capability.
INDIFFERENT = (GATT, GATT_COMMANDS, JSON)


@dataclass(frozen=True)
class Section:
    title: str
    text: str
    rows: tuple[tuple[str, str], ...]
    """Metrics and the titles of their rows; `{case}` is replaced by the case."""
    picture: str = ""


SECTIONS = (
    Section(
        "Way back after a gap",
        "From the end of a gap of 1 to 3 seconds, in milliseconds. The bare socket's dial is pending, its round trip"
        " has 116 bytes each way: that is the minimum for the kernel and the air. The GATT client connects and"
        " reads.",
        (
            (way_back.CONNECTED, "connected"),
            (way_back.ROUND_TRIP, "first round trip"),
            (way_back.STATE, "state shown"),
        ),
        "way-back",
    ),
    Section(
        "Start to first state",
        "From the start of a guest's program until it shows the host's state, in milliseconds. This includes loading"
        " the program and, for some systems, Python.",
        ((start.METRIC, "state shown"),),
        "start",
    ),
    Section(
        "A vote",
        "From the line that is typed until the host and all guests show it, in milliseconds. RoadMesh has 8 songs, JSON"
        " 50.",
        ((voting.SEEN, "seen by all, {case} guests"), (voting.BEYOND, "of that, beyond two intervals, {case} guests")),
        "votes",
    ),
    Section(
        "Bytes of a vote",
        "Bytes on the links of a host with 8 guests and 50 songs, both ways and L2CAP headers included, without the"
        " regular traffic of that time.",
        ((voting.BYTES, "one vote"),),
        "bytes",
    ),
    Section(
        "Goodput",
        "Received kilobytes a second, and as the last number their share of the theory: full packets that follow"
        " each other without a pause. A row is a PHY and a size in bytes: of an SDU, of a message, of a GATT value."
        " GATT writes with a response, as bleak does by default; without one the client does not know which"
        " values have arrived.",
        (
            (goodput.METRIC, "{case}"),
            (goodput.LEFT, "{case}, of what advertising leaves"),
        ),
        "goodput",
    ),
    Section(
        "Processor and memory",
        "The cost of the program alone, with one guest. Memory is unshared memory (RssAnon). bluetoothd and"
        " dbus-daemon do most of the work for GATT, and have their own rows.",
        (
            (costs.PER_VOTE, "{case}, ms of processor a vote"),
            (costs.DAEMONS_PER_VOTE, "{case}, bluetoothd and dbus-daemon, ms a vote"),
            (costs.IDLE, "{case}, idle, ms of processor a minute"),
            (costs.MEMORY, "{case}, MB"),
        ),
    ),
    Section(
        "The radio while idle",
        "Percent of the time that a radio is on, with one guest that does nothing; connection events, advertising and"
        " scanning together.",
        ((costs.DUTY, "{case}"),),
        "radio",
    ),
)


def section_table(results: Results, section: Section) -> str:
    """Empty if the section has no results."""
    rows = [row for metric, label in section.rows for row in _rows(results, metric, label)]
    if not rows:
        return ""
    heads = ["", "", *(one.title for one in SETTINGS)]
    return table(heads, rows)


def _rows(results: Results, metric: str, label: str) -> list[list[str]]:
    keys: dict[tuple[str, str], None] = {}
    for series in results.of(metric):
        keys[series.case, series.system] = None
    rows = []
    for case, system in sorted(keys, key=_order):
        found = {setting.name: results.find(metric, system, setting.name, case) for setting in SETTINGS}
        cells = [_cell(results, one) for one in found.values()]
        if system in INDIFFERENT and found[INSTALLED.name] and not found[CAPABILITY.name]:
            cells[SETTINGS.index(CAPABILITY)] = "same"
        counts = sorted({len(one.values) for one in found.values() if one})
        name = label.format(case=case)
        rows.append([f"{name} (n={'/'.join(map(str, counts))})", system, *cells])
    return rows


def _order(key: tuple[str, str]) -> list[tuple[int, str]]:
    """Sorts cases by their numbers, then by their words."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in key[0].split()]


def _cell(results: Results, series: Series | None) -> str:
    if series is None:
        return "–"
    beside = results.find(BESIDE.get(series.metric, ""), series.system, series.setting, series.case)
    return spread(series.summary) + (f", {beside.summary.median:.2f}" if beside else "")


def verdict_table(verdicts: list[Verdict]) -> str:
    rows = [["yes" if one.met else "**no**", one.what, one.measured, one.bound] for one in verdicts]
    return table(["met", "what", "measured", "limit"], rows)


def table(heads: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])
