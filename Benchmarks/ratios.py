#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the measured costs by ratios, since absolute times depend on the machine.

    ratios.py FOLDER    the folder of the exported benchmarks (JMH's JSON)
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

# Benchmarks that run the measured operation a thousand times per iteration.
BY_THE_THOUSAND = ("seal", "open", "message", "vote")


@dataclass(frozen=True)
class Ratio:
    """An upper limit for the ratio of two medians."""

    of: str
    to: str
    most: float
    why: str


# Operations that cost more with a longer queue, and the longest measured queue.
GROWING = {
    "encode a state of": 1_000,
    "decode a state of": 100,
    "build a vote's change,": 1_000,
    "apply a vote's change,": 100,
}

RATIOS = [
    Ratio("seal 1200 bytes", "seal 30 bytes", 8, "the fixed cost of a record dominates"),
    Ratio("open 1200 bytes", "open 30 bytes", 8, "the same for opening it"),
    Ratio("known handshake", "first handshake", 1.35, "a known guest joins in one round trip at about the same cost"),
    *(
        Ratio(f"{what} {10 * songs} songs", f"{what} {songs} songs", 20, "the work is not quadratic in the songs")
        for what, most in GROWING.items()
        for songs in (10, 100)
        if 10 * songs <= most
    ),
    Ratio("encode a vote's change, 1000 songs", "encode a vote's change, 10 songs", 3, "the queue does not affect a vote"),
    Ratio("build a vote's change, 100 songs", "encode a state of 100 songs", 1, "a change costs less than a state"),
    Ratio("vote, 16 guests, 100 songs", "vote, 1 guest, 100 songs", 16, "a guest costs no more if there are others"),
    Ratio("vote, 16 guests, 100 songs", "vote, 16 guests, 10 songs", 4, "work for all guests is done once"),
    Ratio("vote, 16 guests, 10 songs", "seal 30 bytes", 400, "sixteen updates, each sealed once"),
    Ratio("commit a vote, 100 songs", "commit a vote, 10 songs", 3, "a commit writes only the changes"),
]


def measured(folder: Path) -> dict[str, tuple[float, float, float]]:
    """Median, least and 90th percentile of each benchmark, in microseconds per operation."""
    found = {}
    for path in folder.glob("*.json"):
        for one in json.loads(path.read_text()):
            name = one["benchmark"].split(".", 3)[3].replace("_", " ")
            [clock] = [metric for title, metric in one["secondaryMetrics"].items() if "wall clock" in title.lower()]
            times = 1_000 if name.startswith(BY_THE_THOUSAND) else 1
            percentiles = clock["scorePercentiles"]
            found[name] = tuple(percentiles[key] / times for key in ("50.0", "0.0", "90.0"))
    return found


def main() -> int:
    found = measured(Path(sys.argv[1]))
    print("| what | median, µs | least | 90th percentile |\n|---|---:|---:|---:|")
    for name, figures in sorted(found.items()):
        print(f"| {name} | {' | '.join(f'{figure:,.2f}' for figure in figures)} |")
    print()
    failed = 0
    for ratio in RATIOS:
        share = found[ratio.of][0] / found[ratio.to][0]
        failed += share > ratio.most
        verdict = "met" if share <= ratio.most else "NOT MET"
        print(f"{verdict}: {ratio.of} / {ratio.to}: {share:.2f}, at most {ratio.most:g}: {ratio.why}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
