"""A GATT server on bluetoothd's D-Bus interface and clients on bleak."""

from __future__ import annotations

from runner import Box, Controller, Program

from ..stage import START, Stage

# Separate boxes: a RoadMesh with the capability changes how all programs on its adapter advertise and dial.
CAR, FAMILY = "gattcar", "gattfamily"

NAME = "GATT Car"
SONGS = "8"


def start_server(stage: Stage, box: Box) -> Program:
    server = stage.python(box, "gatt_server", "hci0", NAME, SONGS)
    server.expect("ready", timeout=START)
    return server


def start_client(stage: Stage, adapter: Controller) -> Program:
    return stage.python(adapter.box, "gatt_client", adapter.adapter, NAME)
