# SPDX-License-Identifier: Apache-2.0
"""The faults of a hostile broker. Each affects a random share of the messages (from a seed) on some topics."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from .hostile_broker import Fault
from .mqtt import Publish, matches

Passed = list[tuple[float, Publish]]

EVERYTHING = "#"
REORDERED_WITHIN = 0.2
"""A message that is held back until after the next one waits at most this many seconds."""


def sometimes(share: float, what: Callable[[Publish], Passed], topics: str = EVERYTHING, seed: int = 1) -> Fault:
    """Applies a fault to this share of the messages of some topics, and passes the others on."""
    chance = random.Random(seed)

    def fault(message: Publish) -> Passed:
        if matches(topics, message.topic) and chance.random() < share:
            return what(message)
        return [(0.0, message)]

    return fault


def dropped(message: Publish) -> Passed:
    return []


def doubled(message: Publish) -> Passed:
    return [(0.0, message), (0.0, message)]


def late(message: Publish) -> Passed:
    """Sends the message after those that arrive in the meantime."""
    return [(REORDERED_WITHIN, message)]


def delayed(seconds: float) -> Callable[[Publish], Passed]:
    return lambda message: [(seconds, message)]


def altered(message: Publish) -> Passed:
    """Flips one bit of the last byte."""
    payload = message.payload
    changed = payload[:-1] + bytes((payload[-1] ^ 1,)) if payload else payload
    return [(0.0, replace(message, payload=changed))]
