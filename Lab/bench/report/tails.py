"""Reconnects in Markdown: the median, and the tail that people notice."""

from __future__ import annotations

from ..measurements import way_back
from ..results import Results, Series, percentile
from ..settings import Setting
from ..systems import BARE, GATT, ROADMESH

# Each system's time until it has the state, or with a bare socket the one round trip that every protocol needs.
ROWS = (
    (way_back.CONNECTED, BARE, "connected"),
    (way_back.CONNECTED, ROADMESH, "connected"),
    (way_back.CONNECTED, GATT, "connected"),
    (way_back.ROUND_TRIP, BARE, "first round trip"),
    (way_back.STATE, ROADMESH, "state shown"),
    (way_back.STATE, GATT, "state shown"),
)

# A person notices a reconnect that takes longer, in milliseconds.
LONGEST = 1_000.0

# RoadMesh's 99th percentile as a multiple of the bare socket's.
RATIO = 1.5


def table(results: Results, setting: Setting) -> str:
    pair = f"{results.facts['kernel']} × {results.facts['bluetoothd']}"
    lines = [f"| {pair}, ms | | n | median | 95th | 99th | longest |", "|---|---|---|---|---|---|---|"]
    for metric, system, what in ROWS:
        if series := results.find(metric, system, setting.name):
            figures = [percentile(series.values, share) for share in (0.5, 0.95, 0.99, 1)]
            cells = [what, system, str(len(series.values)), *(f"{one:,.0f}" for one in figures)]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def faults(results: Results, setting: Setting) -> list[str]:
    """One sentence for each value that is out of bounds."""

    def series(metric: str, system: str) -> Series | None:
        return results.find(metric, system, setting.name)

    ours, floor = series(way_back.STATE, ROADMESH), series(way_back.ROUND_TRIP, BARE)
    if ours is None or floor is None:
        return ["RoadMesh or the bare socket was not measured."]
    found = []
    late = [value for value in ours.values if value > LONGEST]
    if late:
        found.append(f"{len(late)} of {len(ours.values)} reconnects took more than {LONGEST:,.0f} ms.")
    ratio = percentile(ours.values, 0.99) / percentile(floor.values, 0.99)
    if ratio > RATIO:
        found.append(f"The 99th percentile is {ratio:.2f} times the bare socket's; the limit is {RATIO:g}.")
    return found
