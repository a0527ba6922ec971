# SPDX-License-Identifier: Apache-2.0
"""The circuits of one link, by docs/protocol.md: their numbers, credits and ends. The owner handles what they carry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from .circuit_frames import (
    CREDITS,
    LEAST_INNER_MTU,
    CircuitCredit,
    CircuitOpen,
    CloseReason,
    circuit_close,
    circuit_credit,
    circuit_data,
)
from .wire import Frame, Kind, Malformed, Reader

CIRCUITS_OF_A_GUEST, CIRCUITS_OF_A_RELAY = 8, 1_024
"""Maximum number of circuits on a link, if its other end opens them: for a guest, and for a relay."""
REFUSALS_THAT_WAIT = 8
MOST_CREDITS = 65_536
NUMBERS = 1 << 49
"""Circuit numbers are less than this: they have seven bytes at most."""
CLOSING = 3.0
"""Seconds that a closed circuit waits for credits for SDUs that were queued before."""


class CircuitEnd(Protocol):
    """This side's end of a circuit: an inner link, or the next part of the path."""

    def opened(self, mtu: int) -> None:
        """The other side has opened the circuit, and accepts SDUs of this size."""

    def came(self, sdu: bytes) -> None: ...

    def next_sdu(self) -> bytes | None: ...

    def closed(self, reason: CloseReason) -> None:
        """Closed by the other side, or with the link."""

    @property
    def is_over(self) -> bool:
        """Nothing is left to send: the circuit may be closed."""


class Circuit:
    def __init__(self, table: Circuits, number: int, accepted: int, sendable: int) -> None:
        self._table = table
        self.number = number
        self.accepted_mtu = accepted
        self.mtu = sendable
        """Largest SDU that the other side accepts."""
        self.end: CircuitEnd | None = None
        self.is_open = False
        self.credits = 0
        """How many SDUs may be sent."""
        self.is_credited = False
        """The other side has given its first credits."""
        self.is_ahead = False
        """One SDU has left before the first credits, and uses up one of them."""
        self.given = 0
        """SDUs that may still arrive."""
        self.owed = 0
        self.closing: CloseReason | None = None
        self.closing_until = 0.0

    def accept(self, end: CircuitEnd, mtu: int, credits: int = CREDITS) -> None:
        """Accepts a circuit that the other side has opened."""
        self.end = end
        self.is_open = True
        self.accepted_mtu = mtu
        self.given += credits
        self._table.control.append(circuit_credit(self.number, credits, mtu))

    def passed_on(self) -> None:
        """An SDU was handled, so one more may arrive."""
        if self.closing is None:
            self.given += 1
            self.owed += 1

    def close(self, reason: CloseReason) -> None:
        """Closes the circuit when its end's SDUs have been sent, if there are credits for them."""
        if self.closing is None:
            self.closing = reason
            self.closing_until = self._table.now() + CLOSING

    def drop(self, reason: CloseReason) -> None:
        """Closes the circuit at once."""
        self._table.remove(self)
        self._table.control.append(circuit_close(self.number, reason))

    def take_credits(self, credits: int) -> None:
        advance = 1 if self.is_ahead and not self.is_credited else 0
        self.is_credited = True
        self.credits = min(self.credits + max(credits - advance, 0), MOST_CREDITS)

    def next_data(self) -> bytes | None:
        return self.end.next_sdu() if self.end and self.credits > 0 else None

    def next_answer(self) -> bytes | None:
        """The side that has received the `circuitOpen` may send one answer before it has credits."""
        if self.is_credited or self.is_ahead or not self.is_open or self.credits > 0:
            return None
        sdu = self.end.next_sdu() if self.end else None
        self.is_ahead = sdu is not None
        return sdu


