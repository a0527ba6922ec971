"""Bonding of two boxes: what both people see, whatever fails in between, and what a bond allows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from conftest import AWAIT_BLUETOOTHD
from helpers import START, Figures, await_joined, cast, links_of, start_host
from runner import Box, Lab, Program

DATA, UNAVAILABLE, PROTOCOL = 65, 69, 76

# The addresses of bluetoothd's devices. bluetoothctl lists their GATT attributes among them.
DEVICES = r"bluetoothctl devices | sed -n 's/^Device \(\([0-9A-F]\{2\}:\)\{5\}[0-9A-F]\{2\}\) .*/\1/p'"

# Consecutive pairings, each of which must succeed at the first try.
RUNS = 5

# Time for a pairing on a busy machine.
PAIRED = 30.0


@pytest.fixture(scope="module")
def van(air_of_file: Lab) -> Box:
    """A box with one adapter, as the head unit's."""
    return air_of_file.box("van")


@pytest.fixture(scope="module")
def truck(air_of_file: Lab) -> Box:
    """A third box."""
    return air_of_file.box("truck")


@pytest.fixture(autouse=True)
def strangers(road: Lab) -> Iterator[None]:
    """No boxes are bonded when a test begins."""
    yield
    for box in road.boxes.values():
        if box.alive:
            box.run(f"for one in $({DEVICES}); do bluetoothctl remove $one; done", check=False)


def start_pairing(box: Box, *arguments: str, name: str | None = None) -> Program:
    return box.roadmesh("pair", *arguments, "--name", name or f"the {box.name}")


def compare(one: Program, other: Program) -> None:
    """Checks that both boxes show the same six digits."""
    shown = [program.expect("digits", timeout=PAIRED) for program in (one, other)]
    assert shown[0]["digits"] == shown[1]["digits"]
    assert len(shown[0]["digits"]) == 6 and shown[0]["digits"].isdigit()


def bonds(box: Box) -> list[str]:
    """The boxes with which this box is bonded."""
    listing = box.roadmesh("pair", "list")
    assert listing.wait(START) == 0
    return sorted(event["peer"]["name"] for event in listing.seen("bond"))


def expect_end(program: Program, reason: str, code: int) -> str:
    bye = program.expect("bye", timeout=PAIRED)
    assert bye["reason"] == reason, bye
    assert program.wait(START) == code
    return str(bye["message"])


def bond(one: Box, other: Box) -> None:
    programs = [start_pairing(one), start_pairing(other)]
    compare(*programs)
    for program in programs:
        program.say("accept")
    for program in programs:
        expect_end(program, "bonded", 0)


def restart_bluetoothd(*boxes: Box) -> None:
    """Restarts bluetoothd, which has no agent after a start of the device."""
    for box in boxes:
        box.await_ready()
        box.bluetoothd.kill()
        box.start_bluetoothd()
        box.run(AWAIT_BLUETOOTHD)


@contextmanager
def key_of_seven_bytes(box: Box) -> Iterator[None]:
    """This box accepts only keys of seven bytes, which the Core specification allows."""
    limit = "/sys/kernel/debug/bluetooth/hci0/max_key_size"
    box.run(f"echo 7 > {limit}")
    try:
        yield
    finally:
        box.run(f"echo 16 > {limit}")


@contextmanager
def without_secure_connections(box: Box) -> Iterator[None]:
    """This box's controller does not support secure connections."""
    box.run("btmgmt --index 0 power off; btmgmt --index 0 sc off; btmgmt --index 0 power on")
    try:
        yield
    finally:
        box.run("btmgmt --index 0 power off; btmgmt --index 0 sc on; btmgmt --index 0 power on")


