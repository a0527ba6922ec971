"""Votes and wishes: what they change, who sees them, and how fast."""

from __future__ import annotations

import pytest
from helpers import (
    Figures,
    cast,
    identity,
    last_snapshot,
    shows_vote,
    start_guests,
    start_host,
    voters,
)
from runner import Box, Lab, Program

# A vote is a tap, and its effect must be visible before the finger is lifted.
VOTE_LIMIT = 0.3

QUEUED_SONGS = [f"s{number}" for number in range(2, 9)]

Party = tuple[Program, list[Program]]


@pytest.fixture
def party(road: Lab, car: Box, family: Box) -> Party:
    """A host, and three guests that have joined it."""
    host = start_host(car)
    return host, start_guests(family, "Ana", "Bob", "Cy")


def order(program: Program) -> list[str]:
    return [item["id"] for item in last_snapshot(program)["queue"]]


def test_a_vote_moves_the_song_up_in_everybodys_queue(party: Party) -> None:
    host, guests = party
    everybody = [host, *guests]
    cast(guests[0], "s5", seen_by=everybody)
    assert [order(one) for one in everybody] == [["s5", "s2", "s3", "s4", "s6", "s7", "s8"]] * 4
    cast(guests[1], "s7", seen_by=everybody)
    cast(guests[2], "s7", seen_by=everybody)
    # Songs with more votes come first. Songs with equal votes keep the order in which they were added.
    assert [order(one) for one in everybody] == [["s7", "s5", "s2", "s3", "s4", "s6", "s8"]] * 4
    for one in everybody:
        assert sorted(voters(last_snapshot(one), "s7")) == sorted([identity(guests[1]), identity(guests[2])])
        assert [item["votes"] for item in last_snapshot(one)["queue"]] == [2, 1, 0, 0, 0, 0, 0]


def test_a_vote_is_seen_by_everybody_within_300_milliseconds(party: Party, figures: Figures) -> None:
    host, guests = party
    seconds = [cast(guest, song, seen_by=[host, *guests]) for song in QUEUED_SONGS for guest in guests]
    assert len(seconds) == 21
    assert figures.times("vote to everybody's snapshot", seconds, VOTE_LIMIT) < VOTE_LIMIT
    for song in QUEUED_SONGS:
        assert len(voters(last_snapshot(host), song)) == 3


def test_a_vote_is_queued_then_sent_then_confirmed_and_told_to_the_host_once(party: Party) -> None:
    host, guests = party
    guests[0].say("vote s3")
    guests[0].expect("vote", songID="s3", state="confirmed")
    assert [one["state"] for one in guests[0].seen("vote", songID="s3")] == ["queued", "sent", "confirmed"]
    [intent] = host.seen("intent")
    assert (intent["kind"], intent["songID"], intent["accepted"]) == ("vote", "s3", True)
    assert intent["peer"] == {"id": identity(guests[0]), "name": "Ana"}


def test_voting_twice_counts_once(party: Party) -> None:
    host, guests = party
    cast(guests[0], "s3", seen_by=[host, guests[0]])
    guests[0].skip()
    guests[0].say("vote s3")
    guests[0].expect("vote", songID="s3", state="confirmed")
    # A later vote, after which the second vote must have been counted.
    cast(guests[0], "s4", seen_by=[host])
    assert voters(last_snapshot(host), "s3") == [identity(guests[0])]


def test_a_vote_for_what_is_not_in_the_queue_is_rejected_with_the_reason(party: Party) -> None:
    host, guests = party
    host.say("remove s4")
    host.say("skip")
    guests[0].expect("snapshot", lambda snapshot: snapshot["nowPlaying"]["id"] == "s2")
    before = last_snapshot(host)
    for song, reason in (
        ("no-such-song", "unknownSong"),
        ("s1", "alreadyPlayed"),
        ("s4", "notQueued"),
        ("🎵" * 300, "unknownSong"),
    ):
        guests[0].say(f"vote {song}")
        assert guests[0].expect("vote", songID=song, state="rejected")["reason"] == reason
        # A song that no host can have is rejected by the guest itself.
        if len(song) < 64:
            assert host.expect("intent", songID=song, accepted=False)["reason"] == reason
    assert last_snapshot(host)["revision"] == before["revision"]


