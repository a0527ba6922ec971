# SPDX-License-Identifier: Apache-2.0
"""One connection to an MQTT broker, which lives in a net beside everything else there. The MQTT is a library's."""

from __future__ import annotations

import selectors
import struct
from contextlib import suppress
from typing import Any, Protocol

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

from .net import Net

QOS = 0
"""Nobody acknowledges a message but who it is for."""
KEEP_ALIVE = 10
"""A broker that says nothing for so many seconds is asked, and after as many again it is lost."""

CONNECTING = 1.0
"""For so many seconds everybody in the net waits for a connection at most."""


class Subscriber(Protocol):
    """Whose connection it is."""

    def connected(self) -> None: ...

    def granted(self, topic: str) -> None:
        """The broker has accepted a subscription."""

    def came(self, topic: str, payload: bytes) -> None: ...

    def disconnected(self, why: str) -> None:
        """Nothing comes after this, and nothing of this connection goes on in another one."""


class Connection:
    def __init__(self, net: Net, host: str, port: int, name: str, owner: Subscriber, will: str | None = None) -> None:
        """Connects. As the last will, nothing is said to be at that topic any more."""
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

    # Saying

    def subscribe(self, topic: str) -> None:
        self._topics[self._client.subscribe(topic, QOS)[1]] = topic

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        self._client.publish(topic, payload, QOS, retain)

    def close(self, *, says_so: bool = True) -> None:
        """Ends it: says everything that is still to be said, as far as the broker takes it, or nothing at all."""
        self._is_over = True
        if says_so:
            self._client.disconnect()
            self._client.loop_write()
        if socket := self._client.socket():
            self._unwatch(socket)
            socket.close()

    # Hearing

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
