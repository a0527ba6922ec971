# SPDX-License-Identifier: Apache-2.0
"""Tests that a broken invariant is found, and that nothing else counts as one."""

from __future__ import annotations

import itertools

import pytest
from box import Printed
from hour import GUESTS, HOST
from invariants import LAG, broken, unanswered
from story import Said, Story

Queue = dict[str, list[str]]


class Tale:
    """A story in a few lines. Each event takes a tenth of a second."""

    def __init__(self) -> None:
        self.story = Story()
        self.life = 0
        self._times = (1_000 + number / 10 for number in itertools.count())
        for name in (HOST, *GUESTS):
            self._prints(name, event="ready", peer={"id": name.upper(), "name": name})

    def _prints(self, box: str, **event: object) -> None:
        self.story.take(Printed(box, self.life, {"at": next(self._times), **event}))

    def shows(self, revision: int, queue: Queue, playing: str = "p", is_playing: bool = True, by: str = HOST) -> Tale:
        items = [
            {"id": song, "voters": [n.upper() for n in names], "votes": len(names)} for song, names in queue.items()
        ]
        self._prints(
            by,
            event="snapshot",
            epoch=100 + self.life,
            revision=revision,
            nowPlaying={"id": playing},
            isPlaying=is_playing,
            queue=items,
        )
        return self

    def says(self, box: str, word: str, song: str = "") -> Tale:
        self.story.said.append(Said(next(self._times), box, self.life, word, song))
        return self

    def tells(self, guest: str, song: str, state: str, wish: str = "vote", reason: str | None = None) -> Tale:
        self._prints(guest, event="vote", songID=song, state=state, wish=wish, reason=reason)
        return self

    def judges(self, guest: str, song: str, accepted: bool = True) -> Tale:
        self._prints(HOST, event="intent", peer={"id": guest.upper()}, songID=song, accepted=accepted)
        return self

    def cuts(self, box: str) -> Tale:
        self.story.deaths.append((next(self._times), box, self.life))
        if box == HOST:
            self.life += 1
        return self

    def waits(self) -> Tale:
        for _ in range(int(LAG * 10) + 1):
            next(self._times)
        return self

    @property
    def findings(self) -> str:
        return "\n".join(broken(self.story))


def a_vote() -> Tale:
    """Ana's vote for b counts, and has moved it up."""
    tale = Tale().shows(1, {"a": [], "b": [], "c": []}).says("ana", "vote", "b").tells("ana", "b", "queued")
    tale.shows(2, {"b": ["ana"], "a": [], "c": []}).shows(2, {"b": ["ana"], "a": [], "c": []}, by="ana")
    return tale.tells("ana", "b", "confirmed")


VOTED: Queue = {"b": ["ana"], "a": [], "c": []}


def test_what_people_have_done_breaks_no_invariant() -> None:
    tale = a_vote().says("bob", "suggest", "d").shows(3, {**VOTED, "d": []}).says("bob", "vote", "d")
    tale.shows(4, {"b": ["ana"], "d": ["bob"], "a": [], "c": []}).says("ana", "unvote", "b")
    tale.shows(5, {"d": ["bob"], "b": [], "a": [], "c": []}).says(HOST, "pause")
    tale.shows(6, {"d": ["bob"], "b": [], "a": [], "c": []}, is_playing=False).says(HOST, "skip")
    tale.shows(7, {"b": [], "a": [], "c": []}, playing="d").cuts(HOST).shows(
        1, {"b": [], "a": [], "c": []}, playing="d"
    )
    assert not tale.findings
    assert not unanswered(tale.story)


def test_what_was_stored_and_not_shown_may_be_there_after_a_cut() -> None:
    tale = a_vote().says("bob", "vote", "c").says(HOST, "skip").cuts(HOST)
    assert not tale.shows(1, {"c": ["bob"], "a": []}, playing="b").findings


def test_what_was_said_and_not_shown_may_be_lost_in_a_cut() -> None:
    tale = a_vote().says(HOST, "skip").says(HOST, "pause").cuts(HOST)
    assert not tale.shows(1, VOTED).findings


@pytest.mark.parametrize(
    ("queue", "finding"),
    [
        ({"b": [], "a": [], "c": []}, "ana's vote for b is lost"),
        ({"a": [], "c": []}, "['b'] left the queue"),
        ({"b": ["ana"], "c": [], "a": []}, "the order has changed"),
        ({"b": ["ana", "bob"], "a": [], "c": []}, "bob has a vote for b and never gave it"),
        ({"b": ["ana", "ana"], "a": [], "c": []}, "voted twice for b"),
        ({"b": ["ana", "x"], "a": [], "c": []}, "an unknown guest votes for b"),
        ({"b": ["ana"], "a": [], "c": [], "d": []}, "d is queued, and no guest has suggested it"),
    ],
)
def test_a_host_that_comes_back_with_another_queue_is_seen(queue: Queue, finding: str) -> None:
    assert finding in a_vote().cuts(HOST).shows(1, queue).findings


