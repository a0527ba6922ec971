"""Bad company: somebody on the same air dials the host and misbehaves. The guests who are there must not notice."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterator

import pytest
from conftest import clear, crashes
from frames import (
    APP_START,
    BANNED,
    GOODBYE,
    MESSAGE,
    PING,
    PONG,
    REFUSAL,
    SELF_INFO,
    VERSION,
    Talk,
    call,
    frame,
    introduction,
    vote,
)
from helpers import START, await_joined, cast, identity, shows_peers, song_list, start_guests
from lab import Box, Lab, Program

HANDSHAKE_TIMEOUT, SILENCE_TIMEOUT = 5.0, 3.0

# Of one vote; its median without strangers is half of it or less (test_voting.py).
UNDISTURBED = 1.0

STRANGERS_AT_ONCE = 16

SOMEBODY = "5" * 32

Party = tuple[Program, list[Program]]

songs = (f"n{number}" for number in itertools.count(1))
names = (f"stranger{number}" for number in itertools.count(1))


@pytest.fixture(scope="module")
def parties() -> list[Party]:
    """The party that goes on through this file, unless a test has ended it."""
    return []


@pytest.fixture
def party(air_of_file: Lab, car: Box, family: Box, parties: list[Party]) -> Iterator[Party]:
    """A host with two guests, who are as well after the test as before it."""
    if not parties:
        library = song_list(air_of_file, 60)
        host = car.roadmesh("host", "Dad's Car", "--library", str(library))
        host.expect("ready", timeout=START)
        parties.append((host, start_guests(family, "Ana", "Bob")))
    host, guests = parties[0]
    host.skip()
    before = {one: (len(one.seen("peerDisconnected")), len(one.seen("notice"))) for one in guests}
    try:
        yield host, guests
        assert not crashes(air_of_file)
        vote_undisturbed(host, guests)
        for one in guests:
            assert (len(one.seen("peerDisconnected")), len(one.seen("notice"))) == before[one], one.tail()
    except BaseException:
        parties.clear()
        clear(air_of_file)
        raise


@pytest.fixture
def stranger(air_of_file: Lab, car: Box, party: Party) -> Talk:
    """Somebody who has opened a channel to the host."""
    return call(air_of_file.stranger(next(names)), car)


def vote_undisturbed(host: Program, guests: list[Program]) -> None:
    song = next(songs)
    for guest in guests:
        took = cast(guest, song, seen_by=[host, *guests])
        assert took < UNDISTURBED, f"a vote took {took:.2f} s"


def test_somebody_who_shares_no_code_with_us_joins_votes_and_leaves(stranger: Talk, party: Party) -> None:
    host, guests = party
    info = stranger.join(SOMEBODY, "Eve")
    assert identity(host).encode() in info and b"Dad's Car" in info
    song = next(songs)
    stranger.say(vote(song))
    for one in (host, *guests):
        one.expect("snapshot", shows_peers("Ana", "Bob", "Eve"))
        one.expect_seen("snapshot", lambda seen: any(SOMEBODY in item["voters"] for item in seen["queue"]))
    assert stranger.hear_of(MESSAGE)
    stranger.say(frame(GOODBYE))
    stranger.closed()
    gone = host.expect("peerDisconnected")
    assert gone["peer"] == {"id": SOMEBODY, "name": "Eve"} and gone["reason"] == "goodbye"
    for one in guests:
        one.expect("snapshot", shows_peers("Ana", "Bob"))


def test_random_bytes_are_shrugged_off(stranger: Talk, party: Party) -> None:
    chance = random.Random(8)
    for _ in range(20):
        try:
            stranger.say(chance.randbytes(chance.randrange(1, 1500)))
        except Exception:  # closed on us, which is an answer as well
            break
    vote_undisturbed(*party)
    stranger.closed(HANDSHAKE_TIMEOUT + 1.5)


def test_whoever_begins_with_the_wrong_frame_is_hung_up_on(stranger: Talk, car: Box) -> None:
    for first in (
        frame(MESSAGE, b"{}"),
        frame(SELF_INFO, introduction(SOMEBODY, "Eve")),
        frame(PING, bytes(4)),
        frame(PONG, bytes(4)),
        frame(REFUSAL, b"\x01"),
        frame(GOODBYE),
    ):
        stranger.say(first)
        stranger.closed()
        stranger = call(stranger.stranger, car)


def test_whoever_introduces_himself_in_broken_words_is_hung_up_on(stranger: Talk, party: Party, car: Box) -> None:
    welcomed = len(party[0].seen("peerConnected"))
    for body in (
        b"",
        b"\x01",
        b"\x01\x20" + b"5" * 31,
        b"\x01\x00\x03Eve",
        b"\x01\xff" + b"5" * 255 + b"\x03Eve",
        b"\x01\x20" + b"5" * 31 + b"\xff\x03Eve",
        introduction(SOMEBODY, "Eve")[:-2],
    ):
        stranger.say(frame(APP_START, body))
        stranger.closed()
        stranger = call(stranger.stranger, car)
    assert len(party[0].seen("peerConnected")) == welcomed


def test_whoever_says_nothing_or_never_finishes_is_hung_up_on_after_five_seconds(
    stranger: Talk, party: Party, car: Box
) -> None:
    started = time.monotonic()
    unfinished = call(stranger.stranger, car)
    unfinished.say(b"\xff\xff\x01" + bytes(1000))
    vote_undisturbed(*party)
    for talk in (stranger, unfinished):
        talk.closed(HANDSHAKE_TIMEOUT + 2)
    assert HANDSHAKE_TIMEOUT - 0.5 < time.monotonic() - started < HANDSHAKE_TIMEOUT + 2


def test_a_guest_that_falls_silent_within_a_message_is_missed_like_any_other(stranger: Talk, party: Party) -> None:
    host, guests = party
    stranger.join(SOMEBODY, "Eve")
    stranger.say(b"\xff\xff\x04" + bytes(1500))
    stranger.closed(SILENCE_TIMEOUT + 2)
    assert host.expect("peerDisconnected")["reason"] == "linkLost"
    guests[0].expect("snapshot", shows_peers("Ana", "Bob"))


def test_whoever_speaks_another_version_is_told_so(stranger: Talk) -> None:
    stranger.say(frame(APP_START, introduction(SOMEBODY, "Eve", version=2)))
    assert stranger.hear() == (REFUSAL, bytes((VERSION,)))
    stranger.closed()


def test_whoever_claims_to_be_the_host_is_refused(stranger: Talk, party: Party) -> None:
    stranger.say(frame(APP_START, introduction(identity(party[0]), "Dad's Car")))
    assert stranger.hear() == (REFUSAL, bytes((BANNED,)))
    stranger.closed()


def test_a_name_is_shown_without_what_cannot_be_shown(stranger: Talk, party: Party) -> None:
    host, guests = party
    stranger.join(SOMEBODY, "\x1b[2J\nEve\x00\u202e ")
    for one in guests:
        one.expect("snapshot", lambda seen: len(seen["connectedPeers"]) == 3)
    name = host.expect("peerConnected")["peer"]["name"]
    assert "Eve" in name
    assert not any(character in name for character in "\x1b\n\x00\u202e")
    stranger.say(frame(GOODBYE))
    stranger.closed()


def test_a_guest_without_a_name_gets_one_that_can_be_shown(stranger: Talk, party: Party, car: Box) -> None:
    for name in (b"", b" \t ", "\u202e\u200b".encode()):
        stranger.join(SOMEBODY, name)
        assert party[0].expect("peerConnected")["peer"]["name"].strip()
        stranger.say(frame(GOODBYE))
        stranger.closed()
        stranger = call(stranger.stranger, car)


def test_a_flood_of_pings_delays_nobody_and_fills_no_memory(stranger: Talk, party: Party) -> None:
    host, guests = party
    stranger.join(SOMEBODY, "Eve")
    before = memory(host)
    for burst in range(20):
        stranger.say(*(frame(PING, number.to_bytes(4)) for number in range(burst * 250, burst * 250 + 250)))
        if burst % 5 == 0:
            vote_undisturbed(host, guests)
    # What is answered late may be answered once for many, but the last is.
    while stranger.hear_of(PONG) != (4999).to_bytes(4):
        pass
    assert memory(host) - before < 8 * 1024, "kilobytes"
    stranger.say(frame(GOODBYE))
    stranger.closed()


def test_a_message_that_makes_no_sense_is_passed_over(stranger: Talk, party: Party) -> None:
    host, _ = party
    stranger.join(SOMEBODY, "Eve")
    for body in (
        b"",
        b"\x00\xff" * 400,
        b"[" * 60_000,
        b'{"intent":' * 6_000,
        b'{"stateUpdate":{"_0":{}}}',
        b'"' + b"a" * 65_000,
    ):
        whole = frame(MESSAGE, body)
        for start in range(0, len(whole), 2000):
            stranger.say(whole[start : start + 2000])
    # The link goes on: what makes sense is still heard.
    song = next(songs)
    stranger.say(vote(song))
    host.expect("intent", songID=song, accepted=True)
    stranger.say(frame(GOODBYE))
    stranger.closed()


def test_many_who_come_and_go_one_after_another_are_borne(stranger: Talk, party: Party, car: Box) -> None:
    for number in range(20):
        talk = call(stranger.stranger, car)
        if number % 2:
            talk.say(frame(APP_START, introduction(f"{number:032}", f"Passer-by {number}"))[: 5 * number])
        stranger.stranger.close(talk.channel)
    stranger.stranger.disconnect()


def test_a_crowd_that_only_blocks_the_door_does_not_keep_guests_out_for_long(
    air_of_file: Lab, stranger: Talk, party: Party, car: Box, family: Box
) -> None:
    host, guests = party
    found = [stranger]
    for _ in range(STRANGERS_AT_ONCE + 4):
        found.append(call(stranger.stranger, car))
    vote_undisturbed(host, guests)
    newcomer = family.roadmesh("guest", "Cy", adapter="hci2")
    await_joined(newcomer, timeout=HANDSHAKE_TIMEOUT + 10)
    newcomer.say("quit")
    newcomer.wait()
    guests[0].expect("snapshot", shows_peers("Ana", "Bob"))


def test_whoever_tears_his_link_down_in_the_middle_of_a_word_is_forgotten(
    air_of_file: Lab, stranger: Talk, party: Party
) -> None:
    host, guests = party
    stranger.join(SOMEBODY, "Eve")
    host.expect("snapshot", shows_peers("Ana", "Bob", "Eve"))
    stranger.say(b"\x10\x00\x04" + bytes(100))
    stranger.stranger.disconnect()
    assert host.expect("peerDisconnected")["reason"] == "linkLost"
    for one in guests:
        one.expect("snapshot", shows_peers("Ana", "Bob"))


def test_after_all_that_a_new_guest_joins_as_ever(air_of_file: Lab, party: Party, family: Box) -> None:
    host, guests = party
    newcomer = family.roadmesh("guest", "Cy", adapter="hci2")
    await_joined(newcomer)
    for one in (host, *guests):
        one.expect("snapshot", shows_peers("Ana", "Bob", "Cy"))
    assert cast(newcomer, next(songs), seen_by=[host, newcomer, *guests]) < UNDISTURBED


def memory(program: Program) -> int:
    """What a program has in memory, in kilobytes."""
    return int(program.box.run(f"grep VmRSS /proc/{program.pid}/status").split()[1])
