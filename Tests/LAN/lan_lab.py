# SPDX-License-Identifier: Apache-2.0
"""A network within this machine: a switch, and devices that are plugged into it. Each device has its own network
interfaces, message bus and avahi-daemon."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Protocol

from roadmesh_program.program import Program

# Songs of a host, in addition to the current one.
SONGS = 20
# Time limit of a command, in seconds. Each ends within one or two, and none may block a test forever.
LONGEST = 60.0

BUS = """<busconfig>
  <type>system</type>
  <listen>unix:path={socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
  </policy>
</busconfig>
"""

AVAHI = """[server]
host-name={name}
use-ipv4=yes
use-ipv6=yes
allow-interfaces=eth0
[publish]
publish-hinfo=no
publish-workstation=no
"""


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stdout}{done.stderr}"
    return done.stdout


class Space:
    """A process that holds its own network and mount namespaces."""

    def __init__(self) -> None:
        script = "mkdir -p /run/avahi-daemon && mount -t tmpfs tmpfs /run/avahi-daemon && echo && exec sleep infinity"
        self._process = subprocess.Popen(
            ["unshare", "--net", "--mount", "sh", "-c", script], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout
        assert self._process.stdout.readline() == "\n", "no namespace"
        self.pid = self._process.pid
        self.run("ip", "link", "set", "lo", "up")

    @property
    def inside(self) -> list[str]:
        return ["nsenter", "--target", str(self.pid), "--net", "--mount", "--root", "--"]

    def run(self, *command: str) -> str:
        return run(*self.inside, *command)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


class Device:
    def __init__(self, number: int, name: str, switch: Space, folder: Path) -> None:
        self.address = f"10.77.0.{number}"
        self._name = name
        self._folder = folder / name
        self._folder.mkdir()
        self._switch = switch
        self._port = f"port{number}"
        self._space = Space()
        self._daemons: list[subprocess.Popen[bytes]] = []
        peer = ["peer", "name", self._port, "netns", str(switch.pid)]
        run("ip", "link", "add", "eth0", "netns", str(self._space.pid), "type", "veth", *peer)
        switch.run("ip", "link", "set", self._port, "master", "switch", "up")
        # An address is usable at once, without a check for duplicates.
        self._space.run("sysctl", "-q", "-w", "net.ipv6.conf.eth0.accept_dad=0")
        self._space.run("ip", "addr", "add", f"{self.address}/24", "dev", "eth0")
        self._space.run("ip", "link", "set", "eth0", "up")
        self.bus = f"unix:path={self._folder}/bus"
        self._start_bus()
        self.start_avahi()

    def _start_bus(self) -> None:
        config = self._folder / "bus.conf"
        config.write_text(BUS.format(socket=self._folder / "bus"))
        self.begin("dbus-daemon", "--nofork", "--nopidfile", f"--config-file={config}")
        self._wait(lambda: (self._folder / "bus").exists())

    def start_avahi(self) -> None:
        config = self._folder / "avahi.conf"
        config.write_text(AVAHI.format(name=self._name))
        self._avahi = self.begin(
            "avahi-daemon", "--no-drop-root", "--no-chroot", "--no-rlimits", "--no-proc-title", "-f", str(config)
        )
        self._wait(self._avahi_runs)

    def stop_avahi(self) -> None:
        self._avahi.terminate()
        self._avahi.wait()

    def _avahi_runs(self) -> bool:
        call = ["dbus-send", "--system", "--print-reply", "--dest=org.freedesktop.Avahi", "/"]
        done = subprocess.run(
            [*self.inside, *call, "org.freedesktop.Avahi.Server.GetState"], capture_output=True, text=True, check=False
        )
        return "int32 2" in done.stdout

    def begin(self, *command: str) -> subprocess.Popen[bytes]:
        """A process that runs until the device is switched off."""
        log = (self._folder / f"{command[0]}.log").open("ab")
        self._daemons.append(subprocess.Popen([*self.inside, *command], stdout=log, stderr=log))
        return self._daemons[-1]

    @staticmethod
    def _wait(holds: Callable[[], bool], timeout: float = 20.0) -> None:
        deadline = monotonic() + timeout
        while not holds():
            assert monotonic() < deadline, "a daemon has not come up"
            sleep(0.02)

    @property
    def inside(self) -> list[str]:
        return [*self._space.inside, "env", f"DBUS_SYSTEM_BUS_ADDRESS={self.bus}"]

    def command(self, binary: Path) -> Path:
        """A program that runs the binary on this device."""
        path = self._folder / binary.name
        path.write_text(f'#!/bin/sh\nexec {" ".join(self.inside)} {binary} "$@"\n')
        path.chmod(0o755)
        return path

    def run(self, *command: str) -> str:
        return run(*self.inside, *command)

    def told_within(self, seconds: float, *command: str) -> str:
        """The output of a command within this time. A command that still runs is then ended."""
        try:
            return subprocess.run([*self.inside, *command], capture_output=True, timeout=seconds).stdout.decode()
        except subprocess.TimeoutExpired as late:
            return (late.stdout or b"").decode()

    # Changes of the network.

    def plug(self, is_in: bool) -> None:
        """The cable, or the radio cell: the device knows at once that the network is gone."""
        self._switch.run("ip", "link", "set", self._port, "up" if is_in else "down")

    def reach(self, is_there: bool) -> None:
        """The network stays up and carries nothing, without a notification."""
        if is_there:
            self._switch.run("ip", "link", "set", self._port, "master", "switch")
        else:
            self._switch.run("ip", "link", "set", self._port, "nomaster")

    def close(self) -> None:
        for daemon in reversed(self._daemons):
            daemon.kill()
            daemon.wait()
        self._space.close()


class Start(Protocol):
    def __call__(self, device: Device, role: str, name: str, *arguments: str, lan: str = "on") -> Program: ...


class Network:
    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="lan")
        self._switch = Space()
        # The switch works without snooping, because with it a switch drops multicast until a device has requested it.
        self._switch.run("ip", "link", "add", "switch", "type", "bridge", "forward_delay", "0", "mcast_snooping", "0")
        self._switch.run("ip", "link", "set", "switch", "up")
        folder = Path(self._folder.name)
        self.devices = [Device(number, name, self._switch, folder) for number, name in [(1, "car"), (2, "seat")]]

    def mend(self) -> None:
        """Restores the initial state."""
        for device in self.devices:
            device.plug(True)
            device.reach(True)

    def close(self) -> None:
        for device in self.devices:
            device.close()
        self._switch.close()
        self._folder.cleanup()
