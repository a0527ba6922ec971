"""A box: a small Linux system with its own controllers, dbus-daemon and bluetoothd."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from box.wire import TO_BOX_WINDOW

from .errors import BoxDied, LabError
from .folder import slug
from .hub import JSONLines
from .program import DEFAULT_TIMEOUT, Program
from .tunnels import Tunnels

if TYPE_CHECKING:
    from .lab import Lab

INIT = Path(__file__).resolve().parent.parent / "box" / "init"

# A box on an idle machine is ready in little over a second. The limit allows for a machine with all cores busy
# compiling, and for a controller that has to be attached again.
BOOT_TIMEOUT = 90.0

KERNEL_COMPLAINTS = ("BUG:", "WARNING:", "Oops", "Kernel panic", "Out of memory")

CONSOLE_TAIL = 30

FOLDER_IN_BOX = "/run/lab"

POWER_OFF_TIMEOUT = 5.0

# The agent uses one serial line. User-mode Linux has 64.
MAXIMUM_CONTROLLERS = 63

# The kernel's drivers for controllers. With `serial` the kernel does not dial while the adapter has incoming links, as
# with many dongles; with `vhci` it does, as with many others.
DRIVERS = ("serial", "vhci")

# -E enables experimental interfaces: MinInterval and MaxInterval of an advertisement need it before BlueZ 5.77.
# With -E bluetoothd 5.66 also loads its experimental volume control plugin, which sometimes crashes when a link
# breaks during service discovery. Links break in this lab all the time.
BLUETOOTHD_OPTIONS = ("-E", "--noplugin=vcp")


@dataclass(frozen=True)
class Controller:
    """One of a box's controllers."""

    box: Box
    index: int
    name: str
    """The air's name for it, such as `car:hci0`."""
    driver: str
    address: str
    line: socket.socket
    """The box's end of the controller's serial line."""

    @property
    def adapter(self) -> str:
        return f"hci{self.index}"

    @property
    def controllers(self) -> list[Controller]:
        return [self]


