"""TCP out of a box: connections to the box's loopback go over the agent's line to the machine outside.

A box has no network. A tunnel replaces a mobile network: it carries bytes to a server on the Internet and back.
"""

from __future__ import annotations

import base64
import contextlib
import selectors
import socket
from collections.abc import Callable
from typing import Any

# Bytes of one read: encoded in base64 they fit into a line.
READ_SIZE = 1024


class Tunnels:
    """The connections of one box. `emit` reports to the runner."""

    def __init__(self, selector: selectors.BaseSelector, emit: Callable[..., Any]) -> None:
        self._selector = selector
        self._emit = emit
        self._connections: dict[int, socket.socket] = {}
        self._last = 0

    def listen(self, port: int) -> None:
        listener = socket.create_server(("127.0.0.1", port))
        self._selector.register(listener, selectors.EVENT_READ, lambda: self._accept(listener, port))

    def _accept(self, listener: socket.socket, port: int) -> None:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._last += 1
        number = self._last
        self._connections[number] = connection
        self._selector.register(connection, selectors.EVENT_READ, lambda: self._read(number))
        self._emit("tunnel", connection=number, port=port)

    def _read(self, number: int) -> None:
        connection = self._connections[number]
        try:
            data = connection.recv(READ_SIZE)
        except OSError:
            data = b""
        self._emit("tunnel", connection=number, data=base64.b64encode(data).decode())
        if not data:
            self.close(number)

    def write(self, number: int, data: str) -> None:
        """Writes data from outside. Empty data means that the other side has closed."""
        if number not in self._connections:
            return
        if not data:
            return self.close(number)
        with contextlib.suppress(OSError):
            self._connections[number].sendall(base64.b64decode(data))

    def close(self, number: int) -> None:
        if connection := self._connections.pop(number, None):
            self._selector.unregister(connection)
            connection.close()
