"""`python -m air.hour`: simulates an hour of links with drifting crystals and colliding events, and reports the results.

scripts/radio-lab hour --links 8 --intervals equal:12 --seed 1 2 3
"""

from __future__ import annotations

import argparse
import statistics
import time

from .simulated_hour import Guest, Hour, Settings, simulate


def report(hour: Hour, still: Hour | None, processor: float) -> str:
    """A line for each guest, and the totals. `still`: the same hour without drift."""
    one = hour.settings
    phy = "2M" if one.two_megabit else "1M"
    heading = "guest    ppm      held  skipped  longest silence  lost  joining  without a link  KB/s"
    lines = [
        f"{one.links} links, intervals {one.intervals}, crystals within {one.drift:g} ppm, seed {one.seed}, "
        f"{one.seconds / 60:g} min, {phy}: {processor:.0f} s of processor time",
        heading + ("  without drift" if still else ""),
    ]
    for guest in hour.guests:
        line = _line(guest, hour)
        lines.append(f"{line} {still.guests[guest.number].goodput:9.1f}" if still else line)
    return "\n".join([*lines, *sums(hour, still)])


def _line(guest: Guest, hour: Hour) -> str:
    events = max(1, guest.skipped + guest.held)
    away = hour.settings.seconds - guest.up - guest.number * hour.settings.join_every
    return (
        f"{guest.number + 1:5} {guest.ppm:+6.1f} {guest.held:9} {guest.skipped / events:7.1%} "
        f"{guest.silence * 1e3:13.0f} ms {guest.lost:5} {guest.lost_joining:8} {away:13.1f} s {guest.goodput:6.1f}"
    )


def sums(hour: Hour, still: Hour | None) -> list[str]:
    lines = [f" with drift: {_sum(hour)}"]
    if still:
        lines.append(f"    without: {_sum(still)}")
        if still.goodput:
            lines.append(f"    goodput: {hour.goodput / still.goodput:.1%} of that without drift")
    return lines


def _sum(hour: Hour) -> str:
    counters = hour.host.counters
    advertising = max(1, counters.advertising_events + counters.advertising_events_skipped)
    return (
        f"{hour.lost} lost, {hour.lost_joining} while joining, {hour.skipped:.1%} of events skipped, "
        f"longest silence {hour.silence * 1e3:.0f} ms, {hour.goodput:.1f} KB/s, vote {_times(hour.votes)}, "
        f"and back {_times(hour.echoes)}, "
        f"{counters.advertising_events_skipped / advertising:.0%} of advertising skipped"
    )


def _times(seconds: list[float]) -> str:
    """Median and 99th percentile of a sorted list."""
    if not seconds:
        return "none"
    return f"{statistics.median(seconds) * 1e3:.0f} ms (99 %: {seconds[int(len(seconds) * 0.99)] * 1e3:.0f} ms)"


def main() -> None:
    parser = argparse.ArgumentParser(prog="radio-lab hour", description="An hour of links on drifting crystals.")
    parser.add_argument("--links", type=int, default=8)
    parser.add_argument(
        "--intervals", default="own", help="in 1.25 ms: own, equal:UNITS, equal:BRISK/CALM, or BRISK,…/CALM,…"
    )
    parser.add_argument("--drift", type=float, default=50.0, help="largest error of a crystal, in ppm")
    parser.add_argument("--seed", type=int, nargs="+", default=[1])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--phy", choices=("1M", "2M"), default="2M")
    parser.add_argument("--vote-every", type=float, default=120.0, help="seconds between a guest's votes, on average")
    parser.add_argument("--own-data", action="store_true", help="state updates do not make a link brisk")
    parser.add_argument("--join-every", type=float, default=2.0, help="seconds between the dials of two guests")
    parser.add_argument("--transfer", type=float, default=10.0, help="seconds of each transfer; 0: no transfers")
    parser.add_argument("--turns", action="store_true", help="events do not collide: links take turns")
    parser.add_argument("--alone", action="store_true", help="skip the same hour without drift")
    parser.add_argument("--brief", action="store_true", help="print only the totals")
    arguments = parser.parse_args()
    for seed in arguments.seed:
        hours: list[Hour] = []
        began = time.process_time()
        for drift in [arguments.drift] if arguments.alone else [arguments.drift, 0.0]:
            settings = Settings(
                links=arguments.links,
                intervals=arguments.intervals,
                drift=drift,
                seed=seed,
                seconds=arguments.minutes * 60,
                two_megabit=arguments.phy == "2M",
                vote_every=arguments.vote_every,
                transfer=arguments.transfer,
                states_are_data=not arguments.own_data,
                join_every=arguments.join_every,
                collide=not arguments.turns,
            )
            hours.append(simulate(settings))
        still = hours[1] if len(hours) > 1 else None
        text = report(hours[0], still, time.process_time() - began)
        if arguments.brief:
            text = "\n".join([text.splitlines()[0], *sums(hours[0], still)])
        print(text, flush=True)


if __name__ == "__main__":
    main()
