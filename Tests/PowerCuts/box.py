# SPDX-License-Identifier: Apache-2.0
"""A box in the car: one `roadmesh` after another, with the state folder of the first."""

from __future__ import annotations

import json
import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from time import time
from typing import IO, Any

Event = dict[str, Any]


@dataclass(frozen=True)
class Printed:
    """An object that a box has printed in a numbered life. Without an event it is the end of that life."""

    box: str
    life: int
    event: Event | None


class Box:
    """A running box. All its output goes into the inbox, which all boxes share."""

    def __init__(self, name: str, command: list[str], log: Path, inbox: SimpleQueue[Printed]) -> None:
        self.name = name
        self.life = -1
        self._command = command
        self._log = log
        self._inbox = inbox
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None

    @property
    def has_power(self) -> bool:
        return self._process is not None

    def start(self) -> None:
        self.life += 1
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert self._process.stdout
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout, self.life), daemon=True)
        self._reader.start()

    def _read(self, output: IO[str], life: int) -> None:
        for line in output:
            # A power cut may come in the middle of a line.
            if line.endswith("\n"):
                self._inbox.put(Printed(self.name, life, json.loads(line)))
        self._inbox.put(Printed(self.name, life, None))

    def say(self, line: str) -> float:
        """Types a line. Returns the time, in seconds since 1970."""
        assert self._process and self._process.stdin
        at = time()
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise AssertionError(f"{self.name} has stopped unexpectedly; see {self._log}") from error
        return at

    def cut_power(self) -> float:
        """Kills the box. Returns the time of its end, when all its output is in the inbox."""
        process = self._ended()
        at = time()
        process.kill()
        self._await(process)
        return at

    def stop(self) -> int:
        """Ends the box as a person would. Returns its exit code."""
        process = self._ended()
        process.terminate()
        self._await(process)
        return process.returncode

    def _ended(self) -> subprocess.Popen[str]:
        assert self._process
        process, self._process = self._process, None
        return process

    def _await(self, process: subprocess.Popen[str]) -> None:
        try:
            process.wait(10)
        finally:
            process.kill()
            assert self._reader and process.stdin and process.stdout
            self._reader.join()
            process.stdout.close()
            # The last typed line was not read.
            with suppress(BrokenPipeError):
                process.stdin.close()
