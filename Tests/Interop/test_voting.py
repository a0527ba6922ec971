# SPDX-License-Identifier: Apache-2.0
"""Votes and the queue: messages are small, votes count once however links break, and all nodes see the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from roadmesh_peer.conversation import Conversation
from roadmesh_peer.democracy_dj import (
    QueueItem,
    Rejection,
    Shelf,
    State,
    Why,
    search,
    skip,
    snapshot_request,
    suggestion,
    take_back,
    vote,
)
from roadmesh_peer.guest import Guest
from roadmesh_peer.wire import Kind, Unit, ack, message, ping
from roadmesh_program.fixtures import MakeGuest, StartHost
from roadmesh_program.program import Program

# Sizes of an SDU, with its tag.
VOTE, ACKNOWLEDGEMENT = 48, 24

# With a queue of fifty songs: the update about a vote, and the full state.
NEWS, WHOLE = 96, 5 * 1024


def test_a_program_votes_by_the_number_of_the_list(bob: Program) -> None:
    bob.expect_seen("snapshot")
    bob.say("vote 2")
    bob.expect("vote", songID="n2", state="confirmed")


def shown(state: State) -> dict[str, Any]:
    """A state in the form of the program's output."""
    return {
        "epoch": state.epoch,
        "revision": state.revision,
        "isPlaying": state.is_playing,
        "nowPlaying": state.now_playing and item(state.now_playing),
        "queue": [item(one) for one in state.queue],
        "guests": [(one.peer.hex(), one.name) for one in state.guests],
        "skipVoters": [voter.hex() for voter in state.skip_voters],
        "drivers": [driver.hex() for driver in state.drivers],
    }


def item(one: QueueItem) -> tuple[str, str, str, list[str]]:
    return one.song.id, one.song.title, one.added_by.hex(), [voter.hex() for voter in one.voters]


def told(snapshot: dict[str, Any]) -> dict[str, Any]:
    playing = snapshot.get("nowPlaying")
    return {
        "epoch": snapshot["epoch"],
        "revision": snapshot["revision"],
        "isPlaying": snapshot["isPlaying"],
        "nowPlaying": playing and told_item(playing),
        "queue": [told_item(one) for one in snapshot["queue"]],
        "guests": [(one["id"], one["name"]) for one in snapshot["connectedPeers"]],
        "skipVoters": snapshot["skipVoters"],
        "drivers": snapshot["drivers"],
    }


def told_item(one: dict[str, Any]) -> tuple[str, str, str, list[str]]:
    return one["id"], one["title"], one["addedBy"], one["voters"]


def revision_of(guest: Guest) -> int:
    return guest.view.state.revision if guest.view.state else 0


def see_the_same(host: Program, *guests: Guest) -> None:
    """Waits until guests have the host's next state or a later one, and compares what they show."""
    revision = host.expect("snapshot")["revision"]
    for guest in guests:
        guest.until(lambda guest=guest: revision_of(guest) >= revision, f"revision {revision}")  # type: ignore[misc]
        assert guest.view.state
        assert shown(guest.view.state) == told(host.expect_seen("snapshot", revision=revision_of(guest)))


def see_the_same_now(host: Program, guests: list[Guest]) -> None:
    """Waits until all guests have the host's current state."""
    shown_last = host.expect("snapshot", lambda one: len(one["connectedPeers"]) == len(guests))
    for guest in guests:
        guest.until(lambda guest=guest: revision_of(guest) >= shown_last["revision"], "the present state")  # type: ignore[misc]


def cast_count(host: Program, song: str) -> int:
    return len(host.seen("intent", songID=song))


def next_reliable(guest: Guest) -> Unit:
    """The next reliable message. It is not acknowledged."""
    assert guest.talk
    while (unit := Unit.read(guest.talk.hear_of(Kind.MESSAGE))).latest:
        pass
    return unit


def bytes_alone(records: list[tuple[int, list[int]]], kind: Kind) -> list[int]:
    """Sizes of the records that hold exactly one frame of this type."""
    return [count for count, kinds in records if kinds == [kind]]


