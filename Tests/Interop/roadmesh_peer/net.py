# SPDX-License-Identifier: Apache-2.0
"""Nodes on the virtual radio, in one thread, on simulated time or on the machine's.

If all nodes are in this process, time is a number that advances when nothing is left to read. A test then takes only
its computing time, and passes on a busy machine too. With real programs, `Net(real=True)` uses the machine's time.
"""

from __future__ import annotations

import os
import secrets
import selectors
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Protocol, TypeVar

from .virtual_air import Heard, understood
from .wire import LARGEST_SDU, SERVICE, Advertisement, Tail, service_uuid, text

Done = TypeVar("Done")

STEP = 0.01
SILENCE = 2
PATIENCE, REAL_PATIENCE = 10.0, 30.0


class Speaker(Protocol):
    """The link on a channel. The channel requests the link's next SDU when it has room."""

    @property
    def owner(self) -> object:
        """The node of the link. Data from one of a node's channels is forwarded over its others."""

    begun_at: float
    """When the channel opened: an answer is due some time after that."""

    @property
    def is_over(self) -> bool:
        """The channel may be closed."""

    def take(self, sdu: bytes) -> None: ...

    def next_sdu(self) -> bytes | None: ...

    def lost(self) -> None:
        """The other side has closed the channel, or it is lost."""


class Carrier(Protocol):
    """A channel of any bearer, and the link on it."""

    speaker: Speaker

    def flush(self) -> None:
        """Sends SDUs as far as there is room."""

    def close(self) -> None: ...


class Bearer(Protocol):
    """A node scans, dials, and accepts dials with it."""

    address: str
    silence: int
    """The seconds of silence that a node requests on this bearer."""

    def listen(self, heard: Callable[[Heard], None]) -> None: ...

    def stop_listening(self) -> None: ...

    def dial(self, heard: Heard, speaker: Speaker) -> Carrier | None:
        """Returns None if the node is gone."""

    def accept(self, answer: Callable[[], Speaker]) -> None:
        """Accepts dials, and creates a link for each."""

    def advertise(self, advertisement: Advertisement, name: str, tail: Tail) -> None: ...

    def close(self) -> None: ...


class Living(Protocol):
    def tick(self) -> None:
        """Does what is due now."""


