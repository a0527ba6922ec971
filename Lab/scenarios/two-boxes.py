"""Two boxes find each other, connect, lose each other and connect again. The scenario runs no code of RoadMesh: it tests
the lab, and is the example to learn from. Run it with `scripts/radio-lab run Lab/scenarios/two-boxes.py`.

A scenario is a function with a lab as its argument. The lab ends all that the scenario starts. If an `expect` or an
`assert` fails, it keeps the run's folder: consoles, the output of every program, captures of every controller.
"""

from __future__ import annotations

import time
from pathlib import Path

from runner import Box, Lab, Program

# Programs run in a box directly from the machine's file system, which boxes mount read-only.
CHANNEL = Path(__file__).with_name("channel.py")

PSM = "0x81"
PAYLOAD = "1 2 3 0x81"

# The kernel's default supervision timeout.
SUPERVISION_TIMEOUT = 0.42

# The tolerance of times on a machine with other load.
SLACK = 0.5


def scenario(lab: Lab) -> None:
    # Boxes boot in parallel. Operations that need a box wait until it is ready. These do not.
    car = lab.box("car")
    family = lab.box("family")

    advertise(car)
    discover(family)

    server = car.python(CHANNEL, "serve", car.hci(0).address, PSM)
    server.expect("listening")
    guest = dial(family, car)
    guest.expect("connected")
    server.expect("accepted")
    throughput(lab, guest)

    short_gap(lab, car, family, guest)
    long_gap(lab, car, family, guest, server)
    guest = redial(lab, car, family)

    # The kernel closes the channel of a killed program.
    guest.kill()
    server.expect("closed", reason="end")
    l2test(car, family)


def advertise(box: Box) -> None:
    """Uses bluetoothctl, which registers the advertisement over D-Bus as our own radio does."""
    control = box.spawn(["bluetoothctl"], name="advertise")
    control.expect_line("Agent registered")
    for line in ("menu advertise", f"manufacturer 0xffff {PAYLOAD}", "name DadsCar", "interval 20 30", "back"):
        control.say(line)
    control.say("advertise on")
    control.expect_line("Advertising object registered")


def discover(box: Box) -> None:
    control = box.spawn(["bluetoothctl"], name="discover")
    control.expect_line("Agent registered")
    for line in ("menu scan", "transport le", "back", "scan on"):
        control.say(line)
    # The scan response has the name, and the advertisement itself has the data.
    control.expect_line("NEW.* Device .* DadsCar")
    # An active scan blocks the passive scan that dialling needs.
    control.say("scan off")
    control.expect_line("Discovery stopped")
    control.say(f"info {box.lab.boxes['car'].hci(0).address}")
    control.expect_line("ManufacturerData Value")
    control.expect_line("01 02 03 81")
    control.kill()


def dial(guest: Box, host: Box) -> Program:
    return guest.python(CHANNEL, "dial", guest.hci(0).address, host.hci(0).address, PSM, name="dial")


def throughput(lab: Lab, guest: Program) -> None:
    size, count = 1973, 50
    started = time.monotonic()
    guest.say(f"flood {size} {count}")
    # A channel keeps the order, so all other SDUs have arrived when this echo is back.
    guest.say("echo 10")
    guest.expect("echo", timeout=30)
    rate = size * count / (time.monotonic() - started)
    link = lab.air.links()[0]
    print(f"{rate / 1000:.0f} KB/s on {link['phy']}, interval {link['intervalMilliseconds']:g} ms")
    # 1M allows at most 100 KB/s.
    assert 50_000 < rate < 101_000


def short_gap(lab: Lab, car: Box, family: Box, guest: Program) -> None:
    """A gap shorter than the supervision timeout: data in flight arrives afterwards."""
    lab.air.cut(car, family)
    guest.say("echo 10")
    guest.never("echo", during=0.15)
    lab.air.heal(car, family)
    guest.expect("echo")


def long_gap(lab: Lab, car: Box, family: Box, guest: Program, server: Program) -> None:
    lab.air.cut(car, family)
    cut = time.monotonic()
    # Every event has its time of arrival.
    for program in (guest, server):
        closed = program.expect("closed", reason="ETIMEDOUT")
        waited = closed["_received"] - cut
        print(f"{program.name}: ETIMEDOUT after {waited * 1000:.0f} ms")
        assert SUPERVISION_TIMEOUT - 0.1 < waited < SUPERVISION_TIMEOUT + SLACK


def redial(lab: Lab, car: Box, family: Box) -> Program:
    """A dial that is pending during the gap connects with the first advertisement after it."""
    guest = dial(family, car)
    guest.expect("dialling")
    lab.air.skip()
    guest.never("connected", during=0.5)
    lab.air.heal()
    healed = time.monotonic()
    link = lab.air.expect("linkUp")["monotonic"] - healed
    channel = guest.expect("connected")["_received"] - healed
    print(f"link {link * 1000:.0f} ms after the gap, channel {channel * 1000:.0f} ms")
    assert channel < 1
    return guest


def l2test(car: Box, family: Box) -> None:
    """BlueZ's own test program, which is independent of our code."""
    address = car.hci(0).address
    receiver = car.spawn(["l2test", "-r", "-P", "131", "-V", "le_public", "-I", "2000"])
    receiver.expect_line("Waiting for connection")
    sending = ["l2test", "-s", "-P", "131", "-V", "le_public", "-b", "672", "-N", "20", "-D", "10", address]
    family.spawn(sending).expect_line("Done")
    receiver.expect_line("bytes in")