def test_a_vote_and_its_acknowledgement_are_small(ana: Guest, measured: list[str]) -> None:
    ana.vote("n7")
    ana.until_shown("n7")
    ana.vote("no")
    ana.until(lambda: bool(ana.view.rejections), "the rejection")
    # A message that no application reads is acknowledged too, and causes no state update.
    ana.send(ana.conversation.write(b"\xff"))
    ana.until_acknowledged()
    votes, acks = bytes_alone(ana.said, Kind.MESSAGE)[:2], bytes_alone(ana.said, Kind.ACK)
    host_acks = bytes_alone(ana.heard, Kind.ACK)
    measured.append(f"a vote: {max(votes)} bytes; limit {VOTE}")
    measured.append(f"an acknowledgement: {max(acks)} bytes, the host's {max(host_acks)}; limit {ACKNOWLEDGEMENT}")
    assert max(votes) <= VOTE
    assert acks and host_acks and max(acks + host_acks) <= ACKNOWLEDGEMENT


def test_what_a_host_does_not_follow_is_answered_with_the_reason(ana: Guest, host: Program) -> None:
    host.say("skip")
    ana.until(lambda: bool(ana.view.state and ana.view.state.voters("n0") is None), "the next song")
    host.say("remove n9")
    ana.until(lambda: bool(ana.view.state and ana.view.state.voters("n9") is None), "a song less")
    wishes = [vote("n0"), vote("nothing"), vote("n9"), suggestion("nothing"), skip("n1")]
    for wish in wishes:
        ana.send(ana.conversation.write(wish))
    ana.until(lambda: len(ana.view.rejections) == len(wishes), "all rejections")
    assert ana.view.rejections == [
        Rejection(Why.ALREADY_PLAYED, vote="n0"),
        Rejection(Why.UNKNOWN_SONG, vote="nothing"),
        Rejection(Why.NOT_QUEUED, vote="n9"),
        Rejection(Why.UNKNOWN_SONG, suggestion="nothing"),
        Rejection(Why.SKIPPING_NOT_ALLOWED, skip="n1"),
    ]


def test_guests_of_a_host_that_lets_them_vote_only_are_told_so(start_host: StartHost, make_guest: MakeGuest) -> None:
    host = start_host(20, "Mile", "--vote-only")
    ana = make_guest("Ana")
    ana.join()
    ana.until(lambda: ana.view.state is not None, "the first snapshot")
    host.say("remove n9")
    ana.until(lambda: bool(ana.view.state and ana.view.state.voters("n9") is None), "a song less")
    ana.send(ana.conversation.write(suggestion("n9")))
    ana.until(lambda: bool(ana.view.rejections), "the rejection")
    assert ana.view.rejections == [Rejection(Why.VOTING_ONLY, suggestion="n9")]
    ana.vote("n7")
    ana.until_shown("n7")


def test_a_vote_for_the_song_that_plays_counts(ana: Guest, host: Program) -> None:
    ana.vote("n0")
    ana.until_shown("n0")
    assert host.expect("snapshot", lambda one: one["nowPlaying"]["votes"] == 1)


def test_a_vote_can_be_taken_back(ana: Guest, host: Program) -> None:
    ana.vote("n5")
    ana.until_shown("n5")
    ana.send(ana.conversation.write(take_back("n5")))
    ana.until(lambda: bool(ana.view.state and ana.view.state.voters("n5") == ()), "no vote")
    # Taking back again changes nothing, and is not an error.
    ana.send(ana.conversation.write(take_back("n5")))
    ana.until_acknowledged()
    ana.vote("n5")
    ana.until_shown("n5")
    assert not ana.view.rejections


def test_a_search_is_answered_from_the_hosts_library(ana: Guest) -> None:
    ana.send_latest(search(7, "MILE 1"))
    ana.until(lambda: 7 in ana.view.found, "what was found")
    assert ana.view.found[7] and all("1" in song.title for song in ana.view.found[7])
    before = ana.view.snapshots
    ana.send_latest(search(8, "nothing like this", snapshot=True))
    ana.until(lambda: 8 in ana.view.found and ana.view.snapshots > before, "nothing, and a snapshot")
    assert ana.view.found[8] == []


