"""A controller: all its parts together."""

from __future__ import annotations

from .advertising_commands import AdvertisingCommands
from .faults import Faults
from .link_commands import LinkCommands
from .listening_commands import ListeningCommands


class LabController(Faults, AdvertisingCommands, ListeningCommands, LinkCommands):
    """An emulated Bluetooth LE controller. It speaks HCI with its host through `port`, and is heard on a Medium."""
