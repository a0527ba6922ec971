"""A start that cannot succeed ends at once, with one sentence that says what to do and the documented exit code."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from helpers import START, await_joined, start_host
from runner import Box, Lab, Program

USAGE, DATA, UNAVAILABLE, CANNOT_CREATE, NOT_PERMITTED = 64, 65, 69, 73, 77

ROLES = ("host", "guest")

NOBODY = 65534

GOOD = {"id": "s1", "title": "Open Road", "artist": "The Milestones", "duration": 200}

# On Debian every user may use bluetoothd; on other systems only a group.
DENYING_POLICY = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <policy user="root"><allow own="org.bluez"/><allow send_destination="org.bluez"/></policy>
  <policy context="default"><deny send_destination="org.bluez"/></policy>
</busconfig>
"""


def expect_refusals(programs: Iterable[Program], code: int, *words: str) -> None:
    """Each program ends with this code, and prints the reason on standard error, in one sentence with these words."""
    for program in programs:
        assert program.wait(START) == code, f"{program.argv}\n{program.tail()}"
        errors = [line.text for line in program.lines if line.stream == "err"]
        assert len(errors) == 1, f"{program.argv}: {errors}"
        [sentence] = errors
        assert sentence.startswith("roadmesh: ")
        assert len(sentence) < 500
        for word in words:
            assert word in sentence, f"{program.argv}: {sentence}"
        assert program.output == "", "a program that reads the events has nothing to read yet"


def in_turn(*boxes: Box) -> Iterator[Box]:
    """Each box has its own processor, so programs start sooner if the boxes take turns."""
    return itertools.cycle(boxes)


@contextmanager
def switched_off(box: Box, index: int) -> Iterator[None]:
    def switch(on: bool) -> None:
        state = "UP" if on else "DOWN"
        box.ask("power", controller=index, on=on)
        box.run(f"until hciconfig hci{index} | grep -q {state}; do sleep 0.02; done")

    switch(False)
    try:
        yield
    finally:
        switch(True)


@contextmanager
def denied(box: Box, policy: Path) -> Iterator[None]:
    """Replaces the system's D-Bus policy for bluetoothd."""
    installed = "$(ls /etc/dbus-1/system.d/bluetooth.conf /usr/share/dbus-1/system.d/bluetooth.conf 2>/dev/null)"
    reload = "dbus-send --system --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.ReloadConfig"
    box.run(f"for file in {installed}; do mount --bind {policy} $file; done; {reload}")
    try:
        yield
    finally:
        box.run(f"for file in {installed}; do umount $file; done; {reload}")


# The radio


def test_an_adapter_that_is_not_there(road: Lab, family: Box) -> None:
    options = ["--json", "--adapter", "hci7", "--lan", "off"]
    programs = [
        family.spawn([str(road.binary()), *words, *options, "--state", f"/run/tmp/{words[0]}"])
        for words in (["host", "x"], ["guest", "x"], ["scan"])
    ]
    expect_refusals(programs, UNAVAILABLE, "hci7", "hci0", "--adapter")


def test_no_bluetoothd(road: Lab) -> None:
    bare = road.box("bare", bluetoothd=None)
    alone = ("--lan", "off")
    programs = [bare.roadmesh("host", "x", *alone), bare.roadmesh("guest", "x", *alone), bare.roadmesh("scan", *alone)]
    expect_refusals(programs, UNAVAILABLE, "bluetoothd", "systemctl start bluetooth")
    bare.power_off()


def test_an_adapter_that_is_switched_off(road: Lab, family: Box) -> None:
    with switched_off(family, 2):
        programs = [family.roadmesh(role, "x", "--lan", "off", adapter="hci2") for role in ROLES]
        expect_refusals(programs, UNAVAILABLE, "hci2", "bluetoothctl power on")


def test_a_user_who_may_not_use_bluetooth(road: Lab, car: Box) -> None:
    policy = road.folder / "denying.conf"
    policy.write_text(DENYING_POLICY)
    with denied(car, policy):
        programs = [car.roadmesh(role, "x", uid=NOBODY) for role in ROLES]
        expect_refusals(programs, NOT_PERMITTED, "usermod -aG bluetooth")


