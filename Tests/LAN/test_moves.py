# SPDX-License-Identifier: Apache-2.0
"""A guest with a radio and a network: the better bearer carries its link. Changes between the two are unnoticeable."""

from __future__ import annotations

import os
import threading
from time import monotonic

from lan_lab import SONGS, Device, Start
from roadmesh_program.program import Program

MOVES = int(os.environ.get("MOVES", "50"))
# Pause between two votes, in seconds: a host rejects votes of a guest above a rate.
PAUSE = 0.25
# Time until a lost network must be noticed, in seconds.
GAP = 1.0
# Percentage of votes that may take longer, for a machine with other load. QUIET is set on a machine without.
LATE = 0 if "QUIET" in os.environ else 1
# Time until a restored network is used: Avahi must find the host, and a node that changes often waits 5 s.
BACK = 30.0


def bearer(program: Program, timeout: float = 20.0) -> str:
    """The bearer of the current link."""
    return str(program.expect("link", timeout=timeout)["bearer"])


def until(program: Program, wanted: str, timeout: float = BACK) -> None:
    program.expect("link", timeout=timeout, bearer=wanted)


class Voter:
    """A guest that casts and takes back votes all the time, and the time until each was shown."""

    def __init__(self, guest: Program) -> None:
        self._guest = guest
        self.took: list[float] = []
        self.failure: BaseException | None = None
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._vote)
        self._thread.start()

    def _vote(self) -> None:
        try:
            while not self._ends.is_set():
                turn, song = divmod(len(self.took), SONGS)
                name = f"n{song + 1}"
                seen = len(self._guest.seen("vote", songID=name, state="confirmed"))
                began = monotonic()
                self._guest.say(f"vote {name}" if turn % 2 == 0 else f"unvote {name}")
                self._guest.expect_seen("vote", count=seen + 1, songID=name, state="confirmed")
                self.took.append(monotonic() - began)
                self._ends.wait(PAUSE)
        except BaseException as error:
            self.failure = error

    def end(self) -> None:
        self._ends.set()
        self._thread.join()
        if self.failure:
            raise self.failure


def test_a_guest_votes_while_it_moves_between_the_radio_and_the_network(
    car: Device, seat: Device, start: Start, songs: list[str], measured: list[str]
) -> None:
    host = start(car, "host", "Car", *songs)
    guest = start(seat, "guest", "Ana")
    until(guest, "lan")
    voter = Voter(guest)
    lost = [seat.plug, seat.reach, car.plug]
    for move in range(MOVES // 2):
        # The guest's cable, a network that carries nothing, and the host's cable.
        change = lost[move % len(lost)]
        change(False)
        until(guest, "virtual")
        change(True)
        until(guest, "lan")
    voter.end()
    told = [event for event in host.seen("intent") if event["accepted"]]
    doubled = len(told) - len(voter.took)
    duplicates = host.seen("link")[-1]["duplicates"]
    measured.append(
        f"{MOVES} moves, {len(voter.took)} votes cast or taken back: {max(-doubled, 0)} lost, {max(doubled, 0)} doubled; "
        f"the longest took {max(voter.took) * 1000:.0f} ms; {duplicates} came again and were dropped"
    )
    assert doubled == 0
    late = [took for took in voter.took if took > GAP]
    assert len(late) * 100 <= len(voter.took) * LATE, late
    assert not guest.seen("notice"), "no word to the person"
