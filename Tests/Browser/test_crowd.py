# SPDX-License-Identifier: Apache-2.0
"""Browsers that are slow, or say nothing: the guests' votes do not wait for them."""

from __future__ import annotations

import socket
import statistics
from time import monotonic, sleep
from urllib.parse import urlparse

from ride import Node, Ride
from roadmesh_program.measuring import resident

CONNECTIONS = 200
# Enough of them that what else the machine does for a moment is not what the median tells.
VOTES = 240
# A host follows ten wishes of a guest in a second.
PACE = 0.11


def vote_times(guest: Node) -> list[float]:
    """Milliseconds from a vote to its confirmation, each after the other."""
    took = []
    for number in range(VOTES):
        word = "vote" if number % 2 == 0 else "unvote"
        began = monotonic()
        guest.program.say(f"{word} s6")
        guest.program.expect("vote", songID="s6", state="confirmed")
        took.append((monotonic() - began) * 1_000)
        sleep(max(0.0, began + PACE - monotonic()))
    return took


def slow(url: str, number: int) -> socket.socket:
    """A connection that says nothing, half of something, or wants to be told and reads nothing."""
    place = urlparse(url)
    connection = socket.create_connection((place.hostname, place.port))
    said = [
        b"",
        b"GET / HTTP/1.1\r\nHost:",
        f"GET /events HTTP/1.1\r\nHost: {place.netloc}\r\nAccept: text/event-stream\r\n\r\n".encode(),
        f"POST /api/command HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Length: 900\r\n\r\n{{".encode(),
    ][number % 4]
    try:
        connection.sendall(said)
    except OSError:
        pass  # Closed already: that is an answer as well.
    return connection


def test_two_hundred_slow_browsers_do_not_slow_a_vote(ride: Ride, measured: list[str]) -> None:
    host, ana = ride.host(), ride.guest("Ana")
    vote_times(ana)
    alone = vote_times(ana)
    before = resident(host.program.pid)
    crowd = [slow(node.url, number) for node in (host, ana) for number in range(CONNECTIONS)]
    beside = vote_times(ana)
    grown = resident(host.program.pid) - before
    for connection in crowd:
        connection.close()
    ratio = statistics.median(beside) / statistics.median(alone)
    measured.append(
        f"a vote takes {statistics.median(alone):.1f} ms (median of {VOTES}, {max(alone):.0f} at most), and "
        f"{statistics.median(beside):.1f} ms ({max(beside):.0f} at most) beside {CONNECTIONS} slow browsers at the host and "
        f"as many at the guest: {ratio:.2f} times; the host grew by {grown} KiB"
    )
    assert ratio < 1.5
    assert grown < 16 * 1024