def test_a_user_without_privileges_may_host_and_join(road: Lab, car: Box, family: Box) -> None:
    car.roadmesh("host", "Dad's Car", uid=NOBODY).expect("ready", timeout=START)
    await_joined(family.roadmesh("guest", "Ana", uid=NOBODY))


# Words


def test_a_service_type_that_is_none(road: Lab, car: Box, family: Box) -> None:
    services = ("Democracy", "sixteen-letters-", "9lives", "-x", "music!", "música")
    programs = [
        box.roadmesh("host", "x", f"--service={service}") for box, service in zip(in_turn(car, family), services, strict=False)
    ]
    expect_refusals(programs, USAGE, "service type", "15")


def test_a_name_that_nobody_could_read(road: Lab, car: Box, family: Box) -> None:
    names = ("x" * 300, "   ", "", "two\nlines", "a\x1b[2Jb", "\u202ebackwards")
    roles = itertools.cycle(ROLES)
    programs = [
        box.roadmesh(role, name, name=role) for box, role, name in zip(in_turn(car, family), roles, names, strict=False)
    ]
    expect_refusals(programs, USAGE, "name", "64 characters")


def test_arguments_that_make_no_sense(road: Lab, car: Box, family: Box) -> None:
    lines = (["--frobnicate"], ["host"], ["host", "a", "b"], ["dance"], ["scan", "--seconds", "0"])
    programs = [box.spawn([str(road.binary()), *words]) for box, words in zip(in_turn(car, family), lines, strict=False)]
    for program in programs:
        assert program.wait(START) == USAGE
        assert [line for line in program.lines if line.stream == "err"]


# Songs


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["", "[{", '{"songs": []}'], ["is not a JSON list", '"title"']),
        (["[]"], ["no song"]),
        (["[3]"], ["entry 1"]),
        ([json.dumps([GOOD, {**GOOD, "id": "s2", "titel": "x"}])], ["titel", "song 2"]),
        ([json.dumps([{key: GOOD[key] for key in ("id", "title", "duration")}])], ["artist", "song 1"]),
        ([json.dumps([{**GOOD, "duration": wrong}]) for wrong in ("long", -1)], ["duration", "song 1", "seconds"]),
        ([json.dumps([{**GOOD, "id": "s 1"}])], ["id", "song 1", "without spaces"]),
        ([json.dumps([GOOD, GOOD])], ["s1", "song 2"]),
    ],
    ids=["no list", "empty", "no song", "unknown field", "missing field", "wrong value", "spaces in id", "twice"],
)
def test_a_song_list_with_a_mistake(
    road: Lab, car: Box, family: Box, texts: list[str], words: list[str]
) -> None:
    programs = []
    for number, (box, text) in enumerate(zip(in_turn(car, family), texts, strict=False)):
        path = road.folder / f"mistaken-{number}.json"
        path.write_text(text)
        programs.append(box.roadmesh("host", "x", "--library", path))
    expect_refusals(programs, DATA, "mistaken-", *words)


def test_a_song_list_that_is_not_there(road: Lab, car: Box) -> None:
    program = car.roadmesh("host", "x", "--library", "/nowhere/songs.json")
    expect_refusals([program], DATA, "/nowhere/songs.json", "--library")


# The state folder


def test_a_state_folder_that_cannot_be_written(road: Lab, car: Box, family: Box) -> None:
    folders = ("/proc/roadmesh", "/etc/passwd/roadmesh", "/usr")
    for box, role, folder in zip(in_turn(car, family), itertools.cycle(ROLES), folders):
        program = box.roadmesh(role, "x", state=Path(folder), uid=NOBODY)
        expect_refusals([program], CANNOT_CREATE, folder, "--state")


def test_a_state_folder_that_another_one_uses_or_was_killed_with(road: Lab, car: Box) -> None:
    first = start_host(car)
    assert first.state
    second = car.roadmesh("host", "Mom's Van", state=first.state)
    expect_refusals([second], CANNOT_CREATE, "Another roadmesh", first.state.name, "--state")
    assert first.running
    first.kill()
    second.again().expect("ready", timeout=START)
