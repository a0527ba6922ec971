# SPDX-License-Identifier: Apache-2.0
"""This implementation writes exactly the bytes of docs/protocol.md's examples."""

from __future__ import annotations

import dataclasses
import hashlib
import uuid

import pytest
from roadmesh_peer import democracy_dj, document
from roadmesh_peer import protobuf as pb
from roadmesh_peer.circuit_frames import (
    CREDITS,
    HOPS,
    CircuitOpen,
    circuit_close,
    circuit_credit,
    circuit_data,
    inner_mtu,
)
from roadmesh_peer.democracy_dj import Rejection, Why
from roadmesh_peer.document import ANA, ANA_EPOCH, CAR, CAR_EPOCH, STATE
from roadmesh_peer.noise_link import REKEY_EVERY, Direction, prologue, rekeyed
from roadmesh_peer.rejoin import Kept
from roadmesh_peer.signed_state import ForgedState, SigningKey, checked
from roadmesh_peer.wire import (
    BONDED_ONLY,
    CHECKPOINT,
    CIRCUITS_ONLY,
    LARGEST_SDU,
    NAMESPACE,
    RELAYS,
    SERVICE,
    Advertisement,
    Farewell,
    Hello,
    Tail,
    Unit,
    ack,
    app_start,
    fragments,
    frames,
    goodbye,
    message,
    ping,
    refusal,
    self_info,
    service_uuid,
    varint,
)

# The key in the document's example of a rekey.
KEY = "e61ef9919cde45dd5f82166404bd08e38bceb5dfdfded0a34c8df7ed542214d1"


def test_the_reader_of_examples_reads_hexadecimal_and_no_words() -> None:
    assert document.hexadecimal("20 01                an added one").hex() == "2001"
    assert document.hexadecimal("message    0a 04   00 05  68 69      a reliable one").hex() == "0a0400056869"
    assert document.hexadecimal("09 ff ff ff 20 80 f3 5e 56 16    version 2, f35e5616…").hex() == "09ffffff2080f35e5616"
    assert document.hexadecimal("12 7c").hex() == "127c"
    assert document.hexadecimal("a snapshot") == b""


def test_the_keys_and_identifiers() -> None:
    for key in (ANA, CAR):
        assert f"`{key.public.hex()}` | `{key.identifier.hex()}`" in document.text()


def test_the_keys_of_who_rejoins() -> None:
    kept = Kept(bytes(range(32)), b"", "", b"", 0)
    assert document.gives(kept.identifier)
    for attempt in (1, 2):
        assert all(document.gives(key) for key in kept.keys(attempt))


def test_the_service() -> None:
    assert str(service_uuid()) in document.text()
    assert document.gives(hashlib.sha1(NAMESPACE.bytes + SERVICE.encode()).digest())
    assert document.gives(service_uuid().bytes[::-1])
    assert document.gives(prologue())


def test_the_advertisement() -> None:
    advertisement = Advertisement(0x80, CAR.identifier[:4])
    local_name = f"Dad's Car{Tail(CAR.identifier[4:9])}"
    response = bytes((len(local_name) + 1, 0x09)) + local_name.encode()
    assert document.gives(b"\x09\xff\xff\xff" + bytes(advertisement) + b"\x02\x01\x06" + response)
    assert Advertisement.read(bytes(advertisement) + b"more") == advertisement
    bonded = dataclasses.replace(advertisement, critical=BONDED_ONLY)
    assert bytes(bonded)[0] == 0x21 and Advertisement.read(bytes(bonded)) == bonded
    assert Tail.read(local_name) == ("Dad's Car", Tail(CAR.identifier[4:9]))


def test_the_advertisement_of_a_relay() -> None:
    advertisement = Advertisement(0x80, ANA.identifier[:4], critical=CIRCUITS_ONLY)
    tail = Tail(ANA.identifier[4:9], RELAYS, 1, CAR.identifier[:5])
    response = f"Dad's Car{tail}".encode()
    on_air = bytes(advertisement) + b"\x02\x01\x06" + bytes((len(response) + 1, 0x09)) + response
    assert document.gives(b"\x09\xff\xff\xff" + on_air)
    assert Tail.read(response.decode()) == ("Dad's Car", tail) and len(str(tail)) == 17
    # Invalid tails: a relay with no hops to its host, and half of a host's head. The relay's host stays unknown.
    for broken in (dataclasses.replace(tail, hops=0), dataclasses.replace(tail, host_head=CAR.identifier[:3])):
        assert Tail.read(f"Dad's Car{broken}") == ("Dad's Car", Tail(ANA.identifier[4:9], RELAYS))


def test_the_service_of_boxes_that_want_to_bond() -> None:
    assert str(uuid.uuid5(NAMESPACE, "roadmesh-pair")) in document.text()


