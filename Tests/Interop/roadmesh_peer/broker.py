# SPDX-License-Identifier: Apache-2.0
"""The broker of docs/protocol.md: nodes find and call each other through MQTT, and a channel is two topics of values.

python -m roadmesh_peer.broker mqtt://HOST:PORT NAME HOST-NAME [SONG…]    joins that host, votes, shows the queue,
                                                                         and leaves
"""

from __future__ import annotations

import math
import secrets
import sys
from collections.abc import Callable
from urllib.parse import urlsplit

from .broker_connection import Connection
from .broker_wire import (
    ANSWER,
    CHANNEL_BYTES,
    LARGEST_VALUE,
    PREFIX,
    RUN_BYTES,
    Call,
    Presence,
    Topics,
    address_of,
    client_id,
)
from .chunks import BrokenFraming, Chunks
from .guest import queue_lines
from .mesh_client import Client
from .net import Net, Speaker
from .noise_link import Key
from .virtual_air import Heard
from .wire import LARGEST_SDU, SERVICE, Advertisement, Malformed, Tail, service_uuid

SILENCE = 20
UNANSWERED = 4.0
"""A call without an answer ends after this many seconds, and so does a call that is followed by no value."""
UNFINISHED = 10.0
"""A channel ends if an SDU is incomplete this many seconds after its first chunk."""
FIRST_REST, LONGEST_REST = 0.1, 2.0
"""Pauses between two connections that fail."""
QUIET, UNHEARD = 40.0, 5.0
"""After this many seconds without a message, a node publishes one to itself, which must arrive within the second
time."""
CHANNELS_OF_OTHERS, CALLS_OF_OTHERS = 40, 256
HOSTS = 256
AGAIN = 1.0
"""If another client overwrites an advertisement, it is published again at the earliest this many seconds after the
last time."""


class BrokerChannel:
    """A channel of this connection to the broker, and the link on it."""

    mtu = LARGEST_SDU

    def __init__(self, radio: BrokerBearer, them: str, channel: str, speaker: Speaker, run: bytes = b"") -> None:
        """A channel to a node that was called while this was its run, or to a node that has called (no run)."""
        self._radio = radio
        self.them = them
        self.channel = channel
        self.speaker = speaker
        self.run = run
        self._chunks = Chunks()
        self._unsent: bytes | None = None
        self._due: float | None = None
        """Deadline of the next message: the answer to the call, or the rest of an SDU."""
        self._is_answered = not self.is_caller
        self._is_open = True
        if self.is_caller:
            speaker.begun_at = math.inf
            self._due = radio.net.now + UNANSWERED
        radio.channels[channel] = self
        radio.net.channels.append(self)

    @property
    def is_caller(self) -> bool:
        """This node is the caller."""
        return bool(self.run)

    def take(self, value: bytes) -> None:
        self._radio.net.touched.add(self.speaker.owner)
        try:
            sdu, told = self._chunks.take(value)
        except BrokenFraming:
            self._break_off()
            return
        if self._chunks.has_ended:
            self.lost()
            return
        if not self._is_answered:
            self._is_answered, self._due = True, None
            self.speaker.begun_at = self._radio.net.now
            # The call was received.
            self._say(ANSWER)
        if not self._chunks.is_within_sdu:
            self._due = None
        elif self._due is None:
            self._due = self._radio.net.now + UNFINISHED
        if told:
            self._say(told)
        if sdu:
            self.speaker.take(sdu)

    def flush(self) -> None:
        if self._due is not None and self._radio.net.now >= self._due:
            self._break_off()
        while self._is_open and self._is_answered and (value := self._unsent or self._next_value()):
            self._unsent = value
            if not self._chunks.may_leave:
                break
            self._unsent = None
            self._say(value)
        if self.speaker.is_over:
            self.close()

    def _next_value(self) -> bytes | None:
        sdu = self.speaker.next_sdu()
        return next(self._chunks.cut(sdu, LARGEST_VALUE)) if sdu else None

    def _say(self, value: bytes) -> None:
        self._radio.publish(self._radio.topics.to(self.them, self.channel), value)

    def _break_off(self) -> None:
        self.close()
        self.speaker.lost()

    def close(self) -> None:
        """Publishes the end of the channel."""
        if self._is_open:
            self._say(self._chunks.end)
            self._forget()

    def lost(self) -> None:
        """The other side has closed the channel, or the broker has lost that side."""
        if self._is_open:
            self._forget()
            self.speaker.lost()

    def _forget(self) -> None:
        self._is_open = False
        self._radio.channels.pop(self.channel)
        self._radio.net.channels.remove(self)


