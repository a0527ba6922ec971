"""A mesh: nodes that receive only their neighbours. Guests out of the host's range join through relays."""

from __future__ import annotations

import itertools
import os
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from helpers import (
    IS_QUIET,
    START,
    Figures,
    await_joined,
    cast,
    hold,
    identity,
    last_snapshot,
    links_of,
    song_list,
    start_host,
    voters,
    votes,
)
from runner import Box, Lab, Program

# The daily run has a debug build: on one day a vote over six hops took 198 ms with it, and 149 ms with a release build.
SLOWER = 1.0 if IS_QUIET else 1.2
# Texas Instruments measured 120 ms for a SIG mesh over three hops, and 192 to 199 ms over six (SWRA732).
THREE_HOPS, SIX_HOPS = 0.120 * SLOWER, 0.190 * SLOWER
# The limit for each hop after the first, in seconds.
FURTHER_HOP = 0.033
VOTES = int(os.environ.get("VOTES", "20"))
# Time from the death of a relay until the screens behind it show the host's later changes. RIOT's RPL takes up to five
# minutes to detect a dead parent.
REPAIRED = 1.5
DEATHS, RANDOM_DEATHS = int(os.environ.get("DEATHS", "6")), int(os.environ.get("RANDOM_DEATHS", "15"))

# Time for a node to start and join on a busy machine.
JOINED = START

# A song that does not play at present.
SONG = "s3"

# Number of songs in the test with random deaths: each node votes for each song at most once.
SONGS = 60


def chain_of(lab: Lab, hops: int) -> list[Box]:
    """Boxes in a line, each with an adapter that can dial and be dialled at the same time. Seven of them boot in
    some four seconds."""
    return [lab.box(f"hop{number}", driver="vhci") for number in range(hops + 1)]


@pytest.fixture(scope="module")
def boxes(air_of_file: Lab) -> list[Box]:
    return chain_of(air_of_file, 6)


def start_relay(box: Box, name: str, *arguments: str, **options: object) -> Program:
    return box.roadmesh("guest", name, "--relay", *arguments, name=name, **options)


def start_chain(lab: Lab, boxes: Sequence[Box]) -> list[Program]:
    """A host, relays and a guest in a line, all joined."""
    lab.air.line(*boxes)
    nodes = [start_host(boxes[0])]
    for hop, box in enumerate(boxes[1:-1], 1):
        nodes.append(start_relay(box, f"Relay {hop}"))
        await_joined(nodes[-1], JOINED)
    nodes.append(boxes[-1].roadmesh("guest", "Last"))
    await_joined(nodes[-1], JOINED)
    # Each node in the line has only one possible parent. This checks that the links exist.
    assert [parent(lab, node) for node in nodes[1:]] == [box.hci(0).name for box in boxes[:-1]]
    return nodes


def parent(lab: Lab, node: Program, among: Sequence[str] | None = None) -> str:
    """The controller that a node has dialled and sends to: bluetoothd keeps unused links up. With `among`, either
    side may have made the link: a channel can use a link that the other side has dialled for another purpose."""
    assert node.controller
    controller = node.controller

    def upwards() -> dict[str, int]:
        """Channel bytes sent upwards on each link."""
        sent = {}
        for link in links_of(lab, controller):
            is_central = link["central"] == controller.name
            other = link["peripheral" if is_central else "central"]
            if other in among if among else is_central:
                sent[other] = link["toPeripheral" if is_central else "toCentral"]["channelBytes"]
        return sent

    before = upwards()
    # Keepalives are sent every second.
    for _ in range(10):
        hold(lab, 0.5)
        if used := [other for other, sent in upwards().items() if sent > before.get(other, sent)]:
            return used[0]
    raise AssertionError(f"{node} sends nothing: {links_of(lab, controller)}")


# Speed


def test_a_vote_over_three_hops_is_counted_and_seen_by_all(road: Lab, boxes: list[Box], figures: Figures) -> None:
    nodes = start_chain(road, boxes[:4])
    typical = []
    for hop, voter in enumerate(nodes[1:], 1):
        # Warm up: the links get tuned, and change to the intervals for data.
        votes(road, voter, SONG, nodes, 5)
        seconds = votes(road, voter, SONG, nodes, VOTES)
        typical.append(figures.judged(f"a vote over {hop} hops, seen by all", seconds))
    further = [later - earlier for earlier, later in itertools.pairwise(typical)]
    figures.note("each further hop: " + ", ".join(f"{one * 1e3:.0f} ms" for one in further))
    assert typical[-1] <= THREE_HOPS
    assert max(further) <= FURTHER_HOP


def test_a_vote_over_six_hops_is_seen_by_all(road: Lab, boxes: list[Box], figures: Figures) -> None:
    nodes = start_chain(road, boxes)
    votes(road, nodes[-1], SONG, nodes, 5)
    seconds = votes(road, nodes[-1], SONG, nodes, VOTES)
    assert figures.judged("a vote over 6 hops, seen by all", seconds, SIX_HOPS) <= SIX_HOPS


# Dying relays


@dataclass
class Ladder:
    """A host, two parallel relays, and behind them a relay with its own guest."""

    lab: Lab
    host: Program
    sides: list[Program]
    behind: list[Program]

    def middle(self) -> int:
        """Which of the two relays the nodes behind use."""
        name = parent(self.lab, self.behind[0], [side.controller.name for side in self.sides if side.controller])
        return next(index for index, side in enumerate(self.sides) if side.controller and side.controller.name == name)

    def everybody(self) -> list[Program]:
        return [self.host, *self.sides, *self.behind]


