"""A program in a box: its output, its input, and its end."""

from __future__ import annotations

import json
import re
import signal as signals
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .cursor import Cursor
from .errors import BoxDied, LabError, NotExpected
from .hub import Value

if TYPE_CHECKING:
    from .box import Box, Controller

DEFAULT_TIMEOUT = 10.0

# The number of output lines that an error shows.
TAIL_LINES = 20
TAIL_WIDTH = 400

Event = dict[str, Any]
Predicate = Callable[[Event], Any]


@dataclass(frozen=True)
class Line:
    stream: str
    """`out` or `err`."""
    text: str
    received: float
    """The time when the line arrived in this process: time.monotonic()."""
    at: float
    """The time when the box's agent read the line, by the box's clock: seconds since 1970."""
    clock: float
    """The time when the line arrived in this process, in seconds since the start of the run."""


class Program:
    def __init__(self, box: Box, name: str, argv: list[str], options: dict[str, Any]) -> None:
        self.box = box
        self.name = name
        self.argv = argv
        self.options = options
        self.controller: Controller | None = None
        self.state: Path | None = None
        self.lines: list[Line] = []
        self.events: list[Event] = []
        """Every printed JSON object with an `event`. `_received` is the time of arrival (time.monotonic())."""
        self.prompt = ""
        """The unfinished line at the end of its output, such as a question."""
        self.exit_code: int | None = None
        self.failure: str | None = None
        self.pid: int | None = None
        self._event_cursor = Cursor(self.events)
        self._line_cursor = Cursor(self.lines)
        self._hub = box.lab.hub
        self._log = (box.lab.folder / f"{box.name}-{name}.log").open("a")

    def __repr__(self) -> str:
        return f"{self.name} in {self.box.name}"

    # Called by the box, in the hub's thread

    def on_lines(self, stream: str, texts: list[str], at: float) -> None:
        now = time.monotonic()
        clock = self.box.lab.folder.clock()
        self.prompt = ""
        for text in texts:
            self.lines.append(Line(stream, text, now, at, clock))
            self._log.write(f"{clock:9.3f} {stream} {text}\n")
            if stream == "out" and text.startswith("{"):
                self._on_json(text, now)
        self._log.flush()

    def _on_json(self, text: str, now: float) -> None:
        try:
            event = json.loads(text)
        except ValueError:
            return  # an ordinary line
        if isinstance(event, dict) and "event" in event:
            event["_received"] = now
            self.events.append(event)

    def on_exit(self, code: int) -> None:
        self.exit_code = code
        self._log.write(f"{self.box.lab.folder.clock():9.3f} --- {describe_exit(code)}\n")
        self._log.close()

    # Reading its output

    def expect(
        self, event: str, predicate: Predicate | None = None, timeout: float = DEFAULT_TIMEOUT, **fields: Any
    ) -> Event:
        """Waits for the next event of this kind that has these fields and satisfies the predicate, and returns it.

        Events are read in order: a later call does not return events before the found one.
        Fails after the timeout, and at once when the program or its box has ended.
        """

        __tracebackhide__ = True
        wanted = describe(event, predicate, fields)
        find = self._event_cursor.finder(lambda one: one if matches(one, event, predicate, fields) else None)
        return self._await(find, wanted, timeout)

    def expect_seen(
        self, event: str, predicate: Predicate | None = None, timeout: float = DEFAULT_TIMEOUT, **fields: Any
    ) -> Event:
        """Like `expect`, but searches all events so far and does not move the cursor. Returns the latest."""

        __tracebackhide__ = True

        def latest() -> Event | None:
            return next((one for one in reversed(self.events) if matches(one, event, predicate, fields)), None)

        return self._await(latest, describe(event, predicate, fields), timeout)

    def seen(self, event: str, predicate: Predicate | None = None, **fields: Any) -> list[Event]:
        """All matching events so far. Does not wait."""
        with self._hub.changed:
            return [one for one in self.events if matches(one, event, predicate, fields)]

    def never(self, event: str, predicate: Predicate | None = None, during: float = 1.0, **fields: Any) -> None:
        """Fails if such an event arrives within that time. Always waits that long."""
        __tracebackhide__ = True
        news = Cursor(self.events)
        news.skip()
        look = news.finder(lambda one: one if matches(one, event, predicate, fields) else None)
        if found := self._hub.wait_for(look, during):
            raise NotExpected(f"{self!r}: {describe(event, predicate, fields)} arrived, and should not have: {found}")

    def expect_line(self, pattern: str, timeout: float = DEFAULT_TIMEOUT, stream: str | None = None) -> re.Match[str]:
        """Waits for the next line of output that matches the regular expression. Lines have their own cursor."""

        __tracebackhide__ = True

        def fits(line: Line) -> re.Match[str] | None:
            return re.search(pattern, line.text) if stream in (None, line.stream) else None

        return self._await(self._line_cursor.finder(fits), f"a line with {pattern!r}", timeout)

    def expect_prompt(self, pattern: str, timeout: float = DEFAULT_TIMEOUT) -> re.Match[str]:
        """Waits until the output ends in an unfinished line that matches the regular expression."""

        __tracebackhide__ = True
        return self._await(lambda: re.search(pattern, self.prompt), f"a question with {pattern!r}", timeout)

    def skip(self) -> None:
        """Moves both cursors to the end, past all output so far."""
        with self._hub.changed:
            self._event_cursor.skip()
            self._line_cursor.skip()

    # Controlling it

    def say(self, line: str) -> None:
        """Writes a line to its standard input."""
        self.write(line + "\n")

    def write(self, text: str) -> None:
        self._check_alive("be told something")
        self.box.ask("write", program=self.name, text=text)

    def close_input(self) -> None:
        self.box.ask("close_input", program=self.name)

    def signal(self, which: str | int) -> None:
        """Sends a signal, such as "TERM", to the program and its child processes."""
        number = which if isinstance(which, int) else signals.Signals[f"SIG{which.removeprefix('SIG')}"].value
        self.box.ask("signal", program=self.name, number=int(number))

    def kill(self, timeout: float = DEFAULT_TIMEOUT) -> None:
        """SIGKILL: as if the power of this one program were cut. Returns when it is gone."""
        self.signal("KILL")
        self.wait(timeout)

    def pause(self) -> None:
        self.signal("STOP")

    def resume(self) -> None:
        self.signal("CONT")

    def wait(self, timeout: float = DEFAULT_TIMEOUT) -> int:
        """Waits until the program ends. Returns the exit code, or the negative number of the signal."""

        __tracebackhide__ = True
        return self._await(lambda: self.exit_code, "exit", timeout)

    def again(self, **changes: Any) -> Program:
        """Starts an ended program again, with the same arguments and the same state."""
        if self.exit_code is None:
            raise LabError(f"{self!r} is still running")
        program = self.box.spawn(self.argv, name=self.name, **{**self.options, **changes})
        program.controller, program.state = self.controller, self.state
        return program

    @property
    def running(self) -> bool:
        return self.exit_code is None and self.failure is None and self.box.alive

    @property
    def output(self) -> str:
        """Its complete standard output so far."""
        with self._hub.changed:
            return "".join(line.text + "\n" for line in self.lines if line.stream == "out")

    # Failure messages

    def _await(self, find: Callable[[], Value | None], wanted: str, timeout: float) -> Value:
        __tracebackhide__ = True

        def look() -> Value | None:
            found = find()
            if found is None:
                self._check_alive(wanted)
            return found

        found = self._hub.wait_for(look, timeout)
        if found is None:
            raise NotExpected(f"{self!r} did not {_verb(wanted)} within {timeout:g} s\n{self.tail()}")
        return found

    def _check_alive(self, wanted: str) -> None:
        __tracebackhide__ = True
        if self.failure:
            raise NotExpected(f"{self!r} could not be started: {self.failure}")
        if self.exit_code is not None:
            raise NotExpected(
                f"{self!r} {describe_exit(self.exit_code)}, but was expected to {_verb(wanted)}\n{self.tail()}"
            )
        if not self.box.alive:
            raise BoxDied(f"{self.box.why_dead()}\n{self!r} was expected to {_verb(wanted)}\n{self.tail()}")

    def tail(self) -> str:
        with self._hub.changed:
            last = self.lines[-TAIL_LINES:]
        rows = [f"  {line.clock:9.3f} {line.stream} {_shorten(line.text)}" for line in last]
        return f"its last {len(rows)} lines:\n" + "\n".join(rows) if rows else "it has printed nothing"


def matches(candidate: Event, event: str, predicate: Predicate | None, fields: dict[str, Any]) -> bool:
    if candidate["event"] != event:
        return False
    if any(key not in candidate or candidate[key] != value for key, value in fields.items()):
        return False
    return predicate is None or bool(predicate(candidate))


def describe(event: str, predicate: Predicate | None, fields: dict[str, Any]) -> str:
    wanted = [f"{key}={value!r}" for key, value in fields.items()]
    if predicate is not None:
        code = getattr(predicate, "__code__", None)
        wanted.append(f"as {Path(code.co_filename).name}:{code.co_firstlineno} wants it" if code else repr(predicate))
    return f"the event {event!r}" + (f" ({', '.join(wanted)})" if wanted else "")


def describe_exit(code: int) -> str:
    return f"was ended by {signals.Signals(-code).name}" if code < 0 else f"exited with {code}"


def _verb(wanted: str) -> str:
    return wanted if wanted in ("exit", "be told something") else f"show {wanted}"


def _shorten(text: str) -> str:
    return text if len(text) <= TAIL_WIDTH else f"{text[:TAIL_WIDTH]}… ({len(text)} characters)"
