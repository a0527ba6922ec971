"""Measures the latency over several hops with the lab alone: boxes in a line that receive only their neighbours, a bare
socket in each, links of 7.5 ms. If a mesh needs more time than this, the mesh itself is the cause.

ROADMESH_HOPS=6 measures up to six hops; 3 is the default.
"""

import os
import statistics
from pathlib import Path

from runner import Box, Lab

CHANNEL = Path(__file__).with_name("channel.py")

PSM = "0x90"

# In bluetoothd's units: 20 to 30 ms of advertising, 7.5 ms between connection events, 720 ms of supervision.
FAST = """[LE]
MinAdvertisementInterval=32
MaxAdvertisementInterval=48
MinConnectionInterval=6
MaxConnectionInterval=6
ConnectionSupervisionTimeout=72
"""

# About the size of a vote on a link.
BYTES = 60

# During the first echoes the links are still negotiating packet lengths.
WARMING, ECHOES = 20, 100


def be_found(box: Box) -> None:
    person = box.spawn(["/usr/bin/bluetoothctl"], name="bluetoothctl")
    person.expect_line("Agent registered", timeout=30)
    person.say("advertise on")
    person.expect_line("Advertising object registered")


def measure(lab: Lab, boxes: list[Box]) -> list[float]:
    lab.air.line(*boxes)
    host, *relays, guest = boxes
    above = host
    host.python(CHANNEL, "serve", host.hci(0).address, PSM).expect("listening", timeout=30)
    be_found(host)
    for box in relays:
        box.python(CHANNEL, "relay", box.hci(0).address, PSM, above.hci(0).address).expect("listening", timeout=30)
        be_found(box)
        above = box
    line = guest.python(CHANNEL, "dial", guest.hci(0).address, above.hci(0).address, PSM, str(BYTES))
    line.expect("echo", timeout=30)
    found = []
    for _ in range(WARMING + ECHOES):
        line.say(f"echo {BYTES}")
        found.append(line.expect("echo")["milliseconds"])
    return found[WARMING:]


def scenario(lab: Lab) -> None:
    most = int(os.environ.get("ROADMESH_HOPS", "3"))
    for hops in range(1, most + 1):
        boxes = [lab.box(f"hops{hops}-{number}", driver="vhci", main_conf=FAST) for number in range(hops + 1)]
        found = sorted(measure(lab, boxes))
        print(
            f"{hops} hops there and back: median {statistics.median(found):.1f} ms"
            f" ({found[0]:.1f} to {found[-1]:.1f}, 95th percentile {found[int(len(found) * 0.95)]:.1f}, n={len(found)})"
        )
        for box in boxes:
            box.power_off()
