"""Kernels that refuse all of bluetoothd's advertisements (bluez/bluez#2269): a node with CAP_NET_ADMIN uses the
kernel directly, a node without it reports what to update."""

from __future__ import annotations

import time

import pytest
from helpers import START, Figures, await_joined, cast, hold, links_of, service_uuid, start_host
from runner import Box, Lab
from test_bad_starts import expect_refusals
from test_doctor import KEEP_HEALTHY, doctor, expect_cause, told

UNAVAILABLE = 69
USER = 1000

# Time after a host's start until it is found (the limit), on a machine that is not busy.
HEARD = 5.0

# A crashed node's advertisement has ended after this time, which includes the time for a scan to notice.
OFF_AIR = 45.0

LINKS = 10

# The interval at which an advertisement is renewed.
RENEWAL = 10.0

# With the longest pause between a relay's tries to advertise, a reset after the third failure would go unnoticed.
THREE_FAILURES = 12.0


@pytest.fixture(scope="module")
def strict(air_of_file: Lab) -> Box:
    """A head unit on such a kernel."""
    return air_of_file.box("strict", strict=True)


@pytest.fixture(scope="module")
def between(air_of_file: Lab) -> Box:
    """A box for a relay on such a kernel. Its adapter can dial and be dialled at the same time."""
    return air_of_file.box("between", strict=True, driver="vhci")


@pytest.fixture(autouse=True)
def silence(road: Lab, strict: Box, between: Box) -> None:
    """Otherwise the kernel would keep the advertisement of an earlier test's killed program for up to 30 s, and
    nodes would dial it."""
    for box in (strict, between):
        box.run("btmgmt --index 0 clr-adv", check=False)


def kernel(box: Box) -> str:
    return box.run("uname -r").strip()


def is_on_air(lab: Lab, box: Box) -> bool:
    return bool(lab.air.counters()[box.hci(0).name]["advertising"])


def await_on_air(lab: Lab, box: Box, timeout: float = 10.0) -> None:
    assert lab.hub.wait_for(lambda: True if is_on_air(lab, box) else None, timeout), f"{box} is not on the air"


def test_a_host_is_heard_and_stays_on_the_air_through_ten_links(
    road: Lab, strict: Box, family: Box, figures: Figures
) -> None:
    phone = road.stranger("phone")
    strict.await_ready()
    started = time.monotonic()
    host = strict.roadmesh("host", "Dad's Car", "--library", str(road.songs))
    phone.find(service=service_uuid(), timeout=START)
    heard = time.monotonic() - started
    figures.times("a host on a strict kernel, from its start to heard", [heard], HEARD)
    assert heard <= HEARD
    ana = family.roadmesh("guest", "Ana", adapter="hci0")
    await_joined(ana)
    for _ in range(LINKS):
        await_on_air(road, strict)
        phone.link(strict.hci(0))
        await_on_air(road, strict)
        phone.disconnect()
        phone.expect_disconnected()
    bob = family.roadmesh("guest", "Bob", adapter="hci1")
    await_joined(bob)
    cast(bob, "s3", seen_by=[host, ana, bob])
    assert not host.seen("notice")
    host.say("quit")
    assert host.wait(START) == 0
    assert not is_on_air(road, strict)


def test_a_host_that_crashes_goes_off_the_air(road: Lab, strict: Box) -> None:
    host = start_host(strict)
    await_on_air(road, strict)
    host.kill()
    gone = road.hub.wait_for(lambda: None if is_on_air(road, strict) else True, OFF_AIR)
    assert gone, "the kernel still advertises for a program that has died"


def test_a_host_is_on_the_air_again_after_bluetoothd_was_restarted(road: Lab, strict: Box, family: Box) -> None:
    host = start_host(strict)
    strict.stop_bluetoothd()
    host.expect("notice", code="radioUnavailable")
    strict.start_bluetoothd()
    host.expect("noticeCleared", code="radioUnavailable", timeout=START)
    await_joined(family.roadmesh("guest", "Ana", adapter="hci0"))


def test_without_the_capability_a_sentence_names_the_kernel_and_what_to_update(road: Lab, strict: Box) -> None:
    host = strict.roadmesh("host", "Dad's Car", "--library", str(road.songs), uid=USER)
    expect_refusals([host], UNAVAILABLE, f"Linux {kernel(strict)} refuses", "update Linux or BlueZ", "CAP_NET_ADMIN")


def test_doctor_names_the_kernel_after_trying_it(road: Lab, strict: Box) -> None:
    strict.run(KEEP_HEALTHY)
    finding = expect_cause(doctor(strict, uid=USER), "advertisingRefused", UNAVAILABLE)
    assert kernel(strict) in finding["message"] and finding["command"].startswith("sudo setcap")
    check = doctor(strict)
    [finding] = check.seen("finding", code="advertisingBypassed")
    assert finding["level"] == "worthKnowing" and kernel(strict) in finding["message"]
    assert told(check, "broken") == [] and check.seen("finding", code="advertised"), check.output


def test_doctor_does_not_disturb_a_host(road: Lab, strict: Box) -> None:
    host = start_host(strict)
    await_on_air(road, strict)
    assert host.state
    doctor(strict, state=host.state)
    # The host is still advertised under its own number, before it registers again.
    road.stranger("passenger").find(service=service_uuid(), timeout=RENEWAL / 2)


def test_a_relay_that_the_kernel_refuses_keeps_its_own_host(road: Lab, car: Box, between: Box) -> None:
    host = start_host(car)
    relay = between.roadmesh("guest", "Rosa", "--relay", name="refused", uid=USER)
    await_joined(relay)
    notice = relay.expect("notice", code="radioUnavailable", cause="advertisingRefused", timeout=START)
    assert kernel(between) in notice["message"]
    hold(road, THREE_FAILURES)
    # A reset would drop the link.
    assert not relay.seen("peerDisconnected") and not host.seen("peerDisconnected"), relay.tail()
    assert len(links_of(road, between.hci(0))) == 1
    cast(relay, "s3", seen_by=[host, relay])


def test_a_relay_with_the_capability_carries_guests(road: Lab, car: Box, between: Box, family: Box) -> None:
    road.air.cut(car, family)
    host = start_host(car)
    relay = between.roadmesh("guest", "Rosa", "--relay")
    await_joined(relay)
    ana = family.roadmesh("guest", "Ana", adapter="hci0")
    await_joined(ana)
    cast(ana, "s3", seen_by=[host, relay, ana])
