"""Dialling and being dialled on one adapter, at the kernel's own interface. Whether an adapter can do both at once
depends on its driver (docs/bluez.md, "One role at a time"). The lab has both kinds."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from helpers import START, Figures, links_of
from runner import Box, Lab, Program, Stranger

CHANNEL = Path(__file__).parents[2] / "Lab/scenarios/channel.py"

# Flags, and a name.
ADVERTISEMENT = bytes([2, 0x01, 0x06]) + bytes([4, 0x09]) + b"Car"

# An undisturbed dial takes up to 0.3 s.
REFUSED = 3.0

numbers = itertools.count(1)


@pytest.fixture(scope="module")
def relays(air_of_file: Lab) -> dict[str, Box]:
    """A box with an adapter of either kind."""
    return {driver: air_of_file.box(driver, driver=driver) for driver in ("serial", "vhci")}


@pytest.fixture
def above(road: Lab) -> tuple[Stranger, int]:
    """A stranger to dial, and its PSM. Each test has its own: after a link ends, it may advertise again at any time."""
    stranger = road.stranger(f"above{next(numbers)}")
    return stranger, stranger.listen()


@pytest.fixture(scope="module")
def below(air_of_file: Lab) -> Stranger:
    """A stranger that dials."""
    return air_of_file.stranger("below")


def be_found(box: Box) -> Program:
    person = box.spawn(["/usr/bin/bluetoothctl"], name="bluetoothctl")
    person.expect_line("Agent registered", timeout=START)
    person.say("advertise on")
    person.expect_line("Advertising object registered", timeout=START)
    return person


def dial(box: Box, above: tuple[Stranger, int]) -> Program:
    peer, psm = above
    peer.advertise(ADVERTISEMENT)
    line = box.python(CHANNEL, "dial", box.hci(0).address, peer.address, str(psm))
    line.expect("dialling", timeout=START)
    return line


def roles(road: Lab, box: Box) -> list[str]:
    name = box.hci(0).name
    return sorted("central" if link["central"] == name else "peripheral" for link in links_of(road, box.hci(0)))


def test_a_driver_that_vouches_lets_an_adapter_dial_while_others_are_linked_to_it(
    road: Lab, relays: dict[str, Box], above: tuple[Stranger, int], below: Stranger, figures: Figures
) -> None:
    box = relays["vhci"]
    be_found(box)
    below.link(box.hci(0))
    linked = dial(box, above).expect("connected", timeout=START)
    figures.note(f"dialled while a peripheral: {linked['seconds'] * 1e3:.0f} ms")
    assert roles(road, box) == ["central", "peripheral"]


def test_one_that_does_not_keeps_the_dial_waiting_until_they_have_gone(
    road: Lab, relays: dict[str, Box], above: tuple[Stranger, int], below: Stranger
) -> None:
    box = relays["serial"]
    be_found(box)
    below.link(box.hci(0))
    line = dial(box, above)
    line.never("connected", during=REFUSED)
    assert line.running and roles(road, box) == ["peripheral"]
    below.disconnect()
    line.expect("connected", timeout=START)
    assert roles(road, box) == ["central"]


@pytest.mark.parametrize("driver", ["serial", "vhci"])
def test_whoever_has_dialled_can_be_dialled_with_either(
    road: Lab, relays: dict[str, Box], above: tuple[Stranger, int], below: Stranger, driver: str
) -> None:
    box = relays[driver]
    dial(box, above).expect("connected", timeout=START)
    be_found(box)
    below.link(box.hci(0))
    assert roles(road, box) == ["central", "peripheral"]