class Net:
    def __init__(self, *, real: bool = False) -> None:
        self._selector = selectors.DefaultSelector()
        self._real = real
        self.now = monotonic() if real else 0.0
        self.nodes: list[Living] = []
        self.channels: list[Carrier] = []
        self.touched: set[object] = set()
        """Nodes that have received something in this step."""
        self._ticked = 0.0
        self.changed = threading.Condition(threading.RLock())
        """Held while a node works. A test that runs the net in a thread holds it to look or to act."""
        self._beside: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._ended = False

    def close(self) -> None:
        self._ended = True
        if self._beside:
            self._beside.join()
        for channel in list(self.channels):
            channel.close()
        self._selector.close()

    # Time

    def step(self) -> None:
        """Reads what has arrived. On simulated time, advances the time if nothing has."""
        ready = self._selector.select(STEP if self._real else 0)
        with self.changed:
            for key, mask in ready:
                if key.fileobj.fileno() >= 0:  # type: ignore[union-attr]
                    key.data(mask)
            if self._real:
                self.now = monotonic()
            elif not ready:
                self.now += STEP
            if is_due := self.now >= self._ticked + STEP if self._real else not ready:
                self._ticked = self.now
                for node in list(self.nodes):
                    node.tick()
            for channel in list(self.channels):
                if is_due or channel.speaker.owner in self.touched:
                    channel.flush()
            self.touched.clear()
            self.changed.notify_all()

    def until(self, come: Callable[[], bool], what: str = "what was waited for", timeout: float | None = None) -> None:
        """Runs all nodes until a condition holds."""
        timeout = timeout or (REAL_PATIENCE if self._real else PATIENCE)
        deadline = self.now + timeout
        with self.changed:
            while not come():
                if self._failure:
                    raise self._failure
                if self.now > deadline:
                    raise TimeoutError(f"{what} did not come about within {timeout:g} s")
                if self._beside:
                    self.changed.wait(1.0)
                else:
                    self.step()

    def pass_time(self, seconds: float) -> None:
        end = self.now + seconds
        self.until(lambda: self.now >= end, timeout=seconds + PATIENCE)

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Runs in a thread, while the test waits for another program."""
        self._beside = threading.Thread(target=self._run, daemon=True)
        self._beside.start()
        try:
            yield
        finally:
            self._ended = True
            self._beside.join()
            self._beside = None
        if self._failure:
            raise self._failure

    def _run(self) -> None:
        try:
            while not self._ended:
                self.step()
        except BaseException as failure:
            with self.changed:
                self._failure = failure
                self.changed.notify_all()

    def do(self, act: Callable[[], Done]) -> Done:
        """Runs an action of a node, also while the net runs in a thread."""
        with self.changed:
            return act()

    # Sockets

    def watch(self, watched: socket.socket, mask: int, ready: Callable[[int], None]) -> None:
        self._selector.register(watched, mask, ready)

    def rewatch(self, watched: socket.socket, mask: int, ready: Callable[[int], None]) -> None:
        self._selector.modify(watched, mask, ready)

    def unwatch(self, watched: socket.socket) -> None:
        with suppress(KeyError, ValueError):
            self._selector.unregister(watched)


class NetChannel:
    """A channel of the virtual radio, and the link on it."""

    mtu = LARGEST_SDU

    def __init__(self, net: Net, connected: socket.socket, speaker: Speaker) -> None:
        self._net = net
        self._socket = connected
        self.speaker = speaker
        self._unsent: bytes | None = None
        self._is_open = True
        connected.setblocking(False)
        net.watch(connected, selectors.EVENT_READ, self._ready)
        net.channels.append(self)

    def _ready(self, mask: int) -> None:
        if mask & selectors.EVENT_WRITE:
            self._net.rewatch(self._socket, selectors.EVENT_READ, self._ready)
            self.flush()
        if not mask & selectors.EVENT_READ or not self._is_open:
            return
        self._net.touched.add(self.speaker.owner)
        try:
            sdu = self._socket.recv(LARGEST_SDU + 1)
        except BlockingIOError:
            return
        except OSError:
            sdu = b""
        if sdu:
            self.speaker.take(sdu)
        else:
            self.close()
            self.speaker.lost()

    def flush(self) -> None:
        while self._is_open and (sdu := self._unsent or self.speaker.next_sdu()):
            self._unsent = None
            try:
                self._socket.send(sdu)
            except BlockingIOError:
                self._unsent = sdu
                self._net.rewatch(self._socket, selectors.EVENT_READ | selectors.EVENT_WRITE, self._ready)
                return
            except OSError:
                # SDUs that the other side sent before it closed can still be read.
                break
        if self._is_open and self.speaker.is_over:
            self.close()

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._net.unwatch(self._socket)
            self._socket.close()
            self._net.channels.remove(self)


class NetRadio:
    """One radio: it scans and dials, advertises and accepts dials. Its folder may have only its neighbours' files."""

    INTERVAL = 0.025
    silence = SILENCE

    def __init__(self, net: Net, air: Path, address: str, service: str = SERVICE) -> None:
        self._net = net
        self.air = air
        self.address = address
        self._service = service_uuid(service)
        self._speaking = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._speaking.setblocking(False)
        self._ear: socket.socket | None = None
        self._listening: socket.socket | None = None
        self._spoken = 0.0

    def listen(self, heard: Callable[[Heard], None]) -> None:
        if self._ear:
            return
        ear = self._ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        path = self._path("ear")
        path.unlink(missing_ok=True)
        ear.bind(str(path))

        def ready(_: int) -> None:
            if one := understood(ear.recv(4096), self._service):
                heard(one)

        self._net.watch(ear, selectors.EVENT_READ, ready)

    def stop_listening(self) -> None:
        if self._ear:
            # In this order: the file of a closed socket counts as stale, and advertisers remove it.
            self._path("ear").unlink(missing_ok=True)
            self._net.unwatch(self._ear)
            self._ear.close()
            self._ear = None

    def dial(self, heard: Heard, speaker: Speaker) -> NetChannel | None:
        """Returns None if the node is gone."""
        dialling = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        dialling.bind(f"\0roadmesh/{self.address}/{secrets.randbits(31)}")
        dialling.setblocking(False)
        try:
            dialling.connect(str(self.air / f"{heard.address}.psm"))
        except OSError:
            dialling.close()
            return None
        return NetChannel(self._net, dialling, speaker)

    def accept(self, answer: Callable[[], Speaker]) -> None:
        """Accepts dials, and creates a link for each."""
        listening = self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listening.setblocking(False)
        self._path("psm").unlink(missing_ok=True)
        listening.bind(str(self._path("psm")))
        listening.listen(64)

        def ready(_: int) -> None:
            with suppress(BlockingIOError):
                NetChannel(self._net, listening.accept()[0], answer())

        self._net.watch(listening, selectors.EVENT_READ, ready)

    def advertise(self, advertisement: Advertisement, name: str, tail: Tail) -> None:
        """Advertises if the interval has passed."""
        if self._net.now < self._spoken + self.INTERVAL:
            return
        self._spoken = self._net.now
        said = bytes(advertisement) + self._service.bytes + text(self.address) + f"{name}{tail}".encode()
        for ear in self.air.glob("*.ear"):
            # A receiver that is gone or too slow gets the next one.
            with suppress(OSError):
                self._speaking.sendto(said, str(ear))

    def close(self) -> None:
        self.stop_listening()
        if self._listening:
            self._net.unwatch(self._listening)
            self._listening.close()
            self._path("psm").unlink(missing_ok=True)
            self._listening = None
        self._speaking.close()

    def _path(self, kind: str) -> Path:
        return self.air / f"{self.address}.{kind}"


def in_range(one: Path, other: Path, one_address: str, other_address: str) -> None:
    """Puts two radios with separate folders in range of each other: each folder gets links to the other's files."""
    for here, there, address in ((one, other, other_address), (other, one, one_address)):
        for kind in ("ear", "psm"):
            link = here / f"{address}.{kind}"
            if not link.is_symlink():
                link.symlink_to(os.path.relpath(there / f"{address}.{kind}", here))


def out_of_range(one: Path, other: Path, one_address: str, other_address: str) -> None:
    for here, address in ((one, other_address), (other, one_address)):
        for kind in ("ear", "psm"):
            (here / f"{address}.{kind}").unlink(missing_ok=True)
