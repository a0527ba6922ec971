"""Modelled roads: possible signals between two cars of a convoy. Nothing here was measured. Each
figure belongs to the model, and is explained where it is used."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from runner.drive import Step

# The signal of two dongles at 0 dBm at one metre, and its decay with distance: 2 is free space, a street has more.
AT_ONE_METRE_DBM, PATH_LOSS_EXPONENT = -40.0, 2.4
# A receiver loses the signal below the first value, and regains it above the second. With one limit it would flap.
DEAF_DBM, HEARS_DBM = -94.0, -91.0
# Slow obstacles between two antennas (people, other cars): the standard deviation, and how long a value lasts.
SHADOWING_DB, SHADOWING_SECONDS = 3.0, 4.0
INTERVAL = 0.5

Road = Callable[[float, random.Random], tuple[float, float]]
"""The distance in metres and the additional attenuation in dB, after this many seconds."""


def strength(metres: float, shadowing: float, obstacles: float) -> float:
    return AT_ONE_METRE_DBM - 10 * PATH_LOSS_EXPONENT * math.log10(max(metres, 1)) - shadowing - obstacles


def drive(road: Road, seconds: float, seed: int, marks: dict[float, str]) -> list[Step]:
    """The steps of a road: a signal twice a second, gaps when it is too weak, a vote every 8 to 25 s."""
    chance = random.Random(seed)
    steps = [Step(at, "mark", text=text) for at, text in marks.items()]
    shadowing, deaf, last = 0.0, False, 0
    kept = math.exp(-INTERVAL / SHADOWING_SECONDS)
    for number in range(int(seconds / INTERVAL)):
        at = number * INTERVAL
        shadowing = kept * shadowing + math.sqrt(1 - kept**2) * chance.gauss(0, SHADOWING_DB)
        metres, obstacles = road(at, chance)
        dbm = strength(metres, shadowing, obstacles)
        # A random offset, so that steps do not start in time with any clock.
        moment = at + chance.uniform(0, INTERVAL / 2)
        if not deaf and dbm < DEAF_DBM:
            deaf = True
            steps.append(Step(moment, "cut"))
        elif deaf and dbm > HEARS_DBM:
            deaf = False
            steps.append(Step(moment, "heal"))
        if not deaf and round(dbm) != last:
            last = round(dbm)
            steps.append(Step(moment, "rssi", rssi=last))
    if deaf:
        steps.append(Step(seconds - 10, "heal"))
    at = 6.0
    while at < seconds - 20:
        steps.append(Step(at, "vote"))
        at += chance.uniform(8, 25)
    return sorted([*steps, Step(seconds, "end")], key=lambda step: step.at)


def tunnel(at: float, chance: random.Random) -> tuple[float, float]:
    """A country road at 80 km/h, with the cars 20 to 40 m apart, a bent tunnel of 700 m and a short one. Rock blocks
    the signal while one car is inside and the other is not, or while the bend is between them."""
    metres = 30 + 10 * math.sin(at / 17)
    rock = 60.0 if 60 <= at < 84 or 150 <= at < 158.5 or 210 <= at < 213 else 0.0
    return metres, rock


def city(at: float, chance: random.Random) -> tuple[float, float]:
    """Streets and traffic lights: 5 m apart at a light, up to 60 m between two, and sometimes a lorry in between."""
    metres = 5 + 55 * max(0, math.sin(at / 14)) ** 2
    lorry = 22.0 if (at % 31) > 27.5 else 0.0
    corner = 18.0 if (at % 53) > 49 else 0.0
    return metres, lorry + corner


def garage(at: float, chance: random.Random) -> tuple[float, float]:
    """Down a spiral ramp, 10 to 25 m apart. Each floor of concrete between the cars takes 18 dB, and for some seconds
    of each turn one or two floors are between them."""
    metres = 17 + 8 * math.sin(at / 9)
    turn = at % 40
    floors = 2 if 22 <= turn < 27 + (at // 40) else 1 if 18 <= turn < 32 + (at // 40) else 0
    return metres, 18.0 * floors


SECONDS = 300.0

ROADS: dict[str, list[Step]] = {
    "tunnel": drive(tunnel, SECONDS, 11, {55: "tunnel in", 90: "tunnel out", 148: "short tunnel", 209: "bridge"}),
    "city": drive(city, SECONDS, 12, {0.5: "town sign", 140: "roadworks", 290: "parking"}),
    "parking-garage": drive(garage, SECONDS, 13, {15: "barrier", 120: "second floor", 240: "bottom"}),
}
