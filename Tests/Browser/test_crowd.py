# SPDX-License-Identifier: Apache-2.0
"""Slow or silent browsers do not delay the guests' votes."""

from __future__ import annotations

import socket
import statistics
from contextlib import suppress
from time import monotonic, sleep
from urllib.parse import urlparse

from ride import Node, Ride
from roadmesh_program.measuring import resident

CONNECTIONS = 200
# Enough votes, so that short other load of the machine does not change the median.
VOTES = 240
# A host accepts ten wishes of a guest per second.
PACE = 0.11


def vote_times(guest: Node) -> list[float]:
    """Milliseconds from a vote to its confirmation, for votes one after another."""
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
    """A connection that sends nothing, half a request, or a request for the stream without reading it."""
    place = urlparse(url)
    connection = socket.create_connection((place.hostname, place.port))
    said = [
        b"",
        b"GET / HTTP/1.1\r\nHost:",
        f"GET /events HTTP/1.1\r\nHost: {place.netloc}\r\nAccept: text/event-stream\r\n\r\n".encode(),
        f"POST /api/command HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Length: 900\r\n\r\n{{".encode(),
    ][number % 4]
    with suppress(OSError):  # The server has closed the connection already, which is also a valid answer.
        connection.sendall(said)
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
