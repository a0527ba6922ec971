"""A stranger dials the host and misbehaves. The linked guests must not notice."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterator

import pytest
from conftest import clear, crashes
from frames import EPOCH, LabTalk, call
from helpers import (
    START,
    await_joined,
    cast,
    identity,
    service_uuid,
    shows_peers,
    shows_vote,
    song_list,
    start_guests,
)
from roadmesh_peer import democracy_dj
from roadmesh_peer.noise_link import ClearlyRefused, ClearReason, Handshake, Packet, prologue
from roadmesh_peer.virtual_air import ChannelClosed
from roadmesh_peer.wire import (
    MAJOR_VERSION,
    Frame,
    Hello,
    Kind,
    Reader,
    Unit,
    app_start,
    fragments,
    goodbye,
    identifier,
    message,
    ping,
)
from runner import Box, Lab, Program

HANDSHAKE_TIMEOUT, SILENCE_TIMEOUT = 5.0, 3.0

HALF_OPEN = 8

# Links without a channel that a host keeps, and for how long (seconds).
EMPTY_LINKS, EMPTY_LINK = 3, 30.0

# Longest time of one vote. The median without strangers is half of it or less (test_voting.py).
UNDISTURBED = 1.0

Party = tuple[Program, list[Program]]

songs = (f"n{number}" for number in itertools.count(1))
names = (f"stranger{number}" for number in itertools.count(1))


@pytest.fixture(scope="module")
def parties() -> list[Party]:
    """The party that this file's tests share until one of them ends it."""
    return []


@pytest.fixture
def party(air_of_file: Lab, car: Box, family: Box, parties: list[Party]) -> Iterator[Party]:
    """A host with two guests. They must work as well after the test as before it."""
    if not parties:
        library = song_list(air_of_file, 60)
        host = car.roadmesh("host", "Dad's Car", "--verbose", "--library", str(library))
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
def stranger(air_of_file: Lab, car: Box, party: Party) -> LabTalk:
    """A stranger with an open channel to the host."""
    return call(air_of_file.stranger(next(names)), car)


def vote_undisturbed(host: Program, guests: list[Program]) -> None:
    song = next(songs)
    for guest in guests:
        took = cast(guest, song, seen_by=[host, *guests])
        assert took < UNDISTURBED, f"a vote took {took:.2f} s"


def vote(song: str, number: int = 1) -> Frame:
    return message(Unit(democracy_dj.vote(song), number))


def begin_again(stranger: LabTalk, car: Box) -> LabTalk:
    """Another channel of the same stranger, with a new identity."""
    return call(stranger.stranger, car)


def test_somebody_who_shares_no_code_with_us_joins_votes_and_leaves(stranger: LabTalk, party: Party) -> None:
    host, guests = party
    answer = stranger.enter("Eve")
    assert (identifier(stranger.host_key).hex(), answer.name) == (identity(host), "Dad's Car")
    song = next(songs)
    stranger.say(vote(song))
    for one in (host, *guests):
        one.expect("snapshot", shows_peers("Ana", "Bob", "Eve"))
        one.expect_seen("snapshot", shows_vote(song, stranger.identity))
    assert Reader(stranger.hear_of(Kind.ACK)).varint() == 1
    stranger.say(goodbye())
    stranger.closed()
    gone = host.expect("peerDisconnected")
    assert gone["peer"] == {"id": stranger.identity, "name": "Eve"} and gone["reason"] == "goodbye"
    for one in guests:
        one.expect("snapshot", shows_peers("Ana", "Bob"))


def test_somebody_who_is_known_is_back_after_one_round_trip(stranger: LabTalk, party: Party, car: Box) -> None:
    host, _ = party
    stranger.enter("Eve")
    stranger.say(goodbye())
    stranger.closed()
    back = call(stranger.stranger, car, stranger.key)
    joining = back.join(lambda _: Hello(EPOCH, "Eve"), known=stranger.host_key)
    assert [packet[0] for packet in joining.packets] == [Packet.IK_1, Packet.IK_2]
    # A peer is connected with its first record, which is a vote here.
    song = next(songs)
    back.say(vote(song))
    host.expect("intent", songID=song, accepted=True)
    back.say(goodbye())
    back.closed()