def test_a_guest_looks_through_the_library_without_a_word(ana: Guest) -> None:
    ana.send_latest(search(1, "", shelf=Shelf.ARTISTS))
    ana.until(lambda: 1 in ana.view.found, "artists")
    (artist,) = ana.view.groups[1]
    assert (artist.name, artist.songs, ana.view.totals[1]) == ("The Milestones", 21, 1)
    ana.send_latest(search(2, artist.id, shelf=Shelf.ARTIST, start=20))
    ana.until(lambda: 2 in ana.view.found, "the artist's last song")
    assert [song.id for song in ana.view.found[2]] == ["n20"] and ana.view.totals[2] == 21
    ana.send_latest(search(3, "milestnoes"))
    ana.until(lambda: 3 in ana.view.found, "what is most like it")
    assert ana.view.totals[3] == 21


@pytest.mark.long
def test_guests_are_told_now_and_then_which_state_is_the_present_one(ana: Guest) -> None:
    ana.until(lambda: ana.view.heartbeats == 2, "two heartbeats")
    before = ana.view.snapshots
    assert ana.view.state
    # The guest's revision is wrong. The next heartbeat corrects that.
    ana.view.state = replace(ana.view.state, revision=ana.view.state.revision + 7)
    ana.until(lambda: ana.view.snapshots > before, "the whole")


def test_votes_that_are_cast_in_a_gap_count_once(ana: Guest, host: Program) -> None:
    ana.vote("n1")
    ana.until_shown("n1")
    with ana.radio.dead_zone():
        # One guest leaves before the outage is detected, the others wait.
        ana.vote("n2")
        ana.until_lost()
        assert host.expect("peerDisconnected")["reason"] == "linkLost"
        for song in ("n3", "n4"):
            ana.vote(song)
    ana.join()
    for song in ("n1", "n2", "n3", "n4"):
        ana.until_shown(song)
    ana.vote("n5")
    host.expect("intent", songID="n5")
    assert [cast_count(host, song) for song in ("n1", "n2", "n3", "n4")] == [1, 1, 1, 1]
    assert ana.view.state
    assert all(ana.view.state.voters(song) == (ana.key.identifier,) for song in ("n1", "n2", "n3", "n4"))


def test_a_message_that_comes_again_after_a_reconnection_is_dropped(ana: Guest, host: Program) -> None:
    first, second = ana.vote("n5"), ana.vote("n6")
    ana.until_shown("n6")
    ana.until_acknowledged()
    ana.lose_link()
    host.expect("peerDisconnected")
    # A guest that missed the ack, and does not use the hello's numbers, sends both messages again.
    ana.join()
    ana.send(first)
    ana.send(second)
    ana.vote("n7")
    host.expect("intent", songID="n7")
    assert [cast_count(host, song) for song in ("n5", "n6")] == [1, 1]


def test_what_the_hello_acknowledges_is_not_sent_again(ana: Guest, host: Program) -> None:
    assert ana.talk
    # Ana votes, and leaves before she receives the answer.
    ana.vote("n5")
    host.expect("intent", songID="n5")
    ana.lose_link()
    host.expect("peerDisconnected")
    assert len(ana.conversation.outbox) == 1
    answer = ana.join().answer
    assert (answer.their_epoch, answer.delivered) == (ana.conversation.epoch, 1)
    assert not ana.conversation.outbox
    ana.until_shown("n5")
    assert not bytes_alone(ana.said, Kind.MESSAGE)


def test_what_a_guest_has_not_acknowledged_comes_again_with_its_number(ana: Guest, host: Program) -> None:
    assert ana.talk
    # Ana reads the rejection, and leaves before she acknowledges it.
    ana.talk.say(message(ana.conversation.write(vote("no"))))
    unit = next_reliable(ana)
    ana.lose_link()
    host.expect("peerDisconnected")
    ana.join()
    assert ana.talk
    assert next_reliable(ana) == unit
    ana.talk.say(ack(1))
    ana.conversation.delivered = 1
    # The next rejection has the next number: no message is in between.
    ana.talk.say(message(ana.conversation.write(vote("no"))))
    assert next_reliable(ana).number == 2


