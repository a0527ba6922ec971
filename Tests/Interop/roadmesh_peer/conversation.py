# SPDX-License-Identifier: Apache-2.0
"""The state of a conversation with another node, across links: epochs, numbers, and unacknowledged messages.

A message counts as stored here once it is delivered, because the application stores nothing that could be lost.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from .wire import Hello, Unit


class Impossible(Exception):
    """The other side acknowledges a message that was never sent, or skips one."""


def new_epoch() -> int:
    return secrets.randbelow((1 << 32) - 1) + 1


@dataclass
class Conversation:
    epoch: int = field(default_factory=new_epoch)
    last: int = 0
    """Number of the last reliable message."""
    outbox: list[Unit] = field(default_factory=list)
    their_epoch: int = 0
    delivered: int = 0
    duplicates: int = 0

    def hello(self, name: str, *, silence: int = 2, signing_key: bytes = b"", relays: bool = False) -> Hello:
        first = self.outbox[0].number if self.outbox else self.last + 1
        standing = (first, self.their_epoch, self.delivered)
        return Hello(self.epoch, name, *standing, silence=silence, signing_key=signing_key, relays=relays)

    def meet(self, other: Hello) -> None:
        """Reads the other side's hello. Messages that are then still in the outbox must be sent again."""
        if other.their_epoch == self.epoch:
            if other.delivered > self.last:
                self.outbox.clear()
                self.last = other.delivered
            else:
                self.acknowledged(other.delivered)
        if other.epoch != self.their_epoch or other.first - 1 > self.delivered:
            self.delivered = other.first - 1
        self.their_epoch = other.epoch

    def write(self, body: bytes) -> Unit:
        """Gives a reliable message its number, and keeps it until it is acknowledged."""
        self.last += 1
        unit = Unit(body, self.last)
        self.outbox.append(unit)
        return unit

    def acknowledged(self, number: int) -> None:
        if number > self.last:
            raise Impossible(f"an ack of {number} after {self.last} messages")
        self.outbox = [unit for unit in self.outbox if unit.number > number]

    def take(self, unit: Unit) -> bool:
        """Whether a reliable unit is new, not a repetition."""
        if unit.number <= self.delivered:
            self.duplicates += 1
            return False
        if unit.number > self.delivered + 1:
            raise Impossible(f"message {unit.number} after {self.delivered}")
        self.delivered = unit.number
        return True
