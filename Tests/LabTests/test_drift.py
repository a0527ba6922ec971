"""Eight guests on a host. The controllers' clocks drift, so connection events collide."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from helpers import Figures, await_joined, cast, hold, links_of, start_host
from runner import Box, Lab, Program

# Clock errors of the dongles' crystals, in parts per million.
CRYSTALS = (50, -50, 38, -41, 21, -17, 7, -29)
GUESTS = len(CRYSTALS)

# With intervals of 11.25 to 15 ms for all guests, 64 links were lost in this time.
MINUTE = 60.0
BETWEEN_VOTES = 7.5


@pytest.fixture(scope="module")
def bus(air_of_file: Lab) -> list[Box]:
    """Two boxes of four adapters each."""
    return [air_of_file.box(name, controllers=GUESTS // 2) for name in ("front", "back")]


@pytest.fixture
def drifting_bus(air_of_file: Lab, bus: list[Box]) -> Iterator[list[Box]]:
    """An air with the disturbances of real radios."""
    radios = [box.hci(index) for box in bus for index in range(GUESTS // 2)]
    for radio, ppm in zip(radios, CRYSTALS, strict=True):
        air_of_file.air.crystal(radio, ppm)
    air_of_file.air.events_collide(True)
    yield bus
    air_of_file.air.events_collide(False)
    for radio in radios:
        air_of_file.air.crystal(radio, 0)


def distinct(lab: Lab, car: Box) -> list[float] | None:
    """The intervals of the host's links when all differ, else None."""
    intervals = sorted(link["intervalMilliseconds"] for link in links_of(lab, car.hci(0)))
    return intervals if len(set(intervals)) == GUESTS else None


def start_bus(boxes: list[Box]) -> list[Program]:
    """Starts the guests one after another, as people board."""
    guests = []
    for box in boxes:
        for index in range(GUESTS // 2):
            guests.append(box.roadmesh("guest", f"Guest {len(guests)}", adapter=box.hci(index), name=f"guest-{len(guests)}"))
            await_joined(guests[-1])
    return guests


def test_eight_guests_whose_crystals_drift_keep_their_links_while_they_vote_and_while_they_do_not(
    road: Lab, car: Box, drifting_bus: list[Box], figures: Figures
) -> None:
    host = start_host(car)
    guests = start_bus(drifting_bus)
    host.expect("snapshot", lambda snapshot: len(snapshot["connectedPeers"]) == GUESTS)
    brisk = road.hub.wait_for(lambda: distinct(road, car), 15)
    assert brisk, links_of(road, car.hci(0))
    hold(road, 10)
    calm = distinct(road, car)
    assert calm and calm[0] > brisk[0]
    figures.note(f"{GUESTS} links while they join: {brisk} ms; while nothing is said: {calm} ms")
    down, told = len(road.air.seen("linkDown")), [len(guest.seen("peerDisconnected")) for guest in guests]
    for number in range(int(MINUTE / BETWEEN_VOTES)):
        cast(guests[number], f"s{2 + number % 5}", seen_by=[host, guests[number]])
        hold(road, BETWEEN_VOTES)
    lost = len(road.air.seen("linkDown")) - down
    figures.note(f"{GUESTS} drifting links, a minute with a vote every {BETWEEN_VOTES} s: {lost} lost")
    assert lost == 0
    assert [len(guest.seen("peerDisconnected")) for guest in guests] == told
