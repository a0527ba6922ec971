"""The suite that every radio passes (Tests/BLETransportTests/Conformance), on two adapters of one box."""

import os

import pytest
from lab import Box, Lab, Program

# All of it takes 8 s. A dial that hangs takes 40 s to fail, and may take others with it, each up to its limit of a minute.
LONGEST = 400

# Each side's bluetoothd would open further channels on every link, with the same identifiers as the suite's dials. Linux 6.1 gives the
# answer to one to the other (docs/bluez.md), and half of the runs had a dial that hung. What helps against that, test_identifiers.py shows.
NO_OTHER_CHANNELS = "[GATT]\nChannels = 1\n"


def run_suite(box: Box, tests: str) -> Program:
    program = box.spawn(
        [tests, "--testing-library", "swift-testing", "--filter", "RadioConformance"],
        env={"ROADMESH_RADIOS": "hci0,hci1"},
    )
    program.wait(timeout=LONGEST)
    return program


def failures(program: Program) -> list[str]:
    return [line.text for line in program.lines if "✘" in line.text]


def test_the_real_radio_behaves_like_every_other(lab: Lab) -> None:
    tests = os.environ.get("ROADMESH_TESTS")
    if not tests:
        pytest.fail("which unit tests? Set ROADMESH_TESTS to RoadMeshPackageTests.xctest")
    program = run_suite(lab.box("both", controllers=2, main_conf=NO_OTHER_CHANNELS), tests)
    assert program.exit_code == 0, "\n".join(failures(program))
    # A filter that matches nothing passes as well.
    assert any("Test run with 16 tests" in line.text for line in program.lines), program.tail()
