# SPDX-License-Identifier: Apache-2.0
"""The state of a recorded drive after a power cut, and the cost of recording."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from time import monotonic
from typing import Any

import pytest
from box import Box, Printed

BINARY = os.environ.get("ROADMESH_BINARY", "roadmesh")
CUTS = 8
# Time that may be missing at the end: a second, and one write on a busy machine.
LOST = 1.4
# Time for a guest on a busy machine to start and find its host.
WAITING = 20.0
# Share of a core that a recording may use.
SHARE = 0.01
MEASURED_SECONDS = float(os.environ.get("ROADMESH_MEASURED_SECONDS", "30"))


class Road:
    """Boxes on one air. Boxes that still run lose their power at the test's end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.inbox: SimpleQueue[Printed] = SimpleQueue()
        self._boxes: list[Box] = []

    def box(self, name: str, *command: str) -> Box:
        place = ["--air", str(self.folder / "air"), "--adapter", name, "--state", str(self.folder / name)]
        options = ["--radio", "virtual", *place, "--http", "none", "--json"]
        made = Box(name, [BINARY, *command, *options], self.folder / f"{name}.log", self.inbox)
        self._boxes.append(made)
        return made

    def wait_for(self, wanted: str, name: str, **fields: Any) -> dict[str, Any]:
        deadline = monotonic() + WAITING
        while True:
            printed = self.inbox.get(timeout=max(deadline - monotonic(), 0.01))
            event = printed.event
            if event and printed.box == name and event["event"] == wanted and fields.items() <= event.items():
                return event

    def forget(self) -> None:
        """Drops the output up to now, so that it does not answer the next wait."""
        while not self.inbox.empty():
            self.inbox.get()

    def abandon(self) -> None:
        for box in self._boxes:
            if box.has_power:
                box.cut_power()


@pytest.fixture
def road(tmp_path: Path) -> Iterator[Road]:
    made = Road(tmp_path)
    yield made
    made.abandon()


def fieldtest(*arguments: object) -> str:
    return subprocess.run(
        [BINARY, "fieldtest", *map(str, arguments)], capture_output=True, text=True, check=True
    ).stdout


def test_a_recording_that_is_killed_lacks_no_more_than_its_last_second(road: Road) -> None:
    host = road.box("car", "host", "Car")
    guest = road.box("ana", "fieldtest", "record", "guest", "Ana", "--drive", "Killed")
    host.start()
    lost = []
    for life in range(CUTS):
        road.forget()
        guest.start()
        road.wait_for("snapshot", "ana", stale=False)
        # A mark every tenth of a second, and a cut at any time within a write's second.
        marked: list[float] = []
        for number in range(15 + 10 * life // CUTS):
            marked.append(guest.say(f"mark {number}"))
            time.sleep(0.1)
        at = guest.cut_power()
        drives = [json.loads(line) for line in fieldtest("list", "--state", road.folder / "ana", "--json").splitlines()]
        assert [one["ending"] for one in drives] == ["cutOff"] * (life + 1)
        [said] = json.loads(fieldtest("report", "last", "--state", road.folder / "ana", "--json", "-"))["drives"]
        assert said["ending"] == "cutOff"
        kept = [int(one["text"]) for one in said["marks"]]
        assert kept == list(range(len(kept))), "what is kept has no holes"
        lost.append(at - marked[len(kept)] if len(kept) < len(marked) else 0.0)
    print(f"missing at the end: {', '.join(f'{one:.2f}' for one in lost)} s")
    assert max(lost) < LOST
    # A report of two drives that were cut off.
    page = fieldtest("report", "1", str(CUTS), "--state", road.folder / "ana", "-o", "-")
    assert page.count("The recording was cut off.") == 2
    assert host.stop() == 0


def processor_seconds(pid: int) -> float:
    """Processor time of all threads of a process, to the nanosecond."""
    return sum(
        int((task / "schedstat").read_text().split()[0]) / 1e9 for task in Path(f"/proc/{pid}/task").iterdir()
    )


def test_recording_takes_less_than_a_hundredth_of_a_core(road: Road) -> None:
    """Guests run at the same time, and every other one is recorded. So all other load on the machine affects them
    equally."""
    host = road.box("car", "host", "Car")
    names = [f"{kind}{number}" for number in range(3) for kind in ("plain", "recorded")]
    guests = {
        name: road.box(name, *(("fieldtest", "record") if "recorded" in name else ()), "guest", name)
        for name in names
    }
    host.start()
    for name, guest in guests.items():
        guest.start()
        road.wait_for("snapshot", name, stale=False)
    pids = {name: guest._process.pid for name, guest in guests.items() if guest._process}
    before = {name: processor_seconds(pid) for name, pid in pids.items()}
    began = monotonic()
    time.sleep(MEASURED_SECONDS)
    took = monotonic() - began
    shares = {name: (processor_seconds(pid) - before[name]) / took for name, pid in pids.items()}
    plain, recorded = ([share for name, share in shares.items() if kind in name] for kind in ("plain", "recorded"))
    extra = sum(recorded) / 3 - sum(plain) / 3
    print(
        f"of a core, over {took:.0f} s: plain {', '.join(f'{one:.3%}' for one in plain)}; "
        f"recorded {', '.join(f'{one:.3%}' for one in recorded)}; recording {extra:.3%}"
    )
    for guest in guests.values():
        assert guest.stop() == 0
    assert host.stop() == 0
    assert extra < SHARE