def test_a_guest_that_has_lost_its_disk_begins_anew(ana: Guest, host: Program) -> None:
    for song in ("n1", "n2", "n3"):
        ana.vote(song)
    ana.until_acknowledged()
    ana.leave()
    ana.conversations[ana.host] = Conversation()
    assert ana.join().answer.delivered == 3, "of the old epoch: it is not looked at"
    ana.vote("n4")
    ana.until_shown("n4")


def test_everybody_sees_what_the_host_sees_at_every_step(host: Program, ana: Guest, make_guest: MakeGuest) -> None:
    bob = make_guest("Bob")
    bob.join()

    see_the_same(host, ana, bob)
    for song in ("n9", "n4", "n12"):
        for guest in (ana, bob):
            guest.vote(song)
            see_the_same(host, ana, bob)
    for line in ("skip", "pause", "remove n4", "play", "add n4", "skip", "remove n12"):
        host.say(line)
        see_the_same(host, ana, bob)
    ana.send(ana.conversation.write(suggestion("n0")))
    see_the_same(host, ana, bob)
    # A guest leaves and joins again.
    ana.leave()
    ana.join()
    see_the_same(host, ana, bob)
    assert bob.view.changes >= 10, "most of it came as changes"
    assert bob.view.snapshots < bob.view.changes


def test_a_long_queue_arrives_in_pieces_and_is_whole(start_host: StartHost, make_guest: MakeGuest) -> None:
    host = start_host(songs=100, title="A very long road " + "on and " * 15)
    ana = make_guest("Ana")
    ana.join()
    see_the_same(host, ana)
    assert ana.view.state and len(ana.view.state.queue) == 100
    ana.vote("n100")
    ana.until_shown("n100")


def test_in_a_queue_of_fifty_a_vote_costs_every_link_little_and_the_whole_is_small(
    start_host: StartHost, make_guest: MakeGuest, measured: list[str]
) -> None:
    host = start_host(songs=50, title="A title as long as most are")
    guests = [make_guest(f"Passenger {number}") for number in range(8)]
    for guest in guests:
        guest.join()
    see_the_same_now(host, guests)
    # The last guest that joined received the state once, and nothing else of that size.
    whole = sum(count for count, kinds in guests[-1].heard if Kind.FRAGMENT in kinds or Kind.MESSAGE in kinds)
    costs: list[int] = []
    for number, voter in enumerate(guests):
        heard = [len(guest.heard) for guest in guests]
        who, song = voter.key.identifier, f"n{20 + number}"
        voter.vote(song)
        for guest in guests:
            guest.until(
                lambda guest=guest, who=who, song=song: who in (guest.view.state.voters(song) or ()),  # type: ignore[misc]
                "the vote",
            )
        costs += [
            sum(count for count, kinds in guest.heard[before:] if Kind.MESSAGE in kinds)
            for guest, before in zip(guests, heard, strict=True)
        ]
    measured.append(f"50 songs, 8 guests: a vote costs each link {min(costs)} to {max(costs)} bytes; limit {NEWS}")
    measured.append(f"50 songs, 8 guests: the whole state takes {whole} bytes; limit {WHOLE}")
    assert max(costs) <= NEWS and whole <= WHOLE


def test_a_guest_that_asks_gets_the_whole(ana: Guest, host: Program) -> None:
    # After a change: a request that arrives while a snapshot is being sent is answered by that snapshot.
    ana.until(lambda: ana.view.changes == 1, "the change that its own joining is")
    ana.vote("n2")
    ana.until_shown("n2")
    assert ana.view.changes == 2
    before = ana.view.snapshots
    ana.send_latest(snapshot_request())
    ana.until(lambda: ana.view.snapshots > before, "a snapshot")


def test_a_vote_counts_while_pings_go_on(ana: Guest) -> None:
    assert ana.talk
    ana.talk.say(ping(2), message(ana.conversation.write(vote("n8"))), ping(3))
    ana.until_shown("n8")
