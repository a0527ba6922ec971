"""The conformance suite of all bearers (Tests/BLETransportTests/Conformance), on two adapters of one box."""

import os

import pytest
from runner import Box, Lab, Program

# The suite takes 8 s. A hanging dial takes 40 s to fail, and may make other tests fail, each after up to a minute.
LONGEST = 400

# Otherwise each side's bluetoothd opens more channels on every link, with the same identifiers as the suite's dials.
# Linux 6.1 mixes up the answers (docs/bluez.md), and half of the runs had a hanging dial. test_identifiers.py shows
# what helps.
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
    # A run whose filter matches no test would also pass.
    assert any("Test run with 16 tests" in line.text for line in program.lines), program.tail()
