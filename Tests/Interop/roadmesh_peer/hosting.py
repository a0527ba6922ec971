# SPDX-License-Identifier: Apache-2.0
"""The host's side of a link, by docs/protocol.md, as far as it is needed to see what a guest sends."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import covers, proof
from .guest import PATIENCE, Talk
from .noise_link import ClearReason, Handshake, Key, Packet
from .virtual_air import Channel
from .wire import MAJOR_VERSION, Frame, Hello, Kind, Malformed, Unit, frames, message, pong, self_info


def clear_refusal(reason: ClearReason, version: int = MAJOR_VERSION) -> bytes:
    return bytes((Packet.CLEAR_REFUSAL, version, reason))


@dataclass(frozen=True)
class Caller:
    """A guest that has called, and its hello."""

    key: bytes
    hello: Hello
    known: bool


class HostTalk(Talk):
    """A channel that a guest has opened."""

    def __init__(self, channel: Channel, key: Key) -> None:
        super().__init__(channel, key)
        self._answer: Handshake | None = None

    def meet(self) -> Caller:
        """Reads the guest's packets up to its hello. The answer is due then."""
        packet = self.receive_packet()
        known = packet[0] == Packet.IK_1
        handshake = Handshake(self.key, known=known, initiator=False)
        if known:
            payload = handshake.read(Packet.IK_1, packet)
            self._answer = handshake
        else:
            handshake.read(Packet.XX_1, packet)
            self.send_packet(handshake.write(Packet.XX_2))
            payload = handshake.read(Packet.XX_3, self.receive_packet())
            self.begin_records(handshake)
        first = next(frames(payload))
        if first.kind != Kind.APP_START:
            raise Malformed("no appStart")
        return Caller(handshake.their_key, Hello.read(first.body), known)

    def answer(self, frame: Frame) -> None:
        """Answers in IK-2, or in the first record."""
        if self._answer is None:
            self.say(frame)
            return
        self.send_packet(self._answer.write(Packet.IK_2, bytes(frame)))
        self.begin_records(self._answer)

    def challenge(self, secret: proof.Secret, caller: Caller) -> bytes | None:
        """Makes the guest prove that it knows a secret. Returns this host's own proof, or None if the guest's is
        wrong."""
        self.answer(Frame(Kind.CHALLENGE, bytes((proof.KIND, 1))))
        claimed = self.hear_of(Kind.PROOF)
        assert claimed[:2] == bytes((proof.KIND, 1)), claimed.hex()
        ci = proof.channel(caller.key, self.key.public, secret.invitation)
        run = proof.Run(secret.known, ci, self.handshake_hash, is_initiator=False)
        _, theirs, own = run.agree(proof.share_of(claimed[2:]))
        self.say(Frame(Kind.CHALLENGE, bytes((proof.KIND, 2)) + run.share))
        proved = self.hear_of(Kind.PROOF)
        return bytes((proof.KIND,)) + own if proved == bytes((proof.KIND, 2)) + theirs else None

    def let_in(self, hello: Hello) -> Caller:
        caller = self.meet()
        self.answer(self_info(hello))
        return caller

    # After the answer

    def hear_message(self, latest: bool = False, timeout: float = PATIENCE) -> Unit:
        """The next message of a class, except requests for covers, which a guest sends when it is idle. Answers
        pings meanwhile."""
        while True:
            unit = self._hear_unit(timeout)
            if unit.latest == latest and covers.read_cover_request(unit.body) is None:
                return unit

    def hear_cover_request(self, timeout: float = PATIENCE) -> covers.CoverRequest:
        while True:
            if (asked := covers.read_cover_request(self._hear_unit(timeout).body)) is not None:
                return asked

    def _hear_unit(self, timeout: float) -> Unit:
        while True:
            frame = self.hear_any(Kind.MESSAGE, Kind.PING, timeout=timeout)
            if frame.kind == Kind.MESSAGE:
                return Unit.read(frame.body)
            self.say(pong(frame.number()))


@dataclass
class Updates:
    """Numbers the state updates of a link."""

    talk: HostTalk
    number: int = field(default=0)

    def send(self, body: bytes) -> None:
        self.number += 1
        self.talk.say(message(Unit(body, self.number, latest=True)))
