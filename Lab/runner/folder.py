"""Paths: the cache of built things, and the folder with the traces of each run."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import time
from pathlib import Path

# More failed runs than this are deleted, oldest first. A run takes some megabytes.
KEPT_RUNS = 20

LOCK = "lock"


def cache() -> Path:
    if own := os.environ.get("ROADMESH_CACHE"):
        base = Path(own)
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "roadmesh"
    return base.resolve() / "lab"


def slug(text: str) -> str:
    """Turns a name into a file name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-") or "x"


class RunFolder:
    def __init__(self, name: str, parent: Path | None = None) -> None:
        self.started = time.monotonic()
        parent = parent or cache() / "runs"
        parent.mkdir(parents=True, exist_ok=True)
        _prune(parent)
        # The process id distinguishes two runs that start in the same second.
        self.path = parent / f"{time.strftime('%Y%m%d-%H%M%S')}-{slug(name)}-{os.getpid()}"
        suffix = 1
        while self.path.exists():
            suffix += 1
            self.path = self.path.with_name(f"{self.path.name.split('~')[0]}~{suffix}")
        self.path.mkdir()
        # Held during the run, so that no other run deletes the folder. The kernel releases it when the process ends.
        self._lock = (self.path / LOCK).open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def clock(self) -> float:
        """Seconds since the start of the run."""
        return time.monotonic() - self.started

    def close(self, keep: bool) -> None:
        if keep:
            (self.path / LOCK).unlink(missing_ok=True)
        else:
            shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


def _in_use(run: Path) -> bool:
    try:
        with (run / LOCK).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True


def _prune(parent: Path) -> None:
    runs = sorted((one for one in parent.iterdir() if one.is_dir()), key=lambda one: one.stat().st_mtime)
    for run in runs[: max(0, len(runs) - KEPT_RUNS)]:
        if not _in_use(run):
            shutil.rmtree(run, ignore_errors=True)
