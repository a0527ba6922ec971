# SPDX-License-Identifier: Apache-2.0
"""A stranger dials the host and misbehaves. Its link ends, and the linked guest must not notice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import monotonic

import pytest
from roadmesh_peer import democracy_dj
from roadmesh_peer.circuit_frames import CircuitOpen, circuit_close, circuit_credit, circuit_data
from roadmesh_peer.guest import Talk
from roadmesh_peer.noise_link import ClearlyRefused, ClearReason, Handshake, Packet
from roadmesh_peer.virtual_air import ChannelClosed
from roadmesh_peer.wire import (
    LARGEST_MESSAGE,
    LARGEST_SDU,
    LARGEST_UNIT,
    MAJOR_VERSION,
    TAG_BYTES,
    Fragment,
    Frame,
    Hello,
    Kind,
    Reader,
    Unit,
    ack,
    app_start,
    fragments,
    goodbye,
    identifier,
    message,
    ping,
    pong,
    refusal,
    self_info,
)
from roadmesh_program.program import Program

HALF_OPEN, HALF_OPEN_SECONDS = 8, 5.0

Call = Callable[..., Talk]

EVE = Hello(1, "Eve")


@pytest.fixture(autouse=True)
def undisturbed(bob: Program) -> Iterator[None]:
    """A guest that stays linked. Its vote counts afterwards."""
    yield
    bob.say("vote n20")
    bob.expect("vote", songID="n20", state="confirmed")
    assert not bob.seen("peerDisconnected")


@dataclass
class Eve:
    """A stranger that has joined."""

    talk: Talk
    host: Program

    def is_shown_the_door(self) -> None:
        self.talk.closed()
        assert self.host.expect("peerDisconnected")["peer"]["name"] == "Eve"


@pytest.fixture
def eve(call: Call, host: Program, bob: Program) -> Eve:
    talk = call()
    talk.join(lambda _: EVE)
    talk.say(ping(1))
    host.expect("peerConnected")
    return Eve(talk, host)


# Replays


@pytest.mark.long
def test_a_recorded_hello_of_a_known_guest_connects_nobody(call: Call, host: Program, host_key: bytes) -> None:
    real = call()
    real.recognise(host_key, bytes(app_start(EVE)))
    real.hear_of(Kind.SELF_INFO)
    real.say(ping(1))
    host.expect("peerConnected")
    hello = real.packets[0]
    replayed = call()
    replayed.send_packet(hello)
    assert replayed.receive_packet()[0] == Packet.IK_2, "it is answered, and that is all"
    # The live link continues, and no peer is left after its end.
    real.say(message(Unit(democracy_dj.vote("n9"), 1)))
    host.expect("intent", songID="n9", accepted=True)
    real.say(goodbye())
    assert host.expect("peerDisconnected")["reason"] == "goodbye"
    replayed.closed()
    assert len(host.seen("peerConnected")) == 2, "Bob, and Eve once"


def test_a_record_that_is_replayed_ends_the_link(eve: Eve) -> None:
    assert eve.talk.records
    record = eve.talk.records.seal(bytes(message(Unit(democracy_dj.vote("n9"), 1))))
    eve.talk.channel.send(record)
    eve.talk.channel.send(record)
    eve.is_shown_the_door()
    assert len(eve.host.seen("intent", songID="n9")) <= 1


def test_a_record_that_is_left_out_ends_the_link(eve: Eve) -> None:
    assert eve.talk.records
    eve.talk.records.seal(bytes(ping(2)))
    eve.talk.say(ping(3))
    eve.is_shown_the_door()


# Invalid seals


@pytest.mark.sample(1)
@pytest.mark.parametrize("flipped", [0, 10, -1], ids=["type", "vote", "tag"])
def test_a_record_that_was_tampered_with_ends_the_link(flipped: int, eve: Eve) -> None:
    assert eve.talk.records
    record = bytearray(eve.talk.records.seal(bytes(message(Unit(democracy_dj.vote("n9"), 1)))))
    record[flipped] ^= 1
    eve.talk.channel.send(bytes(record))
    eve.is_shown_the_door()
    assert not eve.host.seen("intent", songID="n9")


def test_a_frame_in_the_clear_ends_a_sealed_link(eve: Eve) -> None:
    eve.talk.channel.send(bytes(message(Unit(democracy_dj.vote("n9"), 1))))
    eve.is_shown_the_door()
    assert not eve.host.seen("intent", songID="n9")


def test_a_goodbye_in_the_clear_is_not_believed(eve: Eve) -> None:
    eve.talk.channel.send(bytes(goodbye()))
    eve.talk.closed()
    assert eve.host.expect("peerDisconnected")["reason"] == "linkLost"


# Invalid frames

BROKEN_FRAMES = {
    "a frame that is cut off": b"\x0a\x20\x00",
    "a length that does not end": b"\x07" + b"\xff" * 12,
    "a ping without a number": bytes(Frame(Kind.PING)),
    "a message without a number": bytes(Frame(Kind.MESSAGE, b"\x00")),
    "a message numbered 0": bytes(message(Unit(b"", 0))),
    "a circuit to a host that is cut off": bytes(Frame(Kind.CIRCUIT_OPEN, b"\x02" + bytes(15))),
    "a credit without a number": bytes(Frame(Kind.CIRCUIT_CREDIT, b"\x02")),
    "intervals of which one is missing": bytes(Frame(Kind.AIR, b"\x01\x01\x0b")),
    "a part about the air that comes twice": bytes(Frame(Kind.AIR, b"\x09\x00\x09\x00")),
    "another appStart": bytes(app_start(EVE)),
    "a selfInfo": bytes(self_info(EVE)),
    "a refusal": bytes(refusal(1)),
    "a proof of nothing": bytes(Frame(Kind.PROOF, b"\x01\x01")),
    "a challenge": bytes(Frame(Kind.CHALLENGE, b"\x01\x01")),
    "a guest that wants room made": bytes(Frame(Kind.MAKE_ROOM)),
    "a message while one before it is missing": bytes(message(Unit(democracy_dj.vote("n9"), 2))),
    "an ack of what was never sent": bytes(ack(1)),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("said", BROKEN_FRAMES.values(), ids=BROKEN_FRAMES.keys())
def test_whoever_speaks_in_broken_words_is_hung_up_on(said: bytes, eve: Eve) -> None:
    eve.talk.say(said)
    eve.is_shown_the_door()
    assert not eve.host.seen("intent", songID="n9")


def first(total: int, data: bytes, latest: bool = False) -> Frame:
    return Fragment(latest, total, 0, data).frame()


def further(offset: int, data: bytes, latest: bool = False) -> Frame:
    return Fragment(latest, None, offset, data).frame()


BAD_FRAGMENTS = {
    "of a unit that is too long": [first(LARGEST_UNIT + 1, bytes(100))],
    "of nothing": [first(0, b"a")],
    "without data": [first(10, b"")],
    "that overlaps": [first(100, bytes(10)), further(9, bytes(10))],
    "that leaves a gap": [first(100, bytes(10)), further(11, bytes(10))],
    "that goes beyond the total": [first(20, bytes(10)), further(10, bytes(11))],
    "that is more than all of it": [first(5, bytes(6))],
    "that begins anew": [first(100, bytes(10)), first(100, bytes(10))],
    "of the other lane": [first(100, bytes(10)), further(10, bytes(10), latest=True)],
    "that nothing came before": [further(10, bytes(10))],
    "of a unit of the other class": [first(9, bytes(Unit(b"vote...", 1, latest=True)))],
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("said", BAD_FRAGMENTS.values(), ids=BAD_FRAGMENTS.keys())
def test_a_bad_fragment_ends_the_link(said: list[Frame], eve: Eve) -> None:
    eve.talk.say(*said)
    eve.is_shown_the_door()


def test_a_message_that_is_too_long_ends_the_link(eve: Eve) -> None:
    # The unit is within the limit of units, because its number is short.
    for piece in fragments(Unit(bytes(LARGEST_MESSAGE + 1), 1)):
        eve.talk.say(piece)
    eve.is_shown_the_door()


def test_the_longest_message_is_taken(eve: Eve) -> None:
    for piece in fragments(Unit(bytes(LARGEST_MESSAGE), 1)):
        eve.talk.say(piece)
    assert Reader(eve.talk.hear_of(Kind.ACK)).varint() == 1


def test_who_asks_for_a_circuit_is_told_that_the_host_relays_nothing(eve: Eve) -> None:
    other = identifier(bytes(32))
    eve.talk.say(CircuitOpen(2, other, 3, 512).frame(), CircuitOpen(4, other, 3, 512).frame())
    assert [eve.talk.hear_of(Kind.CIRCUIT_CLOSE) for _ in range(2)] == [b"\x02\x01", b"\x04\x01"]


def test_an_sdu_that_is_too_long_ends_the_link(eve: Eve) -> None:
    eve.talk.channel.send(bytes(LARGEST_SDU + 1))
    eve.is_shown_the_door()


def test_an_sdu_that_is_too_long_is_not_cut_to_the_record_that_it_begins_with(eve: Eve) -> None:
    vote = bytes(message(Unit(democracy_dj.vote("n9"), 1)))
    # An unknown frame fills the record to the last byte. Its type and length take three bytes.
    filling = Frame(0x55, bytes(LARGEST_SDU - TAG_BYTES - len(vote) - 3))
    assert eve.talk.records
    record = eve.talk.records.seal(vote + bytes(filling))
    assert len(record) == LARGEST_SDU
    eve.talk.channel.send(record + b"\x00")
    eve.is_shown_the_door()
    assert not eve.host.seen("intent", songID="n9")


def test_an_empty_packet_is_the_end_of_the_channel(eve: Eve) -> None:
    eve.talk.channel.send(b"")
    eve.is_shown_the_door()
    assert eve.host.seen("peerDisconnected")[-1]["reason"] == "linkLost"


def test_numbers_in_longer_forms_are_read_and_endless_ones_are_not(eve: Eve) -> None:
    eve.talk.say(Frame(Kind.PING, b"\xe3\x80\x00"))
    while Reader(eve.talk.hear_of(Kind.PONG)).varint() != 0x63:
        pass
    eve.talk.say(Frame(Kind.PING, b"\xff" * 9 + b"\x01"))
    while Reader(eve.talk.hear_of(Kind.PONG)).varint() != (1 << 64) - 1:
        pass
    eve.talk.say(Frame(Kind.PING, b"\xff" * 9 + b"\x02"))
    eve.is_shown_the_door()


def test_what_does_not_belong_in_a_handshake_is_not_looked_at(call: Call, host: Program) -> None:
    talk = call()
    handshake = Handshake(talk.key)
    talk.send_packet(handshake.write(Packet.XX_1, b"not a frame"))
    handshake.read(Packet.XX_2, talk.receive_packet())
    vote = message(Unit(democracy_dj.vote("n9"), 1))
    talk.introduce(handshake, bytes(app_start(EVE)) + bytes(vote) + b"\x0a\x7f and no frame")
    talk.hear_of(Kind.SELF_INFO)
    # The number is still free, because the message was not accepted.
    talk.say(message(Unit(democracy_dj.vote("n8"), 1)))
    host.expect("intent", songID="n8", accepted=True)
    assert not host.seen("intent", songID="n9")


@pytest.mark.sample(1)
@pytest.mark.parametrize("song", ["n" * 65, "", "n9\x00", "N9"])
def test_a_vote_for_no_song_of_the_library_is_dropped_or_rejected(song: str, eve: Eve) -> None:
    eve.talk.say(message(Unit(democracy_dj.vote(song), 1)), message(Unit(democracy_dj.vote("n8"), 2)))
    eve.host.expect("intent", songID="n8", accepted=True)
    assert not eve.host.seen("intent", songID=song, accepted=True)


def test_a_vote_in_tiny_pieces_with_other_words_in_between_counts(eve: Eve) -> None:
    unit = Unit(democracy_dj.vote("n9"), 1)
    for number, piece in enumerate(fragments(unit, room=6)):
        eve.talk.say(piece, ping(number + 2), Frame(0x55, b"?"))
    assert eve.host.expect("intent", songID="n9", accepted=True)["peer"]["name"] == "Eve"


def test_what_is_no_misbehaviour_is_passed_over(eve: Eve) -> None:
    eve.talk.say(
        pong(99),
        Frame(0x66, bytes(300)),
        circuit_data(2, b"to no circuit"),
        circuit_credit(2, 1 << 40),
        circuit_close(2, 99),
        message(Unit(b"\xff\xff no Protocol Buffers", 1)),
        message(Unit(b"", 2)),
        Frame(Kind.MESSAGE, b"\xfe\x03" + democracy_dj.vote("n8")),
        ack(0),
    )
    eve.talk.say()
    assert eve.host.expect("intent", songID="n8", accepted=True)["peer"]["name"] == "Eve"
    assert not eve.host.seen("intent", songID="n9")


# Strangers that do not join


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "said",
    [
        b"\x00",
        bytes((Packet.XX_2,)) + bytes(96),
        bytes((Packet.XX_3,)) + bytes(64),
        bytes((Packet.IK_2,)) + bytes(48),
        bytes((Packet.CLEAR_REFUSAL, MAJOR_VERSION, ClearReason.BUSY)),
        bytes((Packet.XX_1, MAJOR_VERSION)) + bytes(31),
        bytes((Packet.XX_1,)),
        b"\xff" * 2000,
        b"\xff" * (LARGEST_SDU + 1),
        b"",
    ],
    ids=lambda said: f"{said[:2].hex()}, {len(said)} bytes",
)
def test_whoever_begins_with_the_wrong_packet_is_hung_up_on(said: bytes, call: Call) -> None:
    talk = call()
    talk.channel.send(said)
    with pytest.raises(ChannelClosed):
        talk.receive_packet()


INTRODUCTION = bytes(EVE)

BAD_PAYLOADS = {
    "nothing": b"",
    "another frame": bytes(ping(1)),
    "an unknown frame first": bytes(Frame(0x7F)) + bytes(app_start(EVE)),
    "a name that is cut off": bytes(Frame(Kind.APP_START, INTRODUCTION[:-1])),
    "a name that comes twice": bytes(Frame(Kind.APP_START, INTRODUCTION + INTRODUCTION[-5:])),
    "no conversation": bytes(Frame(Kind.APP_START, INTRODUCTION[-5:])),
    "a name that is no text": bytes(Frame(Kind.APP_START, INTRODUCTION[:-3] + b"\xff\xfe\xfd")),
    "a name of 249 bytes": bytes(app_start(Hello(1, "e" * 249))),
    "a numbering from 0": bytes(app_start(Hello(1, "Eve", first=0))),
    "a numbering beyond all numbers": bytes(app_start(Hello(1, "Eve", first=(1 << 62) + 2))),
    "an epoch of 0": bytes(app_start(Hello(0, "Eve"))),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("payload", BAD_PAYLOADS.values(), ids=BAD_PAYLOADS.keys())
def test_whoever_introduces_himself_in_broken_words_is_hung_up_on(
    payload: bytes, call: Call, host_key: bytes, host: Program
) -> None:
    stranger = call()
    stranger.introduce(stranger.greet(), payload)
    with pytest.raises(ChannelClosed):
        stranger.hear()
    known = call()
    with pytest.raises(ChannelClosed):
        known.recognise(host_key, payload)
    assert len(host.seen("peerConnected")) == 1


def test_a_key_of_low_order_gets_nobody_in(call: Call) -> None:
    talk = call()
    talk.channel.send(bytes((Packet.XX_1, MAJOR_VERSION)) + bytes(32))
    with pytest.raises(ChannelClosed):
        talk.receive_packet()


@pytest.mark.long
def test_the_ninth_at_the_door_is_told_that_the_host_is_busy_and_later_there_is_room(call: Call) -> None:
    began = monotonic()
    # Some strangers send nothing, and some stop in the middle of a handshake.
    at_the_door = [call() for _ in range(HALF_OPEN)]
    for talk in at_the_door[::2]:
        talk.greet()
    ninth = call()
    with pytest.raises(ClearlyRefused) as refused:
        ninth.greet()
    assert (refused.value.version, refused.value.reason) == (MAJOR_VERSION, ClearReason.BUSY)
    assert monotonic() - began < HALF_OPEN_SECONDS - 1, "this machine is too slow to tell"
    ninth.closed()
    for talk in at_the_door:
        talk.closed(HALF_OPEN_SECONDS + 2)
    assert HALF_OPEN_SECONDS - 0.5 < monotonic() - began < HALF_OPEN_SECONDS + 2
    newcomer = call()
    newcomer.join(lambda _: EVE)


def test_a_place_at_the_door_is_free_again_when_somebody_goes_or_comes_in(call: Call) -> None:
    at_the_door = [call() for _ in range(HALF_OPEN)]
    at_the_door[0].join(lambda _: EVE)
    at_the_door[0].say(ping(1))
    newcomer = call()
    newcomer.join(lambda _: Hello(2, "Cy"))


@pytest.mark.long
def test_who_is_merely_answered_is_sent_away_after_five_seconds(call: Call, host_key: bytes, host: Program) -> None:
    began = monotonic()
    silent = call()
    silent.recognise(host_key, bytes(app_start(EVE)))
    silent.closed(HALF_OPEN_SECONDS + 2)
    assert monotonic() - began > HALF_OPEN_SECONDS - 0.5
    assert len(host.seen("peerConnected")) == 1


def test_many_who_knock_and_run_are_told_that_the_host_is_busy_and_guests_get_in_soon(call: Call) -> None:
    # The host answers twenty a second, and 32 at once. A hundred within two seconds is too many.
    answers = [knock(call()) for _ in range(100)]
    assert answers[0] is None
    assert ClearReason.BUSY in answers
    deadline = monotonic() + HALF_OPEN_SECONDS
    while True:
        try:
            call().join(lambda _: EVE)
            return
        except ClearlyRefused as refused:
            assert refused.reason == ClearReason.BUSY and monotonic() < deadline


def knock(talk: Talk) -> int | None:
    """Starts a handshake and leaves. Returns the reason of the host's clear refusal, if there is one."""
    try:
        talk.greet()
    except ClearlyRefused as refused:
        return refused.reason
    except ChannelClosed:
        return None
    talk.channel.close()
    return None
