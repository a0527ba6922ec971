"""A relay's bearers on real kernels: the relay suite in Tests/BLETransportTests/Conformance, with one adapter of
either kind and with two."""

from __future__ import annotations

import os

import pytest
from helpers import await_joined, cast, links_of, start_host
from runner import Box, Lab, Program
from test_conformance import failures

# Time limit in seconds. The tests usually take some ten seconds.
LONGEST = 200

# The drivers of three hosts' adapters and one guest's, then those of the relay's one or two.
OTHERS = ("serial",) * 4
RELAYS = {
    "one adapter that dials while it is dialled": ("vhci",),
    "one adapter that does not": ("serial",),
    "two adapters that do not": ("serial", "serial"),
}


def run_suite(box: Box, tests: str = "RelayConformance") -> Program:
    bundle = os.environ.get("ROADMESH_TESTS")
    if not bundle:
        pytest.fail("which unit tests? Set ROADMESH_TESTS to RoadMeshPackageTests.xctest")
    program = box.spawn(
        [bundle, "--testing-library", "swift-testing", "--filter", tests],
        env={"ROADMESH_RELAY_RADIOS": ",".join(one.adapter for one in box.controllers)},
    )
    program.wait(timeout=LONGEST)
    assert program.exit_code == 0, "\n".join(failures(program))
    return program


@pytest.mark.parametrize("relay", RELAYS)
def test_the_radios_of_a_relay_behave_as_they_say(lab: Lab, relay: str) -> None:
    drivers = OTHERS + RELAYS[relay]
    program = run_suite(lab.box("chain", controllers=len(drivers), driver=drivers))
    # A run whose filter matches no test would also pass.
    assert any("Test run with 5 tests" in line.text for line in program.lines), program.tail()


def test_a_dial_whose_answer_the_kernel_gives_to_another_channel_gets_one_of_its_own(lab: Lab) -> None:
    # The guest's channel was the first command on the link, and neither side has sent another since. So the answer to
    # the relay's dial has the identifier under which the guest's channel was accepted.
    box = lab.box("chain", controllers=5, driver="vhci", main_conf="[GATT]\nChannels=1\n")
    program = run_suite(box, "RelayConformance/dialsBack")
    assert any("Test run with 1 test " in line.text for line in program.lines), program.tail()


def test_a_guest_with_two_adapters_dials_with_the_first_and_votes(lab: Lab) -> None:
    host = start_host(lab.box("car"))
    box = lab.box("pair", controllers=2)
    guest = box.roadmesh("guest", "Ana", adapter="hci0,hci1")
    await_joined(guest)
    assert guest.seen("ready")[0]["radio"] == "bluez hci0 and bluez hci1"
    cast(guest, "s3", seen_by=[host, guest])
    assert len(links_of(lab, box.hci(0))) == 1 and not links_of(lab, box.hci(1))
    # The notice appears even if only one of the two adapters fails.
    box.rfkill(1, on=True)
    guest.expect("notice", code="radioUnavailable", cause="blocked")
    box.rfkill(1, on=False)
    guest.expect("noticeCleared", code="radioUnavailable")
    cast(guest, "s4", seen_by=[host, guest])
    refused = box.roadmesh("host", "x", adapter="hci0,hci1")
    assert refused.wait() == 64
