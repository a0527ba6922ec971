# SPDX-License-Identifier: Apache-2.0
"""One connection to an MQTT broker, which runs in a net with other nodes. The MQTT comes from a library."""

from __future__ import annotations

import selectors
import struct
from contextlib import suppress
from typing import Any, Protocol

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

from .net import Net

QOS = 0
"""Only the receiving node acknowledges messages."""
KEEP_ALIVE = 10
"""A broker that is silent for this many seconds is pinged. It counts as lost after as many more seconds."""

CONNECTING = 1.0
"""The entire net waits at most this many seconds for a connection."""


class Subscriber(Protocol):
    """The owner of a connection."""

    def connected(self) -> None: ...

    def granted(self, topic: str) -> None:
        """The broker has accepted a subscription."""

    def came(self, topic: str, payload: bytes) -> None: ...

    def disconnected(self, why: str) -> None:
        """No event follows this event. The next connection starts without any state of this connection."""


class Connection:
    def __init__(self, net: Net, host: str, port: int, name: str, owner: Subscriber, will: str | None = None) -> None:
        """Connects. The last will removes the message at the topic `will`."""
        self._net = net
        self._owner = owner
        self._topics: dict[int | None, str] = {}
        self._is_over = False
        client = self._client = mqtt.Client(
            CallbackAPIVersion.VERSION2,
            client_id=name,
            clean_session=True,
            protocol=mqtt.MQTTv311,
            reconnect_on_failure=False,
        )
        client.connect_timeout = CONNECTING
        client.max_inflight_messages_set(0)
        if will:
            client.will_set(will, None, QOS, retain=True)
        self._listen_to_client()
        client.connect(host, port, KEEP_ALIVE)

    def _listen_to_client(self) -> None:
        client = self._client
        client.on_connect = self._on_connect
        client.on_subscribe = self._on_subscribe
        client.on_message = self._on_message
        client.on_disconnect = lambda *about: self._lost(f"{about[3]}")
        client.on_socket_open = lambda _, __, opened: self._watch(opened)
        client.on_socket_close = lambda _, __, closed: self._unwatch(closed)
        client.on_socket_register_write = lambda _, __, waiting: self._watch_for(waiting, selectors.EVENT_WRITE)
        client.on_socket_unregister_write = lambda _, __, waiting: self._watch_for(waiting, 0)

    def _watch(self, opened: Any) -> None:
        self._net.watch(opened, selectors.EVENT_READ, self._ready)

    def _unwatch(self, closed: Any) -> None:
        self._net.unwatch(closed)

    def _watch_for(self, waiting: Any, writing: int) -> None:
        with suppress(KeyError, ValueError):
            self._net.rewatch(waiting, selectors.EVENT_READ | writing, self._ready)

    # Sending

    def subscribe(self, topic: str) -> None:
        self._topics[self._client.subscribe(topic, QOS)[1]] = topic

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        self._client.publish(topic, payload, QOS, retain)

    def close(self, *, says_so: bool = True) -> None:
        """Ends the connection. First sends everything that is queued, as far as the broker accepts it, or nothing at
        all."""
        self._is_over = True
        if says_so:
            self._client.disconnect()
            self._client.loop_write()
        if socket := self._client.socket():
            self._unwatch(socket)
            socket.close()

    # Receiving

    def _ready(self, mask: int) -> None:
        if mask & selectors.EVENT_WRITE:
            self._client.loop_write()
        if mask & selectors.EVENT_READ and not self._is_over:
            try:
                self._client.loop_read()
            except (struct.error, IndexError, UnicodeDecodeError):
                self._lost("what the broker says is no MQTT")
                self.close()

    def tick(self) -> None:
        self._client.loop_misc()

    def _on_connect(self, _: mqtt.Client, __: Any, ___: Any, reason: Any, *____: Any) -> None:
        if not reason.is_failure:
            self._owner.connected()

    def _on_subscribe(self, _: mqtt.Client, __: Any, number: int, reasons: list[Any], *___: Any) -> None:
        topic = self._topics.pop(number, None)
        if topic and not any(reason.is_failure for reason in reasons):
            self._owner.granted(topic)

    def _on_message(self, _: mqtt.Client, __: Any, message: mqtt.MQTTMessage) -> None:
        if not self._is_over:
            self._owner.came(message.topic, message.payload)

    def _lost(self, why: str) -> None:
        if not self._is_over:
            self._is_over = True
            self._owner.disconnected(why)
