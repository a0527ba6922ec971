"""A lab in one setting: its boxes, and operations for measurements."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from runner import Box, Controller, Lab, Program
from runner.box import FOLDER_IN_BOX

from .settings import Setting

PROGRAMS = Path(__file__).resolve().parent / "programs"

DAEMONS = ("dbus-daemon", "bluetoothd")

# The time limit for starting a program in a box with busy cores.
START = 40.0

Value = TypeVar("Value")


class Stage:
    def __init__(self, lab: Lab, setting: Setting, bare: Path) -> None:
        """`bare`: the compiled program of the bare socket."""
        self.lab = lab
        self.setting = setting
        self._bare = bare

    def box(self, name: str, controllers: int = 1, profile: str = "modern", more_conf: str = "") -> Box:
        """The box of that name. Boots it at the first use. `more_conf` is added to main.conf."""
        if found := self.lab.boxes.get(name):
            return found
        setting = self.setting
        main_conf = (setting.main_conf or "") + more_conf or None
        return self.lab.box(name, controllers, bluetoothd=setting.bluetoothd, main_conf=main_conf, profile=profile)

    def adapters(self, prefix: str, count: int, each: int = 4, more_conf: str = "") -> list[Controller]:
        """Adapters for many guests. A box has one processor, so each has only a few of the adapters."""
        needed = range((count + each - 1) // each)
        boxes = [self.box(f"{prefix}{number}", controllers=each, more_conf=more_conf) for number in needed]
        return [box.hci(index) for box in boxes for index in range(each)][:count]

    # Programs

    def roadmesh(self, box: Box, *arguments: str | Path, adapter: Controller, name: str) -> Program:
        return box.roadmesh(*arguments, adapter=adapter, name=name, uid=self.setting.uid)

    def python(self, box: Box, script: str, *arguments: str) -> Program:
        """Starts a program of bench/programs with the lab's own Python."""
        argv = [sys.executable, "-u", str(PROGRAMS / f"{script}.py"), *arguments]
        return box.spawn(argv, name=script)

    def bare(self, box: Box, *arguments: str) -> Program:
        return box.spawn([str(self._bare), *arguments], name=f"bare-{arguments[0]}")

    def shared(self, program: Path) -> str:
        """The path at which RoadMesh's user can read a program from a home folder."""
        if self.setting.capable:
            return str(program)
        return f"{FOLDER_IN_BOX}/bin/{self.lab.shared_file(program).name}"

    # The air

    def await_advertising(self, adapter: Controller) -> None:
        """Waits until the adapter advertises. Call `skip` on the air's events before it can begin."""
        self.lab.air.expect("advertising", on=True, controller=adapter.name, timeout=START)

    def cut(self, one: Box, other: Box) -> None:
        """Begins a gap, and waits until both controllers have noticed it."""
        linked = any(one.name in link["central"] or one.name in link["peripheral"] for link in self.lab.air.links())
        self.lab.air.skip()
        self.lab.air.cut(one, other)
        if linked:
            self.lab.air.expect("linkDown")

    def heal(self) -> float:
        """Ends the gap. Returns the time: time.monotonic()."""
        healed = time.monotonic()
        self.lab.air.heal()
        return healed

    def hold(self, seconds: float) -> None:
        """Waits this long. Only for measurements of a duration."""
        self.lab.hub.wait_for(lambda: True if self.lab.deaths else None, seconds)
        if self.lab.deaths:
            raise RuntimeError(f"these boxes died: {', '.join(self.lab.deaths)}")

    def await_that(self, look: Callable[[], Value | None], what: str, timeout: float = START) -> Value:
        found = self.lab.hub.wait_for(look, timeout)
        if found is None:
            raise RuntimeError(f"not within {timeout:g} s: {what}")
        return found

    def links_of(self, box: Box) -> list[dict[str, object]]:
        names = [one.name for one in box.controllers]
        return [link for link in self.lab.air.links() if link["central"] in names or link["peripheral"] in names]

    # Between two measurements

    def clear(self) -> None:
        """Ends all programs, cuts and links."""
        for box in self.lab.boxes.values():
            for program in box.programs.values():
                if program.name not in DAEMONS and program.running:
                    program.kill()
            box.programs = {name: one for name, one in box.programs.items() if name in DAEMONS}
        self.lab.air.heal()
        names = self.lab.controller_names()
        if names:
            self.lab.air.request("drop", between=[names, names])
        with self.lab.hub.changed:
            self.lab.air.events.clear()
            self.lab.air.skip()
