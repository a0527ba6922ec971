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


def below(pid: int) -> list[int]:
    """The processes that a process has started, and those that these have started."""
    found: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, file.read_text().split()):
                found += [child, *below(child)]
    return found


def running(kind: str, of: int | None = None) -> list[int]:
    """Processes with these words in their command that a program has started, or any program of this test. Other tests
    have programs of the same kind at the same time."""
    found = []
    for pid in below(of or os.getpid()):
        with contextlib.suppress(OSError):
            if kind in command_of(pid):
                found.append(pid)
    return found


def lives(pid: int) -> bool:
    """Whether a process runs. A zombie does not."""
    try:
        return not status_of(pid)["State"].startswith("Z")
    except OSError:
        return False


@contextlib.contextmanager
def children(seen: dict[str, dict[str, str]]) -> Iterator[None]:
    """Notes the status of every process that a host of this test starts while the body runs, by their commands."""
    done = threading.Event()
    own = command_of(os.getpid())

    def look() -> None:
        while not done.wait(0.005):
            for pid in below(os.getpid()):
                with contextlib.suppress(OSError, KeyError):
                    command = command_of(pid)
                    # A process that has not dropped its rights yet has the launcher's command line, and before that the
                    # host's or this test's. A process that has ended has no command line.
                    if command and command != own and " confined " not in command and " host " not in command:
                        seen[command] = status_of(pid)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
