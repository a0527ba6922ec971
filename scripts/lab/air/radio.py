"""What every part of a controller shares: its state, and the way to and from its host.

Bumble's Controller answers the many HCI commands that only report or store something. Whatever touches the air
(advertising, listening, links and their data) is ours, in the classes that extend this one.
"""

from __future__ import annotations

import asyncio
import itertools
import struct
from collections import deque
from typing import TYPE_CHECKING, Protocol, cast

from bumble import hci, ll
from bumble.controller import Connection, Controller

from .counters import RadioCounters, Traffic
from .port import ACL_DATA
from .profiles import PROFILES
from .scanner import Initiator, Scanner

if TYPE_CHECKING:
    from .advertiser import Address, Advertiser
    from .controller import LabController
    from .link import End, Link
    from .medium import Medium, Path

MAXIMUM_DATA_LENGTH = 251

# The time that the longest packet takes on 1M, in microseconds.
MAXIMUM_DATA_TIME = 2120

LAST_HANDLE = 0x0EFF


def address_of(address: hci.Address) -> Address:
    return address.address_type & 1, bytes(address)


class HostPort(Protocol):
    def send(self, packet: bytes) -> None: ...


class NoHost:
    """What a controller is plugged into until it is plugged in."""

    def send(self, packet: bytes) -> None:
        pass


class LabConnection(Connection):
    """Bumble's record of a connection, as its command handlers expect it, tied to our link."""

    end: End

    def send_ll_control_pdu(self, packet: ll.ControlPdu) -> None:
        self.end.controller.send_control(self.end, packet)


class Radio(Controller):
    hci_revision = 1
    acl_data_packet_length = MAXIMUM_DATA_LENGTH
    le_acl_data_packet_length = MAXIMUM_DATA_LENGTH
    supported_max_tx_octets = supported_max_rx_octets = MAXIMUM_DATA_LENGTH
    supported_max_tx_time = supported_max_rx_time = MAXIMUM_DATA_TIME

    def __init__(self, name: str, medium: Medium, address: str, profile: str) -> None:
        self.profile = PROFILES[profile]
        self.hci_version = self.lmp_version = self.profile.version
        self.le_features = self.profile.features
        self.supported_commands = set(self.profile.commands)
        self.total_num_le_acl_data_packets = self.profile.buffers
        self.medium = medium
        self.loop = asyncio.get_running_loop()
        self.paths: dict[LabController, Path] = {}
        self.counters = RadioCounters()
        self.sent = Traffic()
        self.received = Traffic()
        self.port: HostPort = NoHost()
        self.busy_until = 0.0
        self.exchanging: Link | None = None
        self.waiting: deque[Link] = deque()
        self.advertisers: dict[int, Advertiser] = {}
        self.scanner = Scanner()
        self.initiator: Initiator | None = None
        self.accept_list: set[Address] = set()
        self._handles = itertools.cycle(range(1, LAST_HANDLE + 1))
        self._ends: dict[int, End] = {}
        super().__init__(name, link=medium, public_address=hci.Address(address, hci.AddressType.PUBLIC_DEVICE))

    @property
    def whole(self) -> LabController:
        """This very controller: the classes that extend this one are never used but together."""
        return cast("LabController", self)

    def now(self) -> float:
        return self.loop.time()

    @property
    def listening(self) -> bool:
        return self.scanner.enabled or self.initiator is not None

    def allocate_connection_handle(self) -> int:
        # Not the lowest free one: a late command for a link that has ended must not hit the next.
        return next(handle for handle in self._handles if handle not in self._ends)

    def traffic(self) -> tuple[Traffic, Traffic]:
        """What was sent (and arrived) and what was received, on links past and present."""
        sent, received = Traffic(), Traffic()
        sent.add(self.sent)
        received.add(self.received)
        for end in self._ends.values():
            sent.add(end.other.received)
            received.add(end.received)
        return sent, received

    # To and from the host

    def on_packet(self, packet: bytes) -> None:
        if packet[0] == ACL_DATA:
            self.on_acl_data(packet)
        else:
            self.on_hci_packet(hci.HCI_Packet.from_bytes(packet))

    def on_acl_data(self, packet: bytes) -> None:
        raise NotImplementedError

    def send_control(self, end: End, packet: ll.ControlPdu) -> None:
        raise NotImplementedError

    def send_hci_packet(self, packet: hci.HCI_Packet) -> None:
        self.port.send(bytes(packet))

    def send_completed_packets(self, handle: int) -> None:
        self.port.send(struct.pack("<BBBBHH", 0x04, 0x13, 5, 1, handle, 1))

    def on_hci_command(  # type: ignore[override]  # None: the answer has been sent
        self, command: hci.HCI_Command
    ) -> hci.HCI_StatusReturnParameters | None:
        """A command that nobody handles. Linux waits two seconds for any answer at all, so each gets one."""
        self.medium.log(f"{self.name}: unsupported command {command.name}")
        if isinstance(command, hci.HCI_SyncCommand):
            return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.UNKNOWN_HCI_COMMAND_ERROR)
        self._send_hci_command_status(hci.HCI_ErrorCode.UNKNOWN_HCI_COMMAND_ERROR, command.op_code)
        return None
