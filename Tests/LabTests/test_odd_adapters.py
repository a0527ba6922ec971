"""Adapters with publicly reported faults: what still works, and what the program reports."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from helpers import START, await_joined, cast, start_guests, start_host
from runner import Box, Lab
from test_doctor import QUIET, doctor
from test_mending import is_out

# An adapter that loads its firmware again and again goes and comes back this often.
RELOADS = 6


@pytest.fixture
def refusing(road: Lab, family: Box) -> Iterator[Box]:
    """A box with a first adapter that refuses to scan while it has a link, like dongles with RTL8761B."""
    road.air.refuse_scans_while_linked(family.hci(0))
    yield family
    road.air.refuse_scans_while_linked(family.hci(0), on=False)


def test_a_guest_whose_adapter_scans_only_without_a_link_votes_and_comes_back(road: Lab, car: Box, refusing: Box) -> None:
    host = start_host(car)
    [ana] = start_guests(refusing, "Ana")
    cast(ana, "s2", seen_by=[host, ana])
    # Another program requests a scan at the same time. The request ends, and does not affect the guest.
    scan = refusing.roadmesh("scan", "--seconds", "2", adapter="hci0")
    scan.wait(START)
    assert not ana.seen("peerDisconnected")
    road.air.cut(car, refusing)
    ana.expect("connection", state="reconnecting")
    road.air.heal()
    await_joined(ana)
    cast(ana, "s3", seen_by=[host, ana])


def test_a_host_whose_adapter_scans_only_without_a_link_takes_guests(road: Lab, car: Box, family: Box) -> None:
    road.air.refuse_scans_while_linked(car)
    host = start_host(car)
    ana, bob = start_guests(family, "Ana", "Bob")
    cast(bob, "s2", seen_by=[host, ana, bob])
    road.air.refuse_scans_while_linked(car, on=False)


def test_a_host_whose_adapter_loads_its_firmware_again_and_again_is_back_when_that_is_over(
    road: Lab, family: Box
) -> None:
    car = road.box("reloading", driver="vhci")
    host = start_host(car)
    [ana] = start_guests(family, "Ana")
    for _ in range(RELOADS):
        car.unplug(0)
        car.run("until ! hciconfig hci0 2>/dev/null; do sleep 0.02; done")
        # bluetoothd 5.82 can crash if an adapter goes while an advertisement is being registered. The system restarts
        # it.
        if not car.bluetoothd.running:
            car.start_bluetoothd()
        car.plug(0)
        car.run("until hciconfig hci0 2>/dev/null | grep -q UP; do sleep 0.02; done", timeout=START)
    await_joined(ana)
    cast(ana, "s2", seen_by=[host, ana], timeout=START)
    assert road.hub.wait_for(lambda: True if not is_out(host) else None, START), host.tail()
    told = [one for one in host.events if one.get("code") == "radioUnavailable"]
    assert len(told) <= 4 * RELOADS, "an outage is reported once, and once more if its cause changes"
    car.power_off()


def test_an_adapter_that_somebody_has_told_to_advertise_is_named(road: Lab) -> None:
    # The kernel then dials by directed advertising, and gets no answer (0x3c on Broadcom's).
    told = road.box("told", main_conf=QUIET)
    told.run("btmgmt --index 0 advertising on")
    [finding] = doctor(told).seen("finding", code="advertisesItself")
    assert finding["level"] == "worthKnowing" and finding["command"] == "sudo btmgmt --index 0 advertising off"
    told.run(finding["command"].removeprefix("sudo "))
    assert not doctor(told).seen("finding", code="advertisesItself")
    told.power_off()
