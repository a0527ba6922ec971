"""Tests of the bench's arithmetic. Its measurements need boxes."""

from __future__ import annotations

import pytest
from bench import theory
from bench.limits import verdicts
from bench.measurements import way_back
from bench.report import tails
from bench.results import Results
from bench.settings import TUNED
from bench.systems import BARE, GATT, ROADMESH

FACTS = {
    "date": "2026-01-01", "roadmesh": "0.1.0", "revision": "abc", "build": "release", "cores": 2, "processor": "any",
    "memoryGB": 8, "system": "Debian", "bluetoothd": "5.66", "load": 0.1,
}  # fmt: skip


def results(roadmesh: float = 100) -> Results:
    made = Results(FACTS)
    made.add(way_back.STATE, ROADMESH, "tuned", "", "ms", [roadmesh, roadmesh + 4, roadmesh - 4])
    made.add(way_back.CONNECTED, ROADMESH, "tuned", "", "ms", [roadmesh - 2])
    made.add(way_back.ROUND_TRIP, BARE, "tuned", "", "ms", [100])
    made.add(way_back.STATE, GATT, "tuned", "", "ms", [110])
    made.add(way_back.STATE, GATT, "installed", "", "ms", [3000])
    return made


def test_the_table_of_reconnects_has_the_tail_and_judges_it() -> None:
    made = Results(FACTS | {"kernel": "6.12.1"})
    made.add(way_back.STATE, ROADMESH, "tuned", "", "ms", range(1, 201))
    made.add(way_back.ROUND_TRIP, BARE, "tuned", "", "ms", range(1, 101))
    assert "| state shown | RoadMesh | 200 | 100 | 190 | 198 | 200 |" in tails.table(made, TUNED)
    assert tails.faults(made, TUNED) == ["The 99th percentile is 2.00 times the bare socket's; the limit is 1.5."]
    made.add(way_back.ROUND_TRIP, BARE, "tuned", "", "ms", [199] * 100)
    assert tails.faults(made, TUNED) == []
    made.add(way_back.STATE, ROADMESH, "tuned", "", "ms", [1_001])
    assert tails.faults(made, TUNED) == ["1 of 201 reconnects took more than 1,000 ms."]


def test_full_packets_reach_the_published_throughput() -> None:
    assert theory.largest_goodput("1M") * 8 / 1e3 == pytest.approx(801, abs=1)
    assert theory.largest_goodput("2M") * 8 / 1e3 == pytest.approx(1419, abs=1)
    # The largest SDU fills nine packets, including its two bytes of length.
    assert theory.packets(2221) == [251] * 9
    assert theory.goodput(2221, "1M") == pytest.approx(theory.largest_goodput("1M") * 2221 / 2223)
    assert theory.goodput(64, "2M") < theory.goodput(245, "2M")


def test_a_quick_run_checks_only_measured_ratios() -> None:
    found = verdicts(results(), quick=True)
    assert len(found) == 3 and all(one.met and one.unit != "ms" for one in found)
    broken = [one for one in verdicts(results(roadmesh=250), quick=True) if not one.met]
    assert [one.measured for one in broken] == ["2.27", "2.48"]
