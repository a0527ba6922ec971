"""Records the drives in docs/drives with `roadmesh fieldtest record`: a host and a guest in two boxes each, on modelled
roads (roads.py). Takes a little more than five minutes.

    DRIVES=docs/drives scripts/radio-lab run Lab/scenarios/record-drives.py
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path

from roads import ROADS
from runner import Lab, LabError, Program
from runner.drive import Step, follow

ORIGIN = (
    "Made in the radio lab, not on a road: the program, kernels and bluetoothd are real, the controllers and the air "
    "are emulated, and the signal is a model's."
)


def scenario(lab: Lab) -> None:
    output = Path(os.environ.get("DRIVES", lab.folder.path)).resolve()
    songs = lab.folder / "many-songs.json"
    songs.write_text(
        json.dumps(
            [
                {"id": f"n{number}", "title": f"Mile {number}", "artist": "The Milestones", "duration": 3600}
                for number in range(61)
            ]
        )
    )
    failures: list[str] = []

    def one(name: str) -> None:
        try:
            record(lab, name, songs, output)
        except Exception as error:  # collected: the scenario fails with the errors of all threads
            failures.append(f"{name}: {error}")

    for name in ROADS:
        lab.box(f"{name}-car"), lab.box(f"{name}-guest")
    threads = [threading.Thread(target=one, args=(name,)) for name in ROADS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise LabError("; ".join(failures))


def record(lab: Lab, name: str, songs: Path, output: Path) -> None:
    car, family = lab.boxes[f"{name}-car"], lab.boxes[f"{name}-guest"]
    title = name.replace("-", " ").capitalize()
    # Each road has its own service, since the cars of three roads share one air and must not connect.
    service = ("--service", name.replace("-", "")[:15], "--http", "none")
    host = car.roadmesh("host", "First car", "--library", str(songs), *service, name=f"{name}-host")
    host.expect("ready", timeout=60)
    guest = family.roadmesh(
        "fieldtest", "record", "guest", "Ana", "--drive", title, "--origin", ORIGIN, *service, name=f"{name}-guest"
    )
    guest.expect("snapshot", timeout=60)
    drive(lab, name, host, guest)
    guest.say("quit")
    guest.wait()
    target = output / f"{name}.jsonl"
    subprocess.run(
        [lab.binary(), "fieldtest", "export", "last", "--state", str(guest.state), "-o", str(target)], check=True
    )
    print(f"{target}: {target.stat().st_size} bytes")


def drive(lab: Lab, name: str, host: Program, guest: Program) -> None:
    votes = iter(range(1, 61))

    def told(step: Step) -> None:
        if step.change == "vote":
            guest.say(f"vote n{next(votes)}")
        elif step.change == "mark":
            guest.say(f"mark {step.text}")

    follow(lab, ROADS[name], host.box, guest.box, told)
