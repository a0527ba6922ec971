"""The radio lab: boxes, the air between them, and the folder that holds the traces of a run."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from .air import Air
from .box import BLUETOOTHD_OPTIONS, Box
from .errors import LabError
from .folder import RunFolder
from .foreign_host import Stranger
from .hub import Hub
from .program import describe_exit
from .requirements import bluetoothd_path, kernel_path, not_built, processors, strict_kernel_path

# Enough songs to vote on, and few enough for every list in a test to fit on a screen.
SONGS = [
    ("Roadhouse Blues", "The Doors", 244),
    ("Autobahn", "Kraftwerk", 1364),
    ("Take Me Home, Country Roads", "John Denver", 190),
    ("Fast Car", "Tracy Chapman", 297),
    ("Highway Star", "Deep Purple", 367),
    ("On the Road Again", "Canned Heat", 297),
    ("Life Is a Highway", "Tom Cochrane", 266),
    ("Ventura Highway", "America", 212),
]

DAEMONS = ("bluetoothd", "dbus-daemon")


class Lab:
    """A context manager: ends all processes, and keeps the run's folder if something failed."""

    def __init__(
        self,
        name: str,
        binary: Path | None = None,
        keep: bool = False,
        seed: int | None = None,
        pinned: bool = False,
    ) -> None:
        """`pinned`: each box is pinned to one of the machine's processors."""
        if reasons := not_built():
            raise LabError("\n".join(reasons))
        self.kernel = kernel_path()
        self.processors = 1 if pinned else processors(self.kernel)
        """The number of processors of a box."""
        self.bluetoothd = bluetoothd_path()
        self._binary = binary
        self.keep = keep
        self.pinned = pinned
        self.boxes: dict[str, Box] = {}
        self.strangers: dict[str, Stranger] = {}
        self.deaths: list[str] = []
        """Boxes that died unexpectedly."""
        self.folder = RunFolder(name)
        self._notes = (self.folder / "lab.log").open("w", buffering=1)
        (self.folder / "uml").mkdir()
        self.hub = Hub()
        self.air = Air(self, seed)
        self.songs = self.folder / "songs.json"
        """A library of eight songs, s1 to s8, for --library."""
        self.songs.write_text(
            json.dumps(
                [
                    {"id": f"s{number}", "title": title, "artist": artist, "duration": duration}
                    for number, (title, artist, duration) in enumerate(SONGS, 1)
                ],
                indent=1,
            )
        )

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(failed=kind is not None)

    def box(
        self,
        name: str,
        controllers: int = 1,
        bluetoothd: tuple[str, ...] | None = BLUETOOTHD_OPTIONS,
        main_conf: str | None = None,
        profile: str = "modern",
        memory: int = 384,
        driver: str | Sequence[str] = "serial",
        strict: bool = False,
    ) -> Box:
        """Starts a box and returns at once, so that several can boot at the same time.

        `bluetoothd`: its options, or None for a box without it. `main_conf`: the text of its main.conf, instead of the
        system's. `profile`: the kind of controllers (air/profiles.py). `memory`: in megabytes. `driver`: the
        kernel's driver of its controllers (DRIVERS in box.py), or of each one. `strict`: on the kernel with the check that
        refuses all that bluetoothd advertises.
        """
        if name in self.boxes:
            raise LabError(f"there is a box {name} already")
        if not name.replace("-", "").isalnum():
            raise LabError(f"a box's name consists of letters, digits and hyphens, unlike {name!r}")
        drivers = [driver] * controllers if isinstance(driver, str) else driver
        kernel = strict_kernel_path() if strict else self.kernel
        box = self.boxes[name] = Box(self, name, controllers, bluetoothd, main_conf, profile, memory, drivers, kernel)
        return box

    def stranger(self, name: str, profile: str = "modern") -> Stranger:
        """A Bluetooth host on a controller of its own that shares no code with ours."""
        stranger = self.strangers[name] = Stranger(self, name, profile)
        return stranger

    def binary(self) -> Path:
        """The `roadmesh` to test."""
        chosen = self._binary or os.environ.get("ROADMESH_BINARY")
        if not chosen:
            raise LabError("no roadmesh to test: set ROADMESH_BINARY, or use --binary")
        path = Path(chosen).resolve()
        if not os.access(path, os.X_OK):
            raise LabError(f"{path} is not a program")
        return path

    def shared_binary(self) -> Path:
        """A copy of the `roadmesh` to test that every user of a box can read: builds are usually in a home folder."""
        return self.shared_file(self.binary())

    def shared_file(self, path: Path) -> Path:
        """A copy of a program that every user of a box can read."""
        shared = self.folder / "bin" / path.name
        if not shared.exists():
            shared.parent.mkdir(exist_ok=True)
            shutil.copy(path, shared)
            shared.chmod(0o755)
        return shared

    def new_state_folder(self, name: str) -> Path:
        """An empty folder of the run for a program's state. Boxes can write to it."""
        base = self.folder / "state"
        base.mkdir(exist_ok=True)
        path = base / name
        number = 1
        while path.exists():
            number += 1
            path = base / f"{name}-{number}"
        path.mkdir()
        return path

    def controller_names(self) -> list[str]:
        names = [controller.name for box in self.boxes.values() for controller in box.controllers]
        return names + list(self.strangers)

    def oddities(self) -> list[str]:
        """Other problems to show with a failure: daemons that have ended, complaints of kernels."""
        found = [f"the box {name} died" for name in self.deaths]
        for box in self.boxes.values():
            for program in box.programs.values():
                if program.name in DAEMONS and program.exit_code is not None and box.alive:
                    found.append(f"{program!r} {describe_exit(program.exit_code)}")
            found += [f"{box.name}'s console: {line}" for line in box.kernel_complaints()]
        return found

    def note(self, text: str) -> None:
        """Writes a line to the run's log."""
        self._notes.write(f"{self.folder.clock():9.3f} {text}\n")

    def close(self, failed: bool) -> bool:
        """Ends all processes. Returns whether the folder was kept."""
        keep = failed or self.keep or bool(self.deaths)
        try:
            if keep:
                self._save_counters()
            for box in self.boxes.values():
                # A failed run is kept with all data that the programs have written.
                box.power_off() if keep else box.power_cut()
        finally:
            self.air.close()
            self.hub.close()
            self._notes.close()
            self.folder.close(keep)
        return keep

    def _save_counters(self) -> None:
        try:
            summary = {"counters": self.air.counters(), "links": self.air.links()}
            (self.folder / "counters.json").write_text(json.dumps(summary, indent=1))
        except LabError as error:
            self.note(f"no counters: {error}")
