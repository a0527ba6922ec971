# SPDX-License-Identifier: Apache-2.0
"""`ping`, `trace` and `pipe` with their files. A pytest plugin."""

from __future__ import annotations

import contextlib
import json
import random
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from .program import START, Event


class Tool:
    """A link tool with its files. Its events are on standard error, or on standard output for `ping` and `trace`."""

    def __init__(self, binary: Path, words: list[str], **files: Any) -> None:
        usual = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen([binary, *words], **(usual | files))

    def event(self, wanted: str, **fields: Any) -> Event:
        """The next such event on standard error."""
        assert self.process.stderr
        seen: list[str] = []
        for line in self.process.stderr:
            seen.append(line.decode())
            one = json.loads(line) if line.startswith(b"{") else {}
            if one.get("event") == wanted and fields.items() <= one.items():
                return one
        raise AssertionError(f"no {wanted} {fields} in {seen}")

    def drain(self) -> None:
        """Keeps standard error from filling."""
        assert self.process.stderr
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def drain_output(self) -> None:
        assert self.process.stdout
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def ended(self, timeout: float = START) -> int:
        return self.process.wait(timeout)


StartTool = Callable[..., Tool]


@pytest.fixture
def tool(binary: Path, air: Path) -> Iterator[StartTool]:
    made: list[Tool] = []

    def start(command: str, address: str, *words: str, **files: Any) -> Tool:
        place = ["--radio", "virtual", "--air", str(air), "--adapter", address]
        made.append(Tool(binary, [command, *words, *place], **files))
        return made[-1]

    yield start
    for one in made:
        if one.process.poll() is None:
            one.process.kill()
        one.process.wait()
        for pipe in (one.process.stdin, one.process.stdout, one.process.stderr):
            if pipe:
                # Input that the program did not read is lost.
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


@pytest.fixture
def files(tmp_path: Path) -> Iterator[Callable[[str, str], IO[bytes]]]:
    made: list[IO[bytes]] = []

    def open_file(name: str, mode: str) -> IO[bytes]:
        made.append((tmp_path / name).open(mode + "b"))
        return made[-1]

    yield open_file
    for file in made:
        file.close()


def data(count: int, seed: int = 7) -> bytes:
    return random.Random(seed).randbytes(count)
