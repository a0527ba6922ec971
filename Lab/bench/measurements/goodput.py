"""Received bytes a second, by the size of SDUs and messages, on 1M and on 2M."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from runner import Box

from .. import theory
from ..results import Results
from ..settings import TUNED, Effort
from ..stage import START, Stage
from ..systems import BARE, GATT, GATT_COMMANDS, L2TEST, ROADMESH, bare, gatt, roadmesh

METRIC, SHARE, LEFT = "goodput", "goodputShare", "goodputLeft"

# A Bluetooth 4.2 controller does not support 2M.
PROFILES = {"1M": "plain", "2M": "modern"}

L2TEST_PSM = "131"
LARGEST_SDU = 2221
# The expected share of the theory, for choosing the number of writes: a response takes a connection event or two.
WRITES_SHARE = 0.08

# The largest value for a write without response, with bluetoothd's MTU of 517 bytes.
GATT_VALUE = 512 - 3

FLOOD_TIMEOUT = 120.0

# The limit of the radio is measured once in each setting, and the dependence on sizes in one setting.
SIZES_IN = TUNED.name


def measure(stage: Stage, results: Results, effort: Effort) -> None:
    for phy, profile in PROFILES.items():
        car, family = stage.box(f"car{phy}", profile=profile), stage.box(f"family{phy}", profile=profile)
        if phy == "2M":
            _prefer_two_megabit(car, family)
        all_sizes = stage.setting.name == SIZES_IN
        roadmesh.start_host(stage, car)
        _bare(stage, results, car, family, phy, effort, effort.sdus if all_sizes else effort.sdus[-1:])
        stage.clear()
        _session(stage, results, car, family, phy, effort, effort.messages if all_sizes else effort.messages[-1:])
        stage.clear()
        if effort.rounds > 1:
            roadmesh.start_host(stage, car)
            _l2test(stage, results, car, family, phy, effort)
            stage.clear()
        if stage.setting.for_everybody:
            _gatt(stage, results, car, family, phy, effort)
            stage.clear()


def _prefer_two_megabit(*boxes: Box) -> None:
    """Requests 2M for all links of all systems: LE Set Default PHY."""
    for box in boxes:
        box.run("hcitool -i hci0 cmd 0x08 0x0031 0x00 0x02 0x02")


def _add(results: Results, stage: Stage, system: str, phy: str, size: str, rate: float) -> None:
    results.add(METRIC, system, stage.setting.name, f"{phy} {size}".strip(), "kB/s", [rate / 1e3])
    share = rate / theory.largest_goodput(phy)
    results.add(SHARE, system, stage.setting.name, f"{phy} {size}".strip(), "of the theory", [share])


def _repeated(sizes: tuple[int, ...], effort: Effort) -> tuple[int, ...]:
    """The sizes, with the largest one several times."""
    return sizes + sizes[-1:] * (effort.rounds - 1)


def _count(effort: Effort, size: int, rate: float) -> int:
    return max(3, round(effort.flood_seconds * rate / size))


def _add_left(results: Results, stage: Stage, system: str, phy: str, size: str, rate: float, busy: float) -> None:
    """Adds the share of the airtime that the host's own advertising leaves, since its radio does one thing at a time."""
    share = rate / theory.largest_goodput(phy) / (1 - busy)
    results.add(LEFT, system, stage.setting.name, f"{phy} {size}", "of the theory", [share])


class Advertising:
    """The share of the time in which an adapter's radio advertises, from now on."""

    def __init__(self, stage: Stage, name: str) -> None:
        self._stage = stage
        self._name = name
        self._began, self._before = time.monotonic(), self._events()

    def _events(self) -> int:
        return int(self._stage.lab.air.counters()[self._name]["advertisingEvents"])

    @property
    def share(self) -> float:
        return theory.advertising_airtime(self._events() - self._before) / (time.monotonic() - self._began)


def _check_phy(stage: Stage, box: Box, phy: str, results: Results) -> None:
    phys = {str(link["phy"]) for link in stage.links_of(box)}
    if phys != {phy}:
        results.note(f"goodput, {stage.setting.title}: the link was on {', '.join(sorted(phys))} instead of {phy}")


