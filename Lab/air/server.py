"""The air's control socket, with one JSON object per line. A request has `id` and `do`, and its answer the same `id`.
Events have `event` and go to every client."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from .bumble_host import Stranger
from .capture import Capture
from .controller import LabController
from .medium import Medium
from .port import SerialPort
from .scanner import DUPLICATE_FILTERS

FLUSH_INTERVAL = 0.5

# The prefix of controllers' addresses: locally administered, so no device has it. The last byte is a counter.
ADDRESS_PREFIX = "02:00:00:4C:41:"

# The largest request: an SDU of 64 KiB, in base64, with room for the rest.
MAXIMUM_LINE = 256 * 1024

STRANGER_OPERATIONS = {
    "scan", "advertise", "offer", "hush", "listen", "connect", "link", "send", "send_frame", "close", "disconnect",
    "discover", "read", "subscribe", "unsubscribe", "write",
}  # fmt: skip


class Server:
    def __init__(self, captures: Path, lines: socket.socket, log: Callable[[str], None], seed: int) -> None:
        """`lines`: the socket on which the runner passes our ends of the boxes' serial lines."""
        self._lines = lines
        self.medium = Medium(asyncio.get_running_loop(), self._announce, log, seed)
        self._captures = captures
        self._log = log
        self._clients: set[asyncio.StreamWriter] = set()
        self._readers: set[asyncio.Task[None]] = set()
        self._controllers: dict[str, LabController] = {}
        self._ports: dict[str, SerialPort] = {}
        self._open_captures: list[Capture] = []
        self._strangers: dict[str, Stranger] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.done = asyncio.Event()

    async def serve(self, path: Path) -> None:
        server = await asyncio.start_unix_server(self._client, path, limit=MAXIMUM_LINE)
        flusher = asyncio.create_task(self._flush_captures())
        await self.done.wait()
        flusher.cancel()
        server.close()
        for client in self._clients:
            client.close()
        await asyncio.gather(*self._readers)
        for port in self._ports.values():
            port.close()

    async def _flush_captures(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_INTERVAL)
            for capture in self._open_captures:
                capture.flush()

    def _announce(self, event: dict[str, Any]) -> None:
        self._log(json.dumps(event))
        line = json.dumps(event).encode() + b"\n"
        for client in self._clients:
            client.write(line)

    def emit(self, event: str, **fields: Any) -> None:
        self._announce({"event": event, "monotonic": time.monotonic(), **fields})

    # Requests

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._clients.add(writer)
        if task := asyncio.current_task():
            self._readers.add(task)
        try:
            while line := await reader.readline():
                # A task for each request: a stranger's wait for a link must not block the request for that link.
                task = asyncio.create_task(self._answer(json.loads(line), writer))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        except ConnectionError:
            pass
        finally:
            self._clients.discard(writer)
            writer.close()

    async def _answer(self, request: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        identity = request.pop("id")
        name = request.pop("do")
        try:
            result = await self._operation(name)(**request)
            answer = {"id": identity, "result": result}
        except Exception as error:  # reported to the scenario
            answer = {"id": identity, "error": f"{name}: {type(error).__name__}: {error}"}
            self._log(answer["error"])
        writer.write(json.dumps(answer).encode() + b"\n")

    def _operation(self, name: str) -> Callable[..., Awaitable[Any]]:
        kind, _, operation = name.partition(".")
        if kind == "stranger" and operation in STRANGER_OPERATIONS:

            async def run(stranger: str, **fields: Any) -> Any:
                return await getattr(self._strangers[stranger], operation)(**fields)

            return run
        found: Callable[..., Awaitable[Any]] | None = getattr(self, f"do_{name}", None)
        if not found:
            raise ValueError("no such operation")
        return found

    def _pairs(self, between: list[list[str]]) -> list[tuple[LabController, LabController]]:
        one, other = ([self._controllers[name] for name in side] for side in between)
        return [(a, b) for a in one for b in other if a is not b]

    def _new_controller(self, name: str, profile: str) -> LabController:
        if name in self._controllers:
            raise ValueError(f"there is a controller {name} already")
        if len(self._controllers) >= 255:
            raise ValueError("an air holds 255 controllers")
        address = f"{ADDRESS_PREFIX}{len(self._controllers) + 1:02X}"
        controller = LabController(name, self.medium, address, profile)
        self._controllers[name] = controller
        return controller

    async def do_add_controller(
        self, name: str, profile: str = "modern", is_acknowledged: bool = False
    ) -> dict[str, str]:
        # The runner sends the descriptor before the request, so it has arrived.
        _, descriptors, _, _ = socket.recv_fds(self._lines, 1, 1)
        controller = self._new_controller(name, profile)
        capture = Capture(self._captures / f"{name.replace(':', '-')}.btsnoop")
        self._open_captures.append(capture)
        port = SerialPort(
            socket.socket(fileno=descriptors[0]), controller.front.on_packet, capture, is_acknowledged
        )
        controller.front.port = port
        self._ports[name] = port
        return {"address": controller.public_address}

    async def do_power_off(self, names: list[str]) -> None:
        for name in names:
            self._controllers[name].power_off()
            self._ports[name].reset()

    async def do_add_stranger(self, name: str, profile: str = "modern") -> dict[str, str]:
        controller = self._new_controller(name, profile)
        stranger = Stranger(name, controller, self.emit)
        self._strangers[name] = stranger
        await stranger.start()
        return {"address": controller.public_address}

    async def do_change(self, between: list[list[str]] | None = None, **changes: Any) -> None:
        unknown = set(changes) - {"cut", "loss", "rssi", "lost_connects"}
        if unknown:
            raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
        if between is None:
            self.medium.change_everywhere(**changes)
        else:
            self.medium.change(self._pairs(between), **changes)
        self.emit("airChanged", between=between, **changes)

    async def do_drop(self, between: list[list[str]]) -> int:
        return self.medium.drop(self._pairs(between))

    async def do_stall(self, names: list[str], resets: int | None = None) -> None:
        for name in names:
            self._controllers[name].faults.stall(resets)

    async def do_wake(self, names: list[str]) -> None:
        for name in names:
            self._controllers[name].faults.wake()

    async def do_forget_advertising(self, names: list[str]) -> None:
        for name in names:
            self._controllers[name].faults.forget_advertising()

    async def do_go_deaf(self, names: list[str]) -> None:
        for name in names:
            self._controllers[name].faults.go_deaf()

    async def do_refuse_scans_while_linked(self, names: list[str], on: bool) -> None:
        for name in names:
            self._controllers[name].faults.refuse_scans_while_linked(on)

    async def do_filter_duplicates(self, mode: str) -> None:
        if mode not in DUPLICATE_FILTERS:
            raise ValueError(f"no such filter; there are {', '.join(DUPLICATE_FILTERS)}")
        self.medium.duplicate_filter = mode

    async def do_connection_events(self, on: bool) -> None:
        self.medium.connection_events = on

    async def do_events_collide(self, on: bool) -> None:
        self.medium.collide(on)

    async def do_crystal(self, names: list[str], ppm: float) -> None:
        for name in names:
            self.medium.set_crystal(self._controllers[name], ppm)

    async def do_links(self) -> list[dict[str, Any]]:
        return [
            {
                "central": link.controllers[0].name,
                "peripheral": link.controllers[1].name,
                "intervalMilliseconds": link.parameters.interval * 1e3,
                "timeoutMilliseconds": link.parameters.timeout * 1e3,
                "phy": link.phy.name.removeprefix("LE_"),
                "dataLength": link.data_length,
                "encrypted": link.encrypted,
                "audible": link.audible,
                "eventsHeld": link.events_held,
                "eventsSkipped": link.events_skipped,
                "toPeripheral": link.peripheral.received.summary(),
                "toCentral": link.central.received.summary(),
            }
            for link in self.medium.links
        ]

    async def do_counters(self) -> dict[str, dict[str, Any]]:
        counters: dict[str, dict[str, Any]] = {}
        for name, controller in self._controllers.items():
            sent, received = controller.links.traffic()
            counters[name] = {
                **controller.counters.summary(),
                "advertising": controller.advertising.running,
                "scanning": controller.listening.scanner.enabled,
                "dialling": controller.listening.initiator is not None,
                "listeningShare": controller.listening.share,
                "sent": sent.summary(),
                "received": received.summary(),
            }
        return counters

    async def do_flush(self) -> None:
        for capture in self._open_captures:
            capture.flush()
            if capture.truncated:
                self._log(f"{capture.path.name} reached its largest size and ends early")

    async def do_quit(self) -> None:
        await self.do_flush()
        self.done.set()
