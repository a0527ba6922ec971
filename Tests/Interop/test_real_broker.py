# SPDX-License-Identifier: Apache-2.0
"""The real program at real brokers: as host, as guest and as both, out of each other's radio range."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from roadmesh_peer.broker import SILENCE
from roadmesh_peer.broker_nodes import CAR, BrokerNodes
from roadmesh_peer.broker_wire import Topics
from roadmesh_peer.hostile_broker import HostileBroker
from roadmesh_program.brokers import Broker, Cluster, wait
from roadmesh_program.fixtures import Place, Start, StartHost
from roadmesh_program.program import NotExpected, Program
from roadmesh_program.songs import write_songs
from roadmesh_program.votes import has_counted

SONGS = 20
SHAKES = int(os.environ.get("SHAKES", "4"))
# Time until a link is back: its silence takes 30 s, a frozen broker as long, and then come the pauses between tries.
BACK = 90.0
# How long a broker is away: unnoticed, and until links have ended.
AWAY = (0.2, 2.0, 25.0)
# Within this time, a guest that joins automatically has joined.
SOON = 3.0

JoinFar = Callable[..., Program]


@pytest.fixture
def join_far(start: Start, air: Path) -> JoinFar:
    """Starts a guest that is alone on its radio. It can only join through a broker."""

    def join_far(name: str, broker: str, *arguments: str) -> Program:
        address = name.lower()
        far = ("--air", str(air / f"far-{address}"))
        guest = start("guest", name, address, *far, "--broker", broker, "--host", CAR, *arguments)
        guest.expect("connection", state="connected", timeout=BACK)
        return guest

    return join_far


def at_broker(start_host: StartHost, url: str, songs: int = SONGS) -> Program:
    return start_host(songs, "Mile", "--broker", url)


def vote(guest: Program, *songs: str) -> None:
    for song in songs:
        guest.say(f"vote {song}")
    counted(guest, *songs)


def counted(guest: Program, *songs: str) -> None:
    for song in songs:
        guest.expect_seen("vote", songID=song, state="confirmed", timeout=BACK)


# One real node


@pytest.mark.long
def test_a_guest_of_the_real_host_votes_and_sees_the_queue(
    mosquitto: Broker, nodes_beside: BrokerNodes, start_host: StartHost
) -> None:
    car = at_broker(start_host, mosquitto.url)
    ana = nodes_beside.guest("Ana", mosquitto.url)
    assert car.expect("peerConnected")["peer"] == {"id": ana.key.identifier.hex(), "name": "Ana"}
    nodes_beside.vote(ana, "n1", "n2")
    has_counted(car, {"Ana": ["n1", "n2"]})
    assert ana.view.state and len(ana.view.state.queue) == SONGS
    assert car.expect_seen("link")["bearer"] == "broker"


def test_the_real_host_is_advertised_as_on_the_air_and_asks_for_a_long_silence(
    mosquitto: Broker, nodes_beside: BrokerNodes, start_host: StartHost
) -> None:
    car = at_broker(start_host, mosquitto.url)
    ana = nodes_beside.guest("Ana", mosquitto.url)
    [heard] = nodes_beside.net.do(lambda: nodes_beside.radios["Ana"].present)
    assert heard.name == CAR and heard.tail and heard.advertisement.psm == 0x80
    assert car.seen("ready")[0]["peer"]["id"].startswith(heard.head.hex())
    assert ana.session and ana.session.their_hello and ana.session.their_hello.silence == SILENCE


def test_the_real_host_that_stops_is_not_found_any_more(
    mosquitto: Broker, nodes_beside: BrokerNodes, start_host: StartHost
) -> None:
    car = at_broker(start_host, mosquitto.url)
    nodes_beside.guest("Ana", mosquitto.url)
    car.end()
    radio = nodes_beside.radios["Ana"]
    nodes_beside.net.until(lambda: not radio.present, "the end of the advertisement")


def test_the_real_host_that_is_killed_is_not_found_until_it_is_back(
    mosquitto: Broker, nodes_beside: BrokerNodes, start_host: StartHost, binary: Path, place: Place, tmp_path: Path
) -> None:
    songs = write_songs(tmp_path / "songs.json", SONGS)
    arguments = (*place("car"), "--library", str(songs), "--broker", mosquitto.url)
    car = Program(binary, "host", CAR, *arguments)
    ana = nodes_beside.guest("Ana", mosquitto.url)
    nodes_beside.vote(ana, "n1")
    car.kill()
    nodes_beside.net.until(lambda: not nodes_beside.radios["Ana"].present, "the last will")
    nodes_beside.cast(ana, "n2")
    again = at_broker(start_host, mosquitto.url)
    nodes_beside.until_counted(ana, "n2")
    nodes_beside.vote(ana, "n3")
    # The guest may show its vote before the host's output was read.
    again.expect_seen("intent", songID="n3", accepted=True)
    assert [len(again.seen("intent", songID=f"n{number}", accepted=True)) for number in (1, 2, 3)] == [0, 1, 1]

    def shown() -> dict[str, int]:
        return {item["id"]: len(item["voters"]) for item in again.seen("snapshot")[-1]["queue"] if item["voters"]}

    wait(lambda: shown() == {"n1": 1, "n2": 1, "n3": 1}, "the votes")


def test_the_real_guest_joins_the_host_that_it_was_told_of_and_votes(
    mosquitto: Broker, nodes_beside: BrokerNodes, join_far: JoinFar
) -> None:
    nodes_beside.host(mosquitto.url, "Grandma's Van")
    car = nodes_beside.host(mosquitto.url)
    bob = join_far("Bob", mosquitto.url)
    vote(bob, "n1", "n2")
    assert sorted(song for _, song in car.intents) == ["n1", "n2"]
    shown = bob.seen("snapshot")[-1]["queue"]
    assert {item["id"]: len(item["voters"]) for item in shown if item["voters"]} == {"n1": 1, "n2": 1}
    [guest] = nodes_beside.net.do(lambda: list(car.guests.values()))
    assert guest.link.their_hello and guest.link.their_hello.silence == SILENCE


def test_the_real_guest_joins_nobody_at_a_broker_by_itself(
    mosquitto: Broker, nodes_beside: BrokerNodes, start: Start
) -> None:
    car = nodes_beside.host(mosquitto.url)
    bob = start("guest", "Bob", "bob", "--broker", mosquitto.url)
    bob.expect("peerDiscovered", timeout=BACK)
    with pytest.raises(NotExpected):
        bob.expect("peerConnected", timeout=SOON)
    assert not nodes_beside.net.do(lambda: car.guests)
    # The guest's user can make it join that host.
    bob.say(f"join {CAR}")
    bob.expect("connection", state="connected", timeout=BACK)


# Two real nodes


@pytest.mark.long
def test_two_cars_out_of_range_are_joined_by_a_broker(
    mosquitto: Broker, start_host: StartHost, join_far: JoinFar
) -> None:
    car = at_broker(start_host, mosquitto.url)
    bob = join_far("Bob", mosquitto.url)
    vote(bob, "n1", "n2")
    has_counted(car, {"Bob": ["n1", "n2"]})
    assert bob.expect_seen("link")["bearer"] == car.expect_seen("link")["bearer"] == "broker"


@pytest.mark.long
def test_a_real_guest_that_hears_its_host_on_the_air_as_well_takes_the_air(
    mosquitto: Broker, start_host: StartHost, start: Start
) -> None:
    car = at_broker(start_host, mosquitto.url)
    bob = start("guest", "Bob", "bob", "--broker", mosquitto.url, "--host", CAR)
    bob.expect("link", timeout=BACK, bearer="virtual")
    vote(bob, "n1", "n2")
    has_counted(car, {"Bob": ["n1", "n2"]})


@pytest.mark.long
def test_a_real_guest_that_leaves_the_range_goes_on_over_the_broker_and_comes_back(
    mosquitto: Broker, start_host: StartHost, start: Start, air: Path
) -> None:
    car = at_broker(start_host, mosquitto.url)
    bob = start("guest", "Bob", "bob", "--broker", mosquitto.url, "--host", CAR)
    bob.expect("link", timeout=BACK, bearer="virtual")
    vote(bob, "n1")
    (air / "bob.cut").touch()
    bob.expect("link", timeout=BACK, bearer="broker")
    vote(bob, "n2")
    (air / "bob.cut").unlink()
    bob.expect("link", timeout=BACK, bearer="virtual")
    vote(bob, "n3")
    has_counted(car, {"Bob": ["n1", "n2", "n3"]})


def test_a_vote_that_is_cast_without_a_broker_counts_once_when_it_is_back(
    mosquitto: Broker, start_host: StartHost, join_far: JoinFar
) -> None:
    car = at_broker(start_host, mosquitto.url)
    bob = join_far("Bob", mosquitto.url)
    vote(bob, "n1")
    mosquitto.kill()
    bob.expect("connection", state="reconnecting", timeout=BACK)
    bob.say("vote n2")
    bob.expect("vote", songID="n2", state="queued")
    mosquitto.start()
    counted(bob, "n2")
    has_counted(car, {"Bob": ["n1", "n2"]})


def test_real_nodes_that_are_started_before_their_broker_meet_at_it(
    mosquitto: Broker, start_host: StartHost, start: Start, air: Path
) -> None:
    mosquitto.kill()
    car = at_broker(start_host, mosquitto.url)
    place = ("--air", str(air / "far"), "--broker", mosquitto.url, "--host", CAR)
    bob = start("guest", "Bob", "bob", *place)
    mosquitto.start()
    vote(bob, "n1")
    has_counted(car, {"Bob": ["n1"]})


def shaken(broker: Broker, kind: str, wait: Callable[[float], None], seconds: float) -> None:
    """Takes the broker away for this long."""
    if kind == "killed":
        broker.kill()
        wait(seconds)
        broker.start()
    else:
        with broker.frozen():
            wait(seconds)


@pytest.mark.parametrize("kind", ["killed", "frozen"])
@pytest.mark.long
def test_no_vote_is_lost_or_doubled_whatever_happens_to_the_broker(
    kind: str, mosquitto: Broker, nodes_beside: BrokerNodes, start_host: StartHost, join_far: JoinFar
) -> None:
    chance = random.Random(kind)
    # At least one vote of each guest in each outage.
    number_of_songs = max(SONGS, SHAKES)
    car = at_broker(start_host, mosquitto.url, number_of_songs)
    bob, eve = join_far("Bob", mosquitto.url), join_far("Eve", mosquitto.url)
    ana = nodes_beside.guest("Ana", mosquitto.url)
    songs = [f"n{number}" for number in range(1, number_of_songs + 1)]
    each = number_of_songs // SHAKES
    for number in range(SHAKES):
        for song in songs[number * each : number * each + each]:
            bob.say(f"vote {song}")
            eve.say(f"vote {song}")
            nodes_beside.cast(ana, song)
            nodes_beside.net.pass_time(chance.random() / 5)
        shaken(mosquitto, kind, nodes_beside.net.pass_time, AWAY[number % len(AWAY)])
    cast = songs[: SHAKES * each]
    counted(bob, *cast)
    counted(eve, *cast)
    nodes_beside.until_counted(ana, *cast)
    has_counted(car, {"Ana": cast, "Bob": cast, "Eve": cast})


@pytest.mark.long
def test_no_vote_is_lost_or_doubled_where_connections_are_cut_at_random(
    hostile: HostileBroker, nodes_beside: BrokerNodes, start_host: StartHost, join_far: JoinFar
) -> None:
    """Correct brokers and networks cut connections as well."""
    chance = random.Random(1)
    car = at_broker(start_host, hostile.url)
    guests = [join_far(name, hostile.url) for name in ("Bob", "Eve")]
    cast = [f"n{number}" for number in range(1, SONGS + 1)]
    for song in cast:
        for guest in guests:
            guest.say(f"vote {song}")
        nodes_beside.net.pass_time(chance.random())
        hostile.cut(chance.choice([None, *hostile.clients]))
    for guest in guests:
        counted(guest, *cast)
    has_counted(car, {"Bob": cast, "Eve": cast})


@pytest.mark.long
def test_two_cars_that_know_two_servers_are_joined_by_the_one_that_lives(
    mosquitto: Broker, spare_mosquitto: Broker, start_host: StartHost, join_far: JoinFar
) -> None:
    both = f"{mosquitto.url},127.0.0.1:{spare_mosquitto.port}"
    car = at_broker(start_host, both)
    bob = join_far("Bob", both)
    vote(bob, "n1")
    mosquitto.kill()
    spare_mosquitto.start()
    vote(bob, "n2")
    spare_mosquitto.kill()
    mosquitto.start()
    vote(bob, "n3")
    has_counted(car, {"Bob": ["n1", "n2", "n3"]})


# A cluster


@pytest.mark.long
def test_two_cars_at_two_brokers_of_a_cluster_are_joined(
    cluster: Cluster, start_host: StartHost, join_far: JoinFar
) -> None:
    first, second, third = cluster.brokers
    car = at_broker(start_host, first.url)
    car.expect_seen("broker", state="connected", timeout=BACK)
    cluster.until_told(Topics().here(car.seen("ready")[0]["peer"]["id"][:16]))
    bob = join_far("Bob", second.url)
    vote(bob, "n1")
    for number, broker in enumerate((third, first), 2):
        broker.kill()
        bob.say(f"vote n{number}")
        broker.start()
        counted(bob, f"n{number}")
    has_counted(car, {"Bob": ["n1", "n2", "n3"]})
