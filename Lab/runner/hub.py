"""One thread reads all data from the boxes and the air. A scenario waits for the events that it expects.

All arriving data changes state under one condition variable, and waiters wait on it: nothing polls.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from box.wire import Wire

Value = TypeVar("Value")

READ_SIZE = 256 * 1024


class Hub:
    def __init__(self) -> None:
        # Reentrant: the handler of an event may send a request, which takes the lock again.
        self.changed = threading.Condition(threading.RLock())
        self._selector = selectors.DefaultSelector()
        self._wake_reader, self._wake_writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._selector.register(self._wake_reader, selectors.EVENT_READ, self._woken)
        self._closing = False
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="lab hub", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closing = True
        self._wake()
        self._thread.join()
        self._selector.close()
        os.close(self._wake_reader)
        os.close(self._wake_writer)

    def watch(self, descriptor: int, on_ready: Callable[[], None], events: int = selectors.EVENT_READ) -> None:
        """Calls `on_ready` in the hub's thread, with the condition held, whenever the descriptor is ready."""
        with self.changed:
            if descriptor in self._selector.get_map():
                self._selector.modify(descriptor, events, on_ready)
            else:
                self._selector.register(descriptor, events, on_ready)
        self._wake()

    def unwatch(self, descriptor: int) -> None:
        with self.changed:
            if descriptor in self._selector.get_map():
                self._selector.unregister(descriptor)

    def wait_for(self, look: Callable[[], Value | None], timeout: float) -> Value | None:
        """Waits until `look` returns a value, and returns it; None after the timeout. An exception of `look`
        also ends the waiting."""
        deadline = time.monotonic() + timeout
        with self.changed:
            while True:
                if self._failure:
                    raise self._failure
                found = look()
                if found is not None:
                    return found
                left = deadline - time.monotonic()
                if left <= 0:
                    return None
                self.changed.wait(left)

    def _wake(self) -> None:
        # Full: the thread wakes up anyway. Closed: the thread has ended.
        with contextlib.suppress(OSError):
            os.write(self._wake_writer, b"!")

    def _woken(self) -> None:
        os.read(self._wake_reader, 4096)

    def _run(self) -> None:
        try:
            while not self._closing:
                ready = self._selector.select()
                with self.changed:
                    for key, _ in ready:
                        # An earlier callback of this round may have closed the descriptor.
                        if key.fd in self._selector.get_map():
                            key.data()
                    self.changed.notify_all()
        except BaseException as error:  # passed on to the waiting scenario
            with self.changed:
                self._failure = error
                self.changed.notify_all()


class JSONLines:
    """JSON objects, one per line, over a descriptor that the hub reads and writes."""

    def __init__(
        self,
        hub: Hub,
        descriptor: int,
        on_object: Callable[[dict[str, Any]], None],
        on_end: Callable[[], None],
        window: int | None = None,
    ) -> None:
        self._hub = hub
        self._descriptor = descriptor
        self._on_object = on_object
        self._on_end = on_end
        self._wire = Wire(window)
        self._open = True
        self._blocked = False
        os.set_blocking(descriptor, False)
        hub.watch(descriptor, self._ready)

    def send(self, message: dict[str, Any]) -> None:
        with self._hub.changed:
            self._wire.queue(message)
            self._write()

    def close(self) -> None:
        with self._hub.changed:
            if self._open:
                self._open = False
                self._hub.unwatch(self._descriptor)

    def _ready(self) -> None:
        try:
            data = os.read(self._descriptor, READ_SIZE)
        except BlockingIOError:
            data = None
        except OSError:
            data = b""
        if data == b"":
            self.close()
            self._on_end()
            return
        if data:
            for message in self._wire.received(data):
                self._on_object(message)
        self._write()

    def _write(self) -> None:
        if not self._open:
            return
        blocked = False
        try:
            while data := self._wire.sendable():
                self._wire.sent(os.write(self._descriptor, data))
        except BlockingIOError:
            blocked = True
        except OSError:
            return  # the next read reports that the other side has gone
        if blocked != self._blocked:
            self._blocked = blocked
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if blocked else 0)
            self._hub.watch(self._descriptor, self._ready, events)
