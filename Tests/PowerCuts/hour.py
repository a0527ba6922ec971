# SPDX-License-Identifier: Apache-2.0
"""The events of an hour on the road, compressed. The same seed gives the same events.

If a step picks a song or a box for a power cut, it does so by a fraction of those that exist at that time. The script
cannot know the programs' progress.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from random import Random

HOST = "car"
GUESTS = ("ana", "bob", "cem")

# Steps between two cuts.
STEPS = (3, 9)
# In seconds. Short pauses are more likely: a cut then comes in the middle of earlier events, and a box is back while
# the others still handle its loss.
LONGEST_PAUSE = 0.2
LONGEST_OUTAGE = 1.0
# Longest dead zone, in seconds. A link survives short dead zones.
LONGEST_DEAD_ZONE = 3.0
LONGEST_LEAVE = 1.0
# One cut in this many affects two boxes at once.
DOUBLE_CUTS = 5


class Deed(StrEnum):
    VOTE = "vote"
    TAKE_BACK = "takeBack"
    SUGGEST = "suggest"
    SKIP = "skip"
    PAUSE = "pause"
    PLAY = "play"
    DEAD_ZONE = "deadZone"
    LEAVE = "leave"
    CUT = "cut"


# Frequencies: mostly votes, and other events from time to time.
WEIGHTS = {
    Deed.VOTE: 50,
    Deed.TAKE_BACK: 12,
    Deed.SUGGEST: 12,
    Deed.SKIP: 5,
    Deed.PAUSE: 3,
    Deed.PLAY: 4,
    Deed.DEAD_ZONE: 4,
    Deed.LEAVE: 3,
}


@dataclass(frozen=True)
class Step:
    """After `pause` seconds `who` does this step. `pick` (0 to 1) selects the song, and `seconds` is the duration."""

    pause: float
    deed: Deed
    who: str
    pick: float
    seconds: float
    boxes: int = 1


def hour(seed: int, cuts: int) -> Iterator[Step]:
    """The steps until the last of this many cuts."""
    random = Random(seed)
    left = cuts
    while left:
        for _ in range(random.randint(*STEPS)):
            yield _deed(random)
        boxes = 2 if left > 1 and random.randrange(DOUBLE_CUTS) == 0 else 1
        left -= boxes
        pause, outage = LONGEST_PAUSE * random.random() ** 2, LONGEST_OUTAGE * random.random() ** 2
        yield Step(pause, Deed.CUT, "", random.random(), outage, boxes)


def _deed(random: Random) -> Step:
    deed = random.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    at_the_head_unit = deed in (Deed.SKIP, Deed.PAUSE, Deed.PLAY)
    who = HOST if at_the_head_unit else random.choice((HOST, *GUESTS) if deed is Deed.DEAD_ZONE else GUESTS)
    longest = {Deed.DEAD_ZONE: LONGEST_DEAD_ZONE, Deed.LEAVE: LONGEST_LEAVE}.get(deed, 0.0)
    pause = LONGEST_PAUSE * random.random() ** 2
    return Step(pause, deed, who, random.random(), longest * random.random())
