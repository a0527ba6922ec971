"""Phones join a host, with streams and GATT or with only GATT. None of them runs our code."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from helpers import (
    START,
    Figures,
    await_joined,
    cast,
    identity,
    service_uuid,
    shows_peers,
    shows_vote,
    song_list,
)
from phone import NO_PLACE, PLACE, TO_GUEST, TO_HOST
from phones import ATT_MTU, PAYLOAD, PSM, PhoneRadio, Way, phone
from roadmesh_peer.chunks import Chunks
from roadmesh_peer.guest import Guest
from runner import Box, Lab, Program, Stranger

PHONE = Path(__file__).parent.parent / "Interop" / "phone.py"

WAYS: list[Way] = ["stream", "chunks"]

# The interval of a phone with an app in the foreground (Apple's guidelines: multiples of 15 ms), and that of a tuned
# node.
PHONE_INTERVAL, TUNED_INTERVAL = 30.0, 8.75

# Seconds from a vote until all screens show it.
CHUNKS_LIMIT = 0.15
STREAM_FACTOR = 1.2
VOTES = 21

SONGS = 5 * VOTES

PLACES = 4

names = (f"phone{number}" for number in itertools.count(1))


@pytest.fixture
def make_phone(air_of_file: Lab, car: Box) -> Iterator[Callable[..., Guest]]:
    """A phone that is not linked yet."""
    made: list[Stranger] = []

    def make(name: str, way: Way, interval: float | None = PHONE_INTERVAL) -> Guest:
        made.append(air_of_file.stranger(next(names)))
        return phone(name, PhoneRadio(made[-1], car, way, interval))

    yield make
    for stranger in made:
        stranger.disconnect()


@pytest.fixture
def host(road: Lab, car: Box) -> Iterator[Program]:
    """A host that ends regularly: if a host is killed while it renews its advertisement, bluetoothd keeps that
    advertisement."""
    program = car.roadmesh("host", "Dad's Car", "--verbose", "--library", str(song_list(road, SONGS)))
    program.expect("ready", timeout=START)
    yield program
    if program.running:
        program.say("quit")
        program.wait()


def radio_of(guest: Guest) -> PhoneRadio:
    assert isinstance(guest.radio, PhoneRadio)
    return guest.radio


def queue(guest: Guest) -> list[str]:
    """The songs that a guest sees in the queue."""
    guest.until(lambda: guest.view.state is not None, "the state")
    assert guest.view.state
    return [item.song.id for item in guest.view.state.queue]


def cast_by_phone(guest: Guest, song: str, host: Program) -> float:
    """Votes, and waits until the host and the phone show it. Returns the seconds that the slower took."""
    begun = time.monotonic()
    guest.vote(song)
    guest.until_shown(song)
    shown = time.monotonic()
    host.expect_seen("snapshot", shows_vote(song, guest.key.identifier.hex()))
    seen = host.seen("snapshot", shows_vote(song, guest.key.identifier.hex()))[0]
    return max(shown, seen["_received"]) - begun


def test_chunks_that_are_written_at_once_arrive_undamaged(
    road: Lab, car: Box, host: Program, make_phone: Callable[..., Guest]
) -> None:
    # The handshake's first message takes several of these, and bluetoothd reads the next before it has passed on the
    # first.
    for name in ("Ana", "Bob", "Cy"):
        guest = make_phone(name, "chunks")
        radio_of(guest).room = 20
        guest.join()
        guest.leave()


@pytest.mark.parametrize("way", WAYS)
def test_a_phone_joins_votes_sees_the_queue_is_cut_and_comes_back(
    road: Lab, car: Box, host: Program, make_phone: Callable[..., Guest], figures: Figures, way: Way
) -> None:
    guest = make_phone("Ana", way)
    begun = time.monotonic()
    guest.join()
    assert queue(guest)[:3] == ["n1", "n2", "n3"]
    figures.note(f"a phone ({way}) has joined and sees the queue: {time.monotonic() - begun:.2f} s")
    host.expect("snapshot", shows_peers("Ana"))
    cast_by_phone(guest, "n5", host)
    assert queue(guest)[0] == "n5"
    road.air.cut(car, radio_of(guest).stranger)
    guest.until_lost()
    host.expect("peerDisconnected", reason="linkLost")
    # Cast while the phone is away; it arrives when the phone is back.
    guest.vote("n7")
    road.air.heal(car, radio_of(guest).stranger)
    begun = time.monotonic()
    guest.join()
    guest.until_shown("n7")
    figures.note(f"a phone ({way}) is back, and its vote is seen: {time.monotonic() - begun:.2f} s")
    host.expect("snapshot", shows_vote("n7", guest.key.identifier.hex()))
    guest.leave()
    assert host.expect("peerDisconnected")["reason"] == "goodbye"


def test_a_linux_box_with_bleak_joins_votes_is_cut_and_comes_back(road: Lab, car: Box, host: Program, family: Box) -> None:
    guest = family.spawn([sys.executable, "-u", str(PHONE), "Lin", "--json", "--adapter", "hci0"], name="phone")
    guest.expect("joined", timeout=START)
    host.expect("snapshot", shows_peers("Lin"))
    guest.say("vote n4")
    assert guest.expect("shown", song="n4")["queue"][0] == "n4"
    road.air.cut(car, family)
    guest.expect("lost")
    host.expect("peerDisconnected", reason="linkLost")
    road.air.heal(car, family)
    guest.expect("joined", timeout=START)
    guest.say("vote n6")
    guest.expect("shown", song="n6")
    guest.say("quit")
    assert guest.wait() == 0
    assert host.expect("peerDisconnected")["reason"] == "goodbye"


def test_a_phone_is_as_fast_as_a_linux_guest_and_one_with_gatt_alone_is_fast_enough(
    host: Program, family: Box, make_phone: Callable[..., Guest], figures: Figures
) -> None:
    songs = (f"n{number}" for number in itertools.count(1))

    def measure(what: str, vote: Callable[[str], float]) -> float:
        # The first few votes change the link to its short interval.
        for _ in range(4):
            vote(next(songs))
        return figures.times(f"vote to both screens, {what}", [vote(next(songs)) for _ in range(VOTES)])

    linux = family.roadmesh("guest", "Bob")
    await_joined(linux)
    of_linux = measure("a Linux guest", lambda song: cast(linux, song, seen_by=[host, linux]))
    linux.say("quit")
    linux.wait()
    times: dict[tuple[Way, float], float] = {}
    for way, interval in (("stream", TUNED_INTERVAL), ("stream", PHONE_INTERVAL), ("chunks", PHONE_INTERVAL)):
        guest = make_phone("Ana", way, interval)
        guest.join()
        times[way, interval] = measure(
            f"{way} at {interval:g} ms", lambda song, guest=guest: cast_by_phone(guest, song, host)
        )
        guest.leave()
    assert times["stream", TUNED_INTERVAL] < of_linux * STREAM_FACTOR
    assert times["chunks", PHONE_INTERVAL] < CHUNKS_LIMIT


def test_the_service_tells_what_the_advertisement_tells(host: Program, make_phone: Callable[..., Guest]) -> None:
    radio = radio_of(make_phone("Ana", "stream"))
    heard = radio.listen()
    radio.dial(heard)
    payload = radio.stranger.read(PAYLOAD)
    assert payload[:6] == bytes(heard.advertisement)
    # The flags, with the bit for GATT set, and the rest of the identifier.
    assert payload[6] == 2 and (payload[2:6] + payload[7:12]).hex() == identity(host)[:18]
    psm = radio.stranger.read(PSM)
    assert len(psm) == 2 and psm[1] == 0 and 0x80 <= psm[0] != heard.advertisement.psm


def test_four_guests_have_places_and_a_fifth_is_told_that_there_is_none(
    host: Program, make_phone: Callable[..., Guest]
) -> None:
    guests = [make_phone(f"Guest {number}", "chunks") for number in range(PLACES)]
    for number, guest in enumerate(guests):
        guest.join()
        # Each linked phone shows that it is alive while the next one joins.
        for one in guests[: number + 1]:
            one.serve(0.1)
    fifth = radio_of(make_phone("Eve", "chunks"))
    link(fifth)
    assert fifth.stranger.read(PLACE) == bytes((NO_PLACE,))
    # A phone with a stream uses no slot.
    streaming = make_phone("Flo", "stream")
    streaming.join()
    host.expect_seen("peerConnected", lambda one: one["peer"]["name"] == "Flo")


def test_who_breaks_the_rules_of_chunks_loses_the_link_and_nobody_else_does(
    host: Program, make_phone: Callable[..., Guest]
) -> None:
    good = make_phone("Ana", "chunks")
    good.join()
    host.expect("snapshot", shows_peers("Ana"))
    radio = radio_of(make_phone("Eve", "chunks"))
    eve = radio.stranger
    link(radio)
    for values in broken_chunks():
        place = free_place(eve, good)
        eve.subscribe(TO_GUEST[place])
        for value in values:
            eve.write(TO_HOST[place], value)
        answer = eve.notified(TO_GUEST[place])
        assert answer is not None and len(answer) == 1 and answer[0] & 0xC0 == 0, "the host says that it is over"
        eve.unsubscribe(TO_GUEST[place])
        good.serve(0.05)
    # Writes to a slot without a subscription, and to a free slot, are dropped.
    place = free_place(eve, good)
    eve.write(TO_HOST[place], b"\xc0\x00\x01x")
    eve.write(TO_HOST[PLACES - 1], b"\xc0\x00\x01x")
    cast_by_phone(good, "n3", host)
    assert not host.seen("peerDisconnected")
    good.leave()


def free_place(phone: Stranger, other: Guest) -> int:
    """The slot that a phone gets. The host frees a slot when it has closed the link. The other guest stays linked
    meanwhile."""
    give_up = time.monotonic() + START
    while (place := phone.read(PLACE)[0]) == NO_PLACE:
        assert time.monotonic() < give_up, "no place has become free"
        other.serve(0.05)
    return place


def link(radio: PhoneRadio) -> None:
    """Links to the host and sends nothing."""
    radio.stranger.link({"address": radio.listen().address, "addressType": "public"}, START)
    radio.stranger.discover(service_uuid(), ATT_MTU)


def broken_chunks() -> list[list[bytes]]:
    """Each of these ends the link at its last chunk."""
    chunks = Chunks()
    first = next(chunks.cut(bytes(40), 20))
    return [
        [b"\xc1\x00\x01x"],  # a wrong number
        [b"\xc0\x00\x02x"],  # shorter than its length says
        [b"\xc0\x09\x00" + bytes(100)],  # longer than an SDU
        [b"\x80"],  # an empty first chunk
        [b"\x40"],  # an acknowledgement of a chunk that was not sent
        [first, b"\x81\x00\x05x"],  # a first chunk within an SDU
    ]