def shorten_bonds(*boxes: Box) -> None:
    """Changes the stored bonds to key sizes of seven bytes. Another kernel may have allowed two boxes to make such
    keys."""
    for box in boxes:
        box.bluetoothd.kill()
        box.run("sed -i s/EncSize=16/EncSize=7/ /var/lib/bluetooth/*/*/info")
        box.start_bluetoothd()
        box.run(AWAIT_BLUETOOTHD)


def is_pairable(box: Box) -> bool:
    """bluetoothd lets others pair only while it has an agent."""
    return "Pairable: yes" in box.run("bluetoothctl show")


def expect_nothing_left(*boxes: Box) -> None:
    """No complete or partial bond, no agent, and no link."""
    for box in boxes:
        assert bonds(box) == []
        assert not is_pairable(box)


def key_sizes(box: Box) -> set[str]:
    return set(box.run("grep -h EncSize /var/lib/bluetooth/*/*/info", check=False).split())


# Two boxes


def test_two_boxes_bond_when_both_people_see_the_same_digits(road: Lab, car: Box, van: Box, figures: Figures) -> None:
    programs = [start_pairing(car), start_pairing(van)]
    for program in programs:
        program.expect("ready", role="pair", timeout=START)
    ready = max(program.seen("ready")[0]["_received"] for program in programs)
    compare(*programs)
    figures.times("both look for one another to the digits", [one.seen("digits")[0]["_received"] - ready for one in programs])
    said = time.monotonic()
    for program in programs:
        program.say("accept")
    for program in programs:
        assert "Bonded" in expect_end(program, "bonded", 0)
    figures.times("both yes to the bond", [one.seen("bye")[0]["_received"] - said for one in programs])
    assert bonds(car) == ["the van"] and bonds(van) == ["the car"]
    for box in (car, van):
        assert key_sizes(box) == {"EncSize=16"}
        assert not is_pairable(box)
    # Both boxes report that they are bonded already.
    again = [start_pairing(car), start_pairing(van)]
    for program in again:
        assert "already" in expect_end(program, "alreadyBonded", 0)
    assert bonds(car) == ["the van"] and bonds(van) == ["the car"]


def test_two_boxes_bond_at_the_first_try_right_after_a_session(road: Lab, car: Box, van: Box) -> None:
    for _ in range(RUNS):
        restart_bluetoothd(car, van)
        host = start_host(car)
        ana = van.roadmesh("guest", "Ana")
        await_joined(ana)
        for program in (ana, host):
            program.say("quit")
            assert program.wait(START) == 0
        assert links_of(road, car.hci(0)), "bluetoothd keeps the link, which is what this test is about"
        bond(car, van)
        for box, name in ((car, "the van"), (van, "the car")):
            assert box.roadmesh("pair", "forget", name).wait(START) == 0


def test_bonded_boxes_say_so_each_time_they_are_to_pair_again(road: Lab, car: Box, van: Box) -> None:
    bond(car, van)
    for _ in range(RUNS):
        for program in [start_pairing(car), start_pairing(van)]:
            expect_end(program, "alreadyBonded", 0)
    assert bonds(car) == ["the van"] and bonds(van) == ["the car"]


def test_people_are_asked_in_sentences(road: Lab, car: Box, van: Box) -> None:
    binary = str(road.binary())
    people = [box.spawn([binary, "pair", "--name", f"the {box.name}"], name="person") for box in (car, van)]
    for person in people:
        person.expect_line("run roadmesh pair there too", timeout=START)
    digits = [person.expect_line(r"^ +(\d{3} \d{3})$", timeout=PAIRED)[1] for person in people]
    assert digits[0] == digits[1]
    for person, other in zip(people, ("the van", "the car"), strict=False):
        person.expect_line(f'Does "{other}" show the same')
    people[0].say("maybe")
    people[0].expect_line("is not a command")
    for person in people:
        person.say("yes")
    for person, other in zip(people, ("the van", "the car"), strict=False):
        person.expect_line(f'Bonded with "{other}"', timeout=PAIRED)
        assert person.wait(START) == 0


