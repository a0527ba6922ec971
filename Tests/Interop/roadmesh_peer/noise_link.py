# SPDX-License-Identifier: Apache-2.0
"""The handshake of docs/protocol.md and the records after it, on a Noise library that RoadMesh does not use."""

from __future__ import annotations

import warnings
from enum import IntEnum

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from noise.connection import Keypair, NoiseConnection
from noise.exceptions import NoiseValueError

from .wire import MAJOR_VERSION, SERVICE, Malformed, identifier, service_uuid


class Packet(IntEnum):
    XX_1 = 1
    XX_2 = 2
    XX_3 = 3
    IK_1 = 4
    IK_2 = 5
    CLEAR_REFUSAL = 6
    REJOIN = 7


class ClearReason(IntEnum):
    VERSION = 2
    UNKNOWN_KEY = 5
    BUSY = 6


class Forged(Exception):
    """A packet or record that cannot be opened."""


class ClearlyRefused(Exception):
    """The host has sent a clear refusal, before the link had keys."""

    def __init__(self, version: int, reason: int) -> None:
        super().__init__(f"clear refusal: version {version}, reason {reason}")
        self.version = version
        self.reason = reason


class Key:
    """A node's key pair, and the identifier derived from it."""

    def __init__(self, private: bytes | None = None) -> None:
        pair = X25519PrivateKey.from_private_bytes(private) if private else X25519PrivateKey.generate()
        self.private = pair.private_bytes_raw()
        self.public = pair.public_key().public_bytes_raw()
        self.identifier = identifier(self.public)


DIRECT, CIRCUIT = 0, 1


def prologue(service: str = SERVICE, version: int = MAJOR_VERSION, kind: int = DIRECT) -> bytes:
    return b"RoadMesh" + bytes((version, kind)) + service_uuid(service).bytes


def read_clear_refusal(sdu: bytes) -> ClearlyRefused | None:
    """Reads a clear refusal. None for other packets."""
    return ClearlyRefused(sdu[1], sdu[2]) if len(sdu) >= 3 and sdu[0] == Packet.CLEAR_REFUSAL else None


class Handshake:
    """One handshake, of a guest (the initiator) or of a host. It writes and reads packets in order."""

    def __init__(
        self,
        key: Key,
        *,
        host_key: bytes | None = None,
        known: bool = False,
        initiator: bool = True,
        ephemeral: bytes | None = None,
        prologue: bytes = prologue(),
    ) -> None:
        """IK if a guest passes the `host_key`, or a host sets `known`; else XX."""
        self.known = known or host_key is not None
        pattern = "IK" if self.known else "XX"
        self._noise = NoiseConnection.from_name(f"Noise_{pattern}_25519_ChaChaPoly_SHA256".encode())
        if initiator:
            self._noise.set_as_initiator()
        else:
            self._noise.set_as_responder()
        self._noise.set_prologue(prologue)
        self._noise.set_keypair_from_private_bytes(Keypair.STATIC, key.private)
        if host_key is not None:
            self._noise.set_keypair_from_public_bytes(Keypair.REMOTE_STATIC, host_key)
        if ephemeral is not None:
            self._noise.set_keypair_from_private_bytes(Keypair.EPHEMERAL, ephemeral)
        with warnings.catch_warnings():
            # The library warns about ephemeral keys from the caller, which the document's example needs.
            warnings.simplefilter("ignore", UserWarning)
            self._noise.start_handshake()
        self._state = self._noise.noise_protocol.handshake_state

    def write(self, packet: Packet, payload: bytes = b"", version: int = MAJOR_VERSION) -> bytes:
        head = bytes((packet, version)) if packet in (Packet.XX_1, Packet.IK_1) else bytes((packet,))
        try:
            return head + bytes(self._noise.write_message(payload))
        except ValueError as error:
            # The key agreement failed with a point of low order from the previous message.
            raise Forged(packet.name) from error

    def read(self, packet: Packet, sdu: bytes) -> bytes:
        """The payload of a packet."""
        if refused := read_clear_refusal(sdu):
            raise refused
        if sdu[:1] != bytes((packet,)):
            raise Malformed(f"another packet than {packet.name}: {sdu[:1].hex()}")
        message = sdu[2:] if packet in (Packet.XX_1, Packet.IK_1) else sdu[1:]
        try:
            return bytes(self._noise.read_message(message))
        except (InvalidTag, ValueError, NoiseValueError) as error:
            # ValueError: a key agreement with a point of low order. The library's own error: a key that is cut short.
            raise Forged(packet.name) from error

    @property
    def their_key(self) -> bytes:
        """The public key that the other side has proved, or will prove."""
        return bytes(self._state.rs.public_bytes)

    @property
    def hash(self) -> bytes:
        """The handshake hash after the last message."""
        return bytes(self._noise.get_handshake_hash())

    @property
    def secret(self) -> bytes:
        """The third output of the HKDF that derives the records' keys. It is kept for resuming."""
        chaining_key = self._state.symmetric_state.ck
        return bytes(self._noise.noise_protocol.hkdf(chaining_key, b"", 3)[2])

    def records(self) -> Records:
        protocol = self._noise.noise_protocol
        return Records(
            Direction(bytes(protocol.cipher_state_encrypt.k)), Direction(bytes(protocol.cipher_state_decrypt.k))
        )


REKEY_EVERY = 1 << 16


def rekeyed(key: bytes) -> bytes:
    """REKEY of Noise (11.3): encrypts 32 zeros with the largest nonce."""
    return ChaCha20Poly1305(key).encrypt(bytes(4) + b"\xff" * 8, bytes(32), None)[:32]


class Direction:
    """The records of one direction: a key, and their count."""

    def __init__(self, key: bytes, count: int = 0) -> None:
        self._key = key
        self._count = count

    def _nonce(self) -> bytes:
        return bytes(4) + self._count.to_bytes(8, "little")

    def _next(self) -> None:
        self._count += 1
        if self._count % REKEY_EVERY == 0:
            self._key = rekeyed(self._key)

    def seal(self, plaintext: bytes) -> bytes:
        record = ChaCha20Poly1305(self._key).encrypt(self._nonce(), plaintext, None)
        self._next()
        return record

    def open(self, record: bytes) -> bytes:
        try:
            plaintext = ChaCha20Poly1305(self._key).decrypt(self._nonce(), record, None)
        except InvalidTag as error:
            raise Forged("a record that does not open") from error
        self._next()
        return plaintext


class Records:
    """The sealed part of a link. One record is one SDU."""

    def __init__(self, sending: Direction, receiving: Direction) -> None:
        self._sending = sending
        self._receiving = receiving

    def seal(self, plaintext: bytes) -> bytes:
        return self._sending.seal(plaintext)

    def open(self, record: bytes) -> bytes:
        return self._receiving.open(record)
