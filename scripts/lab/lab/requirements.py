"""What a machine must have to run the lab, and whether this one has it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from .folder import cache

HERE = Path(__file__).resolve().parent.parent
KERNEL_CONFIG = HERE / "kernel.config"
KERNEL_MEND = HERE / "mend-kernel"
REQUIREMENTS = HERE / "requirements.txt"
KERNEL_VERSION = "6.1"

EX_UNAVAILABLE = 69

# Memory for a box is taken as it is used; a box with three guests takes about this much.
BOX_MEGABYTES = 150
LEAST_BOXES = 3


def short_hash(*paths: Path) -> str:
    """As cache.sh makes it."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:12]


def kernel_path() -> Path:
    """The boxes' kernel: our own build, or another that somebody wants to test on."""
    if own := os.environ.get("ROADMESH_LAB_KERNEL"):
        return Path(own).resolve()
    return cache() / f"linux-{KERNEL_VERSION}-{short_hash(KERNEL_CONFIG, KERNEL_MEND)}"


def venv_path() -> Path:
    return cache() / f"venv-{short_hash(REQUIREMENTS)}"


def missing() -> list[str]:
    """Sentences, each a reason why the lab cannot run here and what to do about it."""
    reasons = []
    if os.uname().machine != "x86_64" or os.uname().sysname != "Linux":
        return [f"The lab needs Linux on x86-64; this is {os.uname().sysname} on {os.uname().machine}."]
    for path, package in [
        ("/usr/libexec/bluetooth/bluetoothd", "bluez"),
        ("/usr/bin/dbus-daemon", "dbus"),
        ("/usr/bin/python3", "python3"),
    ]:
        if not Path(path).exists():
            reasons.append(f"{path} is missing: apt install {package}.")
    for command in ("unshare", "setpriv"):
        if not shutil.which(command):
            reasons.append(f"{command} is missing: apt install util-linux.")
    if not reasons and not _can_isolate():
        reasons.append("Boxes need a process namespace of their own, which takes root (or CAP_SYS_ADMIN).")
    if not kernel_path().exists():
        reasons.append("The boxes' kernel has not been built: run scripts/radio-lab build (three minutes, once).")
    if not (venv_path() / "complete").exists():
        reasons.append("The lab's Python environment has not been made: run scripts/radio-lab build.")
    if (free := _free_shared_memory()) < LEAST_BOXES * BOX_MEGABYTES:
        reasons.append(
            f"/dev/shm, where a box's memory lives, has {free} MB free; {LEAST_BOXES} boxes take some"
            f" {LEAST_BOXES * BOX_MEGABYTES} MB."
        )
    return reasons


def _can_isolate() -> bool:
    command = ["unshare", "--pid", "--fork", "--kill-child=KILL", "true"]
    return subprocess.run(command, capture_output=True).returncode == 0


def _free_shared_memory() -> int:
    return shutil.disk_usage("/dev/shm").free // (1024 * 1024)
