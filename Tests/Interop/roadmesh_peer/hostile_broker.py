# SPDX-License-Identifier: Apache-2.0
"""An MQTT broker that records all messages, and misbehaves with them when a test switches a fault on.

It runs in its own thread. Without faults it is correct: MQTT 3.1.1 with clean sessions, QoS 0 and 1, retained messages,
last wills, and one connection for each client identifier.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from .mqtt import (
    REFUSED_SUBSCRIPTION,
    Connect,
    Packet,
    Publish,
    Subscribe,
    Type,
    matches,
    read_packet,
    two_bytes,
)
from .wire import Malformed

PATIENCE = 10.0
Done = TypeVar("Done")

Fault = Callable[[Publish], Iterable[tuple[float, Publish]]]
"""The messages that replace a message, each with its delay in seconds."""


@dataclass(frozen=True)
class Seen:
    """A published message. The last will of a lost client counts too."""

    client: str
    message: Publish


class Session:
    """A connected client."""

    def __init__(self, connect: Connect, writer: asyncio.StreamWriter) -> None:
        self.client = connect.client
        self.will = connect.will
        self.patience = connect.keep_alive * 1.5 or None
        self.subscriptions: dict[str, int] = {}
        self._writer = writer
        self._number = 0

    def deliver(self, message: Publish) -> None:
        granted = [qos for pattern, qos in self.subscriptions.items() if matches(pattern, message.topic)]
        if not granted:
            return
        qos = min(message.qos, max(granted))
        if qos:
            self._number = self._number % 0xFFFF + 1
        self.say(replace(message, qos=qos, number=self._number if qos else 0).packet())

    def say(self, packet: Packet) -> None:
        self._writer.write(bytes(packet))

    def close(self) -> None:
        self._writer.close()


class HostileBroker:
    def __init__(self) -> None:
        self.fault: Fault | None = None
        """The fault that is applied to messages, including those to be retained."""
        self.refusal = 0
        """The code that refuses every connection: 4, a bad password; 5, not authorized."""
        self.is_mute = False
        """Whether the broker accepts all packets and answers none."""
        self.seen: list[Seen] = []
        self.heard = bytearray()
        """Every byte of every packet that clients have sent."""
        self.connects: list[Connect] = []
        self.subscribed: list[tuple[str, str, int]] = []
        """Each client's subscriptions, with their quality of service."""
        self.retained: dict[str, Publish] = {}
        self._sessions: dict[str, Session] = {}
        self._writers: set[asyncio.StreamWriter] = set()
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._run_async(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = int(self._server.sockets[0].getsockname()[1])

    @property
    def url(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"

    @property
    def clients(self) -> list[str]:
        return list(self._sessions)

    @property
    def connections(self) -> int:
        """The number of connections so far, including refused ones."""
        return len(self.connects)

    def published(self, pattern: str) -> list[Seen]:
        """Messages published to such topics, the oldest first."""
        return [one for one in list(self.seen) if matches(pattern, one.message.topic)]

    def until(self, holds: Callable[[], bool], what: str = "what was waited for", timeout: float = PATIENCE) -> None:
        """Waits for clients to do something."""
        with self._changed:
            if not self._changed.wait_for(holds, timeout):
                raise TimeoutError(f"{what} did not come about within {timeout:g} s")

    # Faults

    def forge(self, *messages: Publish) -> None:
        """Delivers messages that no client has published."""

        def forge() -> None:
            for message in messages:
                self._pass_on(message)

        self._do(forge)

    def forget(self, client: str | None = None) -> None:
        """Stops delivering to a client, or to all, until it connects again."""

        def forget() -> None:
            for session in list(self._sessions.values()):
                if client in (None, session.client):
                    session.subscriptions.clear()

        self._do(forget)

    def cut(self, client: str | None = None) -> None:
        """Ends the connection of a client, or of all, without a message."""

        def cut() -> None:
            for session in list(self._sessions.values()):
                if client in (None, session.client):
                    session.close()

        self._do(cut)

    def close(self) -> None:
        async def close() -> None:
            self._server.close()
            for writer in self._writers:
                writer.transport.abort()
            await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}), return_exceptions=True)

        self._run_async(close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, act: Callable[[], Done]) -> Done:
        """Runs something in the broker's own thread."""

        async def done() -> Done:
            return act()

        return self._run_async(done())

    def _run_async(self, what: Coroutine[Any, Any, Done]) -> Done:
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(PATIENCE)

    # Normal operation

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        session = None
        try:
            session = await self._admit(reader, writer)
            while session and await self._follow(session, reader):
                pass
        except (asyncio.IncompleteReadError, TimeoutError, Malformed, OSError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()
            if session:
                self._end(session)
            self._notify()

    async def _read(self, reader: asyncio.StreamReader, timeout: float | None) -> Packet:
        while True:
            packet = await asyncio.wait_for(read_packet(reader), timeout)
            self.heard += bytes(packet)
            if not self.is_mute:
                return packet

    async def _admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Session | None:
        connect = Connect.read(await self._read(reader, PATIENCE))
        self.connects.append(connect)
        self._notify()
        is_refused = self.refusal or not connect.is_clean
        writer.write(bytes(Packet(Type.CONNACK, bytes((0, self.refusal if is_refused else 0)))))
        if is_refused:
            return None
        if before := self._sessions.pop(connect.client, None):
            before.close()
            self._publish_will(before)
        session = self._sessions[connect.client] = Session(connect, writer)
        return session

    async def _follow(self, session: Session, reader: asyncio.StreamReader) -> bool:
        """Handles the next packet. Returns whether more may follow."""
        packet = await self._read(reader, session.patience)
        if packet.type == Type.PUBLISH:
            message = Publish.read(packet)
            if message.qos:
                session.say(Packet(Type.PUBACK, two_bytes(message.number)))
            self._take(session.client, message)
        elif packet.type == Type.SUBSCRIBE:
            self._subscribe(session, Subscribe.read(packet))
        elif packet.type == Type.UNSUBSCRIBE:
            asked = Subscribe.read(packet)
            for topic, _ in asked.topics:
                session.subscriptions.pop(topic, None)
            session.say(Packet(Type.UNSUBACK, two_bytes(asked.number)))
        elif packet.type == Type.PINGREQ:
            session.say(Packet(Type.PINGRESP))
        elif packet.type == Type.DISCONNECT:
            session.will = None
            return False
        elif packet.type != Type.PUBACK:
            raise Malformed(f"a packet of type {packet.type}")
        return True

    def _subscribe(self, session: Session, asked: Subscribe) -> None:
        granted = bytes(min(qos, 1) if topic else REFUSED_SUBSCRIPTION for topic, qos in asked.topics)
        session.say(Packet(Type.SUBACK, two_bytes(asked.number) + granted))
        for topic, qos in asked.topics:
            self.subscribed.append((session.client, topic, qos))
            session.subscriptions[topic] = min(qos, 1)
            for message in list(self.retained.values()):
                if matches(topic, message.topic):
                    session.deliver(message)

    def _end(self, session: Session) -> None:
        if self._sessions.get(session.client) is session:
            del self._sessions[session.client]
            self._publish_will(session)

    def _publish_will(self, session: Session) -> None:
        will, session.will = session.will, None
        if will:
            self._take(session.client, will)

    def _take(self, client: str, message: Publish) -> None:
        self.seen.append(Seen(client, message))
        self._notify()
        for delay, passed in self.fault(message) if self.fault else [(0.0, message)]:
            if delay:
                self._loop.call_later(delay, self._pass_on, passed)
            else:
                self._pass_on(passed)

    def _pass_on(self, message: Publish) -> None:
        if message.retain and message.payload:
            self.retained[message.topic] = message
        elif message.retain:
            self.retained.pop(message.topic, None)
        for session in [] if self.is_mute else list(self._sessions.values()):
            # To existing subscribers it is a new message, without the retain flag (3.3.1.3).
            session.deliver(replace(message, retain=False))

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()
