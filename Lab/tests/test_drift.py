"""Simulates some minutes with drifting crystals: which guests are lost with equal and with unequal intervals?"""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import pytest

from air.link_intervals import ALONE, BRISK, CALM, MANY, OwnIntervals
from air.simulated_hour import Settings, simulate

MINUTE = 60.0

# Tolerates the loss of a guest with the kernel's interval, since others may be joining at the same time.
JOINING = 1


@pytest.mark.parametrize("units", [6, 12, 40], ids=["7.5 ms", "15 ms", "50 ms"])
def test_guests_with_equal_intervals_are_lost_within_minutes(units: int) -> None:
    hour = simulate(Settings(links=8, intervals=f"equal:{units}", seconds=5 * MINUTE))
    assert hour.lost >= 3


@pytest.mark.parametrize("links", [2, 8, 16])
def test_guests_with_different_intervals_stay(links: int) -> None:
    hour = simulate(Settings(links=links, intervals="own", seconds=5 * MINUTE))
    assert hour.lost == 0 and hour.lost_joining <= JOINING
    assert hour.silence < 0.6


def test_drift_costs_no_goodput() -> None:
    drifting, still = (
        simulate(Settings(links=8, intervals="own", drift=drift, seconds=5 * MINUTE)) for drift in (50.0, 0.0)
    )
    assert drifting.goodput == pytest.approx(still.goodput, rel=0.05)


def test_sixteen_guests_on_old_dongles_fit() -> None:
    hour = simulate(Settings(links=16, intervals="own", two_megabit=False, seconds=5.5 * MINUTE))
    assert hour.lost == 0
    assert min(guest.held for guest in hour.guests) > 5.5 * MINUTE / 0.1
    # A state of fifty songs, 1.4 KB, arrives within half a second, also at the last guest.
    assert all(guest.goodput > 4 for guest in hour.guests)


def test_a_guest_on_a_full_bus_sees_its_vote_at_once() -> None:
    hour = simulate(Settings(links=16, intervals="own", vote_every=20, transfer=0, seconds=3 * MINUTE))
    assert len(hour.echoes) > 80
    assert hour.echoes[len(hour.echoes) // 2] < 0.12


def test_a_seed_gives_the_same_hour_twice() -> None:
    settings = Settings(links=4, intervals="equal:12", seconds=MINUTE)
    one, other = simulate(settings), simulate(settings)
    assert [(guest.held, guest.skipped, guest.sent, guest.votes) for guest in one.guests] == [
        (guest.held, guest.skipped, guest.sent, guest.votes) for guest in other.guests
    ]


# The choice of intervals


def largest_part_lost(one: int, other: int) -> float:
    """The share of a link's events that may overlap those of another link while the clocks do not drift."""
    return math.gcd(one, other) / min(one, other)


def test_no_link_loses_more_than_one_event_in_two_to_any_other() -> None:
    for one, other in itertools.combinations(MANY, 2):
        assert largest_part_lost(one, other) <= 1 / 2
    few = list(zip(BRISK, CALM, strict=True))
    for first, second in itertools.combinations(few, 2):
        for one, other in itertools.product(first, second):
            assert largest_part_lost(one, other) <= 1 / 2


def test_the_numbers_are_those_of_the_program() -> None:
    limits = (Path(__file__).parents[2] / "Sources/MeshProtocol/Limits.swift").read_text()
    assert f"LinkIntervals(brisk: {ALONE[0]}, calm: {ALONE[1]})" in limits
    pairs = re.search(r"fewIntervals = \[(.*?)\]\n", limits, re.DOTALL)
    assert pairs and [int(one) for one in re.findall(r"\d+", pairs[1])] == list(itertools.chain(*zip(BRISK, CALM)))
    many = re.search(r"manyIntervals = \[(.*?)\]\n", limits, re.DOTALL)
    assert many and tuple(int(one) for one in re.findall(r"\d+", many[1])) == MANY


def test_a_change_among_few_links_keeps_the_other_intervals() -> None:
    plan = OwnIntervals()
    for link in range(8):
        plan.opened(link)
    before = {link: plan.units(link) for link in range(8)}
    assert len(set(before.values())) == 8
    plan.closed(3)
    plan.closed(5)
    assert all(plan.units(link) == before[link] for link in range(8) if link not in (3, 5))
    plan.opened(20)
    assert plan.units(20) == before[3]


def test_a_ninth_link_lengthens_all_intervals_and_a_single_link_has_the_shortest() -> None:
    plan = OwnIntervals()
    plan.opened(0)
    plan.wants_speed(0, True)
    assert plan.units(0) == ALONE[0]
    for link in range(1, 8):
        plan.opened(link)
    assert plan.units(0) == BRISK[0]
    plan.opened(8)
    assert [plan.units(link) for link in range(9)] == list(MANY[:9])
    plan.closed(8)
    assert plan.units(0) == BRISK[0]
