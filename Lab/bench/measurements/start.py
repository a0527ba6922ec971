"""From the start of a guest's program to the first state that it shows."""

from __future__ import annotations

import time

from ..results import Results
from ..settings import Effort
from ..stage import START, Stage
from ..systems import GATT, ROADMESH, gatt, roadmesh

METRIC = "startToState"


def measure(stage: Stage, results: Results, effort: Effort) -> None:
    car, family = stage.box("car"), stage.box("family")
    name = stage.setting.name
    if effort.starts:
        roadmesh.start_host(stage, car)
        family.await_ready()
        for number in range(effort.starts):
            began = time.monotonic()
            guest = roadmesh.start_guest(stage, family.hci(0), f"Guest {number}")
            state = roadmesh.await_joined(guest)
            results.add(METRIC, ROADMESH, name, "", "ms", [1e3 * (state["_received"] - began)])
            guest.say("quit")
            guest.wait()
        stage.clear()
    if effort.gatt_starts and stage.setting.for_everybody:
        car, family = stage.box(gatt.CAR), stage.box(gatt.FAMILY)
        family.await_ready()
        gatt.start_server(stage, car)
        for _ in range(effort.gatt_starts):
            began = time.monotonic()
            client = gatt.start_client(stage, family.hci(0))
            state = client.expect("state", timeout=START)
            results.add(METRIC, GATT, name, "", "ms", [1e3 * (state["_received"] - began)])
            client.expect("listening", timeout=START)
            stage.lab.air.skip()
            client.kill()
            # bluetoothd ends an unused link late, or never.
            stage.lab.air.drop(car, family)
        stage.clear()
