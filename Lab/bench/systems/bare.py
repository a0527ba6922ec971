"""A bare socket in C. It does not advertise; a RoadMesh host on the same adapter does."""

from __future__ import annotations

import subprocess
from pathlib import Path

from runner import Box, Controller, LabError, Program

from ..settings import FAST_INTERVAL_UNITS
from ..stage import PROGRAMS, START, Stage

# The RoadMesh host uses the first dynamic PSM.
PSM = "0x90"

# The size of a known RoadMesh guest's first packet, and roughly of the answer.
HANDSHAKE_BYTES = "116"


def compile_into(folder: Path) -> Path:
    """Compiles the program to a path that boxes can run."""
    binary = folder / "bare"
    source = PROGRAMS / "bare.c"
    done = subprocess.run(
        ["cc", "-O2", "-Wall", "-Wextra", "-o", str(binary), str(source), "-lbluetooth"], capture_output=True, text=True
    )
    if done.returncode != 0:
        raise LabError(f"{source.name} does not compile:\n{done.stderr}")
    return binary


def start_server(stage: Stage, box: Box) -> Program:
    server = stage.bare(box, "serve", box.hci(0).address, PSM)
    server.expect("listening", timeout=START)
    return server


def dial(stage: Stage, adapter: Controller, host: Box, first: str = "0") -> Program:
    """Starts a dial."""
    line = stage.bare(adapter.box, "dial", adapter.address, host.hci(0).address, PSM, first)
    line.expect("dialling", timeout=START)
    return line


def ask_for_fast_links(stage: Stage, adapter: Controller) -> None:
    """Requests from the kernel, with the capability, the settings that main.conf lacks."""
    asked = stage.bare(adapter.box, "intervals", str(adapter.index), str(FAST_INTERVAL_UNITS))
    asked.expect("intervals", status=0, timeout=START)
