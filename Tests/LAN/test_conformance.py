# SPDX-License-Identifier: Apache-2.0
"""The suite that every radio passes (Tests/BLETransportTests/Conformance), with Avahi and a network."""

import os
import subprocess

import pytest
from lan_lab import Device

# A peer in a network is reported after a second or two, and its loss a second later. All tests take about 20 s.
LONGEST = 240


@pytest.mark.timeout(LONGEST + 20)
def test_the_network_behaves_like_every_radio(car: Device) -> None:
    tests = os.environ.get("ROADMESH_TESTS")
    if not tests:
        pytest.fail("which unit tests? Set ROADMESH_TESTS to RoadMeshPackageTests.xctest")
    suite = [tests, "--testing-library", "swift-testing", "--filter", "RadioConformance"]
    done = subprocess.run(
        [*car.inside, "env", "ROADMESH_LAN=avahi", *suite], capture_output=True, text=True, timeout=LONGEST, check=False
    )
    told = done.stdout + done.stderr
    assert done.returncode == 0, "\n".join(line for line in told.splitlines() if "✘" in line)
    # A run whose filter matches no test would also pass.
    assert "Test run with 16 tests" in told, told[-2_000:]
