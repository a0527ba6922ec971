"""Guests come and go many times, and the host leaks nothing."""

from __future__ import annotations

import os
import re

from helpers import START, Figures, await_joined, cast, descriptors, shows_peers, start_guests, start_host
from runner import Box, Lab, Program

ROUNDS = 20
AT_ONCE = 2


def test_twenty_rounds_of_joining_and_leaving_leave_no_descriptor_behind(road: Lab, car: Box, family: Box) -> None:
    host = start_host(car)
    [ana] = start_guests(family, "Ana")
    before = descriptors(host)
    for number in range(ROUNDS // AT_ONCE):
        visitors = [family.roadmesh("guest", f"Visitor {number}", adapter=family.hci(index + 1)) for index in range(AT_ONCE)]
        for visitor in visitors:
            await_joined(visitor)
        # Guests that leave regularly and guests that do not, alternately.
        for visitor in visitors:
            visitor.say("quit") if number % 2 else visitor.signal("KILL")
        for visitor in visitors:
            visitor.wait()
        host.expect("snapshot", shows_peers("Ana"))
    assert abs(descriptors(host) - before) <= 2
    assert not ana.seen("peerDisconnected") and not ana.seen("notice")


# The figures in docs/bluez.md were measured with `LOSSES=1000`.
LOSSES = int(os.environ.get("LOSSES", "30"))
WARM_UP = 15
# Allowed growth of resident memory, in KiB, over any number of losses: allocators grow in steps.
MEMORY_GROWTH = 3 * 1024


class Holdings:
    """A program's resources: descriptors, resident memory, and match rules on the message bus."""

    def __init__(self, program: Program) -> None:
        self.descriptors = descriptors(program)
        status = program.box.run(f"cat /proc/{program.pid}/status")
        self.memory = int(re.search(r"VmRSS:\s+(\d+)", status)[1])
        self.matches = match_rules(program)

    def __str__(self) -> str:
        return f"{self.descriptors} descriptors, {self.memory} KiB, {self.matches} match rules"


def match_rules(program: Program) -> int:
    """The number of match rules that the message bus keeps for a program's connections."""
    bus = "dbus-send --system --print-reply=literal --dest=org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus"
    names = program.box.run(f"{bus}.ListNames")
    count = 0
    for name in re.findall(r":1\.\d+", names):
        if f"uint32 {program.pid}" not in program.box.run(f"{bus}.GetConnectionUnixProcessID string:{name}", check=False):
            continue
        stats = program.box.run(f"{bus}.Debug.Stats.GetConnectionStats string:{name}")
        count += int(re.search(r"\bMatchRules\s+variant\s+uint32 (\d+)", stats)[1])
    return count


def bluez_objects(box: Box) -> int:
    """How many objects bluetoothd has on the bus."""
    return box.run(
        "dbus-send --system --print-reply --dest=org.bluez / org.freedesktop.DBus.ObjectManager.GetManagedObjects"
    ).count("object path")


def test_links_that_are_lost_over_and_over_use_nothing_up(road: Lab, car: Box, family: Box, figures: Figures) -> None:
    host = start_host(car)
    guests = start_guests(family, "Ana", "Bob", "Cy")
    programs = {"host": host, "guest": guests[0]}
    before, objects = {}, 0
    for lost in range(0, LOSSES, len(guests)):
        if lost >= WARM_UP and not before:
            before, objects = {name: Holdings(one) for name, one in programs.items()}, bluez_objects(car)
        assert road.air.drop(car, family) == len(guests)
        for guest in guests:
            guest.expect("peerDisconnected")
            guest.expect("connection", state="connected", timeout=START)
        host.expect("snapshot", shows_peers("Ana", "Bob", "Cy"), timeout=START)
    for name, program in programs.items():
        after = Holdings(program)
        figures.note(f"{name}, {LOSSES} losses: {before[name]}; afterwards {after}")
        assert abs(after.descriptors - before[name].descriptors) <= 2
        assert after.matches == before[name].matches
        assert after.memory - before[name].memory <= MEMORY_GROWTH
    figures.note(f"bluetoothd has {objects} objects; afterwards {bluez_objects(car)}")
    assert bluez_objects(car) <= objects + 2
    # The first songs may have finished by now.
    cast(guests[0], "s6", seen_by=[host, *guests])
