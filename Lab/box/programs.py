"""The programs in a box: their output in lines, their input, and their end."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any

# An endless line would fill the box's memory: longer lines are passed on in pieces.
MAXIMUM_LINE = 1024 * 1024

# Unfinished output is most likely a question, and questions are not longer than this.
MAXIMUM_PROMPT = 1024

READ_SIZE = 64 * 1024

Emit = Callable[..., None]

ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/run/home",
    "TMPDIR": "/run/tmp",
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "PYTHONUNBUFFERED": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}


class Output:
    """One of a program's two output streams, split into lines."""

    def __init__(self, pipe: int, stream: str, emit_lines: Callable[[str, list[str]], None]) -> None:
        self.pipe = pipe
        self.stream = stream
        self._emit_lines = emit_lines
        self._partial = bytearray()
        self.prompting = False
        """Whether it ends in an unfinished line that was not reported yet."""

    def read(self) -> bool:
        """Passes on all available output. False at the end of the stream."""
        try:
            data = os.read(self.pipe, READ_SIZE)
        except BlockingIOError:
            return True
        if not data:
            self.flush()
            return False
        self._partial += data
        if b"\n" in data:
            *lines, self._partial = self._partial.split(b"\n")
            self._emit_lines(self.stream, [line.decode("utf-8", "replace") for line in lines])
        elif len(self._partial) > MAXIMUM_LINE:
            self.flush()
        self.prompting = 0 < len(self._partial) <= MAXIMUM_PROMPT
        return True

    def take_prompt(self) -> str:
        self.prompting = False
        return self._partial.decode("utf-8", "replace")

    def flush(self) -> None:
        if self._partial:
            self._emit_lines(self.stream, [self._partial.decode("utf-8", "replace")])
            self._partial = bytearray()


class Program:
    def __init__(self, name: str, selector: selectors.BaseSelector, emit: Emit, request: dict[str, Any]) -> None:
        self.name = name
        self._selector = selector
        self._emit = emit
        self._input = bytearray()
        self._close_input = False
        uid, gid = request.get("uid"), request.get("gid")
        self._process = subprocess.Popen(
            request["argv"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=request.get("cwd") or "/run/tmp",
            env={**ENVIRONMENT, **request.get("env", {})},
            user=uid,
            group=gid if gid is not None else uid,
            extra_groups=[] if uid is not None else None,
            # A process group, so that a signal reaches the children too.
            start_new_session=True,
        )
        self.pid = self._process.pid
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._outputs = [
            Output(self._process.stdout.fileno(), "out", self._lines),
            Output(self._process.stderr.fileno(), "err", self._lines),
        ]
        for output in self._outputs:
            os.set_blocking(output.pipe, False)
            selector.register(output.pipe, selectors.EVENT_READ, lambda one=output: self._readable(one))
        os.set_blocking(self._process.stdin.fileno(), False)

    def _lines(self, stream: str, texts: list[str]) -> None:
        self._emit("lines", program=self.name, stream=stream, texts=texts, at=time.time())

    def _readable(self, output: Output) -> None:
        if not output.read():
            self._selector.unregister(output.pipe)
            self._outputs.remove(output)

    def show_prompts(self) -> None:
        """Called after a short silence: an unfinished line is now a question."""
        for output in self._outputs:
            if output.prompting:
                self._emit("prompt", program=self.name, text=output.take_prompt())

    @property
    def prompting(self) -> bool:
        return any(output.prompting for output in self._outputs)

    # Input

    def write(self, text: str) -> None:
        self._input += text.encode()
        self._write_input()

    def close_input(self) -> None:
        self._close_input = True
        self._write_input()

    def _write_input(self) -> None:
        pipe = self._process.stdin
        if pipe is None or pipe.closed:
            return
        try:
            while self._input:
                del self._input[: os.write(pipe.fileno(), self._input)]
        except BlockingIOError:
            if pipe.fileno() not in self._selector.get_map():
                self._selector.register(pipe.fileno(), selectors.EVENT_WRITE, self._write_input)
            return
        except BrokenPipeError:
            self._input.clear()
            self._close_input = True
        if pipe.fileno() in self._selector.get_map():
            self._selector.unregister(pipe.fileno())
        if self._close_input:
            pipe.close()

    # The end

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def ended(self, status: int) -> None:
        """Called when the process has been reaped. Reports all its output before its end."""
        code = os.waitstatus_to_exitcode(status)
        # The program's children end with it, as when a session ends.
        self.signal(signal.SIGKILL)
        for output in list(self._outputs):
            self._drain(output)
        self._close_input = True
        self._input.clear()
        self._write_input()
        self._process.returncode = code
        self._emit("exit", program=self.name, code=code, at=time.time())

    def _drain(self, output: Output) -> None:
        try:
            while output.read() and _readable_now(output.pipe):
                pass
        finally:
            output.flush()
            if output.pipe in self._selector.get_map():
                self._selector.unregister(output.pipe)
            self._outputs.remove(output)


def _readable_now(descriptor: int) -> bool:
    with selectors.SelectSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        return bool(selector.select(0))
