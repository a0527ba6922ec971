# SPDX-License-Identifier: Apache-2.0
"""The real guest with a host that was written from docs/protocol.md alone, correct or faulty."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from roadmesh_peer import democracy_dj
from roadmesh_peer import protobuf as pb
from roadmesh_peer.democracy_dj import Rejection, Why
from roadmesh_peer.document import STATE
from roadmesh_peer.hosting import Caller, HostTalk, Updates, clear_refusal
from roadmesh_peer.noise_link import ClearReason, Key, Packet
from roadmesh_peer.virtual_air import ChannelClosed, HostRadio
from roadmesh_peer.wire import (
    BONDED_ONLY,
    CIRCUITS_ONLY,
    LARGEST_SDU,
    PROOF_WANTED,
    Farewell,
    Frame,
    Hello,
    Kind,
    Reason,
    Unit,
    ack,
    goodbye,
    identifier,
    message,
    part,
    ping,
    refusal,
    self_info,
)
from roadmesh_program.fixtures import Start
from roadmesh_program.program import Program

EPOCH = 0xCA4

NAME = "Dad's Car"

# Seconds after which a guest asks a full host again. It never asks before half of them.
FIRST_HOLD = 5.0


class Car:
    """A host that a test controls."""

    def __init__(self, air: Path) -> None:
        self.key = Key()
        self.radio = HostRadio(air, "car", NAME)

    def called(self, key: Key | None = None) -> HostTalk:
        """Accepts a dial. The handshake is answered with `key`, and the advertisement stays the same."""
        return HostTalk(self.radio.accept(self.key.identifier), key or self.key)

    def hello(self, **standing: Any) -> Hello:
        return Hello(EPOCH, NAME, **standing)

    def let_in(self, **standing: int) -> tuple[HostTalk, Caller]:
        talk = self.called()
        return talk, talk.let_in(self.hello(**standing))


@pytest.fixture
def car(air: Path) -> Iterator[Car]:
    made = Car(air)
    yield made
    made.radio.close()


@pytest.fixture
def bob(start: Start, car: Car) -> Program:
    """The real program, not yet linked."""
    return start("guest", "Bob", "bob")


In = tuple[HostTalk, Caller, Updates]


@pytest.fixture
def bob_in(bob: Program, car: Car) -> In:
    """Bob has joined and sees a state."""
    talk, caller = car.let_in()
    updates = Updates(talk)
    updates.send(democracy_dj.snapshot(STATE))
    bob.expect("connection", state="connected")
    bob.expect("snapshot", revision=STATE.revision)
    return talk, caller, updates


def test_the_guest_joins_as_a_stranger_and_pings_at_once(bob: Program, car: Car) -> None:
    talk, caller = car.let_in()
    assert not caller.known and caller.hello.name == "Bob"
    assert identifier(caller.key).hex() == bob.seen("ready")[0]["peer"]["id"]
    assert caller.hello.first == 1 and caller.hello.their_epoch == 0
    assert talk.hear() == ping(1)
    assert bob.expect("peerConnected")["peer"] == {"id": car.key.identifier.hex(), "name": NAME}


def test_what_the_host_shows_the_guest_shows(bob: Program, bob_in: In) -> None:
    shown = bob.seen("snapshot")[-1]
    assert shown["nowPlaying"]["title"] == "Open Road" and shown["nowPlaying"]["duration"] == 214
    assert [(item["id"], item["voters"]) for item in shown["queue"]] == [("s6", [])]
    assert [one["name"] for one in shown["connectedPeers"]] == ["Ana"]


def test_a_vote_is_confirmed_by_a_change_and_not_by_its_ack(bob: Program, bob_in: In) -> None:
    talk, caller, updates = bob_in
    bob.say("vote s6")
    unit = talk.hear_message()
    assert unit == Unit(democracy_dj.vote("s6"), 1)
    talk.say(ack(1))
    # A state that does not show the vote changes nothing: the vote is still pending.
    updates.send(pb.message(3, pb.fixed32(1, STATE.epoch) + pb.number(2, 3) + pb.number(4, 0, always=True)))
    bob.expect("snapshot", revision=4, isPlaying=False)
    assert not bob.seen("vote", state="confirmed")
    state = dataclasses.replace(STATE, revision=4)
    updates.send(democracy_dj.new_voter(state, 0, identifier(caller.key)))
    bob.expect("vote", songID="s6", state="confirmed")


def test_a_rejection_reaches_the_person_and_is_acknowledged(bob: Program, bob_in: In) -> None:
    talk, _, _ = bob_in
    bob.say("vote s9")
    talk.hear_message()
    talk.say(ack(1), message(Unit(bytes(Rejection(Why.NOT_QUEUED, vote="s9")), 1)))
    assert talk.hear_any(Kind.ACK).number() == 1
    assert bob.expect("vote", songID="s9", state="rejected")["reason"] == "notQueued"


def test_a_change_that_does_not_fit_is_answered_with_one_request(bob: Program, bob_in: In) -> None:
    talk, caller, updates = bob_in
    ahead = dataclasses.replace(STATE, revision=9)
    updates.send(democracy_dj.new_voter(ahead, 0, identifier(caller.key)))
    assert talk.hear_message(latest=True).body == democracy_dj.snapshot_request()
    # Further changes are ignored until the snapshot arrives.
    updates.send(democracy_dj.new_voter(dataclasses.replace(STATE, revision=15), 0, identifier(caller.key)))
    updates.send(democracy_dj.snapshot(dataclasses.replace(STATE, revision=11, is_playing=False)))
    assert bob.expect("snapshot")["revision"] == 11
    # That change does not match this snapshot either. Only now the guest requests another snapshot.
    assert talk.hear_message(latest=True).body == democracy_dj.snapshot_request()


def test_a_change_that_was_only_late_is_shown_and_what_was_asked_for_is_waited_for_no_longer(
    bob: Program, bob_in: In
) -> None:
    talk, caller, updates = bob_in
    ahead = dataclasses.replace(STATE, revision=9)
    updates.send(democracy_dj.new_voter(ahead, 0, identifier(caller.key)))
    assert talk.hear_message(latest=True).body == democracy_dj.snapshot_request()
    updates.send(democracy_dj.new_voter(STATE, 0, identifier(caller.key)))
    shown = bob.expect("snapshot")
    assert shown["revision"] == STATE.revision + 1 and shown["queue"][0]["votes"] == 1
    # For another change that does not match, the guest asks.
    updates.send(democracy_dj.new_voter(ahead, 0, identifier(caller.key)))
    assert talk.hear_message(latest=True).body == democracy_dj.snapshot_request()


def test_a_known_host_is_joined_in_one_round_trip_and_what_waits_comes_with_the_first_record(
    bob: Program, bob_in: In, car: Car
) -> None:
    talk, caller, _ = bob_in
    bob.say("vote s6")
    assert talk.hear_message().number == 1
    talk.channel.close()
    bob.expect("connection", state="reconnecting")
    again, back = car.let_in(their_epoch=caller.hello.epoch)
    assert back.known and back.key == caller.key
    standing = back.hello
    assert (standing.epoch, standing.first) == (caller.hello.epoch, 1)
    assert (standing.their_epoch, standing.delivered) == (EPOCH, 0)
    # The message was not acknowledged, so it comes again with its number.
    assert again.hear_message() == Unit(democracy_dj.vote("s6"), 1)


def test_what_the_hosts_hello_acknowledges_does_not_come_again(bob: Program, bob_in: In, car: Car) -> None:
    talk, caller, _ = bob_in
    bob.say("vote s6")
    assert talk.hear_message().number == 1
    talk.channel.close()
    again, _ = car.let_in(their_epoch=caller.hello.epoch, delivered=1)
    bob.say("vote s7")
    assert again.hear_message() == Unit(democracy_dj.vote("s7"), 2)


def test_a_host_with_another_key_than_it_advertises_is_not_told_who_calls(bob: Program, car: Car) -> None:
    talk = car.called(Key())
    with pytest.raises(ChannelClosed):
        talk.meet()
    assert [packet[0] for packet in talk.packets] == [Packet.XX_1, Packet.XX_2]
    assert not bob.seen("peerConnected")


def test_a_host_that_does_not_open_the_guests_hello_is_left(bob: Program, bob_in: In, car: Car) -> None:
    bob_in[0].channel.close()
    impostor = car.called()
    assert impostor.receive_packet()[0] == Packet.IK_1
    impostor.send_packet(clear_refusal(ClearReason.UNKNOWN_KEY))
    impostor.closed()
    # When the host itself is back, the guest is back too.
    _, back = car.let_in()
    assert back.known


@pytest.mark.parametrize("reason", [ClearReason.BUSY, ClearReason.VERSION])
def test_a_clear_refusal_keeps_the_guest_away_for_a_moment_only(reason: ClearReason, bob: Program, car: Car) -> None:
    refusing = car.called()
    assert refusing.receive_packet()[0] == Packet.XX_1
    refusing.send_packet(clear_refusal(reason, version=2 if reason == ClearReason.VERSION else 1))
    refusing.closed()
    car.let_in()
    bob.expect("connection", state="connected")


@pytest.mark.parametrize(
    ("answer", "notice"),
    [
        (refusal(Reason.BANNED), "kicked"),
        (refusal(99), "refused"),
        (Frame(Kind.CHALLENGE, b"\x01what is the PIN?"), "proofRequired"),
    ],
    ids=["banned", "an unknown reason", "an unknown challenge"],
)
@pytest.mark.long
def test_a_refusal_is_told_and_the_guest_stays_away_until_its_person_retries(
    answer: Frame, notice: str, bob: Program, car: Car
) -> None:
    talk = car.called()
    talk.meet()
    talk.answer(answer)
    if answer.kind == Kind.CHALLENGE:
        assert talk.hear() == goodbye()
    else:
        talk.closed()
    assert bob.expect("connection", state="failed")["error"].startswith("refused:")
    bob.expect_seen("notice", code=notice)
    # Longer than the guest waits before it asks a full host again.
    with pytest.raises(TimeoutError):
        car.radio.accept(car.key.identifier, timeout=FIRST_HOLD + 1)
    bob.say("retry")
    car.let_in()
    bob.expect("connection", state="connected")


@pytest.mark.long
def test_a_guest_asks_a_host_without_room_again_by_itself_after_some_seconds(bob: Program, car: Car) -> None:
    talk = car.called()
    talk.meet()
    talk.answer(refusal(Reason.FULL))
    talk.closed()
    assert bob.expect("connection", state="failed")["error"] == "refused: full"
    bob.expect_seen("notice", code="hostFull")
    with pytest.raises(TimeoutError):
        car.radio.accept(car.key.identifier, timeout=FIRST_HOLD / 5)
    talk = HostTalk(car.radio.accept(car.key.identifier, timeout=FIRST_HOLD + 5), car.key)
    talk.let_in(car.hello())
    bob.expect("connection", state="connected")
    bob.expect_seen("noticeCleared", code="hostFull")


@pytest.mark.parametrize(("critical", "notice"), [(PROOF_WANTED, "proofRequired"), (8, "versionMismatch")])
def test_a_host_that_wants_something_that_the_guest_does_not_have_is_not_dialled(
    critical: int, notice: str, bob: Program, car: Car
) -> None:
    with pytest.raises(TimeoutError):
        car.radio.accept(car.key.identifier, timeout=2.0, critical=critical)
    assert bob.expect("notice")["code"] == notice


def test_a_relay_that_does_not_say_whose_is_not_dialled_and_is_no_host(bob: Program, car: Car) -> None:
    with pytest.raises(TimeoutError):
        car.radio.accept(car.key.identifier, timeout=2.0, critical=CIRCUITS_ONLY)
    assert not bob.seen("peerDiscovered") and not bob.seen("notice", code="versionMismatch")


def test_flags_that_were_taken_out_of_an_advertisement_show_in_the_hello(bob: Program, car: Car) -> None:
    talk = car.called()
    talk.let_in(dataclasses.replace(car.hello(), critical=BONDED_ONLY))
    talk.closed()
    assert not bob.seen("peerConnected")


def test_an_answer_with_a_part_that_has_to_be_known_is_left(bob: Program, car: Car) -> None:
    talk = car.called()
    talk.let_in(dataclasses.replace(car.hello(), more=part(200, b"")))
    assert talk.hear() == goodbye()
    assert not bob.seen("peerConnected")


def shown_once(bob: Program, car: Car) -> Caller:
    """Bob joins as a stranger, shows the state in the record of the answer, and loses the link."""
    talk = car.called()
    caller = talk.meet()
    talk.say(self_info(car.hello()), message(Unit(democracy_dj.snapshot(STATE), 1, latest=True)))
    bob.expect("snapshot", revision=STATE.revision)
    assert talk.hear() == ping(1)
    talk.channel.close()
    bob.expect("connection", state="reconnecting")
    return caller


def test_the_state_that_comes_with_the_answer_is_shown(bob: Program, car: Car) -> None:
    caller = shown_once(bob, car)
    # Now Bob is known. The state comes in a record after the answer, before Bob has sent one.
    again = car.called()
    assert again.meet().known
    again.answer(self_info(car.hello(their_epoch=caller.hello.epoch)))
    later = dataclasses.replace(STATE, revision=8)
    again.say(message(Unit(democracy_dj.snapshot(later), 1, latest=True)))
    bob.expect("snapshot", revision=8)
    assert again.hear() == ping(1)


@pytest.mark.parametrize("has_changed", [True, False])
def test_who_comes_back_names_the_state_that_it_has_and_shows_what_follows_on_it(
    bob: Program, car: Car, has_changed: bool
) -> None:
    caller = shown_once(bob, car)
    assert not caller.hello.state
    again = car.called()
    met = again.meet()
    assert met.known and met.hello.state == democracy_dj.state_name(STATE.epoch, STATE.revision)
    again.answer(self_info(car.hello(their_epoch=caller.hello.epoch)))
    change = democracy_dj.new_voter(STATE, 0, identifier(caller.key))
    news = change if has_changed else democracy_dj.heartbeat(STATE.epoch, STATE.revision)
    again.say(message(Unit(news, 1, latest=True)))
    shown = bob.expect("snapshot", revision=STATE.revision + has_changed)
    assert shown["queue"][0]["votes"] == int(has_changed)
    assert again.hear() == ping(1)


Spoil = Callable[[HostTalk], object]

SPOILED: dict[str, Spoil] = {
    "a record that was tampered with": lambda talk: talk.channel.send(tampered(talk)),
    "a goodbye in the clear": lambda talk: talk.channel.send(bytes(goodbye())),
    "an appStart": lambda talk: talk.say(Frame(Kind.APP_START, bytes(Hello(1, "x")))),
    "another selfInfo": lambda talk: talk.say(Frame(Kind.SELF_INFO, bytes(Hello(1, "x")))),
    "a message after a missing one": lambda talk: talk.say(message(Unit(b"", 2))),
    "an ack of what was never sent": lambda talk: talk.say(ack(1)),
    "a challenge in the middle": lambda talk: talk.say(Frame(Kind.CHALLENGE, b"\x01\x01")),
    "an empty packet": lambda talk: talk.channel.send(b""),
    "a packet that is too long": lambda talk: talk.channel.send(bytes(LARGEST_SDU + 1)),
    "silence": lambda talk: None,
}


def tampered(talk: HostTalk) -> bytes:
    assert talk.records
    record = bytearray(talk.records.seal(bytes(goodbye())))
    record[0] ^= 1
    return bytes(record)


@pytest.mark.sample(4)
@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED.keys())
def test_a_link_that_goes_wrong_is_left_and_the_guest_comes_back(
    spoil: Spoil, bob: Program, bob_in: In, car: Car
) -> None:
    talk, _, _ = bob_in
    spoil(talk)
    talk.closed()
    assert bob.expect("peerDisconnected")["reason"] == "linkLost"
    _, back = car.let_in()
    assert back.known


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("said", "notice", "state"),
    [
        (goodbye(), "hostLeft", "disconnected"),
        (goodbye(Farewell.UNSPECIFIED), "hostLeft", "disconnected"),
        (goodbye(Farewell.STOPPED), "hostStopped", "reconnecting"),
        (goodbye(Farewell.ENDED), "hostEnded", "disconnected"),
        (goodbye(99), "hostLeft", "disconnected"),
        (Frame(Kind.GOODBYE, b"\x01 and more"), "hostStopped", "reconnecting"),
    ],
    ids=lambda value: bytes(value).hex() if isinstance(value, Frame) else value,
)
def test_a_guest_tells_what_becomes_of_the_session_of_a_host_that_says_goodbye(
    said: Frame, notice: str, state: str, bob: Program, bob_in: In
) -> None:
    talk, _, _ = bob_in
    talk.say(said)
    talk.closed()
    assert bob.expect("peerDisconnected")["reason"] == "goodbye"
    assert bob.expect("notice")["code"] == notice
    assert bob.expect("connection")["state"] == state


def test_a_guest_comes_back_to_a_host_that_was_stopped(bob: Program, bob_in: In, car: Car) -> None:
    talk, _, _ = bob_in
    talk.say(goodbye(Farewell.STOPPED))
    talk.closed()
    _, back = car.let_in()
    assert back.known
    bob.expect("noticeCleared", code="hostStopped")


def test_what_the_guest_cannot_read_it_passes_over(bob: Program, bob_in: In) -> None:
    talk, _, updates = bob_in
    for body in (b"", b"\xff", pb.message(9, b"of the future"), democracy_dj.vote("s6"), pb.message(2, b"\x2a\x01")):
        updates.send(body)
        talk.say(Frame(0x70, body))
    updates.send(democracy_dj.snapshot(dataclasses.replace(STATE, revision=5)))
    bob.expect("snapshot", revision=5)


def processor_time(pid: int) -> float:
    """A process's processor time, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_host_that_talks_and_does_not_answer_is_left_at_once_and_costs_nothing(
    bob: Program, car: Car, measured: list[str]
) -> None:
    talk = car.called()
    talk.meet()
    before, began = processor_time(bob.pid), monotonic()
    with contextlib.suppress(ChannelClosed):
        for _ in range(17):
            talk.say(*[Frame(200)] * 60)
    talk.closed()
    took, computed = monotonic() - began, processor_time(bob.pid) - before
    measured.append(
        f"a host that talks before it answers: left after {took * 1e3:.0f} ms, {computed:.2f} s of computing"
    )
    assert took < 1
    assert computed < 0.5