def test_a_host_that_plays_something_else_is_seen() -> None:
    assert "p has become q" in a_vote().cuts(HOST).shows(1, VOTED, playing="q").findings
    assert "that button was not used" in a_vote().cuts(HOST).shows(1, VOTED, is_playing=False).findings


def test_a_pause_does_not_explain_that_the_music_plays_on() -> None:
    tale = a_vote().says(HOST, "play").says(HOST, "pause").shows(3, VOTED, is_playing=False).cuts(HOST)
    assert "that button was not used" in tale.shows(1, VOTED).findings


def test_a_skip_that_was_lost_explains_nothing_later() -> None:
    tale = a_vote().says(HOST, "skip").cuts(HOST).shows(1, VOTED).cuts(HOST)
    assert "has become b" in tale.shows(1, {"a": [], "c": []}, playing="b").findings


def test_a_vote_that_only_a_guest_has_shown_is_not_lost_either() -> None:
    tale = a_vote().says("bob", "vote", "a").shows(3, {"b": ["ana"], "a": ["bob"], "c": []}, by="bob").cuts(HOST)
    assert "bob's vote for a is lost" in tale.shows(1, VOTED).findings


def test_an_epoch_that_does_not_grow_is_seen() -> None:
    tale = a_vote().cuts(HOST)
    tale.story.epochs[1] = 100
    assert "the host's epoch was 100 in its life 0 and is 100 in life 1" in tale.findings


def test_two_who_show_one_state_differently_are_seen() -> None:
    assert "bob and car show 100.2 differently" in a_vote().shows(2, {"a": [], "b": ["ana"]}, by="bob").findings


def test_a_node_that_comes_back_as_somebody_else_is_seen() -> None:
    tale = a_vote()
    tale.story.take(Printed("ana", 1, {"event": "ready", "peer": {"id": "EVE"}}))
    assert "ana was ANA and says that it is EVE" in tale.findings


def test_a_vote_that_was_taken_back_and_is_back_is_seen() -> None:
    tale = a_vote().says("ana", "unvote", "b").shows(3, {"a": [], "b": [], "c": []})
    tale.shows(3, {"a": [], "b": [], "c": []}, by="ana").tells("ana", "b", "confirmed", wish="takeBack").cuts(HOST)
    assert "ana has taken back its vote for b" in tale.shows(1, VOTED).findings


def test_a_confirmation_that_nothing_shows_is_seen() -> None:
    assert (
        "confirmed, and does not show it" in a_vote().says("ana", "vote", "a").tells("ana", "a", "confirmed").findings
    )


def test_a_vote_that_is_rejected_for_a_song_in_the_queue_is_seen() -> None:
    tale = a_vote().says("bob", "vote", "a").tells("bob", "a", "rejected", reason="notQueued")
    assert "and it was queued all the time" in tale.findings
    tale = a_vote().says("bob", "vote", "z").tells("bob", "z", "rejected", reason="unknownSong")
    assert not tale.findings


def test_a_vote_that_nobody_answers_is_seen() -> None:
    tale = a_vote().says("bob", "vote", "a").tells("bob", "a", "queued").cuts("bob").waits().shows(3, VOTED)
    assert [told.song for told in unanswered(tale.story)] == ["a"]
    assert not unanswered(tale.tells("bob", "a", "rejected").story)


def test_an_answer_that_came_after_the_cut_has_to_be_told() -> None:
    tale = a_vote().says("bob", "vote", "a").tells("bob", "a", "queued").cuts("bob").waits()
    tale.judges("bob", "a").shows(3, {"b": ["ana"], "a": ["bob"], "c": []})
    assert unanswered(tale.story)


def test_an_answer_that_came_with_the_cut_may_be_lost() -> None:
    tale = a_vote().says("bob", "vote", "a").tells("bob", "a", "queued")
    tale.judges("bob", "a").shows(3, {"b": ["ana"], "a": ["bob"], "c": []}).cuts("bob")
    assert not unanswered(tale.story)


def test_a_newer_wish_takes_the_place_of_the_older() -> None:
    tale = a_vote().says("bob", "vote", "a").tells("bob", "a", "queued").says("bob", "unvote", "a")
    tale.tells("bob", "a", "queued", wish="takeBack").shows(3, VOTED, by="bob").waits()
    assert [told.wish for told in unanswered(tale.story)] == ["takeBack"]
    assert not unanswered(tale.tells("bob", "a", "confirmed", wish="takeBack").story)
