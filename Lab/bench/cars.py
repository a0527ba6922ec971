# SPDX-License-Identifier: Apache-2.0
"""Cars that only a broker connects, and the network between the cars and the broker."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

Event = dict[str, Any]

JOINED = 60.0


class Road:
    """The network between the cars and the broker: one address for any number of servers, and a delay."""

    def __init__(self, ports: list[int], delay: float) -> None:
        self._ports = ports
        self._delay = delay
        self._next = 0
        self._loop = asyncio.new_event_loop()
        self._server = self._loop.run_until_complete(asyncio.start_server(self._carry, "127.0.0.1", 0))
        self.port = self._server.sockets[0].getsockname()[1]
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # asyncio logs an error if the handler of a stream is cancelled, so this one returns.
        with suppress(asyncio.CancelledError):
            for _ in self._ports:
                port = self._ports[self._next % len(self._ports)]
                self._next += 1
                with suppress(OSError):
                    there = await asyncio.open_connection("127.0.0.1", port)
                    await asyncio.gather(self._one_way(reader, there[1]), self._one_way(there[0], writer))
                    return
        writer.close()

    async def _one_way(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                # Each write has its own due time, so it does not delay later ones.
                self._loop.call_later(self._delay, self._write, writer, data)
        self._loop.call_later(self._delay, writer.close)

    def _write(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        if not writer.is_closing():
            writer.write(data)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.call_later(0.1, self._loop.stop)


class Node:
    """A `roadmesh` and its events."""

    def __init__(self, *arguments: str) -> None:
        command = [os.environ["ROADMESH_BINARY"], *arguments, "--json", "--radio", "virtual", "--http", "none"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._changed = threading.Condition()
        self.events: list[tuple[float, Event]] = []
        threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True).start()

    def _read(self, output: IO[str]) -> None:
        for line in output:
            with self._changed:
                self.events.append((time.monotonic(), json.loads(line)))
                self._changed.notify_all()

    def say(self, line: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def when(self, start: int, holds: Any, timeout: float = JOINED) -> float:
        """The time of arrival of the first event after number `start` for which `holds` is true."""
        deadline = time.monotonic() + timeout
        with self._changed:
            at = start
            while True:
                while at < len(self.events):
                    if holds(self.events[at][1]):
                        return self.events[at][0]
                    at += 1
                if not self._changed.wait(deadline - time.monotonic()) and time.monotonic() > deadline:
                    raise TimeoutError(f"not within {timeout:g} s: {self.events[-1:]}")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def shows(song: str, voters: int) -> Any:
    return lambda event: event["event"] == "snapshot" and any(
        one["id"] == song and one["votes"] == voters for one in event["queue"]
    )


@contextmanager
def cars(folder: Path, ports: list[int], count: int) -> Iterator[list[Node]]:
    """A host and guests on separate virtual airs. Returns when all have joined."""
    broker = "mqtt://" + ",".join(f"127.0.0.1:{port}" for port in ports)
    nodes: list[Node] = []

    def car(role: str, name: str, *arguments: str) -> None:
        places = ("--air", str(folder / f"air {name}"), "--state", str(folder / f"state {name}"))
        nodes.append(Node(role, name, "--broker", broker, *places, *arguments))

    try:
        car("host", "Front")
        for number in range(1, count):
            car("guest", f"Car {number}", "--host", "Front")
        all_there = lambda event: event["event"] == "snapshot" and len(event["connectedPeers"]) == count - 1  # noqa: E731
        for node in nodes:
            node.when(0, all_there)
        yield nodes
    finally:
        for node in nodes:
            node.close()
