"""The power that an idle guest uses: wake-ups of its processor, with and without `--quiet`."""

from __future__ import annotations

import os
import statistics
import time

from helpers import IS_QUIET, START, Figures, await_joined, cast, hold, start_host
from runner import Box, Lab, Program

SECONDS = float(os.environ.get("IDLE_SECONDS", "20"))
VOTES = int(os.environ.get("VOTES", "5"))
# The share of wake-ups that a guest with --quiet has left. Half of them are those of the runtime and of the check whether
# the controller still answers.
SHARE = 0.5
# The vote of a quiet guest takes as long as that of another guest. A busy machine delays single votes.
SLOWER = 1.25 if IS_QUIET else 2.0


def wake_ups(program: Program) -> dict[str, int]:
    """How often each thread of the program has waited so far."""
    lines = program.box.run(f"grep ^voluntary /proc/{program.pid}/task/*/status").splitlines()
    return {line.split(":")[0]: int(line.split()[-1]) for line in lines}


def wake_ups_a_second(lab: Lab, program: Program) -> float:
    """Looks every second, because the counts of a thread are gone when it ends."""
    count, before, began = 0, wake_ups(program), time.monotonic()
    while (passed := time.monotonic() - began) < SECONDS:
        hold(lab, 1)
        now = wake_ups(program)
        count += sum(number - before.get(thread, 0) for thread, number in now.items())
        before = now
    return count / passed


def vote_times(guest: Program, host: Program) -> list[float]:
    return [cast(guest, f"s{number}", [guest, host]) for number in range(2, 2 + VOTES)]


def test_a_quiet_guest_wakes_rarely_and_votes_as_fast(
    road: Lab, car: Box, family: Box, figures: Figures
) -> None:
    host = start_host(car)
    rates, times = {}, {}
    for name, options in (("usual", []), ("quiet", ["--quiet"])):
        guest = family.roadmesh("guest", name, "--http", "none", "--lan", "off", *options, name=name)
        await_joined(guest)
        # The link's first procedures.
        hold(road, 3)
        rates[name] = wake_ups_a_second(road, guest)
        if name == "usual":
            figures.note(f"an idle host with one guest: {wake_ups_a_second(road, host):.1f} wake-ups a second")
        times[name] = statistics.median(vote_times(guest, host))
        guest.signal("INT")
        guest.wait(START)
        host.expect("peerDisconnected")
    figures.note(
        f"a usual and a quiet guest: {rates['usual']:.1f} and {rates['quiet']:.1f} wake-ups a second, "
        f"median vote {times['usual'] * 1e3:.0f} and {times['quiet'] * 1e3:.0f} ms"
    )
    assert rates["quiet"] <= SHARE * rates["usual"]
    assert times["quiet"] <= SLOWER * times["usual"]
