"""Shared by the lab tests: an air for each file, its boxes, and the measured figures.

A file's tests share its boxes, which take a second to boot. They share no programs: after each test, its programs,
links and cuts are gone.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from helpers import DAEMONS, Figures
from pytest_lab import REPORT
from runner import Box, Lab

pytest_plugins = ["roadmesh_program.measuring"]

# A Swift trap, an abort or a segmentation fault is always an error, whatever a test did to the program.
CRASHES = {-4: "SIGILL", -5: "SIGTRAP", -6: "SIGABRT", -7: "SIGBUS", -8: "SIGFPE", -11: "SIGSEGV"}

AWAIT_BLUETOOTHD = """
until dbus-send --system --print-reply --dest=org.bluez / org.freedesktop.DBus.ObjectManager.GetManagedObjects |
    grep -c org.bluez.Adapter1 | grep -q "^$(hciconfig | grep -c 'UP RUNNING')$"; do sleep 0.05; done
"""

@pytest.fixture(scope="module")
def air_of_file(request: pytest.FixtureRequest, lab_machine: None) -> Iterator[Lab]:
    """A lab that this file's tests share. Tests take `road`, not this."""
    options = request.config.option
    name = request.node.name.removesuffix(".py")
    made = Lab(name, binary=options.binary, keep=options.keep, seed=options.air_seed)
    try:
        yield made
    finally:
        ours = [item for item in request.session.items if item.getparent(pytest.Module) is request.node]
        reports = [item.stash.get(REPORT, None) for item in ours]
        failed = any(report is None or report.failed for report in reports)
        died = list(made.deaths)
        if made.close(failed=failed or bool(died)):
            print(f"the run's folder: {made.folder.path}")
    if died:
        pytest.fail(f"these boxes died: {', '.join(died)}", pytrace=False)


@pytest.fixture
def road(air_of_file: Lab) -> Iterator[Lab]:
    """The file's lab: its boxes run only the system's programs, and no link is cut."""
    yield air_of_file
    crashed = crashes(air_of_file)
    clear(air_of_file)
    if crashed:
        pytest.fail("\n".join(crashed), pytrace=False)


@pytest.fixture(scope="module")
def car(air_of_file: Lab) -> Box:
    """The head unit's box."""
    return air_of_file.box("car")


@pytest.fixture(scope="module")
def family(air_of_file: Lab) -> Box:
    """A box with three adapters, for three guests."""
    return air_of_file.box("family", controllers=3)


@pytest.fixture
def figures(measured: list[str], road: Lab) -> Figures:
    """Collects measured figures. The run shows them at its end, also if all tests pass."""
    return Figures(measured, road.folder / "figures.txt")


def crashes(lab: Lab) -> list[str]:
    return [
        f"{program!r} crashed with {CRASHES[program.exit_code]}\n{program.tail()}"
        for box in lab.boxes.values()
        for program in box.programs.values()
        if program.exit_code in CRASHES
    ]


def clear(lab: Lab) -> None:
    for box in lab.boxes.values():
        for program in box.programs.values():
            if program.name not in DAEMONS and program.running:
                program.kill()
    lab.air.heal()
    names = lab.controller_names()
    lab.air.request("drop", between=[names, names])
    addresses = [controller.address for box in lab.boxes.values() for controller in box.controllers]
    for box in lab.boxes.values():
        if not box.alive:
            continue
        if box.bluetoothd_options is not None and not box.bluetoothd.running:
            box.start_bluetoothd()
            box.run(AWAIT_BLUETOOTHD)
        for controller in box.controllers:
            box.ask("give_back", controller=controller.index, address=controller.address, peers=addresses)
        # Removed, so that later tests do not see the programs' end events.
        box.programs = {name: one for name, one in box.programs.items() if name in DAEMONS}
    with lab.hub.changed:
        lab.air.events.clear()
        lab.air.skip()