def test_a_recorded_hello_connects_nobody(stranger: LabTalk, party: Party, car: Box) -> None:
    host, _ = party
    stranger.enter("Eve")
    back = call(stranger.stranger, car, stranger.key)
    back.join(lambda _: Hello(EPOCH, "Eve"), known=stranger.host_key)
    back.say(goodbye())
    back.closed()
    # The newer link has replaced the older one and has ended. No other events follow.
    host.expect("peerDisconnected", reason="goodbye")
    welcomed = len(host.seen("peerConnected"))
    replayed = begin_again(stranger, car)
    replayed.send_packet(back.packets[0])
    assert replayed.receive_packet()[0] == Packet.IK_2
    replayed.closed(HANDSHAKE_TIMEOUT + 2)
    assert len(host.seen("peerConnected")) == welcomed


def test_random_bytes_are_shrugged_off(stranger: LabTalk, party: Party, car: Box) -> None:
    chance = random.Random(8)
    for _ in range(20):
        stranger.channel.send(chance.randbytes(chance.randrange(1, 1500)))
        stranger.closed(HANDSHAKE_TIMEOUT + 1.5)
        stranger = begin_again(stranger, car)
    vote_undisturbed(*party)


def test_random_bytes_on_a_sealed_link_end_it(stranger: LabTalk, party: Party, car: Box) -> None:
    host, _ = party
    chance = random.Random(9)
    for _ in range(5):
        stranger.enter("Eve")
        stranger.channel.send(chance.randbytes(chance.randrange(1, 1500)))
        stranger.closed()
        assert host.expect("peerDisconnected")["reason"] == "linkLost"
        stranger = begin_again(stranger, car)


def test_a_goodbye_in_the_clear_is_not_believed(stranger: LabTalk, party: Party) -> None:
    host, _ = party
    stranger.enter("Eve")
    stranger.channel.send(bytes(goodbye()))
    stranger.closed()
    assert host.expect("peerDisconnected")["reason"] == "linkLost"


def test_whoever_begins_with_the_wrong_packet_is_hung_up_on(stranger: LabTalk, car: Box) -> None:
    for first in (
        bytes(vote("n1")),
        bytes(ping(1)),
        bytes(goodbye()),
        bytes((Packet.XX_2,)) + bytes(96),
        bytes((Packet.XX_3,)) + bytes(80),
        bytes((Packet.XX_1, MAJOR_VERSION)) + bytes(20),
    ):
        stranger.channel.send(first)
        stranger.closed()
        stranger = begin_again(stranger, car)


def test_whoever_introduces_himself_in_broken_words_is_hung_up_on(stranger: LabTalk, party: Party, car: Box) -> None:
    welcomed = len(party[0].seen("peerConnected"))
    good = bytes(Hello(EPOCH, "Eve"))
    for payload in (
        b"",
        bytes(ping(1)),
        bytes(Frame(Kind.APP_START)),
        bytes(Frame(Kind.APP_START, good[:-2])),
        bytes(Frame(Kind.APP_START, good[:-3] + b"\xff\xff\xff")),
        bytes(app_start(Hello(EPOCH, "e" * 249))),
        bytes(app_start(Hello(0, "Eve"))),
        bytes(app_start(Hello(EPOCH, "Eve", first=0))),
    ):
        stranger.introduce(stranger.greet(), payload)
        with pytest.raises(ChannelClosed):
            stranger.hear()
        stranger = begin_again(stranger, car)
    assert len(party[0].seen("peerConnected")) == welcomed


