"""Compares the air's airtimes with the published throughput of an LE L2CAP channel."""

from __future__ import annotations

import pytest
from air.airtime import exchange_airtime, transfer_airtime
from bumble.hci import Phy

# A full packet: 247 bytes of channel data and 4 of L2CAP header.
PAYLOAD, LINK_LAYER = 247, 251


@pytest.mark.parametrize(
    ("phy", "encrypted", "kilobits"),
    [(Phy.LE_1M, False, 801), (Phy.LE_2M, False, 1419), (Phy.LE_2M, True, 1403)],
)
def test_full_packets_reach_the_theoretical_throughput(phy: Phy, encrypted: bool, kilobits: int) -> None:
    seconds = transfer_airtime(LINK_LAYER, 0, phy, data_length=251, encrypted=encrypted)
    assert PAYLOAD * 8 / seconds / 1000 == pytest.approx(kilobits, abs=1)


def test_both_directions_share_an_exchange() -> None:
    one_way = transfer_airtime(LINK_LAYER, 0, Phy.LE_1M, 251, False)
    both_ways = transfer_airtime(LINK_LAYER, LINK_LAYER, Phy.LE_1M, 251, False)
    assert one_way < both_ways < 2 * one_way


def test_a_short_data_length_costs_an_exchange_for_each_fragment() -> None:
    seconds = transfer_airtime(LINK_LAYER, 0, Phy.LE_1M, 27, False)
    whole, rest = divmod(LINK_LAYER, 27)
    expected = whole * exchange_airtime(27, 0, Phy.LE_1M) + exchange_airtime(rest, 0, Phy.LE_1M)
    assert seconds == pytest.approx(expected)
