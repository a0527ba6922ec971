"""`ping`, `trace` and `pipe` between boxes, with real kernels and the real bluetoothd.

PIPE_MEGABYTES=100 PIPE_GAPS=30 transfers as much as a field test does; it takes half an hour."""

from __future__ import annotations

import os
import random
import shlex
import statistics
import time
from pathlib import Path

import pytest
from air.capture import EPOCH_MICROSECONDS, HEADER, RECORD
from helpers import IS_QUIET, START, Figures, hold
from runner import Box, Lab, Program
from test_relays import chain_of, start_chain

CHANNEL = Path(__file__).parents[2] / "Lab/scenarios/channel.py"
PSM = "0x90"

BYTES = round(float(os.environ.get("PIPE_MEGABYTES", "2")) * 1e6)
GAPS = int(os.environ.get("PIPE_GAPS", "2"))
SHORTEST, LONGEST = 2.0, 8.0
# A second of raw transfer before and after the pipe shows the rate of the link. An SDU is as long as RoadMesh's.
SDU, RAW_BYTES = 2000, 400_000
# The share of the raw rate. The daily run has short pauses between gaps, so the reconnects weigh more.
SHARE = 0.95 if IS_QUIET else 0.5

ROUNDS = int(os.environ.get("ROUNDS", "20"))
# A controller's serial line and the two programs at its ends, in milliseconds.
NEAR = 5.0
# A busy machine delays a box now and then.
SHARE_NEAR = 0.9 if IS_QUIET else 0.6

ACL, FIRST_FRAGMENTS, DYNAMIC_CHANNELS = 2, (0, 2), 0x40


# Pipe


def pipe(box: Box, name: str, *words: str, files: str) -> Program:
    """Starts `pipe` with files of the run's folder as standard input and output."""
    argv = [str(box.lab.binary()), "pipe", *words, "--radio", "bluez", "--adapter", "hci0"]
    argv += ["--state", str(box.lab.new_state_folder(name))]
    return box.spawn(["/bin/sh", "-c", f"exec {shlex.join(argv)} {files}"], name=name)


def raw_rate(car: Box, family: Box) -> float:
    """Bytes a second that a bare channel transfers, while a node advertises as during the transfer."""
    node = pipe(car, "advertiser", "--listen", "van", files="</dev/null >/dev/null")
    server = car.python(CHANNEL, "serve", car.hci(0).address, PSM, name="serve")
    server.expect("listening", timeout=START)
    dial = family.python(CHANNEL, "dial", family.hci(0).address, car.hci(0).address, PSM, "20", name="dial")
    dial.expect("echo", timeout=START)
    started = time.monotonic()
    dial.say(f"flood {SDU} {RAW_BYTES // SDU}")
    # The echo follows the last SDU.
    dial.say("echo 20")
    echo = dial.expect("echo", timeout=60)
    for program in (dial, server, node):
        program.kill()
    return RAW_BYTES / (float(echo["_received"]) - started)


def test_a_file_crosses_random_gaps_byte_for_byte_at_the_rate_of_the_link(
    road: Lab, car: Box, family: Box, figures: Figures
) -> None:
    chances = random.Random(11)
    sent, received = road.folder / "sent", road.folder / "received"
    sent.write_bytes(chances.randbytes(BYTES))
    before = raw_rate(car, family)
    listener = pipe(car, "listener", "--listen", "van", files=f"</dev/null >{received}")
    hold(road, 2)
    started = time.monotonic()
    caller = pipe(family, "caller", "van", files=f"<{sent}")
    ends = BYTES / before
    gaps = 0.0
    for _ in range(GAPS):
        hold(road, ends / (GAPS + 1) * chances.uniform(0.5, 1.2))
        if caller.exit_code is not None:
            break
        road.air.cut(car, family)
        cut = time.monotonic()
        hold(road, chances.uniform(SHORTEST, LONGEST))
        road.air.heal()
        gaps += time.monotonic() - cut
    codes = (caller.wait(60 + 4 * ends), listener.wait(START))
    seconds = time.monotonic() - started - gaps
    assert codes == (0, 0), f"{caller.tail()}\n{listener.tail()}"
    assert gaps > 0, "the transfer ended before the first gap"
    assert received.read_bytes() == sent.read_bytes()
    rate = statistics.mean([before, raw_rate(car, family)])
    share = BYTES / seconds / rate
    figures.note(
        f"pipe: {BYTES / 1e6:g} MB in {seconds:.1f} s without its {GAPS} gaps, {BYTES / seconds / 1e3:.1f} kB/s, "
        f"{share:.3f} of a bare channel's {rate / 1e3:.1f} kB/s"
    )
    assert share >= SHARE


# Ping and trace


def application_packets(path: Path) -> tuple[list[float], list[float]]:
    """When the host has sent and received the packets of dynamic channels, in seconds since 1970."""
    sent: list[float] = []
    received: list[float] = []
    data = path.read_bytes()
    place = len(HEADER)
    while place + RECORD.size <= len(data):
        length, _, flags, _, microseconds = RECORD.unpack_from(data, place)
        packet = data[place + RECORD.size : place + RECORD.size + length]
        place += RECORD.size + length
        if len(packet) < 9 or packet[0] != ACL or packet[2] >> 4 & 3 not in FIRST_FRAGMENTS:
            continue
        if int.from_bytes(packet[7:9], "little") < DYNAMIC_CHANNELS:
            continue
        times = received if flags & 1 else sent
        times.append((microseconds - EPOCH_MICROSECONDS) / 1e6)
    return sent, received


def nearest(round_trip: float, at: float, sent: list[float], received: list[float]) -> float:
    """The difference between a round trip and the nearest one of the air in the second before, in milliseconds."""
    spans = [
        (reply - request) * 1e3
        for reply in received if at - 1 < reply < at + 1
        for request in sent if reply - 2 < request < reply
    ]
    return min((abs(span - round_trip) for span in spans), default=float("inf"))


@pytest.fixture(scope="module")
def boxes(air_of_file: Lab) -> list[Box]:
    return chain_of(air_of_file, 3)


@pytest.mark.parametrize("hops", [1, 3])
def test_trace_measures_the_round_trips_of_the_air(
    hops: int, road: Lab, boxes: list[Box], figures: Figures
) -> None:
    *_, last = start_chain(road, boxes[: hops + 1])
    last.signal("INT")
    last.wait(START)
    box = boxes[hops]
    trace = box.roadmesh("trace", "Dad's Car", "-c", str(ROUNDS))
    assert trace.wait(60 + 3 * ROUNDS) == 0, trace.tail()
    echoes = [one for one in trace.seen("echo", hop=hops) if one["roundTrip"] is not None]
    assert len(echoes) >= 0.9 * ROUNDS, trace.tail()
    road.air.request("flush")
    sent, received = application_packets(road.folder / f"{box.name}-hci0.btsnoop")
    differences = [nearest(one["roundTrip"], one["at"], sent, received) for one in echoes]
    near = sum(one <= NEAR for one in differences) / len(differences)
    figures.note(
        f"trace over {hops} hops: median round trip {statistics.median(one['roundTrip'] for one in echoes):.1f} ms, "
        f"median difference from the air {statistics.median(differences):.2f} ms, {near:.0%} within {NEAR:g} ms"
    )
    assert near >= SHARE_NEAR
