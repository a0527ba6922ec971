"""`fieldtest bench` between two boxes, with real kernels and the real bluetoothd.

ROADMESH_RADIOS_FOLDER=docs/radios keeps the result as a row of docs/radios.md, marked as emulated."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from helpers import Figures
from runner import Box, Lab

# bluetoothd needs two seconds to end a link. 50 of them and all other parts take some four minutes.
GAPS = int(os.environ.get("GAPS", "50"))
SECONDS = int(os.environ.get("BENCH_SECONDS", "10"))
LIMIT = 900.0
# A reconnect takes a scan, a link, a channel and a handshake: some twenty round trips. A dial that the kernel gives up takes
# 20 s, which is a thousand.
ROUND_TRIPS = 200


def test_two_machines_measure_their_radios(road: Lab, car: Box, family: Box, figures: Figures) -> None:
    car.roadmesh("fieldtest", "bench", "--listen", "Car", name="listener")
    path = road.folder / "bench.json"
    caller = family.roadmesh(
        "fieldtest", "bench", "Car", "--gaps", str(GAPS), "--seconds", str(SECONDS), "--output", path, name="caller"
    )
    assert caller.wait(LIMIT) == 0, caller.tail()
    result = json.loads(path.read_text())
    for machine in (result["caller"], result["listener"]):
        assert machine["radio"] == "bluez" and machine["kernel"] and machine["bluez"]
        # The lab's controllers are programs.
        assert "usb" not in machine and "driver" not in machine
    assert 0 < result["join"] < 30
    assert result["roundTrip"]["lost"] == 0
    # Root has the capability, so each PHY is measured, or the controller says that it has not got it.
    rates = {rate["phy"]: rate for rate in result["goodput"]}
    assert list(rates) == ["1M", "2M", "coded"]
    assert all(("up" in rate and "down" in rate) != ("reason" in rate) for rate in rates.values())
    assert rates["1M"]["up"] > 10_000 and rates["1M"]["down"] > 10_000
    again = result["reconnect"]
    assert (again["count"], again["lost"]) == (GAPS, 0)
    assert again["median"] < ROUND_TRIPS * result["roundTrip"]["median"]
    assert result["powerCycle"] < LIMIT
    assert result["links"] == 1
    figures.note(f"bench: join {result['join']:.2f} s, power cycle {result['powerCycle']:.2f} s, {again}, {rates}")
    if folder := os.environ.get("ROADMESH_RADIOS_FOLDER"):
        kernel, bluez = result["caller"]["kernel"], result["caller"]["bluez"]
        shutil.copy(path, Path(folder) / f"emulated-linux-{kernel}-bluez-{bluez}.json")
