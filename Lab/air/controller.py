"""A controller and its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .addresses import Address, hci_address
from .advertiser import Advertiser
from .advertising import Advertising
from .advertising_commands import AdvertisingCommands
from .bumble_adapter import BumbleController
from .counters import RadioCounters
from .faults import Faults, Stall
from .host_front import HostFront
from .link_commands import LinkCommands
from .links import Links
from .listening import Listening
from .listening_commands import ListeningCommands
from .profiles import PROFILES
from .radio import Radio
from .scanner import Initiator

if TYPE_CHECKING:
    from .medium import Medium


class LabController:
    """An emulated Bluetooth LE controller. It uses HCI with its host through `front`, and a Medium as its air.

    Our code handles the air: advertising, listening, links and their data. Bumble's controller answers commands that
    only report or store a value.
    """

    def __init__(self, name: str, medium: Medium, address: str, profile: str) -> None:
        self.name = name
        self.profile = PROFILES[profile]
        self.counters = RadioCounters()
        self.radio = Radio()
        self._medium = medium
        stall = Stall()
        self.front = HostFront(stall)
        self.bumble = BumbleController(name, address, self.profile, self.front.send, medium.log)
        self.advertising = Advertising(medium, self, self.front, self.bumble)
        self.listening = Listening(medium, self, self.front, self._connect)
        self.links = Links(self.counters, self.profile, self.front, self.bumble)
        self.faults = Faults(
            stall, self.power_off, self.advertising.forget, self.listening.stop, self._refuse_scans_while_linked
        )
        self.front.serve(
            AdvertisingCommands(self.advertising, self.profile).handlers(),
            ListeningCommands(medium.clock, self.listening, self.links, self.front, self.bumble).handlers(),
            LinkCommands(medium.clock, self.links, self.front, self.power_off).handlers(),
            data=self.links.take_data,
            others=self.bumble.answer,
        )
        medium.add_controller(self)

    def own_address(self, own_address_type: int) -> Address:
        """The address for the own address type of a command: its lowest bit means random."""
        return self.bumble.random_address if own_address_type & 1 else self.bumble.public_address

    @property
    def public_address(self) -> str:
        return hci_address(self.bumble.public_address).to_string(False)

    def announce(self, event: str, **fields: Any) -> None:
        self._medium.announce(event, self, **fields)

    def power_off(self) -> None:
        """Falls silent. Linked controllers notice after the supervision timeout."""
        self.advertising.forget()
        self.listening.accept_list.clear()
        self.listening.stop()
        self.links.vanish()

    def _refuse_scans_while_linked(self, on: bool) -> None:
        self.listening.scans_while_linked = not on

    def _connect(self, initiator: Initiator, own: Address, advertiser: Advertiser) -> None:
        self._medium.connect(self, initiator, own, advertiser)
