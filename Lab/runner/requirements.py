"""The requirements of the lab, and a check of this machine."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from .folder import cache

SETUP = Path(__file__).resolve().parents[1] / "setup"
PAIR = SETUP / "pair.conf"
KERNEL_INPUTS = SETUP / "kernel"
BLUETOOTHD_BUILDER = SETUP / "build-bluetoothd"
REQUIREMENTS = SETUP / "requirements.txt"

# The number of processors of a box, if its kernel supports more than one.
PROCESSORS = 2

# The name of a kernel with the strict check ends so.
STRICT = "-strict"

EX_UNAVAILABLE = 69

# A box allocates memory as it uses it. A box with three guests uses about this much.
BOX_MEGABYTES = 150
LEAST_BOXES = 3


def short_hash(paths: Iterable[Path]) -> str:
    """The same hash as in cache.sh."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:12]


def _chosen(what: str) -> str:
    """The name of the boxes' kernel or bluetoothd: from the environment, else from pair.conf."""
    if own := os.environ.get(f"ROADMESH_LAB_{what}"):
        return own
    settings = dict(line.split("=", 1) for line in PAIR.read_text().splitlines() if "=" in line and line[0] != "#")
    return settings[what]


def kernel_name() -> str:
    return _chosen("KERNEL")


def bluetoothd_name() -> str:
    return _chosen("BLUETOOTHD")


def kernel_path() -> Path:
    """The boxes' kernel: built by build-kernel, or given as a path."""
    if "/" in (name := kernel_name()):
        return Path(name).resolve()
    return _built(name)


def strict_kernel_path() -> Path:
    """The same version with the strict check, which build-kernel makes with it. A kernel given by its path is used as it is."""
    if "/" in (name := kernel_name()):
        return Path(name).resolve()
    return _built(name.removesuffix(STRICT) + STRICT)


def _built(name: str) -> Path:
    return cache() / f"linux-{name}-{short_hash(sorted(KERNEL_INPUTS.iterdir()))}"


def bluetoothd_path() -> Path:
    """The folder of the boxes' bluetoothd, made by build-bluetoothd."""
    return cache() / f"bluetoothd-{bluetoothd_name()}-{short_hash([BLUETOOTHD_BUILDER])}"


@functools.cache
def processors(kernel: Path) -> int:
    """The number of processors of a box with this kernel."""
    shown = subprocess.run([str(kernel), "--showconfig"], capture_output=True, text=True)
    return PROCESSORS if "\nCONFIG_SMP=y\n" in shown.stdout else 1


def venv_path() -> Path:
    return cache() / f"venv-{short_hash([REQUIREMENTS])}"


def missing() -> list[str]:
    """A list of sentences, each with a reason why the lab cannot run here and the remedy."""
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
        reasons.append("Boxes need a process namespace, which takes root (or CAP_SYS_ADMIN).")
    reasons += not_built()
    if not (venv_path() / "complete").exists():
        reasons.append("The lab's Python environment is missing: run scripts/radio-lab build.")
    if (free := _free_shared_memory()) < LEAST_BOXES * BOX_MEGABYTES:
        reasons.append(
            f"/dev/shm, which holds the memory of boxes, has {free} MB free; {LEAST_BOXES} boxes need some"
            f" {LEAST_BOXES * BOX_MEGABYTES} MB."
        )
    return reasons


def not_built() -> list[str]:
    """A sentence for the boxes' kernel and one for their bluetoothd, if they have not been built."""
    reasons = []
    if not kernel_path().exists():
        build = f"scripts/radio-lab --kernel {kernel_name()} build"
        reasons.append(f"The boxes' kernel has not been built: run {build} (three minutes, once).")
    if not (bluetoothd_path() / "complete").exists():
        build = f"scripts/radio-lab --bluetoothd {bluetoothd_name()} build"
        reasons.append(f"The boxes' bluetoothd has not been fetched: run {build}.")
    return reasons


def _can_isolate() -> bool:
    command = ["unshare", "--pid", "--fork", "--kill-child=KILL", "true"]
    return subprocess.run(command, capture_output=True).returncode == 0


def _free_shared_memory() -> int:
    return shutil.disk_usage("/dev/shm").free // (1024 * 1024)
