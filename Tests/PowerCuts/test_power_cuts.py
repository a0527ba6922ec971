# SPDX-License-Identifier: Apache-2.0
"""The real program on the virtual radio, with power cuts at any time."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
from car import Car
from hour import Deed
from hour import hour as steps_of


@pytest.fixture
def folder() -> Iterator[Path]:
    # Not pytest's own folder: a Unix socket's path has at most 108 bytes.
    path = Path(tempfile.mkdtemp(prefix="cuts"))
    yield path
    shutil.rmtree(path)


def test_nothing_that_was_promised_is_lost(
    hour: tuple[int, int], binary: Path, folder: Path, measured: list[str], request: pytest.FixtureRequest
) -> None:
    seed, cuts = hour
    keeps_power = request.config.getoption("--no-kill")
    # Every other hour, so that one tests the plain order of the queue and the next its fairness policy.
    car = Car(binary, folder, is_fair=seed % 2 == 1)
    began = monotonic()
    try:
        car.begin()
        started = monotonic()
        for step in steps_of(seed, cuts):
            if step.deed is not Deed.CUT or not keeps_power:
                car.do(step)
        cut = monotonic()
        car.settle()
        settled = monotonic()
        car.end()
    except Exception as error:
        error.add_note(_replay(binary, seed, cuts, keeps_power, car, folder))
        raise
    finally:
        car.abandon()
    measured.append(
        f"seed {seed}: {car.cuts} cuts in {settled - began:.1f} s: {started - began:.1f} s to start, "
        f"{(cut - started) / cuts:.2f} s a cut, {settled - cut:.1f} s until all was at rest"
    )


def _replay(binary: Path, seed: int, cuts: int, keeps_power: bool, car: Car, folder: Path) -> str:
    remarks = [f"--- {log.stem}\n{text}" for log in sorted(folder.glob("*.log")) if (text := log.read_text()[-2_000:])]
    command = f"ROADMESH_BINARY={binary} python -m pytest Tests/PowerCuts --seed {seed} --cuts {cuts}"
    return "\n".join(
        [
            f"After {car.cuts} cuts. The same hour again, as far as the machine's own time lets it be the same:",
            command + (" --no-kill" if keeps_power else ""),
            *remarks,
        ]
    )
