"""Changes the air along a road: a recorded drive, or a model of one."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import BoxDied, LabError

if TYPE_CHECKING:
    from .air import Radio
    from .lab import Lab

# Below this signal packets are lost, more with each dB up to a maximum. Apart from the maximum, the model is the
# simulator's (Sources/MeshSimulator/Road.swift). Eight losses in a row end a link, and here only the road's gaps
# should end links.
AUDIBLE_DBM, LOSS_PER_DB, MOST_LOST = -80, 0.04, 0.20


@dataclass(frozen=True)
class Step:
    """A change of the road."""

    at: float
    """Seconds since the start."""
    change: str
    """`cut`, `heal`, `rssi`, `vote`, `mark` or `end`."""
    rssi: int | None = None
    text: str | None = None


def recorded(lab: Lab, drive: Path, fast: bool = False) -> list[Step]:
    """The steps of a recorded drive's file, from `roadmesh fieldtest replay --steps`. `fast`: leaves out the time
    between gaps."""
    command = [str(lab.binary()), "fieldtest", "replay", str(drive), "--steps", *(["--fast"] if fast else [])]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise LabError(f"{drive}: {result.stderr.strip()}")
    return [step(json.loads(line)) for line in result.stdout.splitlines()]


def step(line: dict[str, Any]) -> Step:
    return Step(line["at"], line["change"], line.get("rssi"), line.get("text"))


def follow(
    lab: Lab, steps: Iterable[Step], one: Radio, other: Radio, told: Callable[[Step], None] | None = None
) -> None:
    """Applies the steps to the air between the two, each at its time. Calls `told` with each step, which performs votes
    and marks. Returns at the end of the road, with the air healed."""
    began = time.monotonic()
    deaths = list(lab.deaths)
    for step in steps:
        lab.hub.wait_for(lambda: True if lab.deaths != deaths else None, max(began + step.at - time.monotonic(), 0))
        if lab.deaths != deaths:
            raise BoxDied(f"these boxes died on the road: {', '.join(lab.deaths)}")
        match step.change:
            case "cut":
                lab.air.cut(one, other)
            case "heal":
                lab.air.heal(one, other)
            case "rssi" if step.rssi is not None:
                lab.air.rssi(one, other, step.rssi)
                loss = min(max((AUDIBLE_DBM - step.rssi) * LOSS_PER_DB, 0), MOST_LOST)
                lab.air.loss(loss, one, other)
        if told:
            told(step)
    lab.air.heal(one, other)