def test_whoever_says_nothing_or_never_finishes_is_hung_up_on_after_five_seconds(
    stranger: LabTalk, party: Party, car: Box
) -> None:
    started = time.monotonic()
    half_way = begin_again(stranger, car)
    half_way.greet()
    unfinished = begin_again(stranger, car)
    unfinished.channel.begin_sdu(1000, bytes([1, MAJOR_VERSION]) + bytes(100))
    vote_undisturbed(*party)
    for talk in (stranger, half_way, unfinished):
        talk.closed(HANDSHAKE_TIMEOUT + 2)
    assert HANDSHAKE_TIMEOUT - 0.5 < time.monotonic() - started < HANDSHAKE_TIMEOUT + 2


def test_a_guest_that_falls_silent_within_a_message_is_missed_like_any_other(stranger: LabTalk, party: Party) -> None:
    host, guests = party
    stranger.enter("Eve")
    stranger.say(next(fragments(Unit(bytes(60_000), 1), room=1500)))
    stranger.closed(SILENCE_TIMEOUT + 2)
    assert host.expect("peerDisconnected")["reason"] == "linkLost"
    guests[0].expect("snapshot", shows_peers("Ana", "Bob"))


def test_whoever_speaks_another_version_is_told_so(stranger: LabTalk) -> None:
    other = Handshake(stranger.key, prologue=prologue(version=MAJOR_VERSION + 1))
    stranger.send_packet(other.write(Packet.XX_1, version=MAJOR_VERSION + 1))
    assert stranger.clearly_refused() == (MAJOR_VERSION, ClearReason.VERSION)
    stranger.closed()


def test_whoever_takes_the_host_for_another_is_told_so(stranger: LabTalk) -> None:
    other = Handshake(stranger.key, host_key=stranger.key.public)
    stranger.send_packet(other.write(Packet.IK_1, bytes(app_start(Hello(EPOCH, "Eve")))))
    assert stranger.clearly_refused() == (MAJOR_VERSION, ClearReason.UNKNOWN_KEY)
    stranger.closed()


def test_a_name_is_shown_without_what_cannot_be_shown(stranger: LabTalk, party: Party) -> None:
    host, guests = party
    stranger.enter("\x1b[2J\nEve\x00\u202e ")
    for one in guests:
        one.expect("snapshot", lambda seen: len(seen["connectedPeers"]) == 3)
    name = host.expect("peerConnected")["peer"]["name"]
    assert "Eve" in name
    assert not any(character in name for character in "\x1b\n\x00\u202e")
    stranger.say(goodbye())
    stranger.closed()


def test_a_guest_without_a_name_gets_one_that_can_be_shown(stranger: LabTalk, party: Party, car: Box) -> None:
    for name in ("", " \t ", "\u202e\u200b"):
        stranger.enter(name)
        assert party[0].expect("peerConnected")["peer"]["name"].strip()
        stranger.say(goodbye())
        stranger.closed()
        stranger = begin_again(stranger, car)


def test_a_flood_of_pings_delays_nobody_and_fills_no_memory(stranger: LabTalk, party: Party) -> None:
    host, guests = party
    stranger.enter("Eve")
    before = memory(host)
    for burst in range(20):
        stranger.say(*map(ping, range(burst * 250 + 2, burst * 250 + 252)))
        if burst % 5 == 0:
            vote_undisturbed(host, guests)
    # The host may answer several late pings at once, but always answers the last.
    while Reader(stranger.hear_of(Kind.PONG)).varint() != 5001:
        pass
    assert memory(host) - before < 8 * 1024, "kilobytes"
    stranger.say(goodbye())
    stranger.closed()


def test_a_message_that_makes_no_sense_is_passed_over(stranger: LabTalk, party: Party) -> None:
    host, _ = party
    stranger.enter("Eve")
    bodies = (b"", b"\x00\xff" * 400, b"\x0a" * 60_000, b"\x12\x80\x08" + bytes(1024), b"\x0a\x00", bytes(65_535))
    for number, body in enumerate(bodies, 1):
        unit = Unit(body, number)
        for piece in fragments(unit, room=2000) if len(body) > 1900 else [message(unit)]:
            stranger.say(piece)
    # The link stays, and valid messages still arrive.
    song = next(songs)
    stranger.say(vote(song, len(bodies) + 1))
    host.expect("intent", songID=song, accepted=True)
    stranger.say(goodbye())
    stranger.closed()


