"""A host that sends each guest its full state as JSON over a plain L2CAP channel, for each vote."""

from __future__ import annotations

from runner import Box, Controller, Program

from ..stage import START, Stage

# Separate boxes, as for GATT.
CAR, BUS = "jsoncar", "jsonbus"

# bluetoothd opens more channels for GATT. Linux 6.1 can take the answer to that for the answer to a channel
# that was accepted under the same identifier. Such a channel then sends to the wrong channel for the rest of its life:
# five of eight guests were lost that way.
NO_EATT = "[GATT]\nChannels = 1\n"

PSM = "0x91"


def car(stage: Stage) -> Box:
    return stage.box(CAR, more_conf=NO_EATT)


def adapters(stage: Stage, count: int) -> list[Controller]:
    return stage.adapters(BUS, count, more_conf=NO_EATT)


def start_host(stage: Stage, box: Box, songs: int) -> Program:
    host = stage.python(box, "json_host", "hci0", box.hci(0).address, PSM, str(songs))
    host.expect("ready", timeout=START)
    return host


def start_guest(stage: Stage, adapter: Controller, host: Box) -> Program:
    """Starts a guest that dials."""
    return stage.python(adapter.box, "json_guest", adapter.address, host.hci(0).address, PSM)
