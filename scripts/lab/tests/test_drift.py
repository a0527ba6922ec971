"""Some minutes on crystals that drift, in virtual time: who is lost with equal intervals, and who with unequal ones."""

from __future__ import annotations

import itertools
import math

import pytest

from air.link_intervals import BRISK, CALM, FEW_LINKS, OwnIntervals
from air.simulated_hour import Settings, simulate

MINUTE = 60.0

# Room for a guest that is lost while it still has the kernel's interval: others may be joining as well.
JOINING = 1


@pytest.mark.parametrize("units", [6, 12, 40], ids=["7.5 ms", "15 ms", "50 ms"])
def test_guests_of_equal_intervals_are_lost_within_minutes(units: int) -> None:
    hour = simulate(Settings(links=8, intervals=f"equal:{units}", seconds=5 * MINUTE))
    assert hour.lost >= 3


@pytest.mark.parametrize("links", [2, 8, 16])
def test_guests_with_intervals_of_their_own_stay(links: int) -> None:
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
    assert all(guest.goodput > 5 for guest in hour.guests)


def test_a_vote_is_seen_by_its_guest_within_a_blink_in_a_full_bus() -> None:
    hour = simulate(Settings(links=16, intervals="own", vote_every=20, transfer=0, seconds=3 * MINUTE))
    assert len(hour.echoes) > 80
    assert hour.echoes[len(hour.echoes) // 2] < 0.12


def test_a_seed_gives_the_same_hour_twice() -> None:
    settings = Settings(links=4, intervals="equal:12", seconds=MINUTE)
    one, other = simulate(settings), simulate(settings)
    assert [(guest.held, guest.skipped, guest.sent, guest.votes) for guest in one.guests] == [
        (guest.held, guest.skipped, guest.sent, guest.votes) for guest in other.guests
    ]


# Which interval a link is given


def largest_part_lost(one: int, other: int) -> float:
    """The share of a link's events that may fall into those of another link, for as long as their clocks stand so."""
    return math.gcd(one, other) / min(one, other)


def test_no_link_loses_more_than_one_event_in_three_to_any_other() -> None:
    for one, other in itertools.combinations(CALM, 2):
        assert largest_part_lost(one, other) <= 1 / 3
    kernels = 40
    for units in (*BRISK, *CALM):
        assert largest_part_lost(kernels, units) < 1 / 3
    for brisk, calm in itertools.product(BRISK[1:], CALM):
        assert math.gcd(brisk, calm) == 1
    for one, other in itertools.combinations([*BRISK, *CALM[:FEW_LINKS]], 2):
        assert math.gcd(one, other) == 1


def test_who_comes_or_goes_changes_nobody_elses_interval() -> None:
    plan = OwnIntervals()
    for link in range(16):
        plan.opened(link)
    before = {link: plan.units(link) for link in range(16)}
    assert len(set(before.values())) == 16
    plan.closed(3)
    plan.closed(9)
    assert all(plan.units(link) == before[link] for link in range(16) if link not in (3, 9))
    plan.opened(20)
    assert plan.units(20) == before[3]


def test_speed_goes_to_who_asks_first_and_comes_back() -> None:
    plan = OwnIntervals()
    for link in range(4):
        plan.opened(link)
        plan.wants_speed(link, True)
    assert [plan.units(link) for link in range(4)] == [7, 11, 13, CALM[3]]
    plan.wants_speed(0, False)
    plan.wants_speed(3, True)
    assert (plan.units(0), plan.units(3)) == (CALM[0], 7)


def test_an_interval_is_given_away_only_once_the_link_that_had_it_has_left_it() -> None:
    plan = OwnIntervals()
    for link in range(2):
        plan.opened(link)
    plan.wants_speed(0, True)
    plan.has(0, 7)
    plan.wants_speed(0, False)
    plan.wants_speed(1, True)
    assert plan.units(1) == 11
    plan.wants_speed(1, False)
    plan.has(0, CALM[0])
    plan.wants_speed(1, True)
    assert plan.units(1) == 7


def test_a_transfer_takes_speed_back_from_who_only_votes() -> None:
    plan = OwnIntervals()
    for link in range(5):
        plan.opened(link)
        plan.wants_speed(link, link < 3)
        plan.has(link, plan.units(link))
    plan.wants_speed(4, True, much=True)
    assert [plan.units(link) for link in (0, 4)] == [CALM[0], CALM[4]]
    # Nobody else gets what is being left, and no second link has to leave.
    plan.wants_speed(3, True)
    plan.wants_speed(4, True, much=True)
    assert [plan.units(link) for link in (1, 2, 3)] == [11, 13, CALM[3]]
    plan.has(0, CALM[0])
    plan.wants_speed(3, True)
    plan.wants_speed(4, True, much=True)
    assert [plan.units(link) for link in (3, 4)] == [CALM[3], 7]


def test_the_shortest_interval_is_given_up_when_a_ninth_link_comes() -> None:
    plan = OwnIntervals()
    for link in range(FEW_LINKS):
        plan.opened(link)
    plan.wants_speed(0, True)
    assert plan.units(0) == 7
    plan.opened(FEW_LINKS)
    assert plan.units(0) == CALM[0]
    plan.wants_speed(0, True)
    assert plan.units(0) == 11
