# SPDX-License-Identifier: Apache-2.0
"""The hosts that a guest knows are recognised by key, whatever their names are."""

from __future__ import annotations

import os

import pytest
from roadmesh_program.fixtures import Start, StartHost
from roadmesh_program.program import Program

NAME = "Dad's Car"


def songs(host: Program) -> str:
    """A host's list of songs."""
    return host.arguments[host.arguments.index("--library") + 1]


def test_another_key_under_a_known_name_is_not_joined_by_itself(start_host: StartHost, start: Start) -> None:
    host = start_host(20, "Mile")
    known = host.seen("ready")[0]["peer"]["id"]
    bob = start("guest", "Bob", "bob")
    bob.expect("connection", state="connected")
    assert bob.expect_seen("hosts")["hosts"][0]["peer"] == {"id": known, "name": NAME}
    host.end()
    bob.end()
    eve = start("host", NAME, "eve", "--library", songs(host))
    head = eve.seen("ready")[0]["peer"]["id"][:8]
    for more in ([], ["--host", NAME]):
        bob = start("guest", "Bob", "bob", *more)
        assert head in bob.expect("notice", code="otherHost")["suggestion"]
        bob.say("hosts")
        hosts = bob.expect("hosts", lambda one: len(one["hosts"]) == 2)["hosts"]
        assert [one["known"] for one in hosts] == [True, False] and hosts[1]["other"]
        assert not bob.seen("peerConnected")
        bob.end()
    bob = start("guest", "Bob", "bob", "--host", known)
    bob.expect("peerDiscovered")
    assert start_host(20, "Mile").seen("ready")[0]["peer"]["id"] == known
    assert bob.expect("peerConnected")["peer"]["id"] == known
    # The user can still choose the other host.
    bob.say(f"join {head}")
    assert bob.expect("peerConnected")["peer"]["id"].startswith(head)


def test_votes_wait_for_the_host_for_which_they_were_cast(start_host: StartHost, start: Start) -> None:
    car = start_host(20, "Mile")
    bob = start("guest", "Bob", "bob")
    bob.expect("connection", state="connected")
    car.end()
    bob.expect("peerDisconnected")
    bob.say("vote n7")
    bob.expect("vote", songID="n7", state="queued")
    bus = start("host", "The Bus", "bus", "--library", songs(car))
    bob.say("join The Bus")
    bob.expect("connection", state="connected")
    bob.say("vote n8")
    bob.expect("vote", songID="n8", state="confirmed")
    assert not bus.seen("intent", songID="n7")
    bus.end()
    again = start_host(20, "Mile")
    bob.say(f"join {NAME}")
    bob.expect("vote", songID="n7", state="confirmed")
    assert not again.seen("intent", songID="n8")
    bob.say("forget The Bus")
    hosts = bob.expect("hosts", lambda one: len(one["hosts"]) == 1)["hosts"]
    assert hosts[0]["peer"]["name"] == NAME and hosts[0]["joined"]


# With `STARTS=50 RETURNS=20` it takes some fifteen minutes, because each return comes after half a minute of silence.
MANY = int(os.environ.get("STARTS", "5")), int(os.environ.get("RETURNS", "2"))


@pytest.mark.parametrize(("starts", "returns"), [(1, 1), pytest.param(*MANY, marks=pytest.mark.long)])
def test_a_guest_does_not_join_a_strangers_car(start_host: StartHost, start: Start, starts: int, returns: int) -> None:
    """A guest does not join another host in range when it starts, and not when it returns from a gap."""
    host = start_host(20, "Mile")
    bob = start("guest", "Bob", "bob")
    bob.expect("connection", state="connected")
    bob.end()
    bus = start("host", "The Bus", "bus", "--library", songs(host))
    for _ in range(starts):
        bob = start("guest", "Bob", "bob")
        assert bob.expect("peerConnected")["peer"]["name"] == NAME
        bob.end()
    bob = start("guest", "Bob", "bob")
    for _ in range(returns):
        bob.expect("connection", state="connected")
        host.end()
        bob.expect("peerDisconnected")
        # After that the guest selects a host again, and finds the bus's host.
        bob.expect("notice", code="hostNotFound", timeout=40.0)
        bob.expect("contact", lambda one: one["peer"]["name"] == "The Bus")
        host = start_host(20, "Mile")
    bob.expect("connection", state="connected")
    assert {one["peer"]["name"] for one in bob.seen("peerConnected")} == {NAME}
    assert not bus.seen("peerConnected")


def test_an_unknown_host_is_offered_and_is_joined_where_its_person_says_so(start_host: StartHost, start: Start) -> None:
    host = start_host(20, "Mile")
    bob = start("guest", "Bob", "bob")
    bob.expect("connection", state="connected")
    for program in (bob, host):
        program.end()
    bus = start("host", "The Bus", "bus", "--library", songs(host))
    head = bus.seen("ready")[0]["peer"]["id"][:8]
    bob = start("guest", "Bob", "bob")
    offer = bob.expect("notice", code="unknownHost")
    assert "The Bus" in offer["message"] and f"join {head}" in offer["suggestion"]
    assert not bob.seen("peerConnected")
    bob.say(f"join {head}")
    assert bob.expect("peerConnected")["peer"]["name"] == "The Bus"
    ana = start("guest", "Ana", "ana", "--join-any")
    assert ana.expect("peerConnected")["peer"]["name"] == "The Bus"
