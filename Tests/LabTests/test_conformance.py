"""The suite that every radio passes (Tests/BLETransportTests/Conformance), on two adapters of one box."""

import os

import pytest
from helpers import Figures
from lab import Box, Lab, Program

# All of it takes 8 s. A dial that hangs takes 40 s to fail, and may take others with it, each up to its limit of a minute.
LONGEST = 400

# What comes of a dial whose answer the kernel has given to another channel (docs/bluez.md), on a machine with other work to do: the
# dial is refused in the end, or the test that has made it has no time left.
HUNG_DIAL = ("dialFailed: Connection refused", "Time limit was exceeded")


def run_suite(box: Box, tests: str) -> Program:
    program = box.spawn(
        [tests, "--testing-library", "swift-testing", "--filter", "RadioConformance"],
        env={"ROADMESH_RADIOS": "hci0,hci1"},
    )
    program.wait(timeout=LONGEST)
    return program


def failures(program: Program) -> list[str]:
    return [line.text for line in program.lines if "✘" in line.text]


def test_the_real_radio_behaves_like_every_other(lab: Lab, figures: Figures) -> None:
    tests = os.environ.get("ROADMESH_TESTS")
    if not tests:
        pytest.fail("which unit tests? Set ROADMESH_TESTS to RoadMeshPackageTests.xctest")
    program = run_suite(lab.box("both", controllers=2), tests)
    first = next((line for line in failures(program) if "recorded an issue" in line), "")
    if any(words in first for words in HUNG_DIAL):
        figures.note(f"the radio's suite was run again, since a dial hung: {first}")
        program = run_suite(lab.box("again", controllers=2), tests)
    assert program.exit_code == 0, "\n".join(failures(program))
    # A filter that matches nothing passes as well.
    assert any("Test run with 16 tests" in line.text for line in program.lines), program.tail()
