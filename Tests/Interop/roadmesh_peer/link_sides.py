# SPDX-License-Identifier: Apache-2.0
"""The two sides of a link's handshake, by docs/protocol.md: who dials, and who is dialled."""

from __future__ import annotations

from collections.abc import Callable

from .link import ANSWER, ANSWER_OF_A_HOP, FINAL_FRAME, TO_BE_CONNECTED, Link, Misbehaviour, Owner
from .noise_link import Handshake, Key, Packet
from .wire import Frame, Hello, Kind, app_start, frames, identifier, refusal, self_info


class Initiator(Link):
    def __init__(
        self,
        owner: Owner,
        key: Key,
        mtu: int,
        *,
        hello: Callable[[bytes], Hello],
        wanted: bytes,
        known: bytes | None = None,
        critical: int = 0,
        in_circuit: bool = False,
        hops: int = 0,
    ) -> None:
        """The other side's identifier has to begin with what is wanted. `critical` are the flags that were heard."""
        super().__init__(owner, key, mtu, is_initiator=True, in_circuit=in_circuit)
        self._hello = hello
        self._wanted = wanted
        self._critical = critical
        self.is_known = known is not None
        self.patience = ANSWER + ANSWER_OF_A_HOP * hops
        self._handshake = Handshake(key, host_key=known, prologue=self.prologue)
        if known is None:
            self.packets_to_send = [self._handshake.write(Packet.XX_1)]
        else:
            self.packets_to_send = [self._handshake.write(Packet.IK_1, bytes(app_start(hello(known))))]

    def _take_packet(self, sdu: bytes) -> None:
        if self.is_known:
            answer = self._handshake.read(Packet.IK_2, sdu)
            self._begin_records()
            self._take_frames(answer)
            return
        self._handshake.read(Packet.XX_2, sdu)
        if not identifier(self._handshake.their_key).startswith(self._wanted):
            raise Misbehaviour("changedIdentity")
        hello = self._hello(self._handshake.their_key)
        self.packets_to_send.append(self._handshake.write(Packet.XX_3, bytes(app_start(hello))))
        self._begin_records()

    def _begin_records(self) -> None:
        self.their_key = self._handshake.their_key
        self._records = self._handshake.records()

    def _take_early_frame(self, frame: Frame) -> None:
        if frame.kind == Kind.SELF_INFO:
            self.their_hello = Hello.read(frame.body)
            # In a circuit nothing was advertised that this could be compared with.
            if self.their_hello.critical & ~self._critical and not self.in_circuit:
                raise Misbehaviour("strippedAdvertisement")
            self._connect()
            if self.why is None:
                # Nobody is taken for connected before this record.
                self.say_ping()
        elif frame.kind == Kind.REFUSAL:
            self.refused = frame.body[0]
            self.close(f"refusal {frame.body[0]}")
        elif frame.kind == Kind.GOODBYE:
            self.close("goodbye")
        else:
            super()._take_early_frame(frame)


class Responder(Link):
    def __init__(self, owner: Owner, key: Key, mtu: int, *, in_circuit: bool = False, hops: int = 0) -> None:
        super().__init__(owner, key, mtu, is_initiator=False, in_circuit=in_circuit)
        self.patience = TO_BE_CONNECTED + ANSWER_OF_A_HOP * hops
        self._handshake: Handshake | None = None
        self._awaits_record = False

    def refuse_clearly(self, packet: bytes) -> None:
        self.packets_to_send.append(packet)
        self._closing_at = self._owner.now() + FINAL_FRAME
        self._end("busy")

    def _may_say(self) -> bool:
        """After an IK-1 only to somebody who has shown that it is no replay."""
        return not self._awaits_record

    def _take_packet(self, sdu: bytes) -> None:
        if self._handshake is None:
            known = sdu[:1] == bytes((Packet.IK_1,))
            self._handshake = Handshake(self.key, known=known, initiator=False, prologue=self.prologue)
            if known:
                self._answer(self._handshake.read(Packet.IK_1, sdu))
            else:
                self._handshake.read(Packet.XX_1, sdu)
                self.packets_to_send.append(self._handshake.write(Packet.XX_2))
        else:
            self._answer(self._handshake.read(Packet.XX_3, sdu))

    def _answer(self, payload: bytes) -> None:
        assert self._handshake
        first = next(frames(payload), None)
        if first is None or first.kind != Kind.APP_START:
            raise Misbehaviour("badHandshake")
        self.their_key = self._handshake.their_key
        self.their_hello = Hello.read(first.body)
        answer = self._owner.admitted(self)
        frame = self_info(answer) if isinstance(answer, Hello) else refusal(answer)
        if self._handshake.known:
            self.packets_to_send.append(self._handshake.write(Packet.IK_2, bytes(frame)))
            self._awaits_record = isinstance(answer, Hello)
            self._records = self._handshake.records()
            if not isinstance(answer, Hello):
                self._closing_at = self._owner.now() + FINAL_FRAME
                self._end(f"refused {answer}")
        else:
            self._records = self._handshake.records()
            if isinstance(answer, Hello):
                self.say(frame)
                self._connect()
            else:
                self.finish(frame, f"refused {answer}")

    def _confirmed(self) -> None:
        if self._awaits_record:
            self._awaits_record = False
            again = self._owner.admitted(self)
            if isinstance(again, Hello):
                self._connect()
            else:
                self.finish(refusal(again), f"refused {again}")
