"""When the sides of a link meet, and when they give each other up."""

from __future__ import annotations

import pytest
from bumble.hci import HCI_ErrorCode as Error

from air.connection_events import ConnectionEvents, LinkParameters
from air.supervision import Supervision

PARAMETERS = LinkParameters(interval=0.05, latency=0, timeout=0.42)
EVENTS = ConnectionEvents(anchor=10.0, interval=0.05)


@pytest.mark.parametrize(
    ("now", "next_event", "last_event"),
    [(9.0, 10.0, 10.0), (10.0, 10.0, 10.0), (10.01, 10.05, 10.0), (10.05, 10.05, 10.05), (10.99, 11.0, 10.95)],
)
def test_events_are_an_interval_apart(now: float, next_event: float, last_event: float) -> None:
    assert EVENTS.next(now) == pytest.approx(next_event)
    # In the middle of a float's last digit, both the event that begins now and the one before are right.
    assert EVENTS.last(now + 1e-9) == pytest.approx(last_event)


def test_a_link_on_which_nothing_was_ever_heard_is_given_up_after_six_intervals() -> None:
    supervision = Supervision(9.99)
    assert supervision.expires_at(10.2, EVENTS, PARAMETERS, lossy=False) == pytest.approx(10.3)
    assert supervision.reason is Error.CONNECTION_FAILED_TO_BE_ESTABLISHED_ERROR


def test_an_idle_link_is_missed_from_its_last_event_on() -> None:
    supervision = Supervision(9.99)
    supervision.heard(10.0)
    assert supervision.expires_at(12.52, EVENTS, PARAMETERS, lossy=False) == pytest.approx(12.5 + 0.42)
    assert supervision.reason is Error.CONNECTION_TIMEOUT_ERROR


def test_where_packets_get_lost_it_is_missed_from_the_last_one_that_came() -> None:
    supervision = Supervision(9.99)
    supervision.heard(12.4)
    assert supervision.expires_at(12.52, EVENTS, PARAMETERS, lossy=True) == pytest.approx(12.4 + 0.42)


def test_silence_is_overdue_after_the_timeout() -> None:
    supervision = Supervision(10.0)
    assert [supervision.overdue(at, PARAMETERS) for at in (10.29, 10.31)] == [False, True]
    supervision.heard(10.3)
    assert [supervision.overdue(at, PARAMETERS) for at in (10.71, 10.73)] == [False, True]