class BrokerBearer:
    """A node's connection to a broker, with a radio's interface: it scans and dials, advertises and accepts dials."""

    INTERVAL = 0.025
    silence = SILENCE

    def __init__(self, net: Net, url: str, identifier: bytes, service: str = SERVICE, prefix: str = PREFIX) -> None:
        parts = urlsplit(url)
        self._broker = (parts.hostname or "", parts.port or 1883)
        self.net = net
        self.address = address_of(identifier)
        self.topics = Topics(prefix, service_uuid(service))
        self.channels: dict[str, BrokerChannel] = {}
        self._run = b""
        """The run of this connection; empty without one."""
        self._connection: Connection | None = None
        self._is_granted = False
        self._heard_at = 0.0
        self._asked_at: float | None = None
        """The time when this node published a message to itself that has not arrived yet."""
        self._rest, self._connect_at = FIRST_REST, 0.0
        self._listener: Callable[[Heard], None] | None = None
        self._is_looking = False
        self._present: dict[str, tuple[Heard, bytes]] = {}
        """The advertised nodes, each with its run."""
        self._told_at = 0.0
        self._calls: dict[str, tuple[str, float]] = {}
        """Calls without a value so far: the caller, and the deadline of the first value."""
        self._answer: Callable[[], Speaker] | None = None
        self._advertised: tuple[Advertisement, str] | None = None
        self._published = b""
        """The advertisement that the broker has, as far as this node knows."""
        self._published_at = -math.inf
        self._is_echoed = False
        self._is_closed = False
        net.nodes.append(self)

    @property
    def is_connected(self) -> bool:
        return self._is_granted

    @property
    def is_advertised(self) -> bool:
        """The broker has sent this node its own advertisement."""
        return self._is_echoed

    @property
    def present(self) -> list[Heard]:
        """Advertisements that the broker has, without this node's own."""
        return [heard for heard, _ in self._present.values()]

    def tick(self) -> None:
        if self._is_closed:
            return
        if self._connection:
            self._connection.tick()
        elif self.net.now >= self._connect_at:
            self._connect()
        if self._listener and self.net.now >= self._told_at + self.INTERVAL:
            self._told_at = self.net.now
            for heard in self.present:
                self._listener(heard)
        self._forget_calls()
        self._tell()
        if self._is_granted:
            self._ask()

    # Connection

    def _connect(self) -> None:
        will = self.topics.here(self.address) if self._answer else None
        try:
            self._connection = Connection(self.net, *self._broker, client_id(self.address), self, will)
        except OSError:
            self.disconnected("nobody is there")

    def connected(self) -> None:
        self._run = secrets.token_bytes(RUN_BYTES)
        assert self._connection
        self._connection.subscribe(self.topics.to(self.address))
        self._look()

    def granted(self, topic: str) -> None:
        if topic == self.topics.to(self.address):
            self._is_granted, self._rest = True, FIRST_REST
            self._heard_at, self._asked_at = self.net.now, None
            self._tell()

    def disconnected(self, why: str) -> None:
        """The next connection starts without any state of this one."""
        self._connection, self._run = None, b""
        self._is_granted = self._is_looking = self._is_echoed = False
        self._published, self._published_at = b"", -math.inf
        self._present.clear()
        self._calls.clear()
        self._connect_at = self.net.now + self._rest
        self._rest = min(2 * self._rest, LONGEST_REST)
        for channel in list(self.channels.values()):
            channel.lost()

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        if self._connection:
            self._connection.publish(topic, payload, retain=retain)

    def _ask(self) -> None:
        """Checks the subscriptions: a broker may have forgotten them."""
        if self._asked_at is not None and self.net.now >= self._asked_at + UNHEARD:
            assert self._connection
            self._connection.close()
            self.disconnected("it has forgotten this node")
        elif self._asked_at is None and self.net.now >= self._heard_at + QUIET:
            self._asked_at = self.net.now
            self.publish(self.topics.to(self.address, secrets.token_hex(CHANNEL_BYTES)), ANSWER)

    def came(self, topic: str, payload: bytes) -> None:
        self._heard_at, self._asked_at = self.net.now, None
        place = topic.rpartition("/")[2]
        if topic == self.topics.here(place):
            self._take_presence(place, payload)
        elif topic == self.topics.call(self.address):
            self._take_call(payload)
        elif channel := self.channels.get(place) or self._opened(place):
            channel.take(payload)

    # Other nodes

    def listen(self, heard: Callable[[Heard], None]) -> None:
        self._listener = heard
        self._look()

    def _look(self) -> None:
        """A node that has looked for hosts keeps its subscription, to see new runs of them. A node that advertises
        subscribes to its own address."""
        if self._connection and self._run and not self._is_looking and (self._listener or self._answer):
            self._is_looking = True
            self._connection.subscribe(self.topics.here() if self._listener else self.topics.here(self.address))

    def stop_listening(self) -> None:
        self._listener = None

    def _take_presence(self, address: str, payload: bytes) -> None:
        if address == self.address:
            self._published, self._is_echoed = payload, bool(payload)
            return
        was_present = self._present.pop(address, None) is not None
        try:
            presence = Presence.read(payload)
            heard = presence.heard(address)
        except Malformed:
            return
        # No node is reported twice, so when the table is full, a new node is not stored.
        if was_present or len(self._present) < HOSTS:
            self._present[address] = heard, presence.run
        for channel in list(self.channels.values()):
            if channel.is_caller and channel.them == address and channel.run != presence.run:
                channel.lost()

    def dial(self, heard: Heard, speaker: Speaker) -> BrokerChannel | None:
        if not self._is_granted or heard.address not in self._present:
            return None
        _, run = self._present[heard.address]
        channel = secrets.token_hex(CHANNEL_BYTES)
        self.publish(self.topics.call(heard.address), bytes(Call(self.topics.service, self.address, channel)))
        return BrokerChannel(self, heard.address, channel, speaker, run)

    # Incoming calls

    def accept(self, answer: Callable[[], Speaker]) -> None:
        self._answer = answer

    def _take_call(self, payload: bytes) -> None:
        try:
            call = Call.read(payload)
        except Malformed:
            return
        if self._answer is None or call.service != self.topics.service:
            return
        if call.channel in self.channels or call.channel in self._calls:
            return
        if len(self._calls) >= CALLS_OF_OTHERS:
            self.publish(self.topics.to(call.caller, call.channel), Chunks().end)
            return
        self._calls[call.channel] = call.caller, self.net.now + UNANSWERED
        self.publish(self.topics.to(call.caller, call.channel), ANSWER)

    def _forget_calls(self) -> None:
        self._calls = {channel: call for channel, call in self._calls.items() if call[1] > self.net.now}

    def _opened(self, channel: str) -> BrokerChannel | None:
        """The channel of a call, if this message is part of a call. The caller sends first."""
        caller, _ = self._calls.pop(channel, ("", 0.0))
        if not caller or self._answer is None:
            return None
        if sum(not one.is_caller for one in self.channels.values()) >= CHANNELS_OF_OTHERS:
            self.publish(self.topics.to(caller, channel), Chunks().end)
            return None
        return BrokerChannel(self, caller, channel, self._answer())

    def advertise(self, advertisement: Advertisement, name: str, tail: Tail) -> None:
        self._advertised = (advertisement, f"{name}{tail}")

    def _tell(self) -> None:
        """Publishes the advertisement if the broker has another one, or none."""
        if not self._is_granted or not self._advertised:
            return
        wanted = bytes(Presence(self._run, *self._advertised))
        if self._published == wanted or self.net.now < self._published_at + AGAIN:
            return
        self._published, self._published_at = wanted, self.net.now
        self.publish(self.topics.here(self.address), wanted, retain=True)

    def close(self) -> None:
        for channel in list(self.channels.values()):
            channel.close()
        if self._advertised:
            self.publish(self.topics.here(self.address), b"", retain=True)
        self._leave(says_so=True)

    def vanish(self) -> None:
        """Disappears as a killed program does."""
        self._leave(says_so=False)

    def _leave(self, *, says_so: bool) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self.net.nodes.remove(self)
        if self._connection:
            self._connection.close(says_so=says_so)
            self._connection = None


def main(url: str, name: str, host_name: str, *songs: str) -> None:
    net = Net(real=True)
    key = Key()
    radio = BrokerBearer(net, url, key.identifier)
    guest = Client(net, radio, name, host_name=host_name, key=key)
    net.until(lambda: guest.is_connected and guest.view.state is not None, "the host's queue")
    for song in songs:
        guest.vote(song)
    net.until(lambda: all(map(guest.shows_vote, songs)) and not guest.conversation.outbox, "the votes")
    assert guest.view.state
    print("\n".join(queue_lines(guest.view.state)))
    guest.leave()
    net.until(lambda: guest.up is None, "the end of the link")
    radio.close()
    net.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