def _bare(
    stage: Stage, results: Results, car: Box, family: Box, phy: str, effort: Effort, sizes: tuple[int, ...]
) -> None:
    server = bare.start_server(stage, car)
    line = bare.dial(stage, family.hci(0), car, "20")
    line.expect("echo", timeout=START)
    # Waits until the link's initial procedures have ended.
    stage.hold(1)
    _check_phy(stage, car, phy, results)
    for size in _repeated(sizes, effort):
        advertising = Advertising(stage, car.hci(0).name)
        line.say(f"flood {size} {_count(effort, size, theory.goodput(size, phy)) + 1}")
        counted = server.expect("counted", timeout=FLOOD_TIMEOUT)
        if size == LARGEST_SDU:
            rate = counted["bytes"] / counted["seconds"]
            _add_left(results, stage, BARE, phy, str(size), rate, advertising.share)
        _add(results, stage, BARE, phy, str(size), counted["bytes"] / counted["seconds"])


def _l2test(stage: Stage, results: Results, car: Box, family: Box, phy: str, effort: Effort) -> None:
    count = _count(effort, LARGEST_SDU, theory.largest_goodput(phy))
    total = str(count * LARGEST_SDU)
    receiver = car.spawn(["l2test", "-r", "-P", L2TEST_PSM, "-V", "le_public", "-I", str(LARGEST_SDU), "-b", total])
    receiver.expect_line("Waiting for connection", timeout=START)
    sender = ["l2test", "-s", "-P", L2TEST_PSM, "-V", "le_public", "-b", str(LARGEST_SDU), "-N", str(count + 4)]
    family.spawn([*sender, car.hci(0).address])
    line = receiver.expect_line("bytes in", timeout=FLOOD_TIMEOUT)
    if found := re.search(r"(\d+) bytes in ([\d.]+) sec", line.string):
        _add(results, stage, L2TEST, phy, str(LARGEST_SDU), int(found[1]) / float(found[2]))


def _session(
    stage: Stage, results: Results, car: Box, family: Box, phy: str, effort: Effort, sizes: tuple[int, ...]
) -> None:
    """Sends messages over a `MeshCoreSession`, with the unit tests' GoodputTests."""
    tests = os.environ.get("ROADMESH_TESTS")
    if not tests:
        results.note("goodput of RoadMesh: left out, since ROADMESH_TESTS names no test bundle")
        return
    uid = stage.setting.uid
    command = [stage.shared(Path(tests)), "--testing-library", "swift-testing", "--filter", "GoodputTests"]
    for size in _repeated(sizes, effort):
        count = str(_count(effort, size, theory.largest_goodput(phy)) + 1)
        given = {"ROADMESH_GOODPUT_BYTES": str(size), "ROADMESH_GOODPUT_MESSAGES": count}
        options = {} if uid is None else {"uid": uid}
        stage.lab.air.drop(car, family)
        stage.lab.air.skip()
        host = car.spawn(command, name="goodput-host", env={"ROADMESH_GOODPUT": "host", **given}, **options)
        # The test takes the first host that it hears, and bluetoothd still knows the previous one.
        stage.await_advertising(car.hci(0))
        guest = family.spawn(command, name="goodput-guest", env={"ROADMESH_GOODPUT": "guest", **given}, **options)
        advertising = Advertising(stage, car.hci(0).name)
        line = host.expect_line("goodput:", timeout=FLOOD_TIMEOUT)
        busy = advertising.share
        for program in (guest, host):
            program.wait(timeout=START)
        if found := re.search(r"goodput: (\d+) bytes in ([\d.]+) s", line.string):
            rate = int(found[1]) / float(found[2])
            _add(results, stage, ROADMESH, phy, str(size), rate)
            _add_left(results, stage, ROADMESH, phy, str(size), rate, busy)


def _gatt(stage: Stage, results: Results, car: Box, family: Box, phy: str, effort: Effort) -> None:
    server = gatt.start_server(stage, car)
    client = gatt.start_client(stage, family.hci(0))
    client.expect("listening", timeout=START)
    # bleak writes with a response if the characteristic allows it, and only those values are known to have arrived.
    for system, command, share in ((GATT, "write", WRITES_SHARE), (GATT_COMMANDS, "flood", 1)):
        for _ in range(effort.rounds):
            client.say(f"{command} {GATT_VALUE} {_count(effort, GATT_VALUE, theory.largest_goodput(phy) * share)}")
            counted = server.expect("counted", timeout=FLOOD_TIMEOUT)
            _add(results, stage, system, phy, str(GATT_VALUE), counted["bytes"] / counted["seconds"])
    _check_phy(stage, car, phy, results)
