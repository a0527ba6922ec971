"""The date and the machine of a measurement."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from pathlib import Path
from typing import Any

from runner.requirements import bluetoothd_name, kernel_name


def facts(binary: Path) -> dict[str, Any]:
    here = Path(__file__).parent
    number, _, kind = _output(str(binary), "--version").partition("+")
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memoryGB": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", ""),
        "kernel": kernel_name(),
        "bluetoothd": bluetoothd_name(),
        "roadmesh": number,
        "build": kind or "release",
        "revision": _output("git", "-C", str(here), "rev-parse", "--short", "HEAD"),
        "load": load(),
    }


def load() -> float:
    """The average number of runnable processes over the last minutes."""
    return round(os.getloadavg()[1], 1)


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""
