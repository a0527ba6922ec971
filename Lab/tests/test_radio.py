"""Tests of the radio, which does one thing at a time."""

from __future__ import annotations

from air.radio import Radio


class Waiting:
    """A link that starts an exchange as soon as it gets the radio."""

    def __init__(self, radio: Radio) -> None:
        self.radio = radio
        self.resumed: list[float] = []

    def resume(self, now: float) -> None:
        self.resumed.append(now)
        self.radio.begin(self, now + 1)


def test_the_link_that_has_waited_longest_is_next_and_alone() -> None:
    radio = Radio()
    one, other, third = (Waiting(radio) for _ in range(3))
    radio.begin(one, 1.0)
    assert radio.wait(other) and radio.wait(third)
    radio.release(one, 1.0)
    assert (other.resumed, third.resumed, radio.busy_until) == ([1.0], [], 2.0)
    radio.release(other, 2.0)
    assert third.resumed == [2.0]


def test_no_link_waits_without_an_exchange_that_would_wake_it() -> None:
    radio = Radio()
    link = Waiting(radio)
    radio.occupy(0.0, 5e-3)
    assert not radio.wait(link)
    radio.begin(link, 1.0)
    assert not radio.wait(link)


def test_an_advertising_event_follows_the_current_activity() -> None:
    radio = Radio()
    radio.occupy(1.0, 0.5)
    radio.occupy(1.2, 0.5)
    assert radio.busy_until == 2.0
