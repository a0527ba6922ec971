# SPDX-License-Identifier: Apache-2.0
"""A link that runs on its own, by docs/protocol.md: it receives SDUs, and its owner requests the next SDU to send.

It works the same on a channel and inside a circuit. `Talk` in `guest` is for tests that send every packet themselves.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

from .circuit_frames import CircuitOpen
from .circuits import Circuit, Circuits
from .conversation import Impossible
from .noise_link import CIRCUIT, DIRECT, ClearlyRefused, Forged, Key, Records, prologue
from .rejoin import Kept
from .signed_state import MOST_NAMES, NAME_BYTES, ForgedState
from .wire import (
    TAG_BYTES,
    Assembly,
    Fragment,
    Frame,
    Hello,
    Kind,
    Malformed,
    Route,
    Unit,
    ack,
    fragments,
    frames,
    identifier,
    message,
    ping,
    pong,
)

PING_EVERY = 1.0
SILENCE, SILENCE_IN_A_CIRCUIT = 2, 20
ANSWER, ANSWER_OF_A_HOP, TO_BE_CONNECTED = 3.0, 0.1, 5.0
FINAL_FRAME = 0.3


class Misbehaviour(Exception):
    """An error of the other side that ends a link without a final frame. It has the document's name."""


class Owner(Protocol):
    """The node that a link belongs to."""

    def now(self) -> float: ...

    def admitted(self, link: Link) -> Hello | int:
        """For a responder: its hello, or the reason of its refusal."""

    def kept(self, identifier: bytes) -> Kept | None:
        """For a responder: what it has kept of a handshake."""

    def connected(self, link: Link) -> None: ...

    def ended(self, link: Link, why: str) -> None: ...

    def acknowledged(self, link: Link, number: int) -> None: ...

    def came(self, link: Link, unit: Unit) -> None: ...

    def routed(self, link: Link, route: Route) -> None: ...

    def knows(self, link: Link, names: list[bytes]) -> None:
        """The other side has these states, the newest first, or continues after one of them."""

    def asked(self, link: Link, opening: CircuitOpen, circuit: Circuit) -> None:
        """A circuit is requested."""

    def next_latest(self, link: Link) -> Unit | None:
        """The next message of class latest, if the link has room for it. It has no number yet."""


