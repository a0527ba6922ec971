# SPDX-License-Identifier: Apache-2.0
"""The part of Protocol Buffers that docs/protocol.md describes: writing fields, and reading a message into its
fields."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterable

from .wire import Malformed, Reader, varint

VARINT, EIGHT_BYTES, BYTES, FOUR_BYTES = 0, 1, 2, 5


def number(field: int, value: int, *, always: bool = False) -> bytes:
    """A field with a number. A 0 is left out, unless the field is optional or one of several."""
    return varint(field << 3 | VARINT) + varint(value) if value or always else b""


def fixed32(field: int, value: int) -> bytes:
    return varint(field << 3 | FOUR_BYTES) + struct.pack("<I", value) if value else b""


def data(field: int, value: bytes | str, *, always: bool = False) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | BYTES) + varint(len(raw)) + raw if raw or always else b""


def message(field: int, value: bytes) -> bytes:
    """A field with a message, which is written even if it is empty."""
    return data(field, value, always=True)


def packed(field: int, values: Iterable[int]) -> bytes:
    return data(field, b"".join(varint(value) for value in values))


class Fields:
    """The fields of a message, by number. Unknown fields are ignored."""

    def __init__(self, body: bytes) -> None:
        self._fields: dict[int, list[int | bytes]] = defaultdict(list)
        reader = Reader(body)
        while not reader.at_end:
            tag = reader.varint()
            kind = tag & 7
            if kind == VARINT:
                self._fields[tag >> 3].append(reader.varint())
            elif kind == BYTES:
                self._fields[tag >> 3].append(reader.take(reader.varint()))
            elif kind == FOUR_BYTES:
                self._fields[tag >> 3].append(struct.unpack("<I", reader.take(4))[0])
            elif kind == EIGHT_BYTES:
                reader.take(8)
            else:
                raise Malformed(f"a field of wire type {kind}")

    def __contains__(self, field: int) -> bool:
        return field in self._fields

    def number(self, field: int) -> int:
        value = self._fields[field][-1] if field in self else 0
        if not isinstance(value, int):
            raise Malformed(f"field {field} is no number")
        return value

    def data(self, field: int) -> bytes:
        value = self._fields[field][-1] if field in self else b""
        if not isinstance(value, bytes):
            raise Malformed(f"field {field} is no bytes")
        return value

    def text(self, field: int) -> str:
        try:
            return self.data(field).decode()
        except UnicodeDecodeError as error:
            raise Malformed(f"field {field} is no UTF-8") from error

    def messages(self, field: int) -> list[bytes]:
        values = self._fields[field] if field in self else []
        return [value for value in values if isinstance(value, bytes)]

    def numbers(self, field: int) -> list[int]:
        """Repeated numbers: packed or single."""
        found: list[int] = []
        for value in self._fields[field] if field in self else []:
            if isinstance(value, int):
                found.append(value)
                continue
            reader = Reader(value)
            while not reader.at_end:
                found.append(reader.varint())
        return found
