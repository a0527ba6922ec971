"""A scenario's interface to the air."""

from __future__ import annotations

import base64
import itertools
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from .cursor import Cursor
from .errors import LabError, NotExpected
from .hub import JSONLines
from .program import DEFAULT_TIMEOUT, Event, Predicate, describe, matches

if TYPE_CHECKING:
    from .box import Controller
    from .lab import Lab

HERE = Path(__file__).resolve().parent.parent

START_TIMEOUT = 20.0


class Radio(Protocol):
    """Anything with controllers on the air: a box, one of its controllers, or a stranger."""

    @property
    def controllers(self) -> list[Controller]: ...


class Air:
    def __init__(self, lab: Lab, seed: int | None = None) -> None:
        self._lab = lab
        self._answers: dict[int, dict[str, Any]] = {}
        self._next_id = 0
        self._dead = False
        self.events: list[Event] = []
        """`linkUp`, `linkDown`, `advertising`, `airChanged`, and the strangers' events."""
        self._cursor = Cursor(self.events)
        folder = lab.folder.path
        self._lines, lines = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", "air", "--socket", "air.socket", "--captures", "."]
        command += ["--lines", str(lines.fileno())]
        if seed is not None:
            command += ["--seed", str(seed)]
        self._log = folder / "air.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(HERE)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[lines.fileno()],
                start_new_session=True,
            )
        lines.close()
        self._socket = self._connect(folder)
        self._channel = JSONLines(lab.hub, self._socket.fileno(), self._on_object, self._on_end)

    def _connect(self, folder: Path) -> socket.socket:
        # The path of a Unix socket holds 108 bytes, and a run's folder may have a longer one, so use a descriptor.
        directory = os.open(folder, os.O_PATH)
        deadline = time.monotonic() + START_TIMEOUT
        connection = socket.socket(socket.AF_UNIX)
        try:
            while time.monotonic() < deadline and self._process.poll() is None:
                try:
                    connection.connect(f"/proc/self/fd/{directory}/air.socket")
                    return connection
                except (FileNotFoundError, ConnectionRefusedError):
                    # Only the socket's appearance shows that the air is ready. The lab polls nowhere else.
                    time.sleep(0.01)
        finally:
            os.close(directory)
        raise LabError(f"the air did not start; its log is {self._log}:\n{self._log.read_text()[-2000:]}")

    def close(self) -> None:
        if self._process.poll() is None:
            try:
                self.request("quit")
                self._process.wait(START_TIMEOUT)
            except (LabError, subprocess.TimeoutExpired):
                self._process.kill()
                self._process.wait()
        self._channel.close()
        self._socket.close()
        self._lines.close()

    def _on_object(self, message: dict[str, Any]) -> None:
        if "id" in message:
            self._answers[message["id"]] = message
            return
        message["_received"] = time.monotonic()
        self.events.append(message)

    def _on_end(self) -> None:
        self._dead = True

    def request(self, operation: str, timeout: float = START_TIMEOUT, **fields: Any) -> Any:
        """Sends the air a request (air/server.py lists them) and waits for the answer."""
        with self._lab.hub.changed:
            self._next_id += 1
            identity = self._next_id
            self._channel.send({"id": identity, "do": operation, **fields})

        def look() -> dict[str, Any] | None:
            if identity not in self._answers and self._dead:
                raise LabError(f"the air has died; its log ends with:\n{self._log.read_text()[-2000:]}")
            return self._answers.pop(identity, None)

        answer = self._lab.hub.wait_for(look, timeout)
        if answer is None:
            raise LabError(f"the air did not answer {operation} within {timeout:g} s")
        if "error" in answer:
            raise LabError(answer["error"])
        return answer["result"]

    def add_controller(self, name: str, profile: str, is_acknowledged: bool) -> tuple[str, socket.socket]:
        """Makes a controller. Returns its address and the host's end of its serial line. `is_acknowledged`: the reader
        of the line reports how much it has read."""
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._lines, [b"!"], [theirs.fileno()])
        answer = self.request("add_controller", name=name, profile=profile, is_acknowledged=is_acknowledged)
        return answer["address"], ours

    # Reception

    def cut(self, one: Radio, other: Radio | None = None) -> None:
        """Neither receives the other any more. Without `other`, cuts `one` off from all others."""
        self._change(one, other, cut=True)

    def heal(self, one: Radio | None = None, other: Radio | None = None) -> None:
        """Undoes cuts: between two, around one, or all of them."""
        if one is None:
            self.request("change", cut=False)
        else:
            self._change(one, other, cut=False)

    def cut_all(self) -> None:
        """A tunnel through a Faraday cage: no controller receives another."""
        self.request("change", cut=True)

    def line(self, *nodes: Radio) -> None:
        """Arranges nodes so that each receives only its neighbours in this order. `heal()` undoes it."""
        self.ladder(*([node] for node in nodes))

    def ladder(self, *rungs: Sequence[Radio]) -> None:
        """Arranges nodes in rows: each receives only its own and the neighbouring rows. Two relays between a
        host and a guest: `ladder([host], [left, right], [guest])`. `heal()` undoes it."""
        placed = [(row, node) for row, rung in enumerate(rungs) for node in rung]
        for (row, node), (other_row, other) in itertools.combinations(placed, 2):
            self._change(node, other, cut=abs(row - other_row) > 1)

    def loss(self, share: float, one: Radio | None = None, other: Radio | None = None) -> None:
        """Loses this share (0 to 1) of packets. Lost adverts are gone; lost data is sent again one interval later."""
        if one is None:
            self.request("change", loss=share)
        else:
            self._change(one, other, loss=share)

    def lose_connects(self, count: int, one: Radio, other: Radio) -> None:
        """Lets the next `count` dials between the two fail as on real air: the initiator reports a link for six
        intervals (then Linux reports ENOSYS), and the other side never receives anything."""
        self._change(one, other, lost_connects=count)

    def rssi(self, one: Radio, other: Radio, dbm: int) -> None:
        """Sets the signal strength between the two, for advertising reports and Read RSSI."""
        self._change(one, other, rssi=dbm)

    def drop(self, one: Radio, other: Radio) -> int:
        """Ends links between the two as a supervision timeout does, without the delay. Returns how many."""
        return int(self.request("drop", between=self._between(one, other)))

    def _change(self, one: Radio, other: Radio | None, **changes: Any) -> None:
        self.request("change", between=self._between(one, other), **changes)

    def _between(self, one: Radio, other: Radio | None) -> list[list[str]]:
        names = [controller.name for controller in one.controllers]
        if other is not None:
            return [names, [controller.name for controller in other.controllers]]
        return [names, [name for name in self._lab.controller_names() if name not in names]]

    # Faults of a controller that it does not report to its host

    def stall(self, radio: Radio, resets: int | None = None) -> None:
        """The controller stops answering, until `wake` or until it has received this many HCI Resets."""
        self.request("stall", names=_names(radio), resets=resets)

    def wake(self, radio: Radio) -> None:
        """Ends `stall`. The controller drops all earlier commands."""
        self.request("wake", names=_names(radio))

    def forget_advertising(self, radio: Radio) -> None:
        """The controller stops advertising and loses its advertising sets."""
        self.request("forget_advertising", names=_names(radio))

    def go_deaf(self, radio: Radio) -> None:
        """The controller stops scanning and dialling, until its next command to do so."""
        self.request("go_deaf", names=_names(radio))

    def refuse_scans_while_linked(self, radio: Radio, on: bool = True) -> None:
        """The controller refuses every command to scan while it has a link. With `on=False` it stops doing so."""
        self.request("refuse_scans_while_linked", names=_names(radio), on=on)

    # How the air behaves

    def filter_duplicates(self, mode: str) -> None:
        """Sets how controllers filter duplicates if asked to: `leaky` (the default), `data`, `address` or
        `off`. DUPLICATE_FILTERS in air/scanner.py describes them."""
        self.request("filter_duplicates", mode=mode)

    def connection_events(self, on: bool) -> None:
        """Off: data does not wait for the link's next connection event. Faster, but unlike radio."""
        self.request("connection_events", on=on)

    def events_collide(self, on: bool) -> None:
        """On: a connection event that overlaps another one at either controller is skipped, as on real
        controllers, instead of delayed."""
        self.request("events_collide", on=on)

    def crystal(self, radio: Radio, ppm: float) -> None:
        """Sets how many ppm the controller's clock is fast. A link's events follow the central's clock."""
        self.request("crystal", names=_names(radio), ppm=ppm)

    # Queries

    def links(self) -> list[dict[str, Any]]:
        """The links that are up: controllers, interval, timeout, PHY, data length, encryption and traffic; and if
        events collide, how many events were held and skipped."""
        return list(self.request("links"))

    def counters(self) -> dict[str, dict[str, Any]]:
        """Each controller's totals of sent and received data since its creation, and its current state."""
        return dict(self.request("counters"))

    def expect(
        self, event: str, predicate: Predicate | None = None, timeout: float = DEFAULT_TIMEOUT, **fields: Any
    ) -> Event:
        """Like Program.expect, for the air's own events."""

        __tracebackhide__ = True
        find = self._cursor.finder(lambda one: one if matches(one, event, predicate, fields) else None)
        found = self._lab.hub.wait_for(find, timeout)
        if found is None:
            wanted = describe(event, predicate, fields)
            last = "\n".join(f"  {one}" for one in self.events[-10:])
            raise NotExpected(f"the air did not show {wanted} within {timeout:g} s; its last events:\n{last}")
        return found

    def seen(self, event: str, predicate: Predicate | None = None, **fields: Any) -> list[Event]:
        with self._lab.hub.changed:
            return [one for one in self.events if matches(one, event, predicate, fields)]

    def skip(self) -> None:
        with self._lab.hub.changed:
            self._cursor.skip()


def _names(radio: Radio) -> list[str]:
    return [controller.name for controller in radio.controllers]


def encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


def decode(data: str) -> bytes:
    return base64.b64decode(data)
