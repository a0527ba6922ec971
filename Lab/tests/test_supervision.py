"""Tests of connection events and of supervision timeouts."""

from __future__ import annotations

import pytest
from air.connection_events import ConnectionEvents, LinkParameters
from air.supervision import Supervision
from bumble.hci import HCI_ErrorCode as Error

PARAMETERS = LinkParameters(interval=0.05, latency=0, timeout=0.42)
EVENTS = ConnectionEvents(anchor=10.0, interval=0.05)


@pytest.mark.parametrize(
    ("now", "next_event", "last_event"),
    [(9.0, 10.0, 10.0), (10.0, 10.0, 10.0), (10.01, 10.05, 10.0), (10.05, 10.05, 10.05), (10.99, 11.0, 10.95)],
)
def test_events_are_an_interval_apart(now: float, next_event: float, last_event: float) -> None:
    assert EVENTS.next(now) == pytest.approx(next_event)
    # If an event begins at `now`, rounding decides whether it is the last event. So use a slightly later time.
    assert EVENTS.last(now + 1e-9) == pytest.approx(last_event)


def test_a_link_without_any_packet_ends_after_six_intervals() -> None:
    supervision = Supervision(9.99)
    assert supervision.expires_at(10.2, EVENTS, PARAMETERS, lossy=False) == pytest.approx(10.3)
    assert supervision.reason is Error.CONNECTION_FAILED_TO_BE_ESTABLISHED_ERROR


def test_the_timeout_of_an_idle_link_counts_from_its_last_event() -> None:
    supervision = Supervision(9.99)
    supervision.heard(10.0)
    assert supervision.expires_at(12.52, EVENTS, PARAMETERS, lossy=False) == pytest.approx(12.5 + 0.42)
    assert supervision.reason is Error.CONNECTION_TIMEOUT_ERROR


def test_the_timeout_of_a_lossy_link_counts_from_its_last_packet() -> None:
    supervision = Supervision(9.99)
    supervision.heard(12.4)
    assert supervision.expires_at(12.52, EVENTS, PARAMETERS, lossy=True) == pytest.approx(12.4 + 0.42)


def test_a_silent_link_is_overdue_after_the_timeout() -> None:
    supervision = Supervision(10.0)
    assert [supervision.overdue(at, PARAMETERS) for at in (10.29, 10.31)] == [False, True]
    supervision.heard(10.3)
    assert [supervision.overdue(at, PARAMETERS) for at in (10.71, 10.73)] == [False, True]