@pytest.fixture
def ladder(road: Lab, boxes: list[Box]) -> Ladder:
    host_box, left, right, relay, guest = boxes[:5]
    road.air.ladder([host_box], [left, right], [relay], [guest])
    host = host_box.roadmesh("host", "Dad's Car", "--library", str(song_list(road, SONGS)))
    host.expect("snapshot", timeout=START)
    sides = [start_relay(left, "Left"), start_relay(right, "Right")]
    for side in sides:
        await_joined(side, JOINED)
    behind = [start_relay(relay, "Behind")]
    await_joined(behind[0], JOINED)
    behind.append(guest.roadmesh("guest", "Last"))
    await_joined(behind[1], JOINED)
    return Ladder(road, host, sides, behind)


def repair(ladder: Ladder, figures: Figures, how: str) -> None:
    """Kills the used relay repeatedly, and measures the time until all nodes behind it show the host's later
    changes."""
    seconds = []
    for number in range(DEATHS):
        index = ladder.middle()
        died = time.monotonic()
        if how == "killed":
            ladder.sides[index].kill()
        else:
            ladder.sides[index].box.power_cut()
        playing = bool(number % 2)
        ladder.host.say("play" if playing else "pause")
        shown = [one.expect("snapshot", isPlaying=playing, timeout=START) for one in ladder.behind]
        seconds.append(max(one["_received"] for one in shown) - died)
        if how != "killed":
            ladder.sides[index].box.boot()
        ladder.sides[index] = ladder.sides[index].again()
        await_joined(ladder.sides[index], JOINED)
    limit = REPAIRED if how == "killed" else None
    median = figures.times(f"the middle relay is {how}, until all behind it are current", seconds, limit)
    assert how != "killed" or median <= REPAIRED


def test_who_is_behind_a_relay_that_dies_is_current_again_at_once(ladder: Ladder, figures: Figures) -> None:
    repair(ladder, figures, "killed")


def test_the_same_where_it_falls_silent(ladder: Ladder, figures: Figures) -> None:
    # The link layer drops a silent link after 720 ms. The issue sets no limit for this.
    repair(ladder, figures, "without power")


def test_no_vote_is_lost_or_doubled_while_relays_die_at_random(ladder: Ladder, figures: Figures) -> None:
    seed = random.randrange(1 << 32)
    figures.note(f"{RANDOM_DEATHS} deaths at random: seed {seed}")
    chances = random.Random(seed)
    nodes = {"left": ladder.sides[0], "right": ladder.sides[1], "behind": ladder.behind[0], "last": ladder.behind[1]}
    wanted: dict[str, set[str]] = {name: set() for name in nodes}
    left = {name: [f"n{number}" for number in range(1, SONGS + 1)] for name in nodes}
    for _ in range(RANDOM_DEATHS):
        for name in chances.sample([name for name in sorted(nodes) if left[name]], 2):
            song = left[name].pop(chances.randrange(len(left[name])))
            nodes[name].say(f"vote {song}")
            # From here on the node has accepted the vote, and must deliver it.
            nodes[name].expect("vote", songID=song, timeout=START)
            wanted[name].add(song)
        victim = chances.choice(sorted(nodes))
        nodes[victim].kill()
        nodes[victim] = nodes[victim].again()
        nodes[victim].expect("ready", timeout=START)
    for name, node in nodes.items():
        voter = identity(node)
        for song in wanted[name]:
            ladder.host.expect_seen(
                "snapshot",
                lambda one, song=song, who=voter: any(
                    item["id"] == song and item["voters"].count(who) == 1 for item in one["queue"]
                ),
                timeout=60,
            )
    final = last_snapshot(ladder.host)
    known = {identity(node): wanted[name] for name, node in nodes.items()}
    for item in final["queue"]:
        who = voters(final, item["id"])
        assert len(who) == len(set(who)), f"{item['id']} has a vote twice: {who}"
        for one in who:
            assert item["id"] in known[one], f"{one} never voted for {item['id']}"
    assert sum(len(one) for one in wanted.values()) == sum(len(item["voters"]) for item in final["queue"])


# Adapters of either kind


@pytest.mark.parametrize(
    ("drivers", "adapter"),
    [
        pytest.param(("vhci",), "hci0", id="one adapter that dials while it is dialled"),
        pytest.param(("serial", "serial"), "hci0,hci1", id="two adapters that do not"),
        pytest.param(("serial",), "hci0", id="one adapter that does not, which dials first"),
    ],
)
def test_a_relay_works_with_every_kind_of_adapter(lab: Lab, drivers: Sequence[str], adapter: str) -> None:
    car, middle, back = (lab.box("car"), lab.box("middle", controllers=len(drivers), driver=drivers), lab.box("back"))
    lab.air.line(car, middle, back)
    host = start_host(car)
    relay = start_relay(middle, "Relay", adapter=adapter)
    await_joined(relay, JOINED)
    guest = back.roadmesh("guest", "Last")
    await_joined(guest, JOINED)
    cast(guest, "s3", seen_by=[host, relay, guest])
    # The host's box loses power. The relay has to dial again, whichever nodes use it.
    car.power_cut()
    guest.expect("connection", state="reconnecting", timeout=START)
    car.boot()
    host = host.again()
    host.expect("ready", timeout=START)
    for one in (relay, guest):
        one.expect("connection", state="connected", timeout=60)
    cast(guest, "s4", seen_by=[host, relay, guest], timeout=START)