@pytest.mark.parametrize("naysayer", [0, 1], ids=["the one", "the other"])
def test_a_no_on_either_side_leaves_no_bond(road: Lab, car: Box, van: Box, naysayer: int) -> None:
    programs = [start_pairing(car), start_pairing(van)]
    compare(*programs)
    no, yes = programs[naysayer], programs[1 - naysayer]
    yes.say("accept")
    yes.expect("waiting")
    no.say("refuse")
    assert "refused" in expect_end(no, "refusedHere", UNAVAILABLE)
    assert "has refused" in expect_end(yes, "refusedThere", UNAVAILABLE)
    expect_nothing_left(car, van)


def test_an_answer_that_does_not_come_leaves_no_bond(road: Lab, car: Box, van: Box) -> None:
    programs = [start_pairing(car), start_pairing(van)]
    compare(*programs)
    programs[0].say("accept")
    asked = programs[1].seen("digits")[0]
    ended = programs[1].expect("bye", reason="unansweredHere", timeout=45)
    assert abs(ended["_received"] - asked["_received"] - asked["seconds"]) < 3
    assert "in time" in expect_end(programs[0], "unansweredThere", UNAVAILABLE)
    assert programs[1].wait(START) == UNAVAILABLE
    expect_nothing_left(car, van)


def test_a_side_that_dies_or_is_stopped_leaves_no_bond(road: Lab, car: Box, van: Box) -> None:
    for how, reason in (("KILL", "lost"), ("INT", "leftThere")):
        programs = [start_pairing(car), start_pairing(van)]
        compare(*programs)
        programs[0].say("accept")
        programs[0].expect("waiting")
        programs[1].signal(how)
        if how == "INT":
            expect_end(programs[1], "terminated", 130)
        expect_end(programs[0], reason, UNAVAILABLE)
        expect_nothing_left(car, van)


def test_a_link_that_breaks_under_the_question_leaves_no_bond(road: Lab, car: Box, van: Box) -> None:
    programs = [start_pairing(car), start_pairing(van)]
    compare(*programs)
    programs[0].say("accept")
    road.air.cut(car, van)
    for program in programs:
        assert "broke" in expect_end(program, "lost", UNAVAILABLE)
    road.air.heal()
    expect_nothing_left(car, van)


def test_one_that_goes_while_nobody_is_there_yet(road: Lab, car: Box) -> None:
    program = start_pairing(car)
    program.expect("ready", timeout=START)
    program.say("accept")
    program.expect("notice", code="nothingAsked")
    program.say("dance")
    program.expect("notice", code="badCommand")
    program.signal("INT")
    expect_end(program, "terminated", 130)
    expect_nothing_left(car)


# Three boxes


def three_at_once(road: Lab, *boxes: Box) -> set[str]:
    """Three boxes want to bond with any box nearby. Returns how they end."""
    waiting = [start_pairing(box) for box in boxes]
    for program in waiting:
        program.expect("ready", timeout=START)
    # A box that sees both others reports that. It does not bond with the first one, and the last box keeps looking.
    road.hub.wait_for(
        lambda: True
        if sum(bool(one.seen("bye")) for one in waiting) >= 2 or any(one.seen("digits") for one in waiting)
        else None,
        PAIRED,
    )
    for program in waiting:
        if not program.seen("bye"):
            program.say("quit")
    reasons = {program.expect("bye", timeout=PAIRED)["reason"] for program in waiting}
    assert reasons <= {"several", "leftThere", "lost", "quit", "failed"}, reasons
    for program in waiting:
        program.wait(START)
    expect_nothing_left(*boxes)
    return reasons