class Circuits:
    def __init__(
        self, is_initiator: bool, now: Callable[[], float], asked: Callable[[CircuitOpen, Circuit], None]
    ) -> None:
        self.now = now
        self._asked = asked
        self._next = 2 if is_initiator else 1
        self._theirs = -1
        self._their_parity = 1 if is_initiator else 0
        self.most = CIRCUITS_OF_A_GUEST
        self._open: dict[int, Circuit] = {}
        self._refused: list[Frame] = []
        self.control: list[Frame] = []
        """Frames about circuits to send, in order."""
        self.refused: dict[CloseReason, int] = {}
        self.misused = 0

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[Circuit]:
        return iter(list(self._open.values()))

    def open(
        self,
        end: CircuitEnd,
        host: bytes,
        hops_left: int,
        mtu: int,
        passed: tuple[bytes, ...] = (),
        credits: int = CREDITS,
    ) -> Circuit:
        circuit = Circuit(self, self._next, accepted=mtu, sendable=LEAST_INNER_MTU)
        # The first SDU comes with the opening, before there are credits. That saves a round trip over all hops.
        circuit.credits = 1
        self._next += 2
        circuit.end = end
        circuit.given = credits
        self._open[circuit.number] = circuit
        self.control.append(CircuitOpen(circuit.number, host, hops_left, mtu, passed).frame())
        self.control.append(circuit_credit(circuit.number, credits))
        return circuit

    def skipped_numbers(self, count: int) -> range:
        """Reserves numbers that this side will not use itself. A test sends what it wants with them."""
        skipped = range(self._next, self._next + 2 * count, 2)
        self._next += 2 * count
        return skipped

    # Sending

    def frames(self) -> list[Frame]:
        """The frames to send now. Credits are collected until then."""
        if not self._open and not self.control and not self._refused:
            return []
        said, self.control = self._refused + self.control, []
        self._refused = []
        for circuit in self:
            if circuit.owed and circuit.is_open:
                said.append(circuit_credit(circuit.number, circuit.owed))
                circuit.owed = 0
        return said

    def next_data(self) -> Frame | None:
        """An SDU of the circuit that has waited longest. The circuits take turns."""
        for circuit in self:
            sdu = circuit.next_answer()
            if sdu is None and (sdu := circuit.next_data()) is not None:
                circuit.credits -= 1
            if sdu is not None:
                self._open[circuit.number] = self._open.pop(circuit.number)
                return circuit_data(circuit.number, sdu)
            self._close_when_done(circuit)
        return None

    def _close_when_done(self, circuit: Circuit) -> None:
        if circuit.closing is None and circuit.end and circuit.end.is_over:
            circuit.close(CloseReason.ENDED)
        if circuit.closing is not None and (
            not circuit.end or circuit.end.is_over or self.now() > circuit.closing_until
        ):
            circuit.drop(circuit.closing)

    def tick(self) -> None:
        for circuit in self:
            self._close_when_done(circuit)

    def remove(self, circuit: Circuit) -> None:
        self._open.pop(circuit.number, None)

    def link_ended(self) -> None:
        for circuit in self:
            self.remove(circuit)
            if circuit.end:
                circuit.end.closed(CloseReason.ENDED)

    def refuse(self, circuit: Circuit, reason: CloseReason) -> None:
        self.remove(circuit)
        self.refused[reason] = self.refused.get(reason, 0) + 1
        if len(self._refused) < REFUSALS_THAT_WAIT:
            self._refused.append(circuit_close(circuit.number, reason))

    # Receiving

    def take(self, frame: Frame) -> None:
        if frame.kind == Kind.CIRCUIT_OPEN:
            self._take_open(CircuitOpen.read(frame.body))
        elif frame.kind == Kind.CIRCUIT_CREDIT:
            self._take_credit(CircuitCredit.read(frame.body))
        else:
            reader = Reader(frame.body)
            circuit = self._open.get(reader.varint())
            if frame.kind == Kind.CIRCUIT_DATA:
                self._take_data(circuit, reader.rest())
            else:
                self._take_close(circuit, CloseReason.of(reader.byte()))

    def _take_open(self, opening: CircuitOpen) -> None:
        number = opening.circuit
        if not self._theirs < number < NUMBERS or number % 2 != self._their_parity:
            raise Malformed(f"circuit {number} after {self._theirs}")
        self._theirs = number
        circuit = Circuit(self, number, accepted=LEAST_INNER_MTU, sendable=opening.inner_mtu)
        circuit.given = 1
        if len(self._open) >= self.most:
            self.refuse(circuit, CloseReason.NO_ROOM)
            return
        if opening.inner_mtu < LEAST_INNER_MTU:
            self.refuse(circuit, CloseReason.MISUSED)
            return
        self._open[number] = circuit
        self._asked(opening, circuit)

    def _take_credit(self, credit: CircuitCredit) -> None:
        circuit = self._open.get(credit.circuit)
        if circuit is None:
            return
        circuit.take_credits(credit.credits)
        # The first credits accept a circuit that this side has opened: its number has this side's parity.
        if not circuit.is_open and circuit.number % 2 != self._their_parity:
            circuit.is_open = True
            circuit.mtu = max(credit.inner_mtu or 0, LEAST_INNER_MTU)
            if circuit.end:
                circuit.end.opened(circuit.mtu)

    def _take_data(self, circuit: Circuit | None, sdu: bytes) -> None:
        if circuit is None or circuit.closing is not None:
            return
        circuit.given -= 1
        if circuit.given < 0 or len(sdu) > circuit.accepted_mtu or not sdu:
            self.misused += 1
            circuit.drop(CloseReason.MISUSED)
            if circuit.end:
                circuit.end.closed(CloseReason.MISUSED)
        elif circuit.end:
            circuit.end.came(sdu)

    def _take_close(self, circuit: Circuit | None, reason: CloseReason) -> None:
        if circuit is None:
            return
        self.remove(circuit)
        if circuit.end and circuit.closing is None:
            circuit.end.closed(reason)
