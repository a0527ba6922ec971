# SPDX-License-Identifier: Apache-2.0
"""A road, what a receiver reports along it, and a real gpsd that reads this (gpsfake)."""

from __future__ import annotations

import json
import math
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from .brokers import free_ports
from .program import START

# Metres of a degree of latitude, on the sphere that roadmesh computes with.
DEGREE = 6_371_000 * math.pi / 180
WATCH = b'?WATCH={"enable":true,"json":true};\n'


@dataclass(frozen=True)
class Place:
    latitude: float
    longitude: float

    def distance(self, other: Place) -> float:
        """The distance in metres, on a plane, because these roads are short."""
        east = (other.longitude - self.longitude) * math.cos(math.radians(self.latitude))
        return math.hypot(other.latitude - self.latitude, east) * DEGREE


@dataclass(frozen=True)
class Road:
    """A road to the north-east in the Alps, with tunnels. Times are seconds since its start."""

    seconds: int
    speed: float = 20.0
    """In metres per second."""
    tunnels: tuple[tuple[int, int], ...] = ()
    """From when to when the car is in each: there the receiver has no position."""
    start: Place = Place(46.55, 8.33)

    def place(self, at: float) -> Place:
        along = at * self.speed / DEGREE
        north, east = along * math.cos(math.radians(50)), along * math.sin(math.radians(50))
        # A few curves.
        north += 40 / DEGREE * math.sin(at / 4)
        return Place(
            self.start.latitude + north, self.start.longitude + east / math.cos(math.radians(self.start.latitude))
        )

    def nmea(self) -> str:
        """The output of a receiver, two sentences a second."""
        lines = []
        for at in range(self.seconds):
            place, clock = self.place(at), f"09{at // 60:02}{at % 60:02}.00"
            where = f"{degrees(place.latitude, 2)},N,{degrees(place.longitude, 3)},E"
            if any(start <= at < end for start, end in self.tunnels):
                lines += [f"GPRMC,{clock},V,,,,,,,281126,,,N", f"GPGGA,{clock},,,,,0,00,99.9,,M,,M,,"]
            else:
                knots = self.speed * 3_600 / 1_852
                lines.append(f"GPRMC,{clock},A,{where},{knots:.1f},50.0,281126,,,A")
                lines.append(f"GPGGA,{clock},{where},1,09,0.9,1200.0,M,48.0,M,,")
        return "".join(f"${line}*{checksum(line):02X}\r\n" for line in lines)


def degrees(value: float, digits: int) -> str:
    return f"{int(value):0{digits}}{(value - int(value)) * 60:08.5f}"


def checksum(line: str) -> int:
    result = 0
    for byte in line.encode():
        result ^= byte
    return result


class GPSFake:
    """gpsd, fed along a road once. It begins when a client asks for positions."""

    def __init__(self, folder: Path, road: Road, port: int | None = None) -> None:
        self.port = port or free_ports(1)[0]
        log = folder / f"road-{self.port}.nmea"
        log.write_text(road.nmea())
        # Each second has two sentences.
        line = ["gpsfake", "-1", "-q", "-c", "0.5", "-P", str(self.port), str(log)]
        self._process = subprocess.Popen(
            line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )

    def reports(self) -> Iterator[dict[str, Any]]:
        """The positions as another client of gpsd gets them, until the end of the road."""
        with self._connected() as connection, connection.makefile() as lines:
            connection.sendall(WATCH)
            for line in lines:
                report: dict[str, Any] = json.loads(line)
                if report["class"] == "TPV":
                    yield report
                # gpsfake has written everything, but does not end by itself.
                elif report["class"] == "DEVICE" and report.get("activated") == 0:
                    return

    def _connected(self) -> socket.socket:
        deadline = monotonic() + START
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port), START)
            except OSError:
                assert self._process.poll() is None and monotonic() < deadline, "gpsd does not listen"

    def drive(self) -> None:
        """Waits for the end of the road, and stops gpsd there."""
        for _ in self.reports():
            pass
        self.stop()

    def stop(self) -> None:
        if self._process.poll() is None:
            # gpsfake, and its gpsd.
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(START)
