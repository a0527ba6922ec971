"""The machine's ends of the TCP connections of a box (box/tunnels.py)."""

from __future__ import annotations

import base64
import contextlib
import socket
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .box import Box

# Bytes of one read: encoded in base64 they fit into a line.
READ_SIZE = 1024


class Tunnels:
    """The connections of one box. All methods but `open` run in the hub's thread."""

    def __init__(self, box: Box) -> None:
        self._box = box
        self._connections: dict[int, socket.socket] = {}

    def open(self, port: int) -> None:
        """Forwards this port of the box's loopback to the same port of the machine."""
        self._box.await_ready()
        self._box.ask("loopback")
        self._box.ask("listen", port=port)

    def on_event(self, event: dict[str, Any]) -> None:
        number = event["connection"]
        if "port" in event:
            return self._connect(number, event["port"])
        data = base64.b64decode(event["data"])
        if not data:
            return self._drop(number)
        if connection := self._connections.get(number):
            with contextlib.suppress(OSError):
                connection.sendall(data)

    def _connect(self, number: int, port: int) -> None:
        try:
            connection = socket.create_connection(("127.0.0.1", port), timeout=1)
        except OSError:
            return self._box.ask("tunnel", check=False, number=number, data="")
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connections[number] = connection
        self._box.lab.hub.watch(connection.fileno(), lambda: self._read(number))

    def _read(self, number: int) -> None:
        try:
            data = self._connections[number].recv(READ_SIZE)
        except OSError:
            data = b""
        self._box.ask("tunnel", check=False, number=number, data=base64.b64encode(data).decode())
        if not data:
            self._drop(number)

    def _drop(self, number: int) -> None:
        if connection := self._connections.pop(number, None):
            self._box.lab.hub.unwatch(connection.fileno())
            connection.close()

    def close(self) -> None:
        """Closes all connections after the box has ended."""
        for number in list(self._connections):
            self._drop(number)
