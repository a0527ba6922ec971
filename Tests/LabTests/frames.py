"""The messages of a stranger over the lab's channels: docs/protocol.md as Tests/Interop implements it, without our
code."""

from __future__ import annotations

from helpers import service_uuid
from roadmesh_peer.guest import Talk
from roadmesh_peer.noise_link import Key
from roadmesh_peer.virtual_air import ChannelClosed
from roadmesh_peer.wire import Hello, ping
from runner import Box, Closed, LabError, NotExpected, Stranger

EPOCH = 0x5EED

# If another node floods the host, an SDU waits this long for credits.
PATIENCE = 30.0


class StrangerChannel:
    """A stranger's L2CAP channel, with the interface that `Talk` needs."""

    def __init__(self, stranger: Stranger, number: int) -> None:
        self._stranger = stranger
        self._number = number

    def send(self, sdu: bytes) -> None:
        try:
            self._stranger.send(sdu, self._number, PATIENCE)
        except LabError as error:
            raise ChannelClosed from error

    def receive(self, timeout: float) -> bytes | None:
        try:
            return self._stranger.receive(self._number, timeout)
        except Closed as error:
            raise ChannelClosed from error
        except NotExpected:
            return None

    def close(self) -> None:
        self._stranger.close(self._number)

    def begin_sdu(self, announced: int, data: bytes) -> None:
        """Sends the first frame of an SDU, and never the rest."""
        self._stranger.send_frame(announced.to_bytes(2, "little") + data, self._number)


class LabTalk(Talk):
    """A stranger with a channel to a host."""

    channel: StrangerChannel

    def __init__(self, stranger: Stranger, number: int, key: Key | None = None) -> None:
        super().__init__(StrangerChannel(stranger, number), key or Key())
        self.stranger = stranger

    @property
    def identity(self) -> str:
        return self.key.identifier.hex()

    def enter(self, name: str) -> Hello:
        """Sends its hello, and waits until the host accepts it. Returns the host's hello."""
        answer = self.join(lambda _: Hello(EPOCH, name)).answer
        self.say(ping(1))
        return answer


def call(stranger: Stranger, box: Box, key: Key | None = None) -> LabTalk:
    """Finds the host of a box, and opens a channel to it."""
    found = stranger.find(service_uuid(), address=box.hci(0).address)
    psm = bytes.fromhex(found["manufacturerData"])[3]
    return LabTalk(stranger, stranger.connect(psm, found), key)
