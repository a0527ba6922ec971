"""The cost of the wire: bytes on the channel, counted by the air, and the share of the radio's bare speed that is
left."""

from __future__ import annotations

import os
import re

import pytest
from frames import EPOCH, call
from helpers import START, Figures, cast, hold, start_guests, start_host
from roadmesh_peer.wire import Hello, goodbye
from runner import Box, Lab, Program

LARGEST_SDU = 2_221
# A megabyte. l2test reports the speed when all of it has arrived, so it sends a little more.
SDUS = 472

VOTE_BYTES, ACK_BYTES, HANDSHAKE_BYTES = 48, 24, 320
LEAST_SHARE = 0.90


def sent_bytes(lab: Lab, box: Box) -> int:
    """Bytes that the first adapter of a box has sent on channels: SDUs, each with its two length bytes."""
    return int(lab.air.counters()[box.hci(0).name]["sent"]["channelBytes"])


def between_pings(lab: Lab, guest: Program, box: Box) -> int:
    """Bytes that the guest has sent, read just after the answer to this second's ping. The next ping is a second
    away."""
    guest.skip()
    guest.expect("link")
    return sent_bytes(lab, box)


def test_bytes_of_a_vote_and_of_an_acknowledgement(road: Lab, car: Box, family: Box, figures: Figures) -> None:
    host = start_host(car)
    [ana] = start_guests(family, "Ana")
    votes, votes_and_acks = [], []
    for number in range(2, 7):
        before = between_pings(road, ana, family)
        cast(ana, f"s{number}", [ana, host])
        votes.append(sent_bytes(road, family) - before)
        # The host rejects this vote with a reliable message, which the guest acknowledges.
        before = between_pings(road, ana, family)
        ana.say(f"vote no-song-{number}")
        ana.expect("vote", state="rejected")
        # The acknowledgement follows at once, in one of the next connection events.
        hold(road, 0.25)
        votes_and_acks.append(sent_bytes(road, family) - before)
    # A ping or pong in between adds 21 bytes. The rejected song's name is seven bytes longer.
    vote, acknowledgement = min(votes), min(votes_and_acks) - min(votes) - 7
    figures.note(f"a vote takes {vote} bytes of the channel (all: {votes}); limit {VOTE_BYTES}")
    figures.note(f"an acknowledgement takes {acknowledgement} (with its vote: {votes_and_acks}); limit {ACK_BYTES}")
    assert vote <= VOTE_BYTES
    assert 0 < acknowledgement <= ACK_BYTES


def test_bytes_of_a_handshake(road: Lab, car: Box, figures: Figures) -> None:
    """Uses the independent guest, because it can pause between the handshake and the next frames."""

    def both_ways() -> int:
        counters = road.air.counters()[car.hci(0).name]
        return int(counters["sent"]["channelBytes"]) + int(counters["received"]["channelBytes"])

    start_host(car)
    name = "A guest with a name of the usual length"
    stranger = call(road.stranger("somebody"), car)
    before = both_ways()
    stranger.enter(name)
    as_stranger = both_ways() - before
    stranger.say(goodbye())
    stranger.closed()
    back = call(stranger.stranger, car, stranger.key)
    before = both_ways()
    joining = back.join(lambda _: Hello(EPOCH, name), known=stranger.host_key)
    # The state follows the answer at once, so the air may or may not count it. The handshake is its packets and two
    # length bytes for each.
    as_known = joining.handshake_bytes + 2 * len(joining.packets)
    assert as_known <= both_ways() - before
    figures.note(f"a known pair's handshake takes {as_known} bytes of the channel, both ways; limit {HANDSHAKE_BYTES}")
    figures.note(f"a stranger's takes {as_stranger}, with the first records, the queue in one of them")
    assert as_known <= HANDSHAKE_BYTES


def run_l2test(car: Box, family: Box) -> float:
    """BlueZ's own test program on a bare channel. Returns bytes per second."""
    # l2test does not advertise, so a RoadMesh host on the same adapter does.
    host = start_host(car)
    total = SDUS * LARGEST_SDU
    receiver = car.spawn(["l2test", "-r", "-P", "131", "-V", "le_public", "-I", str(LARGEST_SDU), "-b", str(total)])
    receiver.expect_line("Waiting for connection")
    address = car.hci(0).address
    sender = family.spawn(
        ["l2test", "-s", "-P", "131", "-V", "le_public", "-b", str(LARGEST_SDU), "-N", str(SDUS + 4), address]
    )
    line = receiver.expect_line("bytes in", timeout=120)
    sender.wait(timeout=START)
    receiver.kill()
    host.kill()
    found = re.search(r"(\d+) bytes in ([\d.]+) sec", line.string)
    assert found and int(found[1]) == total, line.string
    return int(found[1]) / float(found[2])


def run_session(car: Box, family: Box, tests: str) -> float:
    """A megabyte over a `MeshCoreSession`. Returns bytes per second."""
    command = [tests, "--testing-library", "swift-testing", "--filter", "GoodputTests"]
    receiver = car.spawn(command, name="goodput-host", env={"ROADMESH_GOODPUT": "host"})
    sender = family.spawn(command, name="goodput-guest", env={"ROADMESH_GOODPUT": "guest"})
    line = receiver.expect_line("goodput:", timeout=180)
    for program in (sender, receiver):
        program.wait(timeout=START)
        assert program.exit_code == 0, program.tail()
    found = re.search(r"goodput: (\d+) bytes in ([\d.]+) s", line.string)
    assert found, line.string
    return int(found[1]) / float(found[2])


def test_goodput_of_a_sealed_link(road: Lab, car: Box, family: Box, figures: Figures) -> None:
    tests = os.environ.get("ROADMESH_TESTS")
    if not tests:
        pytest.fail("which unit tests? Set ROADMESH_TESTS to RoadMeshPackageTests.xctest")
    bare = run_l2test(car, family)
    sealed = run_session(car, family, tests)
    share = sealed / bare
    figures.note(
        f"1 MB: l2test {bare / 1e3:.1f} kB/s, sealed link {sealed / 1e3:.1f} kB/s, {share:.3f} of it; "
        f"limit {LEAST_SHARE:.2f}"
    )
    assert share >= LEAST_SHARE
