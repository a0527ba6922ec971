# SPDX-License-Identifier: Apache-2.0
"""Pictures for tests, in PNG."""

from __future__ import annotations

import random
import struct
import zlib


def noise(side: int, seed: int = 1) -> bytes:
    """A square of noise, which compresses worst."""
    dice = random.Random(seed)
    return _png(side, b"".join(b"\0" + dice.randbytes(3 * side) for _ in range(side)))


def gradient(side: int, red: int) -> bytes:
    """A square with a gradient between two colours."""
    row = [b"\0" + b"".join(bytes((red, x * 255 // side, y * 255 // side)) for x in range(side)) for y in range(side)]
    return _png(side, b"".join(row))


def _png(side: int, rows: bytes) -> bytes:
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    chunks = _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