def test_many_who_come_and_go_one_after_another_are_borne_and_accused_of_nothing(
    stranger: LabTalk, party: Party, car: Box
) -> None:
    for number in range(20):
        talk = begin_again(stranger, car)
        if number % 2:
            talk.send_packet(Handshake(talk.key).write(Packet.XX_1)[: 5 + number])
        talk.channel.close()
    stranger.stranger.disconnect()
    host, guests = party
    # When the following vote is confirmed, the host has handled all these connections.
    vote_undisturbed(host, guests)
    # The kernel reports no MTU for a closed channel. The host must not report it as a small channel.
    assert not [line.text for line in host.lines if "smallChannel" in line.text]


def test_a_crowd_that_only_blocks_the_door_does_not_keep_guests_out_for_long(
    stranger: LabTalk, party: Party, car: Box, family: Box
) -> None:
    host, guests = party
    crowd = [stranger, *(begin_again(stranger, car) for _ in range(HALF_OPEN + 4))]
    with pytest.raises(ClearlyRefused) as refused:
        crowd[-1].greet()
    assert refused.value.reason == ClearReason.BUSY
    vote_undisturbed(host, guests)
    newcomer = family.roadmesh("guest", "Cy", adapter="hci2")
    await_joined(newcomer, timeout=HANDSHAKE_TIMEOUT + 10)
    newcomer.say("quit")
    newcomer.wait()
    guests[0].expect("snapshot", shows_peers("Ana", "Bob"))


def test_whoever_tears_his_link_down_in_the_middle_of_a_word_is_forgotten(stranger: LabTalk, party: Party) -> None:
    host, guests = party
    stranger.enter("Eve")
    host.expect("snapshot", shows_peers("Ana", "Bob", "Eve"))
    stranger.channel.begin_sdu(1000, bytes(100))
    stranger.stranger.disconnect()
    assert host.expect("peerDisconnected")["reason"] == "linkLost"
    for one in guests:
        one.expect("snapshot", shows_peers("Ana", "Bob"))


def test_devices_that_only_connect_do_not_keep_guests_out(
    air_of_file: Lab, party: Party, car: Box, family: Box
) -> None:
    idlers = [air_of_file.stranger(next(names)) for _ in range(EMPTY_LINKS + 2)]
    started = time.monotonic()
    for idler in idlers:
        idler.link(idler.find(service_uuid(), address=car.hci(0).address))
    # Beyond three idle links, the oldest are closed. The last three time out. The host repeats the requests that
    # bluetoothd refuses.
    for idler in idlers[:2]:
        idler.expect_disconnected(timeout=EMPTY_LINK / 2)
    newcomer = family.roadmesh("guest", "Cy", adapter="hci2")
    await_joined(newcomer)
    newcomer.say("quit")
    newcomer.wait()
    for idler in idlers[2:]:
        idler.expect_disconnected(timeout=EMPTY_LINK + 10)
    assert time.monotonic() - started > EMPTY_LINK - 1


def test_after_all_that_a_new_guest_joins_as_ever(air_of_file: Lab, party: Party, family: Box) -> None:
    host, guests = party
    newcomer = family.roadmesh("guest", "Cy", adapter="hci2")
    await_joined(newcomer)
    for one in (host, *guests):
        one.expect("snapshot", shows_peers("Ana", "Bob", "Cy"))
    assert cast(newcomer, next(songs), seen_by=[host, newcomer, *guests]) < UNDISTURBED


def memory(program: Program) -> int:
    """A program's resident memory, in kilobytes."""
    return int(program.box.run(f"grep VmRSS /proc/{program.pid}/status").split()[1])
