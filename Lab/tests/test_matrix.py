"""Tests of the matrix: the report of the tests on every pair."""

from __future__ import annotations

import ast
from pathlib import Path

from runner.matrix import LAB_TESTS, TOPICS, Cell, Pair, measured, read, report

RESULTS = """<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite>
<testcase file="Tests/LabTests/test_reconnect.py" name="test_usual"/>
<testcase file="Tests/LabTests/test_doctor.py" name="test_a_healthy_box_has_nothing">
  <failure message="AssertionError: {">
&gt;   assert not told(program)
E   AssertionError: {"area":"adapter"}
E     {"area":"timing"}
E   assert not ['slowTiming']
E     its last 2 lines:
E        5.1 out {"event":"ready"}
E        5.7 err roadmesh: the radio does not work
  </failure></testcase>
<testcase file="Tests/LabTests/test_doctor.py" name="test_a_second_adapter_that_hears_nothing"/>
<testcase file="Tests/LabTests/test_mending.py" name="test_votes_flow_again_within_five_seconds[rfkill-host]"/>
<testcase file="Tests/LabTests/test_mending.py" name="test_votes_flow_again_within_five_seconds[rfkill-guest]">
  <failure message="assert None">
E   assert None</failure></testcase>
<testcase file="Tests/LabTests/test_mending.py" name="test_votes_flow_again_within_five_seconds[rfkill-guest]">
  <error message="failed on teardown with &quot;Failed: bluetoothd in car crashed with SIGSEGV&#10;more">a trace</error></testcase>
<testcase file="Tests/LabTests/test_relays.py" name="test_a_relay_works_with_every_kind_of_adapter[vhci]">
  <skipped/></testcase>
</testsuite></testsuites>"""


def cells(folder: Path) -> dict[str, Cell]:
    results = folder / "results.xml"
    results.write_text(RESULTS)
    return read(results)


def test_a_topic_works_if_all_its_tests_pass(tmp_path: Path) -> None:
    found = {topic: str(cell) for topic, cell in cells(tmp_path).items() if str(cell) != "not run"}
    assert found == {"reconnect": "works", "doctor": "fails 1 of 2", "recovery": "fails 1 of 2"}


def test_the_table_has_a_row_for_each_pair_and_the_reasons_below_it(tmp_path: Path) -> None:
    pairs = [
        Pair("6.12", "5.82", cells(tmp_path)),
        Pair("7.2", "5.82", cells(tmp_path), measured=["heal to connected: median 90 ms"]),
        Pair("7.2", "5.87", unusable="Debian has no bluez 5.87"),
    ]
    lines = report(pairs).splitlines()
    assert lines[0].startswith("| kernel × bluetoothd | start |") and lines[0].count("|") == len(TOPICS) + 2
    assert lines[2].startswith("| 6.12 × 5.82 | not run | not run | not run | works |")
    assert lines[4] == "| 7.2 × 5.87 |" + " not run |" * len(TOPICS)
    why = "assert not ['slowTiming']: roadmesh: the radio does not work"
    assert f"- 6.12 × 5.82, 7.2 × 5.82: doctor, `test_a_healthy_box_has_nothing`: {why}" in lines
    test = "test_votes_flow_again_within_five_seconds[rfkill-guest]"
    assert f"- 6.12 × 5.82, 7.2 × 5.82: recovery, `{test}`: bluetoothd in car crashed with SIGSEGV" in lines
    assert "- 7.2 × 5.87: Debian has no bluez 5.87" in lines
    assert lines[-1] == "- heal to connected: median 90 ms"


def test_measurements_are_found_in_pytests_output() -> None:
    output = "..\n====== measured ======\na: 1 ms\nb: 2 ms\n====== 2 passed in 3 s ======\n"
    assert measured(output) == ["a: 1 ms", "b: 2 ms"]


def test_each_selected_test_exists() -> None:
    for test in (one for tests in TOPICS.values() for one in tests):
        file, name = test.split("::")
        nodes = ast.walk(ast.parse((LAB_TESTS / file).read_text()))
        assert name.split("[")[0] in [one.name for one in nodes if isinstance(one, ast.FunctionDef)], test
