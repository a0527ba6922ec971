"""What hosts advertise, and what a scan finds."""

from __future__ import annotations

import base64
import struct

from helpers import START, await_joined, identity, service_uuid, start_host
from runner import Box, Lab, Program

TESTS_COMPANY = 0xFFFF
COMPLETE_128_BIT_SERVICES, MANUFACTURER_DATA = 0x07, 0xFF


def scan(box: Box, *arguments: str) -> Program:
    scanner = box.roadmesh("scan", "--seconds", "2", *arguments)
    scanner.wait(START)
    return scanner


def structures(data: bytes) -> dict[int, bytes]:
    """The fields of advertising data, by their type."""
    fields = {}
    while data and data[0]:
        fields[data[1]] = data[2 : data[0] + 1]
        data = data[data[0] + 1 :]
    return fields



def test_a_scan_lists_the_host_by_name_with_signal_strength_and_the_head_of_its_id(
    road: Lab, car: Box, family: Box
) -> None:
    road.air.rssi(car, family, -67)
    host = start_host(car)
    scanner = scan(family)
    found = scanner.seen("peerDiscovered", lambda one: one["peer"]["name"] == "Dad's Car")
    assert found, scanner.tail()
    assert found[-1]["rssi"] == -67
    assert found[-1]["hops"] == 0
    assert found[-1]["peer"]["id"] == identity(host)[:8]
    assert scanner.exit_code == 0
    assert scanner.events[-1]["event"] == "bye"


def test_a_scan_lists_each_of_two_hosts_once(road: Lab, car: Box, family: Box) -> None:
    start_host(car)
    start_host(family, name="Mom's Van", adapter="hci1")
    scanner = scan(family)
    # The name is in the scan response, which may come after the advertisement.
    named = [one["peer"]["name"] for one in scanner.seen("peerDiscovered") if one["peer"]["name"] != "?"]
    assert sorted(named) == ["Dad's Car", "Mom's Van"]


def test_a_scan_that_hears_nothing_says_so_and_exits_with_69(road: Lab, car: Box, family: Box) -> None:
    start_host(car)
    road.air.cut(car)
    scanner = scan(family)
    assert scanner.exit_code == 69
    assert not scanner.seen("peerDiscovered")
    [sentence] = [line.text for line in scanner.lines if line.stream == "err"]
    assert "No host was heard" in sentence and "roadmesh host" in sentence


def test_a_host_of_another_service_is_not_seen(road: Lab, car: Box, family: Box) -> None:
    start_host(car)
    # An adapter that has not hosted before: bluetoothd accumulates a device's services for as long as it knows the
    # device.
    start_host(family, "--service", "road-trivia", name="Quiz Bus", adapter="hci2")
    quiz = scan(family, "--service", "road-trivia")
    assert {one["peer"]["name"] for one in quiz.seen("peerDiscovered")} - {"?"} == {"Quiz Bus"}
    music = scan(family)
    assert {one["peer"]["name"] for one in music.seen("peerDiscovered")} - {"?"} == {"Dad's Car"}


def test_a_host_of_another_service_is_not_seen_even_where_it_was_joined_before(
    road: Lab, car: Box, family: Box
) -> None:
    # After its first link, bluetoothd also reports services that a device does not advertise.
    start_host(car, "--service", "road-trivia", name="Quiz Bus")
    player = family.roadmesh("guest", "Ana", "--service", "road-trivia")
    await_joined(player)
    # bluetoothd reads the host's GATT services. Until then the device is not of the resolved kind.
    told = f"bluetoothctl info {car.hci(0).address} | grep -q 00001800"
    family.run(f"until {told}; do sleep 0.05; done", timeout=START)
    player.say("quit")
    player.wait()
    assert scan(family).exit_code == 69
    assert scan(family, "--service", "road-trivia").exit_code == 0


def test_the_advertisement_is_the_one_of_the_protocol_and_fits_31_bytes(road: Lab, car: Box) -> None:
    host = start_host(car)
    # This stranger requests no scan response, so it receives only the advertisement.
    road.stranger("passer-by")
    road.air.request("stranger.scan", stranger="passer-by", on=True, active=False)
    found = road.air.expect("heard", stranger="passer-by", address=car.hci(0).address)
    advertised = bytes.fromhex(found["data"])
    assert len(advertised) <= 31
    fields = structures(advertised)
    assert fields[COMPLETE_128_BIT_SERVICES][::-1].hex() == service_uuid().replace("-", "")
    company, version_and_flags, psm = struct.unpack("<HBB", fields[MANUFACTURER_DATA][:4])
    assert company == TESTS_COMPANY
    assert version_and_flags == 0x20
    assert 0x80 <= psm <= 0xFF
    assert fields[MANUFACTURER_DATA][4:].hex() == identity(host)[:8]


def test_the_name_is_in_the_scan_response_and_cut_to_what_fits(road: Lab, car: Box) -> None:
    long_name = "The Grand Old Coach of the Northern Valley"
    host = start_host(car, name=long_name)
    # Only one flag is set: GATT is available.
    tail = base64.urlsafe_b64encode(bytes((2,)) + bytes.fromhex(identity(host)[8:18])).decode()
    found = road.stranger("listener").find(service_uuid(), name=f"The Grand Old Coach\x1f{tail}")
    assert found["scanResponse"]
    # Guests that join receive the full name.
    assert host.expect_seen("ready")["peer"]["name"] == long_name
