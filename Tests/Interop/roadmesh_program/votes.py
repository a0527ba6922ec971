# SPDX-License-Identifier: Apache-2.0
"""The votes that have counted at a host that is the real program."""

from __future__ import annotations

from collections import Counter

from .brokers import wait
from .program import Program

PRINTED = 5.0
"""Seconds that a host's output may come later than other nodes see a vote."""


def has_counted(car: Program, votes: dict[str, list[str]]) -> None:
    """Each vote of each guest counts once, by name: in the host's events, and in its final queue."""
    cast = Counter((name, song) for name, songs in votes.items() for song in songs)
    wanted = Counter(song for songs in votes.values() for song in songs)

    def told() -> Counter[tuple[str, str]]:
        return Counter((one["peer"]["name"], one["songID"]) for one in car.seen("intent", accepted=True))

    def queue() -> Counter[str]:
        return Counter({item["id"]: len(item["voters"]) for item in car.seen("snapshot")[-1]["queue"]})

    def is_exact() -> bool:
        return told() == cast and queue() == wanted

    try:
        wait(is_exact, "the votes", timeout=PRINTED)
    except AssertionError:
        assert (told(), queue()) == (cast, wanted)
        raise
