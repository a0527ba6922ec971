# SPDX-License-Identifier: Apache-2.0
"""A road with three tunnels, driven twice with positions of a real gpsd: the dead zones of the report are the tunnels."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import geojson
import gpxpy
import pytest
from roadmesh_program.fixtures import Place as Radio
from roadmesh_program.gps import GPSFake, Place, Road
from roadmesh_program.program import START, Program

# The largest distance between the end of a tunnel and that of its dead zone, in metres.
AGREEMENT = 30
ROAD = Road(seconds=42, tunnels=((8, 13), (19, 22), (28, 35)))
DRIVES = ("Dongle on the dashboard", "Dongle in the glovebox")


class Trip:
    """A drive along the road. The guest is out of range of its host in the tunnels."""

    def __init__(self, binary: Path, place: Radio, folder: Path, air: Path) -> None:
        self.binary, self.place, self.folder, self.air = binary, place, folder, air

    def fieldtest(self, *arguments: str) -> str:
        line = [self.binary, "fieldtest", *arguments, "--state", self.folder / "ana"]
        return subprocess.run(line, check=True, capture_output=True, text=True, timeout=START).stdout

    def drive(self, name: str) -> None:
        gpsd = GPSFake(self.folder, ROAD)
        options = ["--drive", name, "--gpsd", f"127.0.0.1:{gpsd.port}", "--mark", "1s=start <&>"]
        guest = Program(self.binary, "fieldtest", "record", "guest", "Ana", *self.place("ana"), *options)
        cut = self.air / "ana.cut"
        try:
            guest.expect("connection", state="connected", timeout=START)
            for report in gpsd.reports():
                # The air is cut where the receiver loses its satellites.
                if report["mode"] < 2 and not cut.exists():
                    cut.touch()
                    guest.expect("contact", phase="lost")
                elif report["mode"] >= 2 and cut.exists():
                    cut.unlink()
                    guest.expect("contact", phase="resumed")
        finally:
            gpsd.stop()
        assert guest.end() == 0


@pytest.fixture
def trip(binary: Path, place: Radio, tmp_path: Path, air: Path, host: Program) -> Iterator[Trip]:
    yield Trip(binary, place, tmp_path, air)


def where(position: dict[str, float]) -> Place:
    return Place(position["latitude"], position["longitude"])


@pytest.mark.long
@pytest.mark.together
def test_three_tunnels_that_are_driven_twice_are_three_dead_zones(trip: Trip, measured: list[str]) -> None:
    for name in DRIVES:
        trip.drive(name)
    report = json.loads(trip.fieldtest("report", "1", "2", "--json", "-"))
    zones = report["deadZones"]
    assert [zone["drives"] for zone in zones] == [2, 2, 2] and [zone["passedBy"] for zone in zones] == [2, 2, 2]
    errors = []
    for zone, (start, end) in zip(zones, ROAD.tunnels, strict=True):
        # The car is in the tunnel from the first report without a position to the last.
        errors += [where(zone["start"]).distance(ROAD.place(start)), where(zone["end"]).distance(ROAD.place(end))]
        assert len(zone["gaps"]) == len(zone["reconnectSeconds"]) == 2
    measured.append(f"ends of three dead zones, from two drives: {', '.join(f'{one:.1f}' for one in errors)} m from the truth")
    assert max(errors) <= AGREEMENT
    pages(trip)
    geo_json_is_valid(trip)
    gpx_is_valid(trip)
    track_can_be_imported(trip)


def pages(trip: Trip) -> None:
    page = trip.folder / "report.html"
    said = trip.fieldtest("report", "1", "2", "-o", str(page))
    assert said.count("Dead zone ") == 3 and "lost in 2 of 2 drives" in said
    text = page.read_text()
    assert text.count('class="map"') == 1 and text.count('class="gone"') == 6 and "back after" in text
    assert "http:" not in text and "https:" not in text


def geo_json_is_valid(trip: Trip) -> None:
    made: Any = geojson.loads(trip.fieldtest("export", "1", "2", "--form", "geojson", "-o", "-"))
    assert made.is_valid, made.errors()
    kinds = [feature["properties"]["kind"] for feature in made["features"]]
    assert (kinds.count("gap"), kinds.count("deadZone"), kinds.count("mark")) == (6, 3, 2)
    for feature in made["features"]:
        for longitude, latitude in geojson.utils.coords(feature):
            assert Place(latitude, longitude).distance(ROAD.place(ROAD.seconds / 2)) < ROAD.seconds * ROAD.speed


def gpx_is_valid(trip: Trip) -> None:
    made = gpxpy.parse(trip.fieldtest("export", "1", "2", "--form", "gpx", "-o", "-"), version="1.1")
    assert [track.name for track in made.tracks] == list(DRIVES)
    assert [point.name for point in made.waypoints].count("start <&>") == 2 and len(made.waypoints) == 5
    for track in made.tracks:
        length = track.length_2d()
        # From the first position to the last one, which gpsd reports a second late.
        assert ROAD.speed * (ROAD.seconds - 8) < length < ROAD.speed * ROAD.seconds * 1.2
        assert all(point.time for point in track.segments[0].points)


def track_can_be_imported(trip: Trip) -> None:
    """A phone in the car has recorded the track of a drive without positions."""
    track = trip.folder / "phone.gpx"
    trip.fieldtest("export", "2", "--form", "gpx", "-o", str(track))
    before = json.loads(trip.fieldtest("report", "2", "--json", "-"))["deadZones"]
    assert trip.fieldtest("import", "2", str(track), "--replace").startswith("Drive 2 has ")
    after = json.loads(trip.fieldtest("report", "2", "--json", "-"))["deadZones"]
    assert [zone["gaps"] for zone in after] == [zone["gaps"] for zone in before]
    # GPX has milliseconds.
    assert all(where(one["middle"]).distance(where(two["middle"])) < 1 for one, two in zip(before, after, strict=True))
    # The ends of the road are not shared.
    shared = trip.fieldtest("export", "2", "--share", "-o", "-").splitlines()
    kept = [json.loads(line) for line in shared if '"kind":"position"' in line]
    assert kept
    for row in kept:
        assert all(where(row).distance(ROAD.place(at)) >= 190 for at in (1, ROAD.seconds - 1))


def test_an_import_says_what_is_wrong(binary: Path, tmp_path: Path, record_nothing: Callable[[], None]) -> None:
    record_nothing()
    files = {
        "other.gpx": '<gpx><trk><trkseg><trkpt lat="46" lon="8"><time>2001-01-01T00:00:00Z</time></trkpt></trkseg></trk></gpx>',
        "times.gpx": '<gpx><trk><trkseg><trkpt lat="46" lon="8"/></trkseg></trk></gpx>',
        "page.html": "<html></html>",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    def says(*arguments: str) -> str:
        line = [binary, "fieldtest", *arguments, "--state", tmp_path / "ana"]
        done = subprocess.run(line, capture_output=True, text=True, timeout=START, cwd=tmp_path)
        assert done.returncode != 0
        return done.stderr

    assert "recorded at another time: from 2001-01-01" in says("import", "1", "other.gpx")
    assert "the points of its track have no times" in says("import", "1", "times.gpx")
    assert "it is not a GPX file" in says("import", "1", "page.html")
    assert "cannot be read" in says("import", "1", "missing.gpx")
    assert 'no drive "7"' in says("import", "7", "other.gpx")
    assert "no position to export" in says("export", "1", "--form", "gpx", "-o", "-")


@pytest.fixture
def record_nothing(binary: Path, place: Radio) -> Callable[[], None]:
    def record() -> None:
        program = Program(binary, "fieldtest", "record", "guest", "Ana", *place("ana"), "--no-position")
        program.expect("ready", timeout=START)
        assert program.end() == 0

    return record
