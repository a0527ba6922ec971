"""Simulates some minutes with drifting crystals: which guests are lost with equal and with unequal intervals?"""

from __future__ import annotations

import pytest
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
