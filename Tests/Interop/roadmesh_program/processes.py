# SPDX-License-Identifier: Apache-2.0
"""Processes that a program starts, and what the kernel says of them."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path


def status_of(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")


def running(kind: str, below: int | None = None) -> list[int]:
    """Processes with these words in their command, below another one."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            pid = int(entry.name)
            if kind in command_of(pid) and (below is None or int(status_of(pid)["PPid"]) == below):
                found.append(pid)
    return found


@contextlib.contextmanager
def children(seen: dict[str, dict[str, str]]) -> Iterator[None]:
    """Notes the status of programs that read files while the body runs, by their commands."""
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.005):
            for kind in ("read-tags", "--keep-open=yes"):
                for pid in running(kind):
                    with contextlib.suppress(OSError, KeyError):
                        command = command_of(pid)
                        # A program that has not dropped its rights yet still has the launcher's command line.
                        if " confined " not in command and os.getpid() != pid:
                            seen[command] = status_of(pid)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
