# SPDX-License-Identifier: Apache-2.0
"""Possible routes to a host: scan results, and the end of a circuit with a link in it."""

from __future__ import annotations

from dataclasses import dataclass

from .circuit_frames import CloseReason
from .circuits import Circuit
from .link import Link
from .virtual_air import Heard
from .wire import CIRCUITS_ONLY

RELAYED_NAME_BYTES, NAME_BYTES = 12, 20


def cut(name: str, limit: int) -> str:
    """As much of a name as fits a scan response."""
    while len(name.encode()) > limit:
        name = name[:-1]
    return name


@dataclass
class Candidate:
    heard: Heard
    at: float

    @property
    def is_relay(self) -> bool:
        return bool(self.heard.advertisement.critical & CIRCUITS_ONLY)

    @property
    def hops(self) -> int:
        """Hops from this node to the host."""
        return self.heard.tail.hops if self.is_relay and self.heard.tail else 0


class InnerEnd:
    """This side's end of a circuit with a link inside it."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self.circuit: Circuit | None = None
        self.reason: CloseReason | None = None

    def opened(self, mtu: int) -> None:
        self.link.mtu = min(self.link.mtu, mtu)

    def came(self, sdu: bytes) -> None:
        self.link.take(sdu)
        if self.circuit:
            self.circuit.passed_on()

    def next_sdu(self) -> bytes | None:
        return self.link.next_sdu()

    def closed(self, reason: CloseReason) -> None:
        self.reason = reason
        self.link.lost()

    @property
    def is_over(self) -> bool:
        return self.link.is_over
