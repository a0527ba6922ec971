"""Device addresses, as the air compares them and as Bumble's commands and events represent them."""

from __future__ import annotations

from bumble import hci

Address = tuple[int, bytes]
"""Address type (0 public, 1 random) and the six bytes, least significant first, as HCI writes them."""


def address_of(address: hci.Address) -> Address:
    return address.address_type & 1, bytes(address)


def hci_address(address: Address) -> hci.Address:
    return hci.Address(address[1], hci.AddressType(address[0]))
