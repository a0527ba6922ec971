"""Tests of the agent's loop: it calls no function for a descriptor that was closed."""

from __future__ import annotations

import os
import selectors
from typing import Any

from box.loop import turn
from box.programs import Program


def test_a_descriptor_closed_in_an_iteration_is_not_called_in_it() -> None:
    selector = selectors.DefaultSelector()
    pipes = [os.pipe() for _ in range(2)]
    called: list[int] = []

    def first_wins(one: int) -> None:
        called.append(one)
        for reader, _ in pipes:
            selector.unregister(reader)

    for number, (reader, writer) in enumerate(pipes):
        os.write(writer, b"x")
        selector.register(reader, selectors.EVENT_READ, lambda number=number: first_wins(number))
    assert turn(selector, None)
    assert len(called) == 1
    assert not turn(selector, 0)


def test_an_exit_seen_together_with_the_last_output_loses_neither() -> None:
    selector = selectors.DefaultSelector()
    events: list[dict[str, Any]] = []
    ends, end_seen = os.pipe()
    # Ready first, so that its function is called first.
    os.write(end_seen, b"x")
    selector.register(ends, selectors.EVENT_READ, lambda: (os.read(ends, 1), program.ended(status)))
    request = {"argv": ["/bin/echo", "last words"], "cwd": "/", "env": {}}
    program = Program("echo", selector, lambda event, **fields: events.append({"event": event, **fields}), request)
    _, status = os.waitpid(program.pid, 0)
    while turn(selector, 0):
        pass
    assert [event["event"] for event in events] == ["lines", "exit"]
    assert events[0]["texts"] == ["last words"]
