"""RoadMesh's frames as docs/protocol.md describes them, written without our code: what a stranger speaks."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field

from helpers import service_uuid
from lab import Box, Stranger

APP_START, SELF_INFO, REFUSAL, MESSAGE, PING, PONG, GOODBYE = range(1, 8)

FULL, VERSION, BANNED, ENDED = range(1, 5)

HEADER_BYTES = 3


def frame(kind: int, body: bytes = b"") -> bytes:
    return struct.pack(">HB", len(body), kind) + body


def text(value: bytes) -> bytes:
    return bytes((len(value),)) + value


def introduction(identity: str, name: str | bytes, version: int = 1) -> bytes:
    raw = name if isinstance(name, bytes) else name.encode()
    return bytes((version,)) + text(identity.encode()) + text(raw)


def vote(song: str) -> bytes:
    return frame(MESSAGE, json.dumps({"intent": {"_0": {"vote": {"songID": song}}}}).encode())


@dataclass
class Talk:
    """A stranger on a channel to a host: it says frames, and hears them whole."""

    stranger: Stranger
    channel: int
    _heard: bytes = field(default=b"")

    def say(self, *frames: bytes) -> None:
        self.stranger.send(b"".join(frames), self.channel)

    def hear(self, timeout: float = 5.0) -> tuple[int, bytes]:
        """The next frame: its type and its body."""
        while not self._whole():
            self._heard += self.stranger.receive(self.channel, timeout)
        end = HEADER_BYTES + int.from_bytes(self._heard[:2])
        kind, body = self._heard[2], self._heard[HEADER_BYTES:end]
        self._heard = self._heard[end:]
        return kind, body

    def _whole(self) -> bool:
        return len(self._heard) >= HEADER_BYTES + int.from_bytes(self._heard[:2])

    def hear_of(self, wanted: int, timeout: float = 5.0) -> bytes:
        """The body of the next frame of a type; others are passed over."""
        while True:
            kind, body = self.hear(timeout)
            if kind == wanted:
                return body

    def closed(self, timeout: float = 2.0) -> None:
        self.stranger.expect_closed(self.channel, timeout)

    def join(self, identity: str, name: str | bytes) -> bytes:
        """Introduces itself, and waits to be let in. Returns how the host introduces itself."""
        self.say(frame(APP_START, introduction(identity, name)))
        return self.hear_of(SELF_INFO)


def call(stranger: Stranger, box: Box) -> Talk:
    """Finds the host of a box, and opens a channel to it."""
    found = stranger.find(service_uuid(), address=box.hci(0).address)
    psm = bytes.fromhex(found["manufacturerData"])[3]
    return Talk(stranger, stranger.connect(psm, found))


def call_again(talk: Talk, box: Box) -> Talk:
    """Another channel of the same stranger."""
    return call(talk.stranger, box)
