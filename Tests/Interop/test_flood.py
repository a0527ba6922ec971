# SPDX-License-Identifier: Apache-2.0
"""Guests with valid keys send as much as they can. Other guests must not notice, and the host's memory must not grow.

FLOOD=1000000 sends that many frames instead of a few. A link is read at 500 frames a second, so this takes five
minutes.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from roadmesh_peer.guest import Talk
from roadmesh_peer.virtual_air import Heard, Radio
from roadmesh_peer.wire import Frame, Hello, Unit, ack, message, ping, pong
from roadmesh_program.measuring import resident
from roadmesh_program.program import Program

FRAMES = int(os.environ.get("FLOOD", "20000"))
FLOODERS = 8
IN_A_RECORD = 100
PAST_THE_BURST = 2_000

# How long a stranger dials, and how many votes are cast during that time. The burst allowance is used up before.
DIALLING = 3.0
VOTES = 12
PAST_THE_CALLERS = 50
# The longest time of a vote during that, as its voter sees it, in seconds.
LONGEST = 1.0

LARGEST_GROWTH = 16 << 10  # kibibytes
SLOWEST = 2.0

# The time of a vote on the virtual radio below which people notice no difference, in seconds.
UNNOTICED = 0.05


def rubbish(number: int) -> list[Frame]:
    """A record's frames: unknown types, pings, answers that were not asked for, and invalid state updates."""
    return [
        (
            Frame(200 + place % 50, bytes(place % 20)),
            ping(number * IN_A_RECORD + place),
            pong(place),
            ack(0),
            message(Unit(bytes(60), number * IN_A_RECORD + place + 1, latest=True)),
        )[place % 5]
        for place in range(IN_A_RECORD)
    ]


class Flooder(multiprocessing.Process):
    """Sends rubbish, and reads nothing. It is a process, so that it uses no time of the measuring process."""

    def __init__(self, talk: Talk, frames: int) -> None:
        super().__init__(daemon=True)
        self._sent = multiprocessing.Value("q", 0)
        self._talk = talk
        self._frames = frames

    @property
    def sent(self) -> int:
        return self._sent.value

    def run(self) -> None:
        while self.sent < self._frames:
            self._talk.say(*rubbish(self.sent // IN_A_RECORD))
            self._sent.value += IN_A_RECORD


class Dialler(multiprocessing.Process):
    """Opens channels and closes them at once, as fast as sockets allow. It is a process, so that it uses no time of
    the measuring process."""

    def __init__(self, air: Path, host: Heard) -> None:
        super().__init__(daemon=True)
        self._dialled = multiprocessing.Value("q", 0)
        self._radio = Radio(air, "eve")
        self._host = host

    @property
    def dialled(self) -> int:
        return self._dialled.value

    def run(self) -> None:
        while True:
            self._radio.dial(self._host).close()
            self._dialled.value += 1


def vote_time(guest: Program, song: str) -> float:
    """Seconds from a vote to its confirmation, by the guest's own clock."""
    guest.say(f"vote {song}")
    cast = guest.expect("vote", songID=song, state="queued")
    return float(guest.expect("vote", songID=song, state="confirmed")["at"]) - float(cast["at"])


def test_a_flood_of_frames_fills_no_memory_and_slows_nobody(
    host: Program, bob: Program, call: Callable[..., Talk], measured: list[str]
) -> None:
    songs = iter(f"n{number}" for number in range(1, 21))
    quiet = [vote_time(bob, next(songs)) for _ in range(9)]
    before = resident(host.pid)
    flooders = []
    for number in range(FLOODERS):
        talk = call()
        talk.join(lambda _, number=number: Hello(7, f"Eve {number}"))  # type: ignore[misc]
        talk.say(ping(1))
        flooders.append(Flooder(talk, FRAMES // FLOODERS))
    for flooder in flooders:
        flooder.start()
    # By now the links' burst allowance is used up, and reading is slowed.
    while any(one.is_alive() and one.sent < PAST_THE_BURST for one in flooders):
        flooders[0].join(0.01)
    loud = [vote_time(bob, next(songs)) for _ in range(9)]
    largest = resident(host.pid)
    for flooder in flooders:
        while flooder.is_alive():
            flooder.join(1)
            largest = max(largest, resident(host.pid))
    ratio = statistics.median(loud) / statistics.median(quiet)
    measured.append(
        f"{sum(one.sent for one in flooders):,} hostile frames of {FLOODERS} guests: the host grew by "
        f"{largest - before:,} KiB; a vote took {statistics.median(quiet) * 1e3:.1f} ms before and "
        f"{statistics.median(loud) * 1e3:.1f} ms meanwhile ({ratio:.2f} times)"
    )
    # The links were slowed down, not closed.
    assert all(one.sent == FRAMES // FLOODERS // IN_A_RECORD * IN_A_RECORD for one in flooders)
    assert [one.exitcode for one in flooders] == [0] * FLOODERS
    assert largest - before <= LARGEST_GROWTH
    assert ratio <= SLOWEST or statistics.median(loud) <= UNNOTICED
    assert vote_time(bob, next(songs)) < 1


def test_a_vote_does_not_wait_for_somebody_who_dials_without_end(
    host: Program, bob: Program, heard: Heard, air: Path, measured: list[str]
) -> None:
    songs = iter(f"n{number}" for number in range(1, 21))
    quiet = [vote_time(bob, next(songs)) for _ in range(5)]
    before = resident(host.pid)
    dialler = Dialler(air, heard)
    dialler.start()
    while dialler.dialled < PAST_THE_CALLERS and dialler.is_alive():
        dialler.join(0.01)
    first, began = dialler.dialled, monotonic()
    loud = []
    for _ in range(VOTES):
        loud.append(vote_time(bob, next(songs)))
        # Spread over the time, and below the number of wishes that a guest may have at once.
        dialler.join(DIALLING / VOTES)
    took = monotonic() - began
    assert dialler.is_alive(), "a flood that has ended delays no guest"
    dialled = dialler.dialled - first
    dialler.terminate()
    dialler.join()
    measured.append(
        f"beside {dialled / took:,.0f} dials a second a vote took {statistics.median(loud) * 1e3:.1f} ms, at most "
        f"{max(loud) * 1e3:.1f} ms, and {statistics.median(quiet) * 1e3:.1f} ms before; the host grew by "
        f"{resident(host.pid) - before:,} KiB"
    )
    assert max(loud) <= LONGEST
    assert not bob.seen("peerDisconnected")
    assert vote_time(bob, next(songs)) < 1