class Box:
    def __init__(
        self,
        lab: Lab,
        name: str,
        controllers: int,
        bluetoothd: tuple[str, ...] | None,
        main_conf: str | None,
        profile: str,
        memory: int,
        drivers: Sequence[str],
        kernel: Path,
    ) -> None:
        """`drivers`: one for each controller."""
        if unknown := set(drivers) - set(DRIVERS):
            raise LabError(f"no such driver: {', '.join(unknown)}; there are {', '.join(DRIVERS)}")
        if len(drivers) != controllers:
            raise LabError(f"{len(drivers)} drivers for {controllers} controllers")
        if not 0 <= controllers <= MAXIMUM_CONTROLLERS:
            raise LabError(f"a box has at most {MAXIMUM_CONTROLLERS} controllers")
        self.lab = lab
        self.name = name
        self.bluetoothd_options = bluetoothd
        self.main_conf = main_conf
        self.memory = memory
        self.kernel = kernel
        self.programs: dict[str, Program] = {}
        self.tunnels = Tunnels(self)
        self.boot_seconds: float | None = None
        """Duration of the last boot, from the start of the kernel until all controllers were up."""
        self.controllers = [self._add_controller(*one, profile) for one in enumerate(drivers)]
        # The kernel and the processes that run its programs alternate at every system call and every page fault.
        # If each switch wakes another processor, the box takes twice as long.
        usable = sorted(os.sched_getaffinity(0))
        self._processor = usable[len(lab.boxes) % len(usable)]
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: JSONLines | None = None
        self._expected_death = False
        self._folders = 0
        self._bus_is_up = False
        self.boot()

    def __repr__(self) -> str:
        return self.name

    def _add_controller(self, index: int, driver: str, profile: str) -> Controller:
        name = f"{self.name}:hci{index}"
        address, line = self.lab.air.add_controller(name, profile, is_acknowledged=driver == "vhci")
        return Controller(self, index, name, driver, address, line)

    def hci(self, index: int) -> Controller:
        return self.controllers[index]

    # Boot and power

    def boot(self) -> None:
        """Starts the box and returns at once. Operations that need the box wait until it is ready."""
        if self.alive:
            raise LabError(f"{self.name} is running already")
        self.programs = {}
        self._line, agents_end = socket.socketpair()
        self._channel = JSONLines(self.lab.hub, self._line.fileno(), self._on_event, lambda: None, TO_BOX_WINDOW)
        lines = [agents_end, *(one.line for one in self.controllers)]
        for line in lines:
            drain(line)
        self._ready = False
        self._expected_death = False
        self.boot_seconds = None
        self._started = time.monotonic()
        self._console = self.lab.folder / f"{self.name}-console.log"
        with self._console.open("ab") as console, agents_end:
            self._process = subprocess.Popen(
                self._command(lines),
                cwd=self.lab.folder.path,
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                pass_fds=[line.fileno() for line in lines],
                # Ctrl-C in the runner's terminal is for the runner alone.
                start_new_session=True,
            )
        self._death = os.pidfd_open(self._process.pid)
        self.lab.hub.watch(self._death, self._died)

    def _command(self, lines: list[socket.socket]) -> list[str]:
        return [
            # A process namespace: when its first process, a shell, is killed, the kernel and the processes that run its
            # programs end as well. The shell is killed when the runner ends for any reason. The kernel cannot be the
            # first process, since the first process cannot abort, as the kernel does in a panic.
            *("setpriv", "--pdeathsig", "KILL"),
            *(("taskset", "--cpu-list", str(self._processor)) if self.lab.pinned else ()),
            *("unshare", "--pid", "--fork", "--kill-child=KILL"),
            *("/bin/sh", "-c", 'ulimit -c 0; "$@" & wait $!', "box"),
            str(self.kernel),
            f"mem={self.memory}M",
            # With several processors a seccomp filter intercepts system calls instead of ptrace, which is also faster.
            *([f"ncpus={self.lab.processors}", "seccomp=on"] if self.lab.processors > 1 else []),
            *("rootfstype=hostfs", "rootflags=/", "ro", f"init={INIT}"),
            # Sockets rather than pseudo-terminals: they buffer far more, and a full line would stall for good.
            *(f"ssl{number}=fd:{line.fileno()}" for number, line in enumerate(lines)),
            *("con=null", "con0=null,fd:1", "con1=null,fd:1", "quiet"),
            *("uml_dir=uml/", f"umid={self.name}"),
            f"LAB_NAME={self.name}",
            f"LAB_FOLDER={self.lab.folder.path}",
            f"LAB_BLUEZ={self.lab.bluetoothd}",
        ]

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    def why_dead(self) -> str:
        lines = self._console.read_text(errors="replace").splitlines()
        # From the kernel's first complaint on, since a trace can be long.
        first = next((at for at, line in enumerate(lines) if is_complaint(line)), len(lines) - CONSOLE_TAIL)
        last = lines[max(first, 0) :][:CONSOLE_TAIL]
        return f"the box {self.name} has died; its console:\n" + "\n".join(f"  {line}" for line in last)

    def kernel_complaints(self) -> list[str]:
        lines = self._console.read_text(errors="replace").splitlines()
        return [line for line in lines if is_complaint(line)]

    def await_ready(self, timeout: float = BOOT_TIMEOUT) -> None:
        """Waits until all controllers are up. Every operation on a box calls this first."""

        def look() -> bool | None:
            if not self.alive:
                raise BoxDied(self.why_dead())
            if (daemon := self.programs.get("bluetoothd")) and daemon.exit_code is not None and not self._ready:
                raise LabError(f"bluetoothd in {self.name} ended while the box was booting\n{daemon.tail()}")
            return self._ready or None

        if self.lab.hub.wait_for(look, timeout) is None:
            raise LabError(f"the box {self.name} was not ready within {timeout:g} s; its console is {self._console}")

    def power_cut(self) -> None:
        """Cuts the power: disk writes stop, and the controllers fall silent. `boot` starts the box again."""
        self._expected_death = True
        if self._process and self.alive:
            _kill_kernel(self._process)
        self.lab.hub.wait_for(lambda: None if self.alive else True, POWER_OFF_TIMEOUT)
        self.lab.air.request("power_off", names=[one.name for one in self.controllers])

    def power_off(self) -> None:
        """Shuts the box down cleanly: all written data is on disk afterwards."""
        self._expected_death = True
        if self.alive and self._channel:
            self.ask("power_off", check=False)
            self.lab.hub.wait_for(lambda: None if self.alive else True, POWER_OFF_TIMEOUT)
        self.power_cut()

    def _died(self) -> None:
        assert self._process and self._channel
        self._process.wait()
        self.lab.hub.unwatch(self._death)
        os.close(self._death)
        self._channel.close()
        self._line.close()
        self.tunnels.close()
        for program in self.programs.values():
            if program.exit_code is None and self._expected_death:
                program.on_exit(-9)
        if not self._expected_death:
            self.lab.deaths.append(self.name)

    # Messages of the agent, in the hub's thread

    def _on_event(self, event: dict[str, Any]) -> None:
        kind = event["event"]
        program = self.programs.get(event.get("program", ""))
        if kind == "lines" and program:
            program.on_lines(event["stream"], event["texts"], event["at"])
            if program.name == "dbus-daemon" and not self._bus_is_up:
                self._bus_is_up = True
                self._start_bluetooth()
        elif kind == "prompt" and program:
            program.prompt = event["text"]
        elif kind == "exit" and program:
            program.on_exit(event["code"])
        elif kind == "started" and program:
            program.pid = event["pid"]
        elif kind == "failed":
            if program:
                program.failure = event["reason"]
            else:
                self.lab.note(f"{self.name}: {event['reason']}")
        elif kind == "hello":
            self._configure()
        elif kind == "ready":
            self._ready = True
            self.boot_seconds = time.monotonic() - self._started
        elif kind == "tunnel":
            self.tunnels.on_event(event)
        elif kind == "controller":
            self._controller_changed(event["change"], event["index"])

    def _configure(self) -> None:
        self._bus_is_up = False
        self.programs["dbus-daemon"] = Program(self, "dbus-daemon", [], {})
        self.ask("loopback")
        self.ask("dbus")
        for controller in self.controllers:
            self.plug(controller.index)

    def _start_bluetooth(self) -> None:
        if self.bluetoothd_options is not None:
            self._start_bluetoothd(self.bluetoothd_options)
        self.ask("await_controllers", count=len(self.controllers))

    def _start_bluetoothd(self, options: tuple[str, ...]) -> Program:
        program = self.programs["bluetoothd"] = Program(self, "bluetoothd", [], {})
        self.ask("bluetoothd", options=list(options), main_conf=self.main_conf)
        return program

    def _controller_changed(self, change: str, index: int) -> None:
        # Without bluetoothd no other program does this.
        if change == "added" and self.bluetoothd_options is None:
            self.ask("power", controller=index, on=True)

    # Operations for scenarios

    def ask(self, operation: str, check: bool = True, **fields: Any) -> None:
        """Sends the agent a request (box/agent.py lists them)."""
        if check and not self.alive:
            raise BoxDied(self.why_dead())
        assert self._channel
        self._channel.send({"do": operation, **fields})

    def spawn(self, argv: list[str], name: str | None = None, **options: Any) -> Program:
        """Starts a program. Options: `uid`, `gid` (numbers), `env` (added to a small environment), `cwd`."""
        self.await_ready()
        unique = base = slug(name or Path(argv[0]).name)
        number = 1
        while unique in self.programs:
            number += 1
            unique = f"{base}-{number}"
        program = self.programs[unique] = Program(self, unique, argv, options)
        self.ask("spawn", program=unique, argv=argv, **options)
        return program

    def roadmesh(
        self,
        *arguments: str | Path,
        adapter: str | Controller | None = "hci0",
        state: Path | None = None,
        name: str | None = None,
        uid: int | None = None,
        env: dict[str, str] | None = None,
    ) -> Program:
        """Runs `roadmesh` with these arguments, plus --json, the BlueZ radio on that adapter (None: the program
        chooses; `hci0,hci1`: the one that dials, and the one that advertises) and a state folder of its own, or the given one.

        The state is in the run's folder, so it survives a power cut as on a disk. For a user other than root
        it is in the box's memory instead: root owns all files on hostfs, whichever user made them.
        """
        name = slug(name or "-".join(str(one) for one in arguments[:2]))
        if isinstance(adapter, Controller):
            adapter = adapter.adapter
        if state is None:
            known_as = f"{self.name}-{name}"
            state = self.lab.new_state_folder(known_as) if uid is None else self._state_in_memory(name, uid)
        binary = self.lab.binary() if uid is None else self.lab.shared_binary()
        argv = [_seen_in_box(binary, self.lab.folder.path), *(_seen_in_box(one, self.lab.folder.path) for one in arguments)]
        argv += ["--json", "--radio", "bluez", "--state", str(state)]
        if adapter is not None:
            argv += ["--adapter", adapter]
        program = self.spawn(argv, name=name, uid=uid, env=env or {})
        program.state = state
        program.controller = self.hci(int((adapter or "hci0").split(",")[0].removeprefix("hci")))
        return program

    def _state_in_memory(self, name: str, uid: int) -> Path:
        self.await_ready()
        self._folders += 1
        path = Path(f"/run/state/{name}-{self._folders}")
        self.ask("folder", path=str(path), uid=uid)
        return path

    def run(self, command: str, timeout: float = DEFAULT_TIMEOUT, check: bool = True, **options: Any) -> str:
        """Runs a shell command and returns its output. Raises if the command fails, unless `check` is false."""
        program = self.spawn(["/bin/sh", "-c", command], name="sh", **options)
        code = program.wait(timeout)
        if check and code != 0:
            raise LabError(f"in {self.name}, `{command}` exited with {code}\n{program.tail()}")
        return program.output

    def python(self, script: Path | str, *arguments: str, name: str | None = None, **options: Any) -> Program:
        """Starts a Python script (a file's path) inside the box, with the system's interpreter."""
        path = Path(script)
        argv = ["/usr/bin/python3", "-u", str(path), *arguments]
        return self.spawn(argv, name=name or path.stem, **options)

    @property
    def bluetoothd(self) -> Program:
        return self.programs["bluetoothd"]

    def stop_bluetoothd(self) -> None:
        self.bluetoothd.signal("TERM")
        self.bluetoothd.wait()

    def start_bluetoothd(self, *options: str) -> Program:
        """Starts bluetoothd again after `stop_bluetoothd` or a kill; with new options if some are given."""
        if options:
            self.bluetoothd_options = options
        elif self.bluetoothd_options is None:
            self.bluetoothd_options = BLUETOOTHD_OPTIONS
        return self._start_bluetoothd(self.bluetoothd_options)

    def unplug(self, index: int) -> None:
        """Unplugs a controller: it disappears from its host and from the air."""
        self.ask("detach", controller=index)
        self.lab.air.request("power_off", names=[self.hci(index).name])

    def plug(self, index: int) -> None:
        # Discard data that the former host has not read.
        drain(self.hci(index).line)
        self.ask("attach", controller=index, driver=self.hci(index).driver)

    def rfkill(self, index: int, on: bool) -> None:
        """Blocks a controller as `rfkill block` does, or lifts the block."""
        self.ask("rfkill", controller=index, on=on)


def is_complaint(line: str) -> bool:
    return any(mark in line for mark in KERNEL_COMPLAINTS)


def drain(line: socket.socket) -> None:
    """Discards data that a kernel had not read when it lost power."""
    line.setblocking(False)
    try:
        while line.recv(64 * 1024):
            pass
    except BlockingIOError:
        pass


def _seen_in_box(argument: str | Path, folder: Path) -> str:
    """The run's folder is also mounted at /run/lab, where every user can read it."""
    text = str(argument)
    return f"{FOLDER_IN_BOX}{text.removeprefix(str(folder))}" if text.startswith(f"{folder}/") else text


def _kill_kernel(unshare: subprocess.Popen[bytes]) -> None:
    """Kills the box's first process instead of `unshare`. `unshare` ends after all processes of the box, so nothing
    writes to the box's files afterwards."""
    children = Path(f"/proc/{unshare.pid}/task/{unshare.pid}/children").read_text().split()
    if children:
        os.kill(int(children[0]), signal.SIGKILL)
    else:
        unshare.kill()
