"""The agent of a box: performs the runner's requests over the box's first serial line, and reports events.

One JSON object per line in both directions. Requests have `do`, messages to the runner have `event`. Requests have
no answers: each shows its effect in an event (a line of output, an exit, `ready`, `failed`).
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import select
import selectors
import signal
import socket
import struct
import time
import tty
from pathlib import Path
from typing import Any

from bluetooth import Management, Unplug, attach
from loop import turn
from programs import Program
from tunnels import Tunnels
from wire import FROM_BOX_WINDOW, Wire

AGENT_LINE = "/dev/ttyS0"

# After this delay an unfinished line of output counts as a question.
PROMPT_DELAY = 0.05

# The kernel gives a new controller ten seconds for its first answer and no second chance. On a busy machine a line that
# has just been opened has lost a packet before.
CONTROLLERS_DUE = 15.0

# If the runner falls behind, programs must wait, so that the box does not run out of memory.
MAXIMUM_BACKLOG = 4 * 1024 * 1024

BLUETOOTHD = "/usr/libexec/bluetooth/bluetoothd"
MAIN_CONF = "/run/bluetooth-main.conf"

RFKILL = "/sys/class/rfkill"
RECORDS = "/run/roadmesh"

RB_POWER_OFF = 0x4321FEDC

SIOCSIFFLAGS = 0x8914
IFF_UP_RUNNING = 0x41


class Agent:
    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._programs: dict[str, Program] = {}
        self._attached: dict[int, tuple[str, Unplug]] = {}
        """The driver of each controller and the function that detaches it, by number."""
        self._awaited_controllers: int | None = None
        self._controllers_due = 0.0
        self._wire = Wire(FROM_BOX_WINDOW)
        self._requests: list[dict[str, Any]] = []
        self._tunnels = Tunnels(self._selector, self.emit)
        # Opened twice: reads must not block, writes should.
        self._line_in = os.open(AGENT_LINE, os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC | os.O_NONBLOCK)
        self._line_out = os.open(AGENT_LINE, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)
        tty.setraw(self._line_in)
        self._management = Management()
        self._selector.register(self._line_in, selectors.EVENT_READ, self._read_line)
        self._selector.register(self._management, selectors.EVENT_READ, self._controllers_changed)
        self._watch_children()

    def _watch_children(self) -> None:
        reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(writer)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._selector.register(reader, selectors.EVENT_READ, lambda: self._reap(reader))

    def run(self) -> None:
        self.emit("hello")
        while True:
            self._write_line()
            if not turn(self._selector, self._patience()):
                for program in self._programs.values():
                    program.show_prompts()
            if self._awaited_controllers is not None and time.monotonic() >= self._controllers_due:
                self._attach_once_more()
            while self._requests:
                self._do(self._requests.pop(0))

    def _patience(self) -> float | None:
        """The timeout of the next wait, in seconds."""
        if any(program.prompting for program in self._programs.values()):
            return PROMPT_DELAY
        if self._awaited_controllers is not None:
            return max(self._controllers_due - time.monotonic(), 0)
        return None

    def emit(self, event: str, **fields: Any) -> None:
        """Sends the runner an event, at the latest when the agent is idle."""
        self._wire.queue({"event": event, **fields})
        while self._wire.backlog > MAXIMUM_BACKLOG:
            self._write_line()
            select.select([self._line_in], [], [])
            self._read_line()

    def _read_line(self) -> None:
        # Blocking: a call from within `emit` may have read it already.
        with contextlib.suppress(BlockingIOError):
            self._requests += self._wire.received(os.read(self._line_in, 64 * 1024))

    def _write_line(self) -> None:
        while data := self._wire.sendable():
            self._wire.sent(os.write(self._line_out, data))

    def _do(self, request: dict[str, Any]) -> None:
        try:
            getattr(self, f"do_{request.pop('do')}")(**request)
        except Exception as error:  # reported to the scenario, and the box continues
            self.emit("failed", program=request.get("program"), reason=f"{type(error).__name__}: {error}")

    def _reap(self, reader: int) -> None:
        os.read(reader, 4096)
        # The first process inherits every orphan, so wait for all processes and not only for those of the agent.
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for name, program in list(self._programs.items()):
                if program.pid == pid:
                    del self._programs[name]
                    program.ended(status)

    # Controllers

    def do_attach(self, controller: int, driver: str) -> None:
        """Attaches the controller on serial line 1, 2, … (0 is the agent's) as hci0, hci1, …"""
        self._attached[controller] = driver, attach(f"/dev/ttyS{controller + 1}", driver)

    def do_detach(self, controller: int) -> None:
        _, detach = self._attached.pop(controller)
        detach()

    def do_await_controllers(self, count: int) -> None:
        self._awaited_controllers = count
        self._controllers_due = time.monotonic() + CONTROLLERS_DUE
        self._check_controllers()

    def _attach_once_more(self) -> None:
        """Attaches the controllers that the kernel has given up. Each gets its number again, since the number is free."""
        self._controllers_due = time.monotonic() + CONTROLLERS_DUE
        for controller in sorted(self._attached.keys() - self._management.present):
            driver, detach = self._attached.pop(controller)
            self.emit("failed", program=None, reason=f"hci{controller} is attached again: it has not answered the kernel")
            detach()
            self._do({"do": "attach", "controller": controller, "driver": driver})

    def do_power(self, controller: int, on: bool) -> None:
        self._management.power(controller, on)

    def do_give_back(self, controller: int, address: str, peers: list[str]) -> None:
        """Restores a controller's settings, as a node that was killed would have done at its end."""
        record = Path(RECORDS) / f"adapter-{address.replace(':', '').lower()}"
        if record.exists() and (text := record.read_text()):
            self._management.set_defaults(controller, json.loads(text), peers)
            record.write_text("")

    def do_rfkill(self, controller: int, on: bool) -> None:
        for switch in os.listdir(RFKILL):
            with open(f"{RFKILL}/{switch}/name") as name:
                if name.read().strip() != f"hci{controller}":
                    continue
            with open(f"{RFKILL}/{switch}/soft", "w") as block:
                block.write("1" if on else "0")
            return
        raise ValueError(f"hci{controller} has no rfkill switch")

    def _controllers_changed(self) -> None:
        for change, index in self._management.read():
            self.emit("controller", change=change, index=index)
        self._check_controllers()

    def _check_controllers(self) -> None:
        if self._awaited_controllers is not None and len(self._management.powered) >= self._awaited_controllers:
            self._awaited_controllers = None
            self.emit("ready")

    # Programs

    def do_spawn(self, program: str, **request: Any) -> None:
        self._programs[program] = Program(program, self._selector, self.emit, request)
        self.emit("started", program=program, pid=self._programs[program].pid)

    def do_folder(self, path: str, uid: int) -> None:
        """Makes a folder in the box's memory that belongs to a user other than root."""
        os.mkdir(path, 0o700)
        os.chown(path, uid, uid)

    def do_dbus(self) -> None:
        argv = ["/usr/bin/dbus-daemon", "--system", "--nofork", "--nopidfile", "--nosyslog", "--print-address=1"]
        self.do_spawn("dbus-daemon", argv=argv)

    def do_bluetoothd(self, options: list[str], main_conf: str | None) -> None:
        if main_conf is not None:
            with open(MAIN_CONF, "w") as file:
                file.write(main_conf)
            options = [*options, "-f", MAIN_CONF]
        self.do_spawn("bluetoothd", argv=[BLUETOOTHD, "-n", *options])

    def do_write(self, program: str, text: str) -> None:
        if program in self._programs:
            self._programs[program].write(text)

    def do_close_input(self, program: str) -> None:
        if program in self._programs:
            self._programs[program].close_input()

    def do_signal(self, program: str, number: int) -> None:
        if program in self._programs:
            self._programs[program].signal(number)

    def do_loopback(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH14s", b"lo", IFF_UP_RUNNING, b""))

    def do_listen(self, port: int) -> None:
        self._tunnels.listen(port)

    def do_tunnel(self, number: int, data: str) -> None:
        self._tunnels.write(number, data)

    def do_power_off(self) -> None:
        os.sync()
        ctypes.CDLL(None).reboot(RB_POWER_OFF)


def main() -> None:
    Agent().run()
