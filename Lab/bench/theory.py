"""The limits of the air: bytes a second of an LE L2CAP channel with back-to-back packets."""

from __future__ import annotations

from air.airtime import ADVERTISING_EVENT, exchange_airtime, transfer_airtime
from bumble.hci import Phy

# The payload of a link-layer packet, and the L2CAP headers in it.
DATA_LENGTH = 251
L2CAP_HEADER = 4
SDU_LENGTH = 2

PHYS = {"1M": Phy.LE_1M, "2M": Phy.LE_2M}


def packets(sdu: int) -> list[int]:
    """The payloads of an SDU's packets, headers included."""
    left = sdu + SDU_LENGTH
    room = DATA_LENGTH - L2CAP_HEADER
    sizes = []
    while left > 0:
        sizes.append(min(left, room) + L2CAP_HEADER)
        left -= room
    return sizes


def goodput(sdu: int, phy: str) -> float:
    """Bytes a second of SDUs of this size."""
    return sdu / sum(transfer_airtime(size, 0, PHYS[phy], DATA_LENGTH, encrypted=False) for size in packets(sdu))


def largest_goodput(phy: str) -> float:
    """Bytes a second of full packets: 247 bytes of data each."""
    room = DATA_LENGTH - L2CAP_HEADER
    return room / transfer_airtime(DATA_LENGTH, 0, PHYS[phy], DATA_LENGTH, encrypted=False)


def empty_event(phy: str) -> float:
    """The duration of a connection event without data, in seconds."""
    return exchange_airtime(0, 0, PHYS[phy])


def payload_airtime(octets: int, phy: str) -> float:
    """The time that data adds to events, in seconds."""
    return octets * (4e-6 if phy == "2M" else 8e-6)


def advertising_airtime(events: int) -> float:
    return events * ADVERTISING_EVENT
