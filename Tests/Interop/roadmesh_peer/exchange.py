# SPDX-License-Identifier: Apache-2.0
"""The exchange in docs/protocol.md, byte by byte: Ana meets Dad's Car, and comes back to vote.

python -m roadmesh_peer.exchange            prints it
python -m roadmesh_peer.exchange --write    puts it into the document

Everything in it is fixed: both nodes' keys, the ephemeral keys, the epochs. Both sides are this implementation.
Tests/MeshProtocolTests/ExchangeTests.swift replays it against the Swift implementation.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from . import democracy_dj, document
from .document import ANA, ANA_EPOCH, CAR, CAR_EPOCH, STATE
from .noise_link import Handshake, Packet, Records
from .wire import (
    Frame,
    Hello,
    Kind,
    Unit,
    ack,
    app_start,
    goodbye,
    message,
    ping,
    pong,
    self_info,
)

ANA_NAME, CAR_NAME = "Ana", "Dad's Car"

# For each link: Ana's ephemeral private key, and that of Dad's Car.
EPHEMERAL = {1: (bytes([0xA1] * 32), bytes([0xC1] * 32)), 2: (bytes([0xA2] * 32), bytes([0xC2] * 32))}

BEGIN, END = "<!-- exchange -->\n", "<!-- end of the exchange -->\n"

BYTES_A_LINE = 32


@dataclass(frozen=True)
class Step:
    """One SDU: its sender, its kind, its sealed contents, and what the other side learns from it."""

    sender: str
    what: str
    sdu: bytes
    said: tuple[Frame, ...] = ()
    told: str = ""

    def lines(self) -> Iterator[str]:
        yield f"{self.sender}: {self.what}, {len(self.sdu)} bytes"
        for frame in self.said:
            yield from hexadecimal(bytes(frame), "  = ", "    ")
        yield from hexadecimal(self.sdu, "  | ", "  | ")
        if self.told:
            yield f"  → {self.told}"


def hexadecimal(data: bytes, first: str, further: str) -> Iterator[str]:
    for start in range(0, len(data), BYTES_A_LINE):
        yield (further if start else first) + data[start : start + BYTES_A_LINE].hex(" ")


def payload(*frames: Frame) -> bytes:
    return b"".join(map(bytes, frames))


class Link:
    """Both ends of a link. Each reads what the other writes."""

    def __init__(self, number: int) -> None:
        self._ephemeral = EPHEMERAL[number]
        self.steps: list[Step] = []
        self._records: dict[str, Records] = {}

    def join_as_stranger(self, hello: Hello) -> None:
        ana = Handshake(ANA, ephemeral=self._ephemeral[0])
        car = Handshake(CAR, ephemeral=self._ephemeral[1], initiator=False)
        begun = ana.write(Packet.XX_1)
        car.read(Packet.XX_1, begun)
        reply = car.write(Packet.XX_2)
        ana.read(Packet.XX_2, reply)
        assert ana.their_key == CAR.public
        frame = app_start(hello)
        finish = ana.write(Packet.XX_3, payload(frame))
        assert car.read(Packet.XX_3, finish) == payload(frame)
        assert car.their_key == ANA.public
        self.steps += [
            Step(ANA_NAME, "XX-1", begun),
            Step(CAR_NAME, "XX-2", reply),
            Step(ANA_NAME, "XX-3, with appStart", finish, (frame,), "connected to Ana"),
        ]
        self._begin_records(ana, car)

    def join_as_known(self, hello: Hello, answer: Hello) -> None:
        ana = Handshake(ANA, ephemeral=self._ephemeral[0], host_key=CAR.public)
        car = Handshake(CAR, ephemeral=self._ephemeral[1], known=True, initiator=False)
        said, answered = app_start(hello), self_info(answer)
        begun = ana.write(Packet.IK_1, payload(said))
        assert car.read(Packet.IK_1, begun) == payload(said)
        assert car.their_key == ANA.public
        reply = car.write(Packet.IK_2, payload(answered))
        assert ana.read(Packet.IK_2, reply) == payload(answered)
        self.steps += [
            Step(ANA_NAME, "IK-1, with appStart", begun, (said,)),
            Step(CAR_NAME, "IK-2, with selfInfo", reply, (answered,), "connected to Dad's Car"),
        ]
        self._begin_records(ana, car)

    def _begin_records(self, ana: Handshake, car: Handshake) -> None:
        self._records = {ANA_NAME: ana.records(), CAR_NAME: car.records()}

    def say(self, sender: str, *frames: Frame, told: str = "") -> None:
        receiver = CAR_NAME if sender == ANA_NAME else ANA_NAME
        record = self._records[sender].seal(payload(*frames))
        assert self._records[receiver].open(record) == payload(*frames)
        names = ", ".join(name(frame) for frame in frames)
        self.steps.append(Step(sender, f"a record of {names}", record, frames, told))


def name(frame: Frame) -> str:
    names = {Kind.SELF_INFO: "selfInfo", Kind.GOODBYE: "goodbye"}
    if frame.kind in names:
        return names[Kind(frame.kind)]
    if frame.kind in (Kind.PING, Kind.PONG, Kind.ACK):
        return f"{Kind(frame.kind).name.lower()} {frame.number()}"
    unit = Unit.read(frame.body)
    return f"{'latest' if unit.latest else 'reliable'} message {unit.number}"


def links() -> list[list[Step]]:
    first = Link(1)
    first.join_as_stranger(Hello(ANA_EPOCH, ANA_NAME))
    first.say(CAR_NAME, self_info(Hello(CAR_EPOCH, CAR_NAME)), told="connected to Dad's Car")
    first.say(ANA_NAME, ping(1))
    first.say(CAR_NAME, pong(1), told="round trip")
    first.say(ANA_NAME, goodbye(), told="goodbye from Ana")

    second = Link(2)
    second.join_as_known(
        Hello(ANA_EPOCH, ANA_NAME, their_epoch=CAR_EPOCH),
        Hello(CAR_EPOCH, CAR_NAME, their_epoch=ANA_EPOCH),
    )
    state = message(Unit(democracy_dj.snapshot(STATE), 1, latest=True))
    second.say(CAR_NAME, state, told="latest message 1")
    vote = message(Unit(democracy_dj.vote("s6"), 1))
    second.say(ANA_NAME, ping(1), vote, told="connected to Ana; reliable message 1")
    change = message(Unit(democracy_dj.new_voter(STATE, 0, ANA.identifier), 2, latest=True))
    second.say(CAR_NAME, ack(1), pong(1), change, told="acknowledged up to 1; round trip; latest message 2")
    second.say(ANA_NAME, goodbye(), told="goodbye from Ana")
    return [first.steps, second.steps]


def block(steps: list[Step]) -> str:
    lines = [line for step in steps for line in step.lines()]
    return "```\n" + "\n".join(lines) + "\n```\n"


def section() -> str:
    """The section between the document's marks."""
    first, second = links()
    keys = {
        "Ana, static": ANA.private,
        "Dad's Car, static": CAR.private,
        "Ana, link 1": EPHEMERAL[1][0],
        "Dad's Car, link 1": EPHEMERAL[1][1],
        "Ana, link 2": EPHEMERAL[2][0],
        "Dad's Car, link 2": EPHEMERAL[2][1],
    }
    table = "".join(f"{whose:19}{key.hex()}\n" for whose, key in keys.items())
    return f"""
The private keys: the static ones of RFC 7748, 6.1, and an ephemeral one for each side and link. Ana's epoch is
`{ANA_EPOCH:08x}`, that of Dad's Car `{CAR_EPOCH:08x}`.

```
{table}```

Each SDU has a line that names its sender. The lines with `|` are its bytes. The lines with `=` before them are the
frames that are sealed in it. A line with `→` says what the receiver has learned from the SDU.

**Link 1.** Ana is unknown, is admitted, and leaves.

{block(first)}
**Link 2.** Ana is known, sees the state with the answer, and votes for s6. The vote, the snapshot and the change are
those of [Democracy DJ](#messages-of-democracy-dj).

{block(second)}
"""


def written(text: str) -> str:
    """The document with the new exchange."""
    found = re.search(re.escape(BEGIN) + f"(?:.*?{re.escape(END)})?", text, re.DOTALL)
    assert found, "the document has no place for the exchange"
    return text[: found.start()] + BEGIN + section() + END + text[found.end() :]


def main(*arguments: str) -> None:
    if arguments == ("--write",):
        document.PATH.write_text(written(document.text()))
    else:
        print(section())


if __name__ == "__main__":
    main(*sys.argv[1:])
