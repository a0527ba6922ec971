# SPDX-License-Identifier: Apache-2.0
"""Some guests vote and take back as fast as their links are read. A guest that votes like a person must not have to
wait."""

from __future__ import annotations

import multiprocessing
import statistics
from collections.abc import Callable, Iterator

import pytest
from roadmesh_peer import democracy_dj
from roadmesh_peer.guest import Talk
from roadmesh_peer.virtual_air import ChannelClosed
from roadmesh_peer.wire import Frame, Hello, Kind, Unit, ack, message, ping
from roadmesh_program.program import Program

FLOODERS = 4
# Together with their withdrawals, fewer wishes than a guest may send in a burst.
VOTES = 6
IN_A_RECORD = 20
PAST_THE_BURST = 140

# The longest time of an honest vote, as its voter sees it, in seconds.
LONGEST = 0.5
SLOWEST = 3.0
# People notice no difference below this, in seconds.
UNNOTICED = 0.1


class Flooder(multiprocessing.Process):
    """Votes and takes back without end, and acknowledges what it receives. It is a process, so that it uses no time
    of the measuring process."""

    def __init__(self, talk: Talk, song: str) -> None:
        super().__init__(daemon=True)
        self._sent = multiprocessing.Value("q", 0)
        self._talk = talk
        self._wishes = democracy_dj.vote(song), democracy_dj.take_back(song)

    @property
    def sent(self) -> int:
        return self._sent.value

    def run(self) -> None:
        try:
            while True:
                first = self.sent + 1
                units = [Unit(self._wishes[number % 2], number) for number in range(first, first + IN_A_RECORD)]
                self._talk.say(*map(message, units))
                self._sent.value += IN_A_RECORD
                self._acknowledge()
        except ChannelClosed:
            return

    def _acknowledge(self) -> None:
        while (heard := self._talk.hear_record(0)) is not None:
            numbers = [unit.number for frame in heard[1] if (unit := reliable(frame)) is not None]
            if numbers:
                self._talk.say(ack(max(numbers)))


def reliable(frame: Frame) -> Unit | None:
    if frame.kind != Kind.MESSAGE:
        return None
    unit = Unit.read(frame.body)
    return None if unit.latest else unit


def vote_times(guest: Program) -> Iterator[float]:
    """Seconds from a vote, and from its withdrawal, to the guest's report, by the guest's own clock."""
    for number in range(1, VOTES + 1):
        guest.say(f"vote n{number}")
        cast = guest.expect("vote", songID=f"n{number}", state="queued")
        yield float(guest.expect("vote", songID=f"n{number}", state="confirmed")["at"]) - float(cast["at"])
    for number in range(1, VOTES + 1):
        guest.say(f"unvote n{number}")
        guest.expect("vote", songID=f"n{number}", wish="takeBack", state="confirmed")


@pytest.mark.alone
def test_guests_that_flood_with_votes_do_not_keep_another_waiting(
    host: Program, bob: Program, call: Callable[..., Talk], measured: list[str]
) -> None:
    quiet = list(vote_times(bob))
    median = statistics.median(quiet)
    measured.append(f"a vote as its voter sees it: {median * 1e3:.1f} ms, at most {max(quiet) * 1e3:.1f} ms")
    flooders: list[Flooder] = []
    seen = []
    for count in range(1, FLOODERS + 1):
        talk = call()
        talk.join(lambda _, count=count: Hello(7, f"Eve {count}"))  # type: ignore[misc]
        talk.say(ping(1))
        flooders.append(Flooder(talk, f"n{10 + count}"))
        flooders[-1].start()
        if count == 3:
            continue
        # By now the guest's burst allowance is used up, and reading is slowed.
        while flooders[-1].sent < PAST_THE_BURST and flooders[-1].is_alive():
            flooders[-1].join(0.01)
        loud = list(vote_times(bob))
        assert all(flooder.is_alive() for flooder in flooders), "a flood that has ended delays no guest"
        measured.append(
            f"beside {count} who flood: {statistics.median(loud) * 1e3:.1f} ms, at most {max(loud) * 1e3:.1f} ms"
        )
        seen.append(loud)
    for flooder in flooders:
        flooder.terminate()
        flooder.join()
    # Other programs may have started on this machine since the first votes.
    median = max(median, statistics.median(vote_times(bob)))
    assert max(max(loud) for loud in seen) <= LONGEST
    for loud in seen:
        assert statistics.median(loud) <= max(SLOWEST * median, UNNOTICED)
