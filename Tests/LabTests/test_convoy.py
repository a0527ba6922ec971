"""Two cars out of each other's range, each with Bluetooth guests. Only a broker connects them, and they share one
queue."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from helpers import START, Figures, await_joined, cast, hold, identity, last_snapshot, peers, song_list, voters, votes
from runner import Box, Lab, Program
from runner.brokers import Mosquitto

VOTES = int(os.environ.get("VOTES", "20"))
# Seconds for which the broker is away.
AWAY = 60.0
# Time until all are back: a relay tries the broker at least every 15 s, and its guests then receive from the relay.
BACK = 45.0
# How often the broker is killed during the votes.
DEATHS = int(os.environ.get("DEATHS", "5"))
SONGS = 40


@dataclass
class Convoy:
    """The car with the music and its guest Ana, and the car behind it, with a relay and its guest Ben."""

    broker: Mosquitto
    host: Program
    ana: Program
    relay: Program
    ben: Program

    def everybody(self) -> list[Program]:
        return [self.host, self.ana, self.relay, self.ben]


@pytest.fixture(scope="module")
def boxes(air_of_file: Lab) -> list[Box]:
    return [air_of_file.box(name, driver="vhci") for name in ("front", "ana", "back", "ben")]


@pytest.fixture
def convoy(road: Lab, boxes: list[Box]) -> Iterator[Convoy]:
    front, ana, back, ben = boxes
    for one in (front, ana):
        for other in (back, ben):
            road.air.cut(one, other)
    broker = Mosquitto(road.folder.path)
    broker.start()
    try:
        for box in (front, back):
            box.tunnels.open(broker.port)
        far = ("--broker", broker.url)
        host = front.roadmesh("host", "Dad's Car", "--library", str(song_list(road, SONGS)), *far)
        host.expect("broker", state="connected", timeout=START)
        guest = ana.roadmesh("guest", "Ana")
        await_joined(guest)
        relay = back.roadmesh("guest", "Mum's Car", "--relay", "--host", "Dad's Car", *far)
        await_joined(relay)
        behind = ben.roadmesh("guest", "Ben")
        await_joined(behind)
        yield Convoy(broker, host, guest, relay, behind)
    finally:
        broker.kill()


def test_a_vote_in_one_car_is_seen_in_the_other(road: Lab, convoy: Convoy, figures: Figures) -> None:
    convoy.host.expect_seen("snapshot", lambda one: {"Ana", "Ben", "Mum's Car"} <= peers(one), timeout=START)
    everybody = convoy.everybody()
    for voter, what in ((convoy.ben, "behind a broker"), (convoy.ana, "in the host's car")):
        # Warm up: the links get tuned, and change to the intervals for data.
        votes(road, voter, "n3", everybody, 5)
        figures.times(f"a vote {what}, seen by all in both cars", votes(road, voter, "n3", everybody, VOTES))


def test_while_the_broker_is_gone_for_a_minute_each_car_goes_on_and_both_agree_afterwards(
    road: Lab, convoy: Convoy, figures: Figures
) -> None:
    cast(convoy.ben, "n2", convoy.everybody())
    convoy.broker.kill()
    # The car with the music continues as before.
    cast(convoy.ana, "n5", [convoy.host, convoy.ana])
    # The other car still shows the last queue, and its votes wait.
    convoy.ben.say("vote n6")
    convoy.ben.expect("vote", songID="n6", timeout=START)
    convoy.relay.say("vote n6")
    convoy.relay.expect("vote", songID="n6", timeout=START)
    hold(road, AWAY)
    cast(convoy.ana, "n7", [convoy.host, convoy.ana])
    assert voters(last_snapshot(convoy.ben), "n2") == [identity(convoy.ben)], "the last queue is still there"
    convoy.broker.start()
    started = road.folder.clock()
    wanted = {"n2": {convoy.ben}, "n5": {convoy.ana}, "n6": {convoy.ben, convoy.relay}, "n7": {convoy.ana}}
    for one in convoy.everybody():
        one.expect_seen("snapshot", lambda snapshot: shows(snapshot, wanted), timeout=BACK)
    figures.note(f"a minute without the broker: both cars agree {road.folder.clock() - started:.1f} s after its return")


def shows(snapshot: dict, wanted: dict[str, set[Program]]) -> bool:
    """Exactly these votes, each once."""
    return all(
        sorted(voters(snapshot, song)) == sorted(identity(one) for one in who) for song, who in wanted.items()
    )


def test_no_vote_is_lost_or_doubled_while_the_broker_dies_at_random(
    road: Lab, convoy: Convoy, figures: Figures
) -> None:
    seed = random.randrange(1 << 32)
    figures.note(f"{DEATHS} deaths of the broker at random: seed {seed}")
    chances = random.Random(seed)
    wanted: dict[str, set[Program]] = {}
    songs = [f"n{number}" for number in range(2, SONGS + 1)]
    for _ in range(DEATHS):
        for voter in (convoy.ana, convoy.ben, convoy.relay):
            song = songs.pop()
            voter.say(f"vote {song}")
            # From here on the node has accepted the vote, and must deliver it.
            voter.expect("vote", songID=song, timeout=START)
            wanted[song] = {voter}
        convoy.broker.kill()
        hold(road, chances.uniform(0, 3))
        convoy.broker.start()
        hold(road, chances.uniform(0, 3))
    for one in convoy.everybody():
        one.expect_seen("snapshot", lambda snapshot: shows(snapshot, wanted), timeout=BACK)
    final = last_snapshot(convoy.host)
    assert sum(len(item["voters"]) for item in final["queue"]) == len(wanted)
    assert peers(final), "everybody is back"