def test_a_vote_can_be_taken_back_and_cast_again(party: Party) -> None:
    host, guests = party
    cast(guests[0], "s6", seen_by=[host, *guests])
    guests[0].say("unvote s6")
    for one in (host, *guests):
        one.expect("snapshot", lambda snapshot: voters(snapshot, "s6") == [])
    guests[0].expect_seen("vote", songID="s6", wish="takeBack", state="confirmed")
    assert order(host) == QUEUED_SONGS, "as they were added"
    cast(guests[0], "s6", seen_by=[host, *guests])


def test_a_vote_for_the_song_that_plays_is_a_vote_and_who_asked_for_it_is_shown(party: Party) -> None:
    host, guests = party
    guests[1].say("vote s1")
    for one in (host, *guests):
        playing = one.expect("snapshot", lambda snapshot: snapshot["nowPlaying"]["votes"] == 1)["nowPlaying"]
        assert (playing["id"], playing["addedBy"]) == ("s1", identity(host))
    guests[1].expect_seen("vote", songID="s1", state="confirmed")


def test_a_guest_finds_songs_in_the_hosts_library(party: Party) -> None:
    _, guests = party
    guests[0].say("search DOORS blues")
    found = guests[0].expect("searchResults")
    assert found["query"] == "DOORS blues" and [song["id"] for song in found["songs"]] == ["s1"]
    guests[0].say("search no such music")
    assert guests[0].expect("searchResults")["songs"] == []


def test_a_suggestion_puts_a_song_of_the_library_into_the_queue(party: Party) -> None:
    host, guests = party
    host.say("remove s4")
    for one in [host, *guests]:
        one.expect("snapshot", lambda snapshot: all(item["id"] != "s4" for item in snapshot["queue"]))
    guests[1].say("suggest s4")
    for one in [host, *guests]:
        added = one.expect("snapshot", lambda snapshot: snapshot["queue"][-1]["id"] == "s4")
        assert added["queue"][-1]["addedBy"] == identity(guests[1])
    assert host.expect_seen("intent", songID="s4", accepted=True)["kind"] == "suggestSong"


def test_a_suggestion_of_what_is_queued_is_a_vote_and_of_nonsense_gets_a_notice(party: Party) -> None:
    host, guests = party
    guests[1].say("suggest s4")
    for one in [host, *guests]:
        one.expect("snapshot", shows_vote("s4", identity(guests[1])))
    guests[0].say("suggest no-such-song")
    notice = guests[0].expect("notice", code="unknownSong")
    assert "no-such-song" in notice["message"] and not notice["critical"]
    assert sorted(order(host)) == QUEUED_SONGS


def test_a_line_that_is_no_command_gets_a_notice_and_changes_nothing(party: Party) -> None:
    host, guests = party
    before = last_snapshot(host)
    for line in ("dance", "vote", "vot s2", "skip now", "suggest", "VOTE s2", "\x00\x01", "x" * 10_000):
        guests[0].say(line)
        assert "Try:" in guests[0].expect("notice", code="badCommand")["suggestion"]
    for line in ("vote s2", "add", "play loud", "kick", "🎵"):
        host.say(line)
        assert "Try:" in host.expect("notice", code="badCommand")["suggestion"]
    # The next vote is the next change, so the wrong commands have changed nothing.
    cast(guests[0], "s2", seen_by=[host])
    assert last_snapshot(host)["revision"] == before["revision"] + 1


def test_what_the_driver_does_is_seen_by_everybody(party: Party) -> None:
    host, guests = party
    host.say("pause")
    for one in guests:
        one.expect("snapshot", isPlaying=False)
    host.say("play")
    for one in guests:
        one.expect("snapshot", isPlaying=True)
    host.say("skip")
    for one in guests:
        one.expect("snapshot", lambda snapshot: snapshot["nowPlaying"]["id"] == "s2")
        assert "s2" not in order(one)
