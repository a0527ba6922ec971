# SPDX-License-Identifier: Apache-2.0
"""A guest of RoadMesh that shares no code with RoadMesh: it joins a host, votes, sees the queue, and comes back.

`Talk` is one sealed link, on which a test can send anything. `Guest` uses it as docs/protocol.md requires of a guest.

python -m roadmesh_peer.guest AIR NAME [SONG…]    joins a host on the virtual radio, votes, shows the queue, and leaves
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from . import democracy_dj, proof
from .conversation import Conversation
from .noise_link import Handshake, Key, Packet, Records, prologue, read_clear_refusal
from .virtual_air import Channel, ChannelClosed, Radio
from .wire import (
    LARGEST_SDU,
    SERVICE,
    TAG_BYTES,
    Assembly,
    Farewell,
    Fragment,
    Frame,
    Hello,
    Kind,
    Malformed,
    Reason,
    Unit,
    ack,
    app_start,
    fragments,
    frames,
    goodbye,
    identifier,
    message,
    ping,
    pong,
)

PATIENCE = 10.0
PING_EVERY, SILENCE = 1.0, 2.0


class Refused(Exception):
    def __init__(self, reason: int) -> None:
        super().__init__(f"refused, reason {reason}")
        self.reason = reason


class LinkEnded(Exception):
    """The other side has said goodbye, perhaps with what happens to its session."""

    def __init__(self, frame: Frame) -> None:
        super().__init__(f"goodbye, reason {frame.body.hex()}")
        self.reason = frame.body[0] if frame.body else Farewell.UNSPECIFIED


@dataclass
class Joining:
    """The messages of a join."""

    packets: list[bytes]
    """The guest's and the host's packets in turn, without records."""
    answer: Hello

    @property
    def handshake_bytes(self) -> int:
        return sum(map(len, self.packets))


class Talk:
    """A channel with a handshake, and then records."""

    def __init__(self, channel: Channel, key: Key, service: str = SERVICE) -> None:
        self.channel = channel
        self.key = key
        self.records: Records | None = None
        self.host_key = b""
        self.handshake_hash = b""
        self.packets: list[bytes] = []
        self._prologue = prologue(service)
        self._frames: list[Frame] = []

    # Handshake

    def send_packet(self, packet: bytes) -> None:
        self.packets.append(packet)
        self.channel.send(packet)

    def receive_packet(self, timeout: float = PATIENCE) -> bytes:
        packet = self._receive(timeout)
        self.packets.append(packet)
        return packet

    def _receive(self, timeout: float) -> bytes:
        if (sdu := self.channel.receive(timeout)) is None:
            raise TimeoutError(f"no SDU within {timeout:g} s")
        return sdu

    def greet(self, head: bytes = b"", ephemeral: bytes | None = None) -> Handshake:
        """The first two packets of XX. After them the host has proved its key. The key's identifier must begin with
        the head."""
        handshake = Handshake(self.key, ephemeral=ephemeral, prologue=self._prologue)
        self.send_packet(handshake.write(Packet.XX_1))
        handshake.read(Packet.XX_2, self.receive_packet())
        if not identifier(handshake.their_key).startswith(head):
            raise Malformed("another host than the advertised one")
        return handshake

    def introduce(self, handshake: Handshake, payload: bytes) -> None:
        """Sends XX-3. The answer comes in the first record."""
        self.send_packet(handshake.write(Packet.XX_3, payload))
        self.begin_records(handshake)

    def recognise(self, host_key: bytes, payload: bytes, ephemeral: bytes | None = None) -> None:
        """Both packets of IK. The answer is in IK-2."""
        handshake = Handshake(self.key, host_key=host_key, ephemeral=ephemeral, prologue=self._prologue)
        self.send_packet(handshake.write(Packet.IK_1, payload))
        answer = handshake.read(Packet.IK_2, self.receive_packet())
        self.begin_records(handshake)
        self._frames.extend(frames(answer))

    def begin_records(self, handshake: Handshake) -> None:
        self.host_key = handshake.their_key
        self.handshake_hash = handshake.hash
        self.records = handshake.records()

    def hear_answer(self) -> Frame:
        return self.hear_any(Kind.SELF_INFO, Kind.REFUSAL, Kind.CHALLENGE, Kind.GOODBYE)

    def begin_run(self, secret: proof.Secret) -> proof.Run:
        ci = proof.channel(self.key.public, self.host_key, secret.invitation)
        return proof.Run(secret.known, ci, self.handshake_hash, is_initiator=True)

    def _prove(self, secret: proof.Secret, run: proof.Run | None, number: int, data: bytes) -> tuple[proof.Run, bytes]:
        """Answers a challenge. Returns the tag that the host must know."""
        if run is None:
            run = self.begin_run(secret)
            self.say(proof.frame(number, run.share + secret.invitation))
            return run, b""
        _, own, theirs = run.agree(proof.share_of(data))
        self.say(proof.frame(number, own))
        return run, theirs

    def join(
        self,
        hello: Callable[[bytes], Hello],
        known: bytes | None = None,
        head: bytes = b"",
        secret: proof.Secret | None = None,
        proved: Collection[bytes] = (),
    ) -> Joining:
        """The complete handshake: IK if the host's key is known, else XX.

        The hello depends on the host, so it is requested by the host's key. With a secret, the guest joins only hosts
        that know the secret too: those that have proved it before, and the one that it is for.
        """
        if known is None:
            handshake = self.greet(head)
            self.introduce(handshake, bytes(app_start(hello(handshake.their_key))))
        else:
            self.recognise(known, bytes(app_start(hello(known))))
        answer = self.hear_answer()
        run, tag = None, b""
        while answer.kind == Kind.CHALLENGE and secret and answer.body[:1] == bytes((proof.KIND,)):
            run, tag = self._prove(secret, run, answer.body[1], answer.body[2:])
            answer = self.hear_answer()
        if answer.kind == Kind.SELF_INFO:
            admitted = Hello.read(answer.body)
            is_proof = bool(tag) and admitted.proof == bytes((proof.KIND,)) + tag
            is_known = self.host_key in proved or (secret and identifier(self.host_key) == secret.host)
            if secret and not is_proof and (run or not is_known):
                raise proof.Unproven
            return Joining(self.packets, admitted)
        if answer.kind == Kind.GOODBYE:
            raise LinkEnded(answer)
        raise Refused(answer.body[0] if answer.kind == Kind.REFUSAL else Reason.CHALLENGE)

    # Records

    def say(self, *said: Frame | bytes) -> int:
        """Sends frames in one record. Returns the size of its SDU."""
        assert self.records is not None
        record = self.records.seal(b"".join(map(bytes, said)))
        self.channel.send(record)
        return len(record)

    def hear(self, timeout: float = PATIENCE) -> Frame:
        """The next frame."""
        assert self.records is not None
        deadline = monotonic() + timeout
        while not self._frames:
            self._frames.extend(frames(self.records.open(self._receive(deadline - monotonic()))))
        return self._frames.pop(0)

    def hear_record(self, timeout: float) -> tuple[int, list[Frame]] | None:
        """The size of the next record and its frames. The rest of the record with the answer has size 0."""
        assert self.records is not None
        if self._frames:
            left, self._frames = self._frames, []
            return 0, left
        if (record := self.channel.receive(timeout)) is None:
            return None
        return len(record), list(frames(self.records.open(record)))

    def hear_any(self, *kinds: Kind, timeout: float = PATIENCE) -> Frame:
        """The next frame of one of these types. Other frames are dropped."""
        deadline = monotonic() + timeout
        while (frame := self.hear(deadline - monotonic())).kind not in kinds:
            pass
        return frame

    def hear_of(self, kind: Kind, timeout: float = PATIENCE) -> bytes:
        return self.hear_any(kind, timeout=timeout).body

    def closed(self, timeout: float = PATIENCE) -> None:
        """Waits until the other side has closed the channel. Frames before that are dropped."""
        deadline = monotonic() + timeout
        try:
            while (left := deadline - monotonic()) > 0:
                self.channel.receive(left)
        except ChannelClosed:
            return
        raise TimeoutError(f"the channel is still open after {timeout:g} s")

    def clearly_refused(self, timeout: float = PATIENCE) -> tuple[int, int]:
        """Waits for a clear refusal. Returns its version and reason."""
        packet = self._receive(timeout)
        refused = read_clear_refusal(packet)
        assert refused, f"no clear refusal: {packet.hex()}"
        return refused.version, refused.reason


@dataclass
class Guest:
    """A guest with a memory. It has a link after `join`, and handles messages while a test waits in `until`."""

    name: str
    radio: Radio
    key: Key = field(default_factory=Key)
    known_hosts: list[bytes] = field(default_factory=list)
    conversations: dict[bytes, Conversation] = field(default_factory=dict)
    view: democracy_dj.View = field(default_factory=democracy_dj.View)
    talk: Talk | None = None
    host: bytes = b""
    secret: proof.Secret | None = None
    """The secret. The guest joins no host that does not know it too."""
    proved: set[bytes] = field(default_factory=set)
    """Keys of the hosts that have proved it."""

    def join(self, host_name: str | None = None, timeout: float = PATIENCE) -> Joining:
        """Finds a host, dials it and joins. Sends unacknowledged messages again."""
        heard = self.radio.listen(host_name, timeout)
        head = heard.head
        candidates = [key for key in self.known_hosts if identifier(key).startswith(head)]
        known = candidates[0] if len(candidates) == 1 else None
        return self.join_on(self.radio.dial(heard), known, head)

    def join_on(self, channel: Channel, known: bytes | None = None, head: bytes = b"") -> Joining:
        talk = Talk(channel, self.key)
        joining = talk.join(
            lambda host_key: self._conversation(host_key).hello(self.name), known, head, self.secret, self.proved
        )
        if joining.answer.proof:
            self.proved.add(talk.host_key)
        if talk.host_key not in self.known_hosts:
            self.known_hosts.append(talk.host_key)
        conversation = self._conversation(talk.host_key)
        conversation.meet(joining.answer)
        self.talk = talk
        self.host = identifier(talk.host_key)
        self.view.begin_link()
        self._begin_link()
        # The guest counts as connected from this record on.
        talk.say(self._next_ping())
        for unit in conversation.outbox:
            self.send(unit)
        return joining

    def _begin_link(self) -> None:
        self._ping_number = 0
        self._pinged = 0.0
        self._heard = monotonic()
        self._latest_sent = 0
        self._latest_heard = 0
        self._lanes = {True: Assembly(), False: Assembly()}
        # The size of each record, and the types of its frames.
        self.said: list[tuple[int, list[int]]] = []
        self.heard: list[tuple[int, list[int]]] = []

    def _conversation(self, host_key: bytes) -> Conversation:
        return self.conversations.setdefault(identifier(host_key), Conversation())

    @property
    def conversation(self) -> Conversation:
        return self.conversations[self.host]

    # Sending

    def vote(self, song: str) -> Unit:
        """Casts a vote: now, or with the next link."""
        unit = self.conversation.write(democracy_dj.vote(song))
        if self.talk:
            self.send(unit)
        return unit

    def send(self, unit: Unit) -> None:
        assert self.talk
        frame = message(unit)
        if len(bytes(frame)) <= LARGEST_SDU - TAG_BYTES:
            self._say(frame)
        else:
            for piece in fragments(unit):
                self._say(piece)

    def send_latest(self, body: bytes) -> None:
        self._latest_sent += 1
        self.send(Unit(body, self._latest_sent, latest=True))

    def leave(self) -> None:
        """Says goodbye, and waits for the host to close."""
        assert self.talk
        self._say(goodbye())
        self.talk.closed()
        self.lose_link()

    def lose_link(self) -> None:
        if self.talk:
            self.talk.channel.close()
        self.talk = None

    def _say(self, frame: Frame) -> None:
        assert self.talk
        self.said.append((self.talk.say(frame), [frame.kind]))

    def _next_ping(self) -> Frame:
        self._ping_number += 1
        self._pinged = monotonic()
        return ping(self._ping_number)

    # Receiving

    def until(self, come: Callable[[], bool], what: str = "what was waited for", timeout: float = PATIENCE) -> None:
        """Handles messages until a condition holds."""
        deadline = monotonic() + timeout
        while not come():
            if monotonic() > deadline:
                raise TimeoutError(f"{what} did not come about within {timeout:g} s")
            self.serve(min(deadline, self._pinged + PING_EVERY) - monotonic())

    def until_lost(self, timeout: float = PATIENCE) -> None:
        try:
            self.until(lambda: False, "the end of the link", timeout)
        except ChannelClosed:
            self.lose_link()

    def until_shown(self, song: str, timeout: float = PATIENCE) -> None:
        """Waits until the current state has this guest's vote."""

        def shown() -> bool:
            return self.view.state is not None and self.key.identifier in (self.view.state.voters(song) or ())

        self.until(shown, f"the vote for {song}", timeout)

    def until_acknowledged(self, timeout: float = PATIENCE) -> None:
        self.until(lambda: not self.conversation.outbox, "the acknowledgement", timeout)

    def serve(self, timeout: float) -> None:
        """Handles the next record, if one arrives in time, and sends a ping when it is due."""
        assert self.talk
        record = self.talk.hear_record(max(timeout, 0.0))
        if record is not None:
            self._heard = monotonic()
            count, taken = record
            self.heard.append((count, [frame.kind for frame in taken]))
            for frame in taken:
                self._take(frame)
        elif monotonic() - self._heard > PING_EVERY + SILENCE:
            raise ChannelClosed("silence")
        if monotonic() >= self._pinged + PING_EVERY:
            self._say(self._next_ping())

    def _take(self, frame: Frame) -> None:
        if frame.kind == Kind.PING:
            self._say(pong(frame.number()))
        elif frame.kind == Kind.ACK:
            self.conversation.acknowledged(frame.number())
        elif frame.kind == Kind.MESSAGE:
            self._take_unit(frame.body)
        elif frame.kind == Kind.FRAGMENT:
            fragment = Fragment.read(frame.body)
            if (unit := self._lanes[fragment.latest].add(fragment)) is not None:
                self._take_unit(unit)
        elif frame.kind == Kind.REFUSAL:
            raise Refused(frame.body[0])
        elif frame.kind == Kind.GOODBYE:
            raise LinkEnded(frame)

    def _take_unit(self, data: bytes) -> None:
        unit = Unit.read(data)
        if unit.latest:
            if unit.number <= self._latest_heard:
                return
            self._latest_heard = unit.number
        elif not self.conversation.take(unit):
            return
        try:
            said = self.view.hear(unit.body)
        except Malformed:
            said = None
        if not unit.latest:
            self._say(ack(self.conversation.delivered))
        if said is not None:
            self.send_latest(said)


def queue_lines(state: democracy_dj.State) -> Iterator[str]:
    playing = state.now_playing
    yield f"plays: {playing.song.title}" if playing else "nothing plays"
    for item in state.queue:
        yield f"  [{item.song.id}] {item.song.title}: {len(item.voters)}"


def main(air: str, name: str, *songs: str) -> None:
    show_votes(Guest(name, Radio(Path(air), name.lower())), *songs)


def show_votes(guest: Guest, *songs: str) -> None:
    """Joins, votes, shows the queue, and leaves."""
    guest.join()
    for song in songs:
        guest.vote(song)
    for song in songs:
        guest.until_shown(song)
    guest.until(lambda: guest.view.state is not None)
    assert guest.view.state
    print("\n".join(queue_lines(guest.view.state)))
    guest.leave()


if __name__ == "__main__":
    main(*sys.argv[1:])
