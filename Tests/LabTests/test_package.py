"""The installed package in a box: the unit's command, as the unit's user, without capabilities and with those of the drop-in
that lets the service tune links.

ROADMESH_ROOT is a Debian root with the package installed; Tests/Packaging/run makes one.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import START, await_joined, shows_peers
from runner import Box, Lab, Program

ROOT = Path(os.environ.get("ROADMESH_ROOT", "/nowhere"))
UNIT = ROOT / "usr/lib/systemd/system/roadmesh-host.service"
TUNING = ROOT / "usr/share/roadmesh/bluetooth-tuning.conf"

pytestmark = pytest.mark.skipif("ROADMESH_ROOT" not in os.environ, reason="ROADMESH_ROOT names no root with the package")

WATCHDOG_SECONDS = 1.0

# Receives what a service manager would receive.
LISTEN = """
import json, os, socket, sys
path = sys.argv[1]
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind(path)
os.chmod(path, 0o666)
print(json.dumps({"event": "listening"}), flush=True)
while True:
    print(json.dumps({"event": "told", "text": manager.recv(4096).decode()}), flush=True)
"""


def unit(key: str, file: Path = UNIT) -> list[str]:
    """The unit's values of a key, or those of its drop-in."""
    lines = (line.strip().partition("=") for line in file.read_text().splitlines())
    return [value for name, _, value in lines if name == key]


def configuration() -> dict[str, str]:
    """The unit's environment file."""
    [name] = unit("EnvironmentFile")
    words = shlex.split((ROOT / name.lstrip("/")).read_text(), comments=True)
    return dict(word.split("=", 1) for word in words)


def command() -> list[str]:
    """ExecStart as systemd reads it: ${NAME} is one word, $OPTIONS is split into words."""
    [line] = unit("ExecStart")
    variables = configuration()
    argv: list[str] = []
    for word in line.split():
        if word.startswith("${"):
            argv.append(variables[word[2:-1]])
        elif word.startswith("$"):
            argv += variables[word[1:]].split()
        else:
            argv.append(word)
    return argv


def as_unit_says(argv: list[str], tunes: bool) -> list[str]:
    """Runs a command in the root, as the unit's user, with the capabilities of the unit, or of its drop-in if it tunes links."""
    [user], [none] = unit("User"), unit("CapabilityBoundingSet")
    assert none == "" and not unit("AmbientCapabilities") and unit("NoNewPrivileges") == ["yes"]
    [ambient], [bounding] = unit("AmbientCapabilities", TUNING), unit("CapabilityBoundingSet", TUNING)
    assert ambient == bounding
    kept = [f"+{one.removeprefix('CAP_').lower()}" for one in ambient.split()] if tunes else []
    capabilities = ",".join(["-all", *kept])
    return [
        *("chroot", str(ROOT), "/usr/bin/setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"),
        *(f"--{kind}={capabilities}" for kind in ("bounding-set", "inh-caps", "ambient-caps")),
        *("--no-new-privs", *argv),
    ]


@pytest.fixture(scope="module")
def head_unit(air_of_file: Lab) -> Iterator[Box]:
    """A box with the package installed."""
    box = air_of_file.box("headunit")
    # dbus-daemon looks up the unit's user, whose number this system need not have.
    box.run(f"for file in passwd group; do mount --bind {ROOT}/etc/$file /etc/$file; done")
    box.run(
        f"for folder in proc sys dev run; do mount --rbind /$folder {ROOT}/$folder; done; mount -t tmpfs tmp {ROOT}/tmp; "
        f"mount -t tmpfs -o mode=700 state {ROOT}/var/lib/roadmesh; chroot {ROOT} chown roadmesh: /var/lib/roadmesh"
    )
    yield box


def start(road: Lab, box: Box, name: str, tunes: bool = True) -> tuple[Program, Program]:
    """The receiver of the service manager's notifications, and the host."""
    script = road.folder / "listen.py"
    script.write_text(LISTEN)
    socket = f"/run/{name}.sock"
    manager = box.python(script, socket, name=f"manager-{name}")
    manager.expect("listening", timeout=START)
    environment = {
        "NOTIFY_SOCKET": socket, "WATCHDOG_USEC": str(int(WATCHDOG_SECONDS * 1e6)), "HOME": "/var/lib/roadmesh"
    }
    return manager, box.spawn(as_unit_says(command(), tunes), name=name, env=environment)


@pytest.mark.parametrize("tunes", [False, True], ids=["unit", "unit and drop-in"])
def test_the_service_hosts_and_its_manager_knows(road: Lab, head_unit: Box, car: Box, tunes: bool) -> None:
    manager, host = start(road, head_unit, f"service-{'tunes' if tunes else 'bare'}", tunes)
    manager.expect("told", text="READY=1", timeout=START)
    manager.expect("told", lambda event: "no guests" in event["text"])
    guest = car.roadmesh("guest", "Ana")
    await_joined(guest)
    assert guest.expect_seen("snapshot", shows_peers("Ana"))
    manager.expect("told", lambda event: "1 guest" in event["text"])
    for _ in range(3):
        manager.expect("told", text="WATCHDOG=1", timeout=START)

    status = head_unit.run(f"cat /proc/{host.pid}/status")
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    assert set(fields["Uid"].split()) != {"0"}
    for kind in ("CapEff", "CapPrm", "CapBnd"):
        assert int(fields[kind], 16) == (0x3000 if tunes else 0), "CAP_NET_ADMIN and CAP_NET_RAW with the drop-in"
    for kind in ("CapAmb", "CapInh"):
        assert int(fields[kind], 16) == 0, "none for the programs that it starts"
    assert fields["NoNewPrivs"].strip() == "1"

    host.signal("TERM")
    manager.expect("told", text="STOPPING=1")
    assert host.wait() == 0


def test_a_host_that_stands_still_is_heard_of_no_more(road: Lab, head_unit: Box) -> None:
    manager, host = start(road, head_unit, "still")
    manager.expect("told", text="READY=1", timeout=START)
    manager.expect("told", text="WATCHDOG=1", timeout=START)
    host.pause()
    # One more notification may be in transit. After it none comes for as long as a manager waits.
    began = time.monotonic() + WATCHDOG_SECONDS / 4
    manager.never("told", lambda event: event["_received"] > began, during=3 * WATCHDOG_SECONDS)
    host.resume()
    manager.expect("told", text="WATCHDOG=1", timeout=START)


@pytest.mark.parametrize("tunes", [False, True], ids=["unit", "unit and drop-in"])
def test_the_service_may_tune_links_with_its_drop_in_only(road: Lab, head_unit: Box, tunes: bool) -> None:
    argv = ["/usr/bin/roadmesh", "doctor", "--json", "--state", "/var/lib/roadmesh"]
    program = head_unit.spawn(as_unit_says(argv, tunes), name=f"doctor-{'tunes' if tunes else 'bare'}")
    assert program.wait(START) == 0, program.tail()
    assert bool(program.seen("finding", code="permissions", level="good")) == tunes, program.output
    assert program.seen("finding", code="state", level="good"), program.output
