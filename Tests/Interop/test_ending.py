# SPDX-License-Identifier: Apache-2.0
"""The end of a session: the host starts the next one, and only quit stops it."""

from __future__ import annotations

from roadmesh_program.program import Event, Program


def has_vote(snapshot: Event) -> bool:
    return any(item["id"] == "n3" and item["votes"] == 1 for item in snapshot["queue"])


def test_end_begins_the_next_session_in_the_same_program_and_quit_stops_it(host: Program, bob: Program) -> None:
    epochs: list[int] = []
    for _ in range(3):
        bob.say("vote n3")
        bob.expect("vote", songID="n3", state="confirmed")
        epochs.append(host.expect("snapshot", has_vote)["epoch"])
        host.say("end")
        host.expect("notice", code="sessionEnded")
        assert not has_vote(host.expect("snapshot"))
        bob.expect("notice", code="hostEnded")
        bob.expect("connection", state="connected")
        # The notice stays until the guest's user dismisses it.
        assert not bob.seen("noticeCleared", code="hostEnded")[len(epochs) - 1 :]
        bob.say("retry")
        bob.expect("noticeCleared", code="hostEnded")
    assert epochs == sorted(set(epochs))
    assert not host.seen("bye")
    host.say("quit")
    assert host.expect("bye")["reason"] == "quit"
    assert host.ended() == 0
