"""A PIN for joining, over the air."""

from __future__ import annotations

import time

from helpers import START, Figures, await_joined, start_host
from runner import Box, Lab, Program

PIN = "314159"
# Seconds from the last digit to the queue.
LIMIT = 0.4
RUNS = 10


def asked(guest: Program) -> None:
    guest.expect(
        "notice", lambda notice: notice["code"] == "proofRequired", timeout=START
    )


def test_from_the_last_digit_to_the_queue(
    road: Lab, car: Box, family: Box, figures: Figures
) -> None:
    start_host(car, "--pin", PIN)
    times = []
    for run in range(RUNS):
        guest = family.roadmesh("guest", f"Ana {run}")
        asked(guest)
        typed = time.monotonic()
        guest.say(f"pin {PIN}")
        await_joined(guest)
        times.append(time.monotonic() - typed)
        guest.say("quit")
        guest.wait()
    assert figures.judged("from the last digit of a PIN to the queue", times, LIMIT) <= LIMIT


def test_a_wrong_pin_joins_nobody_and_the_host_hears_of_it(
    road: Lab, car: Box, family: Box
) -> None:
    host = start_host(car, "--pin", PIN)
    eve = family.roadmesh("guest", "Eve", "--pin", "271828")
    eve.expect("notice", lambda notice: notice["code"] == "wrongPIN", timeout=START)
    assert host.expect("pinGuessed")["peer"]["name"] == "Eve"
    eve.say(f"pin {PIN}")
    await_joined(eve)