@pytest.mark.parametrize(
    "frame",
    [
        app_start(Hello(ANA_EPOCH, "Ana")),
        self_info(Hello(CAR_EPOCH, "Dad's Car")),
        refusal(1),
        goodbye(),
        goodbye(Farewell.STOPPED),
        ping(7),
        ack(3),
        message(Unit(b"hi", 5)),
        CircuitOpen(2, CAR.identifier, HOPS - 1, inner_mtu(LARGEST_SDU), (ANA.identifier[:4],)).frame(),
        circuit_data(2, b"hi"),
        circuit_credit(2, CREDITS, inner_mtu(LARGEST_SDU)),
        circuit_credit(2, CREDITS),
        circuit_close(2, 1),
        message(Unit(democracy_dj.vote("s6"), 1)),
    ],
    ids=lambda frame: bytes(frame)[:12].hex(),
)
def test_the_frames(frame: object) -> None:
    assert document.gives(bytes(frame))  # type: ignore[call-overload]


def test_the_record_after_the_last_of_a_key() -> None:
    direction = Direction(bytes.fromhex(KEY), REKEY_EVERY - 1)
    direction.seal(b"")
    assert document.gives(rekeyed(bytes.fromhex(KEY)))
    assert document.gives(direction.seal(b"A vote"))


def test_the_numbers() -> None:
    assert f"5,000 as a varint is `{varint(5000).hex(' ')}`" in document.text()


def test_the_fragments() -> None:
    pieces = list(fragments(Unit(bytes(5000 - 2), 1, latest=True)))
    assert [len(bytes(piece)) for piece in pieces] == [2205, 2205, 608]
    block = next(block for block in document.blocks() if "in the latest lane" in block)
    for piece, line in zip(pieces, block.splitlines(), strict=True):
        assert bytes(piece).startswith(bytes.fromhex(line.split("…")[0]))


def test_what_democracy_dj_says() -> None:
    assert document.gives(democracy_dj.vote("s6"))
    assert document.gives(bytes(Rejection(Why.NOT_QUEUED, vote="s1")))
    assert document.gives(democracy_dj.take_back("s6"))
    assert document.gives(democracy_dj.search(1, "road"))
    assert document.gives(democracy_dj.heartbeat(STATE.epoch, STATE.revision))
    assert document.gives(democracy_dj.snapshot_request())


def test_the_snapshot_and_the_change() -> None:
    assert document.gives(democracy_dj.snapshot(STATE))
    change = democracy_dj.new_voter(STATE, 0, ANA.identifier)
    assert document.gives(change)
    view = democracy_dj.View()
    assert view.hear(democracy_dj.snapshot(STATE)) is None
    assert view.state == STATE
    assert view.hear(change) is None
    item = dataclasses.replace(STATE.queue[0], voters=(ANA.identifier,))
    assert view.state == dataclasses.replace(STATE, revision=4, queue=(item,))


def test_guests_that_are_not_named_are_counted() -> None:
    crowd = dataclasses.replace(STATE, unnamed_guests=899)
    view = democracy_dj.View()
    view.hear(democracy_dj.snapshot(crowd))
    assert view.state == crowd
    view.hear(democracy_dj.new_voter(crowd, 0, ANA.identifier))
    assert view.state and view.state.unnamed_guests == 899, "as many as before"
    fewer = pb.fixed32(1, crowd.epoch) + pb.number(2, crowd.revision + 1) + pb.number(21, 0, always=True)
    view.hear(pb.message(3, fewer))
    assert view.state.unnamed_guests == 0


def test_what_is_written_is_read() -> None:
    hello = Hello(1, "é" * 124, 1 << 62, 2, 300, 1, 30, 1, 6)
    said = [app_start(hello), ping(1 << 40), message(Unit(b"", 200, True))]
    read = list(frames(b"".join(map(bytes, said))))
    assert read == said
    assert Hello.read(read[0].body) == hello
    assert Unit.read(read[2].body) == Unit(b"", 200, True)


# Signatures


def test_a_signing_key_follows_from_the_identity_and_signs_what_the_document_says() -> None:
    key = SigningKey(CAR.private)
    assert key.public.hex() == "67e25fa1e4966da6e3841f4a1e96e3dcd6e8b3f0421c8ded49f51686a70883fa"
    unit = key.sign(b"the state", b"the name", whole=True)
    assert bytes(unit)[0] == 7 and checked(unit, key.public) == b"the state"


@pytest.mark.parametrize("what", ["body", "flags", "key", "too short"])
def test_no_part_of_what_is_signed_can_be_changed(what: str) -> None:
    key = SigningKey(CAR.private)
    unit = key.sign(b"the state", b"the name", whole=True)
    wrong = {
        "body": Unit(unit.body + b"!", 1, latest=True, shared=unit.shared),
        "flags": Unit(unit.body, 1, latest=True, shared=unit.shared | CHECKPOINT),
        "too short": Unit(unit.body[:40], 1, latest=True, shared=unit.shared),
    }
    signer = SigningKey(ANA.private) if what == "key" else key
    with pytest.raises(ForgedState):
        checked(wrong.get(what, unit), signer.public)