class Link:
    def __init__(self, owner: Owner, key: Key, mtu: int, *, is_initiator: bool, in_circuit: bool) -> None:
        self._owner = self.owner = owner
        self.key = key
        self.mtu = mtu
        self.is_initiator = is_initiator
        self.in_circuit = in_circuit
        self.prologue = prologue(kind=CIRCUIT if in_circuit else DIRECT)
        self.their_key = b""
        self.their_hello: Hello | None = None
        self.circuits = Circuits(is_initiator, owner.now, lambda opening, circuit: owner.asked(self, opening, circuit))
        self.why: str | None = None
        """Why the link has ended."""
        self.refused = 0
        self.is_connected = False
        self.is_over = False
        self.heard_at = self.begun_at = owner.now()
        self.patience = ANSWER
        self.packets: list[bytes] = []
        self.packets_to_send: list[bytes] = []
        self.heard: list[Frame] = []
        self._records: Records | None = None
        self._first_frames: list[Frame] = []
        self._reliable: deque[Unit] = deque()
        self._pieces: dict[bool, deque[Frame]] = {False: deque(), True: deque()}
        self._lanes = {False: Assembly(), True: Assembly()}
        self._latest_sent = self._latest_heard = 0
        self._pong: int | None = None
        self._ack: int | None = None
        self.ping_number = 0
        self.answered = 0
        """The latest ping that was answered."""
        self._pinged_at = 0.0
        self._final: Frame | None = None
        self._closing_at: float | None = None

    @property
    def them(self) -> bytes:
        return identifier(self.their_key)

    def heard_of(self, kind: Kind) -> list[Frame]:
        return [frame for frame in self.heard if frame.kind == kind]

    # Sending

    def say(self, frame: Frame) -> None:
        self._first_frames.append(frame)

    def say_ack(self, number: int) -> None:
        self._ack = number

    def say_ping(self) -> None:
        self.ping_number += 1
        self._pinged_at = self._owner.now()
        self.say(ping(self.ping_number))

    def send(self, unit: Unit) -> None:
        """Queues a reliable message."""
        self._reliable.append(unit)

    def finish(self, frame: Frame, why: str) -> None:
        """Sends a final frame and closes."""
        if self.why is None:
            self._final = frame
            self._closing_at = self._owner.now() + FINAL_FRAME
            self._end(why)

    def close(self, why: str) -> None:
        self.is_over = True
        self._end(why)

    def lost(self) -> None:
        self.close("lost")

    def _end(self, why: str) -> None:
        if self.why is None:
            self.why = why
            self.circuits.link_ended()
            self._owner.ended(self, why)

    def next_sdu(self) -> bytes | None:
        if self.packets_to_send:
            return self.packets_to_send.pop(0)
        if self.is_over or self._records is None or not self._may_say():
            return None
        plaintext = self._plaintext(self.mtu - TAG_BYTES)
        return self._records.seal(plaintext) if plaintext else None

    def _may_say(self) -> bool:
        return True

    def _plaintext(self, room: int) -> bytes:
        said = bytearray()

        def fits(frame: Frame) -> bool:
            if len(said) + len(bytes(frame)) > room:
                return False
            said.extend(bytes(frame))
            return True

        if self.why is None:
            self._first_frames += self.circuits.frames()
            if self._ack is not None:
                self._first_frames.append(ack(self._ack))
            if self._pong is not None:
                self._first_frames.append(pong(self._pong))
            self._ack = self._pong = None
        while self._first_frames and fits(self._first_frames[0]):
            self._first_frames.pop(0)
        if self.why is not None:
            if self._final and not self._first_frames and fits(self._final):
                self._final = None
            return bytes(said)
        self._fill_lane(False, said, room)
        if self.is_connected and not self._first_frames:
            # One SDU of a circuit nearly fills a record.
            while not said and (data := self.circuits.next_data()):
                said.extend(bytes(data))
            self._first_frames += self.circuits.frames()
            self._fill_lane(True, said, room)
        if not said and self._first_frames:
            return self._plaintext(room)
        return bytes(said)

    def _fill_lane(self, latest: bool, said: bytearray, room: int) -> None:
        pieces = self._pieces[latest]
        while True:
            left = room - len(said)
            if not pieces:
                unit = self._next_unit(latest)
                if unit is None:
                    return
                whole = message(unit)
                pieces.extend([whole] if len(bytes(whole)) <= max(left, room // 4) else fragments(unit, room))
            if len(bytes(pieces[0])) > left:
                return
            said.extend(bytes(pieces.popleft()))

    def _next_unit(self, latest: bool) -> Unit | None:
        if not latest:
            return self._reliable.popleft() if self._reliable else None
        unit = self._owner.next_latest(self)
        if unit is None:
            return None
        self._latest_sent += 1
        return Unit(unit.body, self._latest_sent, latest=True, shared=unit.shared)

    # Receiving

    def take(self, sdu: bytes) -> None:
        self.heard_at = self._owner.now()
        if self.why is not None:
            return
        try:
            if self._records is None:
                self.packets.append(sdu)
                self._take_packet(sdu)
            else:
                self._take_record(sdu)
        except (Malformed, Forged, Impossible, Misbehaviour, ForgedState) as error:
            self.close(self._kind_of(error))
        except ClearlyRefused as error:
            self.close(f"clear refusal {error.reason}")

    def _kind_of(self, error: Exception) -> str:
        if isinstance(error, Misbehaviour):
            return str(error)
        if isinstance(error, ForgedState):
            return "forgedState"
        if isinstance(error, Impossible):
            return "impossibleAcknowledgement"
        if isinstance(error, Forged) and self._records:
            return "forgedRecord"
        return "malformedFrame" if self._records else "badHandshake"

    def _take_packet(self, sdu: bytes) -> None:
        raise NotImplementedError

    def _take_record(self, sdu: bytes) -> None:
        assert self._records
        plaintext = self._records.open(sdu)
        self._confirmed()
        self._take_frames(plaintext)

    def _confirmed(self) -> None:
        """A record of the other side was opened."""

    def _take_frames(self, plaintext: bytes) -> None:
        for frame in frames(plaintext):
            if self.why is not None:
                return
            self.heard.append(frame)
            if self.is_connected:
                self._take_frame(frame)
            else:
                self._take_early_frame(frame)

    def _take_early_frame(self, frame: Frame) -> None:
        if frame.kind in tuple(Kind):
            raise Misbehaviour("unexpectedFrame")

    def _take_frame(self, frame: Frame) -> None:
        kind = frame.kind
        if kind == Kind.PING:
            self._pong = frame.number()
            # As in RoadMesh, the next ping is sent in the same record, because it is due soon.
            if self.is_initiator and self._owner.now() >= self._pinged_at + self._ping_every / 2:
                self.say_ping()
        elif kind == Kind.PONG:
            if frame.number() <= self.ping_number:
                self.answered = max(self.answered, frame.number())
        elif kind == Kind.ACK:
            self._owner.acknowledged(self, frame.number())
        elif kind == Kind.MESSAGE:
            self._take_unit(frame.body)
        elif kind == Kind.FRAGMENT:
            fragment = Fragment.read(frame.body)
            if (unit := self._lanes[fragment.latest].add(fragment)) is not None:
                self._take_unit(unit)
        elif kind in (Kind.CIRCUIT_OPEN, Kind.CIRCUIT_DATA, Kind.CIRCUIT_CREDIT, Kind.CIRCUIT_CLOSE):
            self.circuits.take(frame)
        elif kind == Kind.ROUTE and self.is_initiator:
            self._owner.routed(self, Route.read(frame.body))
        elif kind == Kind.STATE:
            if len(frame.body) < NAME_BYTES:
                raise Misbehaviour("malformedFrame")
            names = [frame.body[at : at + NAME_BYTES] for at in range(0, len(frame.body) - NAME_BYTES + 1, NAME_BYTES)]
            self._owner.knows(self, names[:MOST_NAMES])
        elif kind == Kind.MAKE_ROOM and self.is_initiator:
            pass  # A node may ignore this request. The frame is in `heard`.
        elif kind == Kind.GOODBYE:
            self.close("goodbye")
        elif kind == Kind.REFUSAL and self.is_initiator:
            self.refused = frame.body[0]
            self.close(f"refusal {frame.body[0]}")
        elif kind in tuple(Kind) and kind != Kind.AIR:
            raise Misbehaviour("unexpectedFrame")

    def _take_unit(self, data: bytes) -> None:
        unit = Unit.read(data)
        if unit.latest:
            if unit.number <= self._latest_heard:
                return
            self._latest_heard = unit.number
        self._owner.came(self, unit)

    # Time

    @property
    def _silence(self) -> int:
        asked = self.their_hello.silence if self.their_hello else SILENCE
        return min(max(asked, 2), 60)

    @property
    def _ping_every(self) -> float:
        return PING_EVERY if self._silence == SILENCE else self._silence / 2

    def tick(self) -> None:
        now = self._owner.now()
        if self._closing_at is not None and now >= self._closing_at:
            self.is_over = True
        if self.why is not None:
            return
        self.circuits.tick()
        if not self.is_connected:
            if now > self.begun_at + self.patience:
                self.close("no answer")
        elif now - self.heard_at >= self._ping_every + self._silence:
            self.close("silence")
        elif now >= self._pinged_at + self._ping_every:
            self.say_ping()

    def _connect(self) -> None:
        self.is_connected = True
        self._owner.connected(self)
