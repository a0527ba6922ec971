"""The suite that every radio passes (Tests/BLETransportTests/Conformance), on two adapters of one box."""

import os

import pytest


def test_the_real_radio_behaves_like_every_other(lab):
    tests = os.environ.get("ROADMESH_TESTS")
    if not tests:
        pytest.fail("which unit tests? Set ROADMESH_TESTS to RoadMeshPackageTests.xctest")
    box = lab.box("both", controllers=2)
    program = box.spawn(
        [tests, "--testing-library", "swift-testing", "--filter", "RadioConformance"],
        env={"ROADMESH_RADIOS": "hci0,hci1"},
    )
    exit_code = program.wait(timeout=120)
    lines = [line.text for line in program.lines]
    passed = [line for line in lines if "Test run with" in line]
    print("\n".join(passed))
    assert exit_code == 0, "\n".join(line for line in lines if "✘" in line)
    # A filter that matches nothing passes as well.
    assert any("Test run with 12 tests" in line for line in passed), passed
