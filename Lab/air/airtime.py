"""The airtime of link layer packets (Core Specification, Volume 6, Part B, sections 2.1 to 4.1)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from bumble.hci import Phy

# The time between two packets of a connection event; the specification allows no other value.
INTERFRAME_SPACE = 150e-6

# An advertising event is up to three ADV_IND of 37 payload bytes, each followed by time to listen for an answer.
ADVERTISING_EVENT = 3 * (47 * 8e-6 + 2 * INTERFRAME_SPACE)

# The message integrity code that encryption adds to every packet with a payload.
MIC_BYTES = 4


def packet_airtime(payload: int, phy: Phy) -> float:
    """Preamble, access address, header, payload and CRC. An empty packet takes 80 microseconds on 1M, 44 on 2M."""
    if phy is Phy.LE_2M:
        return (payload + 11) * 4e-6
    return (payload + 10) * 8e-6


def exchange_airtime(down: int, up: int, phy: Phy) -> float:
    """The central sends a packet and the peripheral answers. A side without data sends an empty packet."""
    return packet_airtime(down, phy) + packet_airtime(up, phy) + 2 * INTERFRAME_SPACE


def fragments(payload: int, data_length: int, encrypted: bool) -> Iterator[int]:
    """Splits a payload into packets of at most the link's data length."""
    overhead = MIC_BYTES if encrypted else 0
    while payload > 0:
        piece = min(payload, data_length)
        yield piece + overhead
        payload -= piece


def transfer_airtime(down: int, up: int, phy: Phy, data_length: int, encrypted: bool) -> float:
    """The airtime of one payload in each direction. Either may be 0."""
    pairs = zip_longest(fragments(down, data_length, encrypted), fragments(up, data_length, encrypted), fillvalue=0)
    return sum(exchange_airtime(one, other, phy) for one, other in pairs)
