# SPDX-License-Identifier: Apache-2.0
"""A long season of many guests and many votes, each on the disk before it is acknowledged. The host's resources do not
grow.

VOTES=100000 JOINS=1000 makes it long. A host admits at most 20 guests a second, and follows ten wishes a second of
each.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
from roadmesh_peer.democracy_dj import take_back, vote
from roadmesh_peer.guest import Guest
from roadmesh_peer.wire import message
from roadmesh_program.fixtures import MakeGuest
from roadmesh_program.measuring import resident
from roadmesh_program.songs import write_songs

VOTES = int(os.environ.get("VOTES", "3000"))
JOINS = int(os.environ.get("JOINS", "30"))

# As many votes per second as a host accepts from one guest.
VOTERS, SONGS, AT_ONCE = 10, 20, 10
FIRST = 1_000

LEAST_A_MINUTE = 5_000
LARGEST_GROWTH = 1.10


@pytest.fixture
def silent_host(binary: Path, air: Path, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A host with discarded output, because a season prints a lot."""
    songs = write_songs(tmp_path / "songs.json", SONGS)
    place = ["--radio", "virtual", "--air", str(air), "--adapter", "car", "--state", str(tmp_path / "car")]
    command = [binary, "host", "Dad's Car", "--json", "--library", str(songs), *place]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as host:
        yield host
        host.terminate()
        assert host.wait(10) == 0


class Voter:
    """Votes for every song, takes every vote back, and starts again. The host must store each change."""

    def __init__(self, guest: Guest) -> None:
        self.guest = guest
        self._cast = 0

    def cast(self, count: int) -> None:
        assert self.guest.talk
        frames = []
        for number in range(self._cast, self._cast + count):
            song = f"n{number % SONGS + 1}"
            body = take_back(song) if number // SONGS % 2 else vote(song)
            frames.append(message(self.guest.conversation.write(body)))
        self._cast += count
        self.guest.talk.say(*frames)


def season(voters: list[Voter], votes: int) -> float:
    """Casts this many votes, and waits until all are acknowledged. Returns the seconds that it took."""
    began = monotonic()
    for second in range(1, votes // (AT_ONCE * len(voters)) + 1):
        for voter in voters:
            voter.cast(AT_ONCE)
        for voter in voters:
            voter.guest.until_acknowledged(timeout=60)
        while (left := began + second - monotonic()) > 0:
            for voter in voters:
                voter.guest.serve(min(left, 0.01))
    return monotonic() - began


@pytest.mark.long
def test_a_season_of_votes_and_guests_leaves_the_host_as_it_was(
    silent_host: subprocess.Popen[bytes], make_guest: MakeGuest, measured: list[str]
) -> None:
    voters = [Voter(make_guest(f"Voter {number}")) for number in range(VOTERS)]
    for voter in voters:
        voter.guest.join()
    season(voters, FIRST)
    before = resident(silent_host.pid)

    took = season(voters, VOTES - FIRST)
    a_minute = (VOTES - FIRST) / took * 60
    measured.append(
        f"{VOTES - FIRST} votes, stored and acknowledged: {a_minute:.0f} a minute; at least {LEAST_A_MINUTE}"
    )
    for number in range(JOINS):
        stranger = make_guest(f"Stranger {number}")
        stranger.join()
        stranger.vote(f"n{number % SONGS + 1}")
        stranger.until_acknowledged()
        stranger.leave()
        for voter in voters:
            voter.guest.serve(0)
    after = resident(silent_host.pid)
    measured.append(
        f"host after {VOTES} votes and {JOINS} joins: {after} KiB, {after / before:.3f} of what it was after the first"
        f" {FIRST} votes; at most {LARGEST_GROWTH:.2f}"
    )
    assert a_minute >= LEAST_A_MINUTE
    assert after <= before * LARGEST_GROWTH
