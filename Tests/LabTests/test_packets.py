"""Packets around gaps, recorded by the real program in boxes: tshark opens each file and shows what ended the link. No
file names a foreign device."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from helpers import START, Figures, await_joined, hold, start_host
from runner import Box, Lab, Program
from test_fieldtest import fieldtest, record, report

CONNECTION_TIMEOUT, REMOTE_USER, LOCAL_HOST = 0x08, 0x13, 0x16
# The link layer's event and the program's notice of it are at most this far apart: the box's serial line and processor.
NOTICED = 1.0
# Time after a gap until its file is written: five seconds, and the program writes once a second.
WRITTEN = 7.0


def tshark(path: str, what: str, *fields: str) -> list[list[str]]:
    """The fields of each packet that the filter passes."""
    wanted = [word for field in fields for word in ("-e", field)]
    done = subprocess.run(
        ["tshark", "-n", "-r", path, "-Y", what, "-T", "fields", *wanted], capture_output=True, text=True, check=True
    )
    return [line.split("\t") for line in done.stdout.splitlines()]


def ends(path: str) -> list[tuple[float, int]]:
    """The time and the reason of each link that ended."""
    return [
        (float(at), int(reason, 16))
        for at, reason in tshark(path, "bthci_evt.code == 0x05", "frame.time_epoch", "bthci_evt.reason")
    ]


def channel_ends(path: str) -> list[float]:
    """The times at which a side closed a channel (L2CAP's Disconnection Request), on a link that may stay up."""
    return [float(at) for [at] in tshark(path, "btl2cap.cmd_code == 0x06", "frame.time_epoch")]


def timeouts(path: str) -> set[int]:
    """The supervision timeouts of links in a file, in units of 10 ms."""
    rows = tshark(path, "bthci_evt.le_supv_timeout", "bthci_evt.le_supv_timeout")
    return {int(value) for [value] in rows}


def drive_through(road: Lab, guest: Program, one: Box, other: Box, seconds: float) -> None:
    road.air.cut(one, other)
    hold(road, seconds)
    road.air.heal()
    guest.expect("contact", phase="resumed", timeout=START)
    guest.expect("snapshot", timeout=START)


def test_every_gap_of_a_drive_shows_the_timeout_or_the_disconnect_that_caused_it(
    road: Lab, car: Box, family: Box, figures: Figures
) -> None:
    host = start_host(car)
    guest = record(family)
    # Two short gaps share a file. A longer one has a file for its loss and one for its return.
    for seconds in (2.0, 2.0, 14.0):
        drive_through(road, guest, car, family, seconds)
        hold(road, 3)
    hold(road, 8)
    # A program that dies: its kernel closes the channel, and ends the link later or not at all.
    host.kill()
    guest.expect("contact", phase="lost", timeout=START)
    hold(road, WRITTEN)
    host.again().expect("ready", timeout=START)
    guest.expect("contact", phase="resumed", timeout=START)
    hold(road, WRITTEN)
    guest.say("quit")
    guest.wait()
    said = report(road, guest)
    gaps = said["gaps"]
    assert len(gaps) >= 4, gaps
    began = said["header"]["began"]
    reasons = [cause(gap, began) for gap in gaps]
    assert reasons[:3] == [CONNECTION_TIMEOUT] * 3
    closed = [at - began - gaps[-1]["lost"] for at in channel_ends(gaps[-1]["packets"][0])]
    assert reasons[-1] in (REMOTE_USER, LOCAL_HOST) or any(abs(one) < NOTICED for one in closed), (reasons, closed)
    files = {path for gap in gaps for path in gap["packets"]}
    for path in files:
        assert timeouts(path), "each link is explained by its supervision timeout"
    sizes = [Path(path).stat().st_size for path in files]
    figures.note(
        f"{len(gaps)} gaps of a guest, reasons {reasons}; {len(files)} files of packets, "
        f"{min(sizes)} to {max(sizes)} bytes"
    )
    page = fieldtest(road, "report", "last", "--state", guest.state, "-o", "-")
    assert all(f"file://{path}" in page for path in files)
    shared = fieldtest(road, "report", "last", "--state", guest.state, "-o", "-", "--share")
    assert "btsnoop" not in shared and "file://" not in shared
    fieldtest(road, "forget", "last", "--state", guest.state, "--yes")
    assert not any(Path(path).exists() for path in files)


def cause(gap: dict[str, Any], began: float) -> int | None:
    """The reason of the link's end that is nearest to the loss of a gap. None if the link stayed up."""
    found = min(ends(gap["packets"][0]), key=lambda end: abs(end[0] - began - gap["lost"]), default=None)
    if found is None:
        return None
    if found[1] == CONNECTION_TIMEOUT:
        assert abs(found[0] - began - gap["lost"]) < NOTICED, (gap, found)
    return found[1]


def test_a_foreign_device_is_in_no_file_by_address_or_name(road: Lab, car: Box, family: Box, figures: Figures) -> None:
    name = b"Bobs phone"
    bob = road.stranger("bob")
    bob.advertise(bytes((2, 1, 6, len(name) + 1, 9)) + name)
    host = car.roadmesh("fieldtest", "record", "host", "Dad's Car", "--http", "none", "--library", str(road.songs))
    host.expect("ready", timeout=START)
    guest = family.roadmesh("guest", "Ana")
    await_joined(guest)
    road.air.cut(car, family)
    host.expect("contact", phase="lost", timeout=START)
    # A scan on the host's adapter hears the stranger, and the stranger links to the host.
    scan = car.roadmesh("scan", "--seconds", "3", name="scan")
    scan.wait(START)
    bob.link(car.hci(0))
    hold(road, 1)
    road.air.heal()
    host.expect("contact", phase="resumed", timeout=START)
    hold(road, WRITTEN)
    host.say("quit")
    host.wait()
    [gap] = report(road, host)["gaps"]
    contents = b"".join(Path(path).read_bytes() for path in gap["packets"])
    pseudonyms = set()
    for path in gap["packets"]:
        heard = tshark(path, "bthci_evt.le_meta_subevent == 0x02 || bthci_evt.le_meta_subevent == 0x0d", "bthci_evt.bd_addr")
        linked = tshark(path, "bthci_evt.le_meta_subevent == 0x01 || bthci_evt.le_meta_subevent == 0x0a", "bthci_evt.bd_addr")
        known = {family.hci(0).address.lower(), car.hci(0).address.lower()}
        pseudonyms |= {one for row in heard + linked for one in row[0].split(",")} - known
    figures.note(f"a host's gap next to a stranger: {len(contents)} bytes, the stranger is {sorted(pseudonyms)}")
    assert pseudonyms, "the stranger was heard or linked"
    address = bytes.fromhex(bob.address.split("/")[0].replace(":", ""))
    assert address not in contents and address[::-1] not in contents
    assert name not in contents
    peer = bytes.fromhex(family.hci(0).address.replace(":", ""))
    assert peer[::-1] in contents, "the guest keeps its address"


@pytest.mark.parametrize("arguments", [("--no-packets",), ()])
def test_a_recording_without_packets(road: Lab, car: Box, family: Box, arguments: tuple[str, ...]) -> None:
    """Left out on request, and without the capability."""
    start_host(car)
    if arguments:
        guest = record(family, *arguments)
    else:
        # A user of the box has no capabilities.
        guest = family.roadmesh("fieldtest", "record", "guest", "Ana", "--http", "none", uid=1000)
        await_joined(guest)
    drive_through(road, guest, car, family, 2)
    hold(road, WRITTEN)
    guest.say("quit")
    guest.wait()
    assert family.run(f"ls {guest.state}/fieldtest-packets 2>/dev/null | wc -l").strip() == "0"
