# SPDX-License-Identifier: Apache-2.0
"""A conversation continues over links and lost disks. Nothing counts twice, and no node waits for lost messages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from roadmesh_peer import democracy_dj
from roadmesh_peer.democracy_dj import Change, read_snapshot
from roadmesh_peer.guest import Talk
from roadmesh_peer.noise_link import Key
from roadmesh_peer.protobuf import Fields
from roadmesh_peer.wire import Hello, Kind, Reader, Unit, ack, goodbye, message, ping
from roadmesh_program.program import Program

EPOCH, OTHER_EPOCH = 0xA0A0, 0xB0B0

Call = Callable[..., Talk]
Enter = Callable[[Hello], tuple[Talk, Hello]]


@pytest.fixture
def enter(call: Call, host: Program) -> Enter:
    """Joins, always as the same guest, with any hello."""
    key = Key()

    def come_in(hello: Hello) -> tuple[Talk, Hello]:
        talk = call(key)
        answer = talk.join(lambda _: hello).answer
        talk.say(ping(1))
        host.expect("peerConnected")
        return talk, answer

    return come_in


def vote(song: str, number: int) -> bytes:
    return bytes(message(Unit(democracy_dj.vote(song), number)))


def leave(talk: Talk) -> None:
    talk.say(goodbye())
    talk.closed()


def await_ack(talk: Talk, number: int) -> None:
    """Waits for the ack of a number. Acks of smaller numbers may come before it."""
    while (said := Reader(talk.hear_of(Kind.ACK)).varint()) != number:
        assert said < number


def rejection_number(talk: Talk) -> int:
    while (unit := Unit.read(talk.hear_of(Kind.MESSAGE))).latest:
        pass
    return unit.number


def first_update(talk: Talk) -> Fields:
    while not (unit := Unit.read(talk.hear_of(Kind.MESSAGE))).latest:
        pass
    return Fields(unit.body)


def test_who_names_the_state_that_it_has_is_sent_what_follows_on_it(enter: Enter) -> None:
    talk, _ = enter(Hello(EPOCH, "Eve"))
    state = read_snapshot(first_update(talk).data(2))
    leave(talk)
    talk, _ = enter(Hello(EPOCH, "Eve", state=democracy_dj.state_name(state.epoch, state.revision)))
    change = Change(first_update(talk).data(3))
    assert (change.epoch, change.base) == (state.epoch, state.revision)
    leave(talk)
    # No host has had this state.
    talk, _ = enter(Hello(EPOCH, "Eve", state=democracy_dj.state_name(state.epoch ^ 1, state.revision)))
    assert 2 in first_update(talk)


def test_numbers_go_on_over_links(enter: Enter) -> None:
    talk, answer = enter(Hello(EPOCH, "Eve"))
    assert (answer.first, answer.their_epoch, answer.delivered) == (1, 0, 0)
    talk.say(vote("n1", 1), vote("n2", 2))
    await_ack(talk, 2)
    leave(talk)
    talk, again = enter(Hello(EPOCH, "Eve", first=3, their_epoch=answer.epoch))
    assert (again.epoch, again.first) == (answer.epoch, 1)
    assert (again.their_epoch, again.delivered) == (EPOCH, 2)
    talk.say(vote("n3", 3))
    await_ack(talk, 3)


def test_a_new_epoch_begins_where_it_says(enter: Enter, host: Program) -> None:
    talk, _ = enter(Hello(EPOCH, "Eve"))
    talk.say(vote("n1", 1))
    await_ack(talk, 1)
    leave(talk)
    talk, _ = enter(Hello(OTHER_EPOCH, "Eve", first=7))
    talk.say(vote("n2", 7))
    await_ack(talk, 7)
    assert host.expect("intent", songID="n2")["accepted"]


def test_what_was_acknowledged_by_a_memory_that_is_lost_is_not_waited_for(enter: Enter) -> None:
    talk, _ = enter(Hello(EPOCH, "Eve"))
    leave(talk)
    talk, _ = enter(Hello(EPOCH, "Eve", first=10))
    talk.say(vote("n2", 10))
    await_ack(talk, 10)


def test_an_older_first_moves_nothing_back(enter: Enter, host: Program) -> None:
    talk, _ = enter(Hello(EPOCH, "Eve"))
    talk.say(vote("n1", 1), vote("n2", 2))
    await_ack(talk, 2)
    leave(talk)
    talk, answer = enter(Hello(EPOCH, "Eve", first=1))
    assert answer.delivered == 2
    talk.say(vote("n1", 1), vote("n2", 2), vote("n3", 3))
    await_ack(talk, 3)
    host.expect("intent", songID="n3")
    assert [len(host.seen("intent", songID=song)) for song in ("n1", "n2")] == [1, 1]


def test_a_host_whose_memory_has_gone_back_numbers_on(enter: Enter) -> None:
    talk, answer = enter(Hello(EPOCH, "Eve"))
    leave(talk)
    talk, _ = enter(Hello(EPOCH, "Eve", their_epoch=answer.epoch, delivered=5))
    talk.say(vote("no", 1))
    assert rejection_number(talk) == 6
    talk.say(ack(6))


def test_delivered_of_another_epoch_is_not_looked_at(enter: Enter) -> None:
    talk, answer = enter(Hello(EPOCH, "Eve"))
    leave(talk)
    talk, _ = enter(Hello(EPOCH, "Eve", their_epoch=answer.epoch ^ 1, delivered=5))
    talk.say(vote("no", 1))
    assert rejection_number(talk) == 1


def test_a_rejection_is_kept_until_it_is_acknowledged(enter: Enter) -> None:
    talk, answer = enter(Hello(EPOCH, "Eve"))
    talk.say(vote("no", 1))
    assert rejection_number(talk) == 1
    leave(talk)
    # Without an acknowledgement the message comes again. If the hello acknowledges it, it does not.
    talk, second = enter(Hello(EPOCH, "Eve", first=2, their_epoch=answer.epoch))
    assert second.first == 1
    assert rejection_number(talk) == 1
    leave(talk)
    talk, _ = enter(Hello(EPOCH, "Eve", first=2, their_epoch=answer.epoch, delivered=1))
    talk.say(vote("no", 2))
    assert rejection_number(talk) == 2


def test_latest_messages_are_numbered_by_link_and_old_ones_are_dropped(enter: Enter) -> None:
    snapshot, change = 2, 3

    def request(number: int) -> bytes:
        return bytes(message(Unit(democracy_dj.snapshot_request(), number, latest=True)))

    def next_latest(talk: Talk) -> tuple[int, int]:
        """The number of the next latest message, and its field in the envelope."""
        while not (unit := Unit.read(talk.hear_of(Kind.MESSAGE))).latest:
            pass
        return unit.number, unit.body[0] >> 3

    def join(hello: Hello) -> Talk:
        """Joins. The state was sent with the answer, and the join itself then changes it."""
        talk, _ = enter(hello)
        assert next_latest(talk) == (1, snapshot)
        assert next_latest(talk) == (2, change)
        return talk

    talk = join(Hello(EPOCH, "Eve"))
    # A request that arrives while a snapshot is being sent is answered by that snapshot. So each request follows a
    # change.
    talk.say(vote("n1", 1))
    assert next_latest(talk) == (3, change)
    talk.say(request(5))
    assert next_latest(talk) == (4, snapshot)
    talk.say(vote("n2", 2))
    assert next_latest(talk) == (5, change)
    talk.say(request(5), request(4), vote("n3", 3))
    assert next_latest(talk) == (6, change)
    leave(talk)
    talk = join(Hello(EPOCH, "Eve", first=4))
    talk.say(vote("n4", 4))
    assert next_latest(talk) == (3, change)
    talk.say(request(1))
    assert next_latest(talk) == (4, snapshot)
