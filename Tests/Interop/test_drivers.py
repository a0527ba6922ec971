# SPDX-License-Identifier: Apache-2.0
"""A co-host steers the queue; other guests cannot."""

from __future__ import annotations

from roadmesh_peer.democracy_dj import Why, kick, move, remove, skip_now
from roadmesh_peer.guest import Guest
from roadmesh_program.fixtures import MakeGuest, Start, StartHost
from roadmesh_program.program import Program


def drives(guest: Guest, host: Program) -> None:
    host.say(f"driver {guest.key.identifier.hex()}")
    guest.until(lambda: bool(guest.view.state and guest.key.identifier in guest.view.state.drivers), "to drive")


def queue(guest: Guest) -> list[str]:
    return [item.song.id for item in guest.view.state.queue] if guest.view.state else []


def test_a_driver_in_the_back_steers_by_the_protocol_alone(host: Program, ana: Guest, make_guest: MakeGuest) -> None:
    drives(ana, host)
    ana.send(ana.conversation.write(remove("n9")))
    ana.until(lambda: "n9" not in queue(ana), "a song less")
    ana.send(ana.conversation.write(move("n7", 0)))
    ana.until(lambda: queue(ana)[0] == "n7", "a song in front")
    ana.send(ana.conversation.write(skip_now("n0")))
    ana.until(lambda: bool(ana.view.state and ana.view.state.now_playing and ana.view.state.now_playing.song.id == "n7"), "n7")
    bob = make_guest("Bob")
    bob.join()
    ana.until(lambda: bool(ana.view.state and len(ana.view.state.guests) == 2), "two guests")
    ana.send(ana.conversation.write(kick(bob.key.identifier.hex())))
    ana.until(lambda: bool(ana.view.state and len(ana.view.state.guests) == 1), "Bob to be gone")
    host.say("undo")
    host.expect("steering", lambda event: event["undo"] and event["undo"]["kind"] == "remove")
    assert ana.view.rejections == []


def test_a_passenger_who_says_it_drives_steers_nothing(host: Program, ana: Guest) -> None:
    ana.until(lambda: bool(queue(ana)), "the first snapshot")
    before = queue(ana)
    wishes = [remove("n9"), move("n9", 0), skip_now("n0"), kick(ana.key.identifier.hex())]
    for wish in wishes:
        ana.send(ana.conversation.write(wish))
    ana.until(lambda: len(ana.view.rejections) == len(wishes), "all rejections")
    assert {one.reason for one in ana.view.rejections} == {Why.DRIVER_ONLY}
    assert queue(ana) == before
    # A former co-host cannot steer the queue either.
    drives(ana, host)
    host.say("passenger Ana")
    ana.until(lambda: bool(ana.view.state and not ana.view.state.drivers), "to be a passenger")
    ana.send(ana.conversation.write(remove("n9")))
    ana.until(lambda: len(ana.view.rejections) == len(wishes) + 1, "one more")


def test_a_driver_is_one_after_every_start_of_the_car(start_host: StartHost, start: Start) -> None:
    host = start_host()
    bob = start("guest", "Bob", "bob")
    bob.expect("connection", state="connected")
    bob.say("remove n9")
    assert bob.expect("notice")["code"] == "driverOnly"
    host.say("driver Bob")
    assert [one["name"] for one in host.expect("drivers")["drivers"]] == ["Bob"]
    bob.expect("snapshot", lambda event: len(event["drivers"]) == 1)
    host.end()
    again = start_host()
    again.expect("peerConnected")
    bob.expect("snapshot", lambda event: len(event["drivers"]) == 1 and not event["stale"])
    bob.say("skip")
    intent = again.expect("intent")
    assert (intent["kind"], intent["accepted"]) == ("skipNow", True)
