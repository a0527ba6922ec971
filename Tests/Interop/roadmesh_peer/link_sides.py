# SPDX-License-Identifier: Apache-2.0
"""The two sides of a link's handshake, by docs/protocol.md: the initiator and the responder."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from .link import ANSWER, ANSWER_OF_A_HOP, FINAL_FRAME, TO_BE_CONNECTED, Link, Misbehaviour, Owner
from .noise_link import ClearReason, Forged, Handshake, Key, Packet, read_clear_refusal
from .rejoin import KEPT_FOR, Kept, Rejoin
from .wire import MAJOR_VERSION, TAG_BYTES, Frame, Hello, Kind, app_start, frames, identifier, refusal, self_info


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
        kept: Kept | None = None,
        critical: int = 0,
        in_circuit: bool = False,
        hops: int = 0,
    ) -> None:
        """The other side's identifier must begin with `wanted`. `critical` are the flags of its advertisement. What
        is `kept` of the last handshake is tried first, then the known key."""
        super().__init__(owner, key, mtu, is_initiator=True, in_circuit=in_circuit)
        self._hello = hello
        self._wanted = wanted
        self._critical = critical
        self.is_known = known is not None
        self.patience = ANSWER + ANSWER_OF_A_HOP * hops
        self._handshake = Handshake(key, host_key=known, prologue=self.prologue)
        self.kept = kept if known is not None else None
        if self.kept and known is not None:
            self._rejoin(self.kept, hello(known))
        elif known is None:
            self.packets_to_send = [self._handshake.write(Packet.XX_1)]
        else:
            self.packets_to_send = [self._handshake.write(Packet.IK_1, bytes(app_start(hello(known))))]

    def _rejoin(self, kept: Kept, hello: Hello) -> None:
        kept.attempt += 1
        self.their_key = kept.their_key
        self._records = kept.records(kept.attempt, is_initiator=True)
        record = self._records.seal(bytes(app_start(hello.called(""))))
        self.packets_to_send = [bytes(Rejoin(kept.identifier, kept.attempt, record))]

    def _take_record(self, sdu: bytes) -> None:
        refused = read_clear_refusal(sdu)
        if self.kept is None or self.is_connected or len(sdu) >= TAG_BYTES or refused is None:
            super()._take_record(sdu)
        elif refused.reason != ClearReason.UNKNOWN_KEY:
            raise refused
        else:
            # The host has forgotten the handshake, so this side sends its full hello again.
            hello = self._hello(self.their_key)
            self.kept = self._records = None
            self.packets_to_send.append(self._handshake.write(Packet.IK_1, bytes(app_start(hello))))

    def keeps(self) -> Kept | None:
        """What this side keeps of this handshake, if there was one and the host keeps it too."""
        hello = self.their_hello
        if not self.in_circuit or self.kept or hello is None or not hello.rejoins:
            return None
        return Kept(self._handshake.secret, self.their_key, hello.name, hello.signing_key, self._owner.now() + KEPT_FOR)

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
            hello = Hello.read(frame.body)
            self.their_hello = self.kept.completed(hello) if self.kept else hello
            # In a circuit no advertisement was received, so there are no flags to compare with these.
            if self.their_hello.critical & ~self._critical and not self.in_circuit:
                raise Misbehaviour("strippedAdvertisement")
            self._connect()
            if self.why is None:
                # This side counts as connected from this record on.
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
        self._has_forgotten = False
        self.kept: Kept | None = None

    def refuse_clearly(self, packet: bytes) -> None:
        self.packets_to_send.append(packet)
        self._closing_at = self._owner.now() + FINAL_FRAME
        self._end("busy")

    def _may_say(self) -> bool:
        """After an IK-1, waits for a record, which proves that the packet was no replay."""
        return not self._awaits_record

    def _take_rejoin(self, rejoin: Rejoin) -> None:
        """A guest that resumes a kept handshake counts if this attempt is new."""
        kept = self._owner.kept(rejoin.identifier) if self.in_circuit else None
        payload = None
        if kept and rejoin.attempt > kept.attempt:
            records = kept.records(rejoin.attempt, is_initiator=False)
            with suppress(Forged):
                payload = records.open(rejoin.record)
        if kept is None or payload is None:
            self._has_forgotten = True
            self.packets_to_send.append(bytes((Packet.CLEAR_REFUSAL, MAJOR_VERSION, ClearReason.UNKNOWN_KEY)))
            return
        kept.attempt = rejoin.attempt
        self.kept, self._records, self.their_key = kept, records, kept.their_key
        self.their_hello = kept.completed(self._introduction(payload))
        answer = self._owner.admitted(self)
        if isinstance(answer, Hello):
            self.packets_to_send.append(records.seal(bytes(self_info(answer.called("")))))
            self._awaits_record = True
        else:
            self.finish(refusal(answer), f"refused {answer}")

    def keeps(self) -> Kept | None:
        """What this side keeps of this handshake, if there was one in a circuit."""
        if not self.in_circuit or self.kept or self._handshake is None or self.their_hello is None:
            return None
        return Kept(self._handshake.secret, self.their_key, self.their_hello.name, b"", self._owner.now() + KEPT_FOR)

    def _introduction(self, payload: bytes) -> Hello:
        first = next(frames(payload), None)
        if first is None or first.kind != Kind.APP_START:
            raise Misbehaviour("badHandshake")
        return Hello.read(first.body)

    def _take_packet(self, sdu: bytes) -> None:
        if self._handshake is None and sdu[:1] == bytes((Packet.REJOIN,)) and not self._has_forgotten:
            self._take_rejoin(Rejoin.read(sdu))
        elif self._handshake is None:
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
        self.their_hello = self._introduction(payload)
        self.their_key = self._handshake.their_key
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
