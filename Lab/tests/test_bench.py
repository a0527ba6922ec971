"""Tests of the bench's arithmetic and rendering. Its measurements need boxes."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import theory
from bench.limits import verdicts
from bench.machine import facts
from bench.measurements import way_back
from bench.report import page
from bench.report.marks import END, begin, filled
from bench.report.numbers import number, spread
from bench.results import Results, Summary, summary
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


def test_a_few_values_are_shown_with_their_extremes_and_many_with_their_quartiles() -> None:
    assert summary([3, 1, 2]) == Summary(3, 2, 1, 3)
    assert summary(range(1, 14)) == Summary(13, 7, 4, 10)
    with pytest.raises(ValueError):
        summary([])


def test_full_packets_reach_the_published_throughput() -> None:
    assert theory.largest_goodput("1M") * 8 / 1e3 == pytest.approx(801, abs=1)
    assert theory.largest_goodput("2M") * 8 / 1e3 == pytest.approx(1419, abs=1)
    # The largest SDU fills nine packets, including its two bytes of length.
    assert theory.packets(2221) == [251] * 9
    assert theory.goodput(2221, "1M") == pytest.approx(theory.largest_goodput("1M") * 2221 / 2223)
    assert theory.goodput(64, "2M") < theory.goodput(245, "2M")


def test_results_survive_writing_and_reading(tmp_path: Path) -> None:
    made = results()
    made.note("something was left out")
    made.save(tmp_path / "logs" / "bench.json")
    read = Results.load(tmp_path / "logs" / "bench.json")
    assert read.notes == made.notes and read.facts == made.facts
    assert read.of(way_back.STATE) == made.of(way_back.STATE)


def test_a_quick_run_checks_only_measured_ratios() -> None:
    found = verdicts(results(), quick=True)
    assert len(found) == 3 and all(one.met and one.unit != "ms" for one in found)
    broken = [one for one in verdicts(results(roadmesh=250), quick=True) if not one.met]
    assert [one.measured for one in broken] == ["2.27", "2.48"]


def test_numbers_have_three_digits() -> None:
    assert [number(one) for one in (0, 0.125, 1.5, 12.34, 123.4, 12345.6)] == [
        "0",
        "0.12",
        "1.5",
        "12.3",
        "123",
        "12,346",
    ]
    assert spread(Summary(1, 2, 2, 2)) == "2" and spread(Summary(3, 2, 1, 3)) == "2 (1–3)"


def test_only_the_text_between_the_marks_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "benchmarks.md"
    target.write_text(f"# Benchmarks\n\nBy hand.\n\n{page.BEGIN}\nof last time\n{page.END}\n\nAlso by hand.\n")
    page.write(results(), target, ["way-back"])
    text = target.read_text()
    assert text.startswith("# Benchmarks\n\nBy hand.\n\n") and text.endswith("\n\nAlso by hand.\n")
    assert "of last time" not in text and "| state shown (n=3) | RoadMesh | – | – | 100 (96–104) |" in text
    assert text.count("](pictures/") == 1 and "](pictures/bench-way-back.svg)" in text
    once = text
    page.write(results(), target, ["way-back"])
    assert target.read_text() == once


def test_tables_are_inserted_and_a_page_without_their_marks_is_refused() -> None:
    by_hand = f"# Broker\n\n{begin('votes')}\nold\n{END}\nBy hand.\n{begin('sessions')}\nkept\n{END}\n"
    once = filled(by_hand, {"votes": "new"})
    assert once == by_hand.replace("old", "new") and filled(once, {"votes": "new"}) == once
    with pytest.raises(ValueError, match="losses"):
        filled(by_hand, {"losses": "new"})


@pytest.mark.parametrize("version, number, build", [("0.1.0", "0.1.0", "release"), ("0.1.0+debug", "0.1.0", "debug")])
def test_the_version_of_a_program_at_any_path_names_its_build(tmp_path: Path, version: str, number: str, build: str) -> None:
    program = tmp_path / "release-of-the-debugger"
    program.write_text(f"#!/bin/sh\necho {version}\n")
    program.chmod(0o755)
    told = facts(program)
    assert (told["roadmesh"], told["build"]) == (number, build)
