# SPDX-License-Identifier: Apache-2.0
"""The hexadecimal examples of docs/protocol.md, and their two nodes."""

from __future__ import annotations

import re
from pathlib import Path

from .democracy_dj import Guest, QueueItem, Song, State
from .noise_link import Key

PATH = Path(__file__).parents[3] / "docs" / "protocol.md"

# The private keys of RFC 7748, 6.1. The document states their public keys.
ANA = Key(bytes.fromhex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"))
CAR = Key(bytes.fromhex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"))

ANA_EPOCH, CAR_EPOCH = 0x7F3A1C02, 0x1D40B6E9
STATE_EPOCH = 1795256326

STATE = State(
    epoch=STATE_EPOCH,
    revision=3,
    now_playing=QueueItem(Song("s1", "Open Road", "The Milestones", 214_000), CAR.identifier),
    is_playing=True,
    queue=(QueueItem(Song("s6", "Headlights", "Long Haul", 263_000), CAR.identifier),),
    guests=(Guest(ANA.identifier, "Ana"),),
)


def text() -> str:
    return PATH.read_text()


def blocks() -> list[str]:
    """The contents of fenced blocks."""
    return re.findall(r"^```\n(.*?)^```$", text(), re.MULTILINE | re.DOTALL)


def hexadecimal(line: str) -> bytes:
    """The bytes at the start of a line, between their name and the remark after them."""
    found = re.match(
        r"(?:[A-Za-z][\w-]*(?: [a-z]+)? +)??((?:[0-9a-f]{2})+(?: +(?:[0-9a-f]{2})+\b(?![\w…]))*)(?: |$)", line.strip()
    )
    return bytes.fromhex(found[1]) if found else b""


def examples() -> list[bytes]:
    """The bytes of every block, its lines joined."""
    return [b"".join(map(hexadecimal, block.splitlines())) for block in blocks()]


def gives(wanted: bytes) -> bool:
    return any(wanted in example for example in examples())
