"""RoadMesh: the program under test."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from runner import Box, Controller, Event, Program

from ..stage import START, Stage


def start_host(stage: Stage, box: Box, songs: Path | None = None) -> Program:
    """Starts a host, and waits until it advertises."""
    library = songs or stage.lab.songs
    host = stage.roadmesh(box, "host", "Dad's Car", "--library", str(library), adapter=box.hci(0), name="host")
    host.expect("ready", timeout=START)
    host.expect("snapshot", timeout=START)
    return host


def start_guest(stage: Stage, adapter: Controller, name: str) -> Program:
    """Starts a guest."""
    return stage.roadmesh(adapter.box, "guest", name, adapter=adapter, name=name.replace(" ", "-"))


def await_joined(guest: Program) -> Event:
    """Waits until the guest shows its first state."""
    guest.expect("connection", state="connected", timeout=START)
    return guest.expect("snapshot", timeout=START)


def identity(guest: Program) -> str:
    return str(guest.expect_seen("ready", timeout=START)["peer"]["id"])


def shows_vote(song: str, voter: str) -> Callable[[Event], bool]:
    return lambda shown: any(item["id"] == song and voter in item["voters"] for item in shown["queue"])


def song_list(stage: Stage, count: int) -> Path:
    """A library with this many songs and all fields of the JSON system's songs. The first one plays throughout."""
    songs = [
        {
            "id": f"s{number}",
            "title": f"Take Me Home, Road Number {number}",
            "artist": "The Milestones",
            "duration": 3600,
            "albumArtURL": f"https://127.0.0.1:9/albums/{number:08x}/front-500.jpg",
        }
        for number in range(count + 1)
    ]
    path = stage.lab.folder / f"{count}-songs.json"
    path.write_text(json.dumps(songs))
    return path
