"""Fast reconnects: how long a guest needs after a gap until it is connected and sees the current state."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import Figures, hold, start_guests, start_host
from runner import Box, Lab

GAPS = int(os.environ.get("GAPS", "6"))
SHORTEST, LONGEST = 2.0, 12.0

# A reconnect takes a tenth of this, unless its first try is lost: then the guest dials again after a pause.
LATE = 1.0

# bluetoothd's setting for connection intervals of 7.5 to 11.25 ms, for every link that a box dials.
FAST_LINKS = "[LE]\nMinConnectionInterval=6\nMaxConnectionInterval=6\n"


CHANNEL = Path(__file__).parents[2] / "Lab/scenarios/channel.py"
# The host uses the first dynamic PSM, so the echo server listens on another.
ECHO_PSM = "0x90"
# Size of a known guest's first packet, and about the size of the answer: the least with which both know each other.
HANDSHAKE = "116"


@pytest.fixture(scope="module")
def fast_car(air_of_file: Lab) -> Box:
    """A host's box that does not request longer intervals."""
    return air_of_file.box("fastcar", main_conf=FAST_LINKS)


@pytest.fixture(scope="module")
def fast_family(air_of_file: Lab) -> Box:
    """A guest's box with short connection intervals."""
    return air_of_file.box("fast", main_conf=FAST_LINKS)


@pytest.fixture
def no_events(road: Lab) -> Iterator[None]:
    road.air.connection_events(False)
    yield
    road.air.connection_events(True)


def drive(road: Lab, car: Box, box: Box, figures: Figures, name: str, gaps: int) -> None:
    host = start_host(car)
    [ana] = start_guests(box, "Ana")
    chances = random.Random(7)
    to_connected, to_snapshot = [], []
    for gap in range(gaps):
        song = f"s{2 + gap % 5}"
        road.air.cut(car, box)
        ana.expect("peerDisconnected")
        host.expect("peerDisconnected")
        ana.say(f"vote {song}")
        hold(road, chances.uniform(SHORTEST, LONGEST) - 0.5)
        healed = time.monotonic()
        road.air.heal()
        connected = ana.expect("connection", state="connected", timeout=20)
        snapshot = ana.expect("snapshot")
        # The state comes with the host's answer. The host reports the guest a little later.
        host.expect("peerConnected")
        to_connected.append(connected["_received"] - healed)
        to_snapshot.append(snapshot["_received"] - healed)
    figures.times(f"{name}: heal to connected", to_connected)
    figures.times(f"{name}: heal to snapshot", to_snapshot)
    late = [f"{seconds:.2f} s at gap {number}" for number, seconds in enumerate(to_connected, 1) if seconds > LATE]
    assert not late, f"{len(late)} of {gaps} reconnects took more than {LATE:g} s: {', '.join(late)}"


def test_floor(road: Lab, fast_car: Box, fast_family: Box, figures: Figures) -> None:
    """A bare socket whose dial is pending when the gap ends: the time of the kernel and the air without our
    protocol, with the one round trip that every protocol needs."""
    start_host(fast_car)
    fast_car.python(CHANNEL, "serve", fast_car.hci(0).address, ECHO_PSM, name="serve").expect("listening")
    addresses = [fast_family.hci(0).address, fast_car.hci(0).address]
    to_link, to_channel, to_echo = [], [], []
    for gap in range(GAPS):
        road.air.skip()
        road.air.cut(fast_car, fast_family)
        if gap > 0:
            road.air.expect("linkDown")
        dial = fast_family.python(CHANNEL, "dial", *addresses, ECHO_PSM, HANDSHAKE, name="dial")
        dial.expect("dialling")
        hold(road, SHORTEST)
        road.air.skip()
        healed = time.monotonic()
        road.air.heal()
        to_link.append(road.air.expect("linkUp")["monotonic"] - healed)
        to_channel.append(dial.expect("connected")["_received"] - healed)
        to_echo.append(dial.expect("echo")["_received"] - healed)
        dial.kill()
    figures.times("a bare socket, intervals of 7.5 ms: heal to link", to_link)
    figures.times("a bare socket, intervals of 7.5 ms: heal to channel", to_channel)
    figures.times("a bare socket, intervals of 7.5 ms: heal to a round trip", to_echo)


def test_usual(road: Lab, car: Box, family: Box, figures: Figures) -> None:
    drive(road, car, family, figures, "as the nodes set it", GAPS)


def test_fast(road: Lab, fast_car: Box, fast_family: Box, figures: Figures) -> None:
    drive(road, fast_car, fast_family, figures, "intervals of 7.5 ms", GAPS)


def test_no_events(road: Lab, car: Box, family: Box, figures: Figures, no_events: None) -> None:
    drive(road, car, family, figures, "air without connection events", GAPS)