def test_where_three_want_to_bond_a_person_says_which(road: Lab, car: Box, van: Box, truck: Box) -> None:
    # On a busy machine one box may come after the other two have bonded. Then there were never three, and the test
    # tries again.
    assert any("several" in three_at_once(road, car, van, truck) for _ in range(3))
    named = [start_pairing(car, "the van"), start_pairing(truck, "the car"), start_pairing(van, "the car")]
    compare(named[0], named[2])
    for program in (named[0], named[2]):
        program.say("accept")
    for program in (named[0], named[2]):
        expect_end(program, "bonded", 0)
    # The third box keeps looking, or was refused while the car was busy. Either way it has no bond.
    if not named[1].seen("bye"):
        named[1].say("quit")
    assert named[1].expect_seen("bye")["reason"] in ("quit", "failed", "leftThere", "lost")
    assert named[1].wait(START) == UNAVAILABLE
    assert bonds(car) == ["the van"] and bonds(truck) == []


# Bonds with weak keys


def test_a_short_key_is_no_bond(road: Lab, car: Box, van: Box) -> None:
    """Both devices agree on a key of seven bytes, as if an attacker between them had caused it (KNOB)."""
    for short in (car, van):
        with key_of_seven_bytes(short):
            programs = [start_pairing(car), start_pairing(van)]
            ends = [program.expect("bye", timeout=PAIRED) for program in programs]
            # This kernel refuses to pair; another kernel may leave the check to us.
            assert all(program.wait(START) in (UNAVAILABLE, PROTOCOL) for program in programs)
            assert all("no bond" in end["message"] for end in ends), ends
        expect_nothing_left(car, van)


def test_legacy_pairing_is_no_bond(road: Lab, car: Box, van: Box) -> None:
    with without_secure_connections(van):
        programs = [start_pairing(car), start_pairing(van)]
        ends = [program.expect("bye", timeout=PAIRED) for program in programs]
        assert not any(program.seen("digits") for program in programs)
        assert all(program.wait(START) in (UNAVAILABLE, PROTOCOL) for program in programs)
        assert all("no bond" in end["message"] for end in ends), ends
    expect_nothing_left(car, van)


def test_half_a_bond_is_made_anew(road: Lab, car: Box, van: Box) -> None:
    for forgetful, other in ((car, "the van"), (van, "the car")):
        bond(car, van)
        forget = forgetful.roadmesh("pair", "forget", other)
        assert forget.wait(START) == 0
        assert forget.seen("bondForgotten")[0]["peer"]["name"] == other
        assert bonds(forgetful) == []
        bond(car, van)
        assert bonds(car) == ["the van"] and bonds(van) == ["the car"]
        for box, name in ((car, "the van"), (van, "the car")):
            assert box.roadmesh("pair", "forget", name).wait(START) == 0
    nothing = car.roadmesh("pair", "forget", "the van")
    assert nothing.wait(START) == DATA
    assert "no bond" in nothing.lines[-1].text


# What a bond allows


def test_a_host_that_requires_a_bond_takes_those_that_have_one(
    road: Lab, car: Box, van: Box, truck: Box, figures: Figures
) -> None:
    bond(car, van)
    host = start_host(car, "--require-bond")
    stranger = truck.roadmesh("guest", "Bob")
    told = stranger.expect("notice", code="bondRequired", timeout=START)
    assert told["critical"] and "bonded" in told["message"] and "roadmesh pair" in told["suggestion"]
    ana = van.roadmesh("guest", "Ana")
    await_joined(ana)
    cast(ana, "s2", seen_by=[host, ana])
    # Simulates a tunnel.
    backs = []
    for _ in range(3):
        road.air.cut(car, van)
        ana.expect("connection", state="reconnecting")
        road.air.heal()
        healed = time.monotonic()
        backs.append(ana.expect("connection", state="connected")["_received"] - healed)
    figures.times("a bonded guest is back after a tunnel", backs)
    cast(ana, "s3", seen_by=[host, ana])
    assert not stranger.seen("connection", state="connected")
    assert not host.seen("peerConnected", lambda event: event["peer"]["name"] == "Bob")
    # A guest that leaves stays bonded.
    ana.say("quit")
    ana.wait(START)
    road.hub.wait_for(lambda: True if not links_of(road, van.hci(0)) else None, 15.0)
    assert not links_of(road, van.hci(0))
    assert bonds(car) == ["the van"]


