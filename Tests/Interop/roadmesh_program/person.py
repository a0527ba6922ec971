# SPDX-License-Identifier: Apache-2.0
"""A person at a `roadmesh` on a terminal: what the screen shows, and what is typed."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pyte

from .program import NotExpected

PATIENCE = 15.0


class Person:
    def __init__(self, binary: Path, *arguments: str, columns: int = 80, rows: int = 24, **environment: str) -> None:
        self.written = bytearray()
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._code: int | None = None
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            # The size must be set before the program reads it.
            _set_size(0, columns, rows)
            os.execve(binary, [str(binary), *arguments], {**os.environ, "TERM": "xterm", **environment})
        self.line_mode = termios.tcgetattr(self._terminal)[3]

    @property
    def lines(self) -> list[str]:
        """The lines on the screen, without empty ones at the end."""
        shown = [line.rstrip() for line in self._screen.display]
        while shown and not shown[-1]:
            shown.pop()
        return shown

    @property
    def row(self) -> int:
        return int(self._screen.cursor.y)

    @property
    def column(self) -> int:
        return int(self._screen.cursor.x)

    @property
    def prompt(self) -> str:
        """The line with the cursor."""
        return self._screen.display[self._screen.cursor.y].rstrip()

    @property
    def panel(self) -> list[str]:
        """The lines below the prompt."""
        return self.lines[self.row + 1 :]

    def look(self, fits: Callable[[], bool], what: str = "", timeout: float = PATIENCE) -> None:
        """Waits until the screen matches."""
        deadline = monotonic() + timeout
        while not fits():
            if not self._read(deadline - monotonic()):
                raise NotExpected(f"not seen: {what}; the screen:\n" + "\n".join(self.lines))

    def see(self, *texts: str, timeout: float = PATIENCE) -> None:
        """Waits until the screen shows all of these."""
        self.look(lambda: all(any(text in line for line in self.lines) for text in texts), f"{texts}", timeout)

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def enter(self, line: str) -> None:
        """Types a line when the prompt is ready."""
        self.look(lambda: self.prompt == ">", "an empty prompt")
        self.type(line)
        self.look(lambda: self.prompt == f"> {line}", f"{line!r} at the prompt")
        self.type("\n")

    def resize(self, columns: int, rows: int) -> None:
        screen = self._screen
        if (less := screen.lines - rows) > 0:
            # Terminals drop the rows below the cursor first, and then the top rows. pyte does not do this.
            row, column = screen.cursor.y, screen.cursor.x
            below = min(less, screen.lines - 1 - row)
            screen.cursor_position(1, 1)
            screen.insert_lines(below)
            screen.resize(rows, columns)
            screen.cursor.y, screen.cursor.x = row - (less - below), min(column, columns - 1)
        else:
            screen.resize(rows, columns)
        _set_size(self._terminal, columns, rows)
        os.kill(self.pid, signal.SIGWINCH)

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait(self, timeout: float = PATIENCE) -> int:
        """The exit code, or minus the signal that killed the program. Reads its output to the end."""
        deadline = monotonic() + timeout
        while self._read(deadline - monotonic()):
            pass
        if self._code is None:
            _, status = os.waitpid(self.pid, 0)
            self._code = os.waitstatus_to_exitcode(status)
        return self._code

    def stop(self) -> None:
        """Stops the process, as a debugger or `kill -STOP` does. Returns when it has stopped."""
        os.kill(self.pid, signal.SIGSTOP)
        os.waitpid(self.pid, os.WUNTRACED)

    def end(self) -> None:
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)
            self.wait()
        os.close(self._terminal)

    @property
    def mode(self) -> int:
        """The terminal's local modes, with echo and line editing."""
        return int(termios.tcgetattr(self._terminal)[3])

    def _read(self, timeout: float) -> bool:
        if timeout <= 0 or not select.select([self._terminal], [], [], timeout)[0]:
            return False
        try:
            output = os.read(self._terminal, 65_536)
        except OSError:
            # No process has the terminal open any more.
            return False
        self.written += output
        self._stream.feed(output)
        return bool(output)


def _set_size(terminal: int, columns: int, rows: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
