# SPDX-License-Identifier: Apache-2.0
"""A `roadmesh` that runs during a test: its output, and its input."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import IO, Any

Event = dict[str, Any]

# A program starts slowly on a machine that is busy with a build. No test measures a time with this.
START = 60.0


class NotExpected(AssertionError):
    pass


class Program:
    def __init__(self, binary: Path, *arguments: str) -> None:
        self.arguments = arguments
        self.was_killed = False
        self._process = subprocess.Popen(
            [binary, *arguments, "--json"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._changed = threading.Condition()
        self._events: list[Event] = []
        self._remarks: list[str] = []
        self._next = 0
        self._ended = False
        assert self._process.stdout and self._process.stderr
        self._readers = [
            threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._read_remarks, args=(self._process.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def _read(self, output: IO[str]) -> None:
        for line in output:
            with self._changed:
                self._events.append(json.loads(line))
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _read_remarks(self, output: IO[str]) -> None:
        self._remarks.extend(output)

    def expect(
        self, event: str, fits: Callable[[Event], bool] = lambda _: True, timeout: float = 10.0, **fields: Any
    ) -> Event:
        """Waits for the next such event. Later calls start after it."""
        deadline = monotonic() + timeout
        with self._changed:
            at = self._next
            while True:
                for place in range(at, len(self._events)):
                    one = self._events[place]
                    if one["event"] == event and fields.items() <= one.items() and fits(one):
                        self._next = place + 1
                        return one
                at = len(self._events)
                if self._ended or not self._changed.wait(deadline - monotonic()):
                    raise NotExpected(f"no {event} {fields}; the last events:\n{self.tail()}")

    def expect_seen(self, event: str, timeout: float = 10.0, count: int = 1, **fields: Any) -> Event:
        """Waits for the first such event of all, or for the one with this number. Does not change where later calls
        start."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or len(self._found(event, fields)) >= count, timeout)
            if len(found := self._found(event, fields)) < count:
                raise NotExpected(f"no {event} {fields}; the last events:\n{self.tail()}")
            return found[count - 1]

    def _found(self, event: str, fields: Event) -> list[Event]:
        return [one for one in self._events if one["event"] == event and fields.items() <= one.items()]

    def seen(self, event: str, **fields: Any) -> list[Event]:
        """All such events so far."""
        with self._changed:
            return self._found(event, fields)

    def remarks(self) -> list[str]:
        """The program's output on standard error so far."""
        return list(self._remarks)

    def say(self, line: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def end(self) -> int:
        """Stops the program as a person would, and waits for its end."""
        if self._process.poll() is None:
            self._process.terminate()
        return self._awaited()

    def ended(self) -> int:
        """Waits for a program that ends on its own: only then is its state folder free."""
        return self._awaited()

    def kill(self) -> None:
        self.was_killed = True
        self._process.kill()
        self._awaited()

    def _awaited(self) -> int:
        try:
            code = self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise
        for reader in self._readers:
            reader.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe:
                pipe.close()
        return code

    def tail(self) -> str:
        return "\n".join([*map(json.dumps, self._events[-8:]), *self._remarks[-8:]])