def test_a_guest_that_the_host_has_forgotten_is_told_why(road: Lab, car: Box, van: Box) -> None:
    bond(car, van)
    host = start_host(car, "--require-bond")
    ana = van.roadmesh("guest", "Ana")
    await_joined(ana)
    ana.kill()
    assert car.roadmesh("pair", "forget", "the van").wait(START) == 0
    ana = ana.again()
    told = ana.expect("notice", code="bondRequired", timeout=START)
    assert "forgotten" in told["suggestion"]
    # After a new bond the guest can join; the host was not restarted. The guest is stopped first, because its scan
    # would disturb the pairing.
    ana.kill()
    bond(car, van)
    await_joined(ana.again())
    assert host.running


def test_without_the_option_nothing_changes_for_those_that_are_not_bonded(
    road: Lab, car: Box, van: Box, truck: Box
) -> None:
    bond(car, van)
    host = start_host(car)
    ana, bob = van.roadmesh("guest", "Ana"), truck.roadmesh("guest", "Bob")
    for guest in (ana, bob):
        await_joined(guest)
    cast(bob, "s2", seen_by=[host, ana, bob])


def test_there_is_nothing_to_bond_on_the_virtual_radio(road: Lab, car: Box) -> None:
    binary = str(road.binary())
    for words in (["pair"], ["pair", "list"], ["host", "x", "--require-bond", "--state", "/run/tmp/virtual"]):
        program = car.spawn([binary, *words, "--radio", "virtual", "--air", "/run/tmp/air"])
        assert program.wait(START) == UNAVAILABLE
        assert "has no bonds" in program.lines[-1].text


# bluetoothd goes. These tests are last, since they have made a box's kernel hang (docs/bluez.md)


def test_bluetoothd_or_the_adapter_that_goes_ends_it_with_a_sentence(road: Lab, car: Box, van: Box) -> None:
    programs = [start_pairing(car), start_pairing(van)]
    compare(*programs)
    car.bluetoothd.kill()
    assert "bluetoothd" in expect_end(programs[0], "radio", UNAVAILABLE)
    expect_end(programs[1], "lost", UNAVAILABLE)
    car.start_bluetoothd()
    car.run(AWAIT_BLUETOOTHD)
    # The adapter of a killed bluetoothd keeps its state, pairable.
    assert bonds(car) == []
    expect_nothing_left(van)
    program = start_pairing(car)
    program.expect("ready", timeout=START)
    car.ask("power", controller=0, on=False)
    assert "switched off" in expect_end(program, "radio", UNAVAILABLE)
    late = start_pairing(car)
    assert late.wait(START) == UNAVAILABLE
    assert "bluetoothctl power on" in late.lines[0].text
    car.ask("power", controller=0, on=True)
    car.run("until hciconfig hci0 | grep -q UP; do sleep 0.02; done")


def test_a_bond_with_a_short_key_opens_nothing(road: Lab, car: Box, van: Box) -> None:
    """The kernel refuses such a key for a channel, and the guest shows what to do."""
    bond(car, van)
    shorten_bonds(car, van)
    assert key_sizes(car) == key_sizes(van) == {"EncSize=7"}
    host = start_host(car, "--require-bond")
    ana = van.roadmesh("guest", "Ana")
    ana.expect("notice", code="bondRequired", timeout=START)
    ana.never("connection", state="connected", during=1.0)
    assert not host.seen("peerConnected")


def test_a_bond_outlives_bluetoothd(road: Lab, car: Box, van: Box) -> None:
    bond(car, van)
    restart_bluetoothd(car, van)
    assert bonds(car) == ["the van"] and bonds(van) == ["the car"]
