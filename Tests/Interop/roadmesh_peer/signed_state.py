# SPDX-License-Identifier: Apache-2.0
"""State that a host signs once for all guests, by docs/protocol.md: the signature, and what a relay keeps of it."""

from __future__ import annotations

from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from .wire import CHECKPOINT, LATEST, MAJOR_VERSION, SERVICE, SHARED, WHOLE, Unit, service_uuid

SIGNATURE_BYTES = 64
NAME_BYTES = 8
"""Size of the name of an update's resulting state. The name is between the signature and the application's bytes."""
MOST_NAMES = 16
LARGEST_LOG = 256 << 10
MOST_WAITING = 128 << 10


class ForgedState(Exception):
    """A shared unit with a signature that is not the host's."""


def signed_bytes(flags: int, body: bytes, service: str = SERVICE) -> bytes:
    return b"RoadMesh state" + bytes((MAJOR_VERSION,)) + service_uuid(service).bytes + bytes((flags,)) + body


class SigningKey:
    """The key that a host signs its state with. It is derived from the host's identity."""

    def __init__(self, identity: bytes) -> None:
        derived = HKDF(SHA256(), 32, salt=None, info=b"RoadMesh state signing").derive(identity)
        self._private = Ed25519PrivateKey.from_private_bytes(derived)
        self.public = self._private.public_key().public_bytes_raw()

    def sign(self, body: bytes, name: bytes, *, whole: bool = False, checkpoint: bool = False) -> Unit:
        """A shared unit. The state after it has this name. Each link assigns its number."""
        shared = SHARED | (WHOLE if whole else 0) | (CHECKPOINT if checkpoint else 0)
        body = name + body
        return Unit(self._private.sign(signed_bytes(LATEST | shared, body)) + body, 1, latest=True, shared=shared)


def name_of(unit: Unit) -> bytes:
    """The name of the state that a shared unit results in."""
    return unit.body[SIGNATURE_BYTES : SIGNATURE_BYTES + NAME_BYTES]


def checked(unit: Unit, signing_key: bytes) -> bytes:
    """The application's bytes of a shared unit, after its signature was checked."""
    signature, body = unit.body[:SIGNATURE_BYTES], unit.body[SIGNATURE_BYTES:]
    if len(body) < NAME_BYTES:
        raise ForgedState
    try:
        Ed25519PublicKey.from_public_bytes(signing_key).verify(signature, signed_bytes(LATEST | unit.shared, body))
    except InvalidSignature as error:
        raise ForgedState from error
    return body[NAME_BYTES:]


class Waiting:
    """Shared units that arrived before their signing key was known."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self.dropped = 0

    def add(self, unit: Unit) -> None:
        if sum(len(one.body) for one in self.units) + len(unit.body) > MOST_WAITING:
            self.dropped += 1
            return
        self.units.append(unit)

    def take(self) -> list[Unit]:
        taken, self.units = self.units, []
        return taken


class SharedLog:
    """A relay's copy of the host's state: the last full state, and the updates since. Indices count all units so far.

    Units before a checkpoint stay until the next full state. A checkpoint often comes in the same record as the change
    that made it due, and a child that lacks only that change must not be sent everything.
    """

    def __init__(self) -> None:
        self._units: list[Unit] = []
        self._first = 0
        self.begin: int | None = None
        """The index of the last full state, where new children begin."""

    @property
    def end(self) -> int:
        return self._first + len(self._units)

    @property
    def units(self) -> list[Unit]:
        """The units since the last full state."""
        return [] if self.begin is None else self._units[self.begin - self._first :]

    def newest(self, names: list[bytes]) -> int | None:
        """The index of the last update that results in one of these states. None if no such update is kept, or if
        there is no full state yet."""
        if self.begin is None:
            return None
        places = range(self.end - 1, self._first - 1, -1)
        return next((place for place in places if name_of(self[place]) in names), None)

    def has(self, place: int) -> bool:
        return self._first <= place <= self.end

    def append(self, unit: Unit) -> None:
        if unit.shared & WHOLE:
            self._drop_before(self.end if self.begin is None or not unit.shared & CHECKPOINT else self.begin)
            self.begin = self.end
        self._units.append(unit)
        if self._bytes > LARGEST_LOG and self.begin is not None:
            self._drop_before(self.begin)
        if self._bytes > LARGEST_LOG:
            self.empty()

    def empty(self) -> None:
        self._drop_before(self.end)
        self.begin = None

    @property
    def _bytes(self) -> int:
        return sum(len(unit.body) for unit in self._units)

    def _drop_before(self, place: int) -> None:
        del self._units[: place - self._first]
        self._first = place

    def __getitem__(self, place: int) -> Unit:
        return self._units[place - self._first]


@dataclass
class Follower:
    """How far a child of a relay has been sent the log."""

    log: SharedLog
    wants_checkpoints: bool
    next: int | None = None
    """The first unit that has not been sent. None if the log must be sent from its beginning."""

    def take(self) -> Unit | None:
        """The next unit to send."""
        log = self.log
        if self.next is None or not log.has(self.next):
            # The log no longer has the missing units, so the child gets the log from its beginning.
            if log.begin is None:
                return None
            self.next = log.begin
            return self._advanced()
        while self.next < log.end:
            unit = self._advanced()
            if self.wants_checkpoints or not unit.shared & CHECKPOINT:
                return unit
        return None

    def _advanced(self) -> Unit:
        assert self.next is not None
        self.next += 1
        return self.log[self.next - 1]
