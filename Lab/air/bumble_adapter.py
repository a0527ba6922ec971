"""Bumble's controller inside ours. It answers the many HCI commands that only report or store a value, and implements
the link layer's exchange of features and start of encryption.

Only this file reaches into Bumble. Its changes to Bumble, with their reasons:

- An event goes to the host at once. Bumble defers it to the loop's next iteration, where data
  and reports that our own code sends could overtake it.
- A link layer message goes over our link, so it waits for a connection event and can be lost. Bumble has its own air.
- If the two sides' keys differ, the link breaks for both. Bumble ends one side of it.
- A command without a handler gets an error as its answer. Otherwise Linux waits two seconds for an answer.
- A closed channel is forgotten. Bumble 0.0.236 keeps its number in one of its two lists, and then refuses the number
  when the peer uses it again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from bumble import hci, ll
from bumble.controller import Connection, Controller
from bumble.core import PhysicalTransport
from bumble.device import Device
from bumble.l2cap import LeCreditBasedChannel

from .addresses import Address, address_of, hci_address
from .profiles import Profile

if TYPE_CHECKING:
    from .link import End

MAXIMUM_DATA_LENGTH = 251

# The airtime of the longest packet on 1M, in microseconds.
MAXIMUM_DATA_TIME = 2120


class LinkLayer(Protocol):
    """Our links as Bumble's link layer procedures use them."""

    def send_control(self, end: End, packet: ll.ControlPdu) -> None: ...

    def encryption_changed(self, end: End, on: bool) -> None: ...

    def keys_differ(self, end: End) -> None: ...


class ConnectionRecord(Connection):
    """Bumble's record of a connection, as its command handlers expect it, with our end of the link."""

    end: End
    link_layer: LinkLayer

    def send_ll_control_pdu(self, packet: ll.ControlPdu) -> None:
        self.link_layer.send_control(self.end, packet)


class PatchedController(Controller):
    """Bumble's controller with the changes above. Only BumbleController uses it."""

    hci_revision = 1
    acl_data_packet_length = MAXIMUM_DATA_LENGTH
    le_acl_data_packet_length = MAXIMUM_DATA_LENGTH
    supported_max_tx_octets = supported_max_rx_octets = MAXIMUM_DATA_LENGTH
    supported_max_tx_time = supported_max_rx_time = MAXIMUM_DATA_TIME

    def __init__(self, name: str, address: str, profile: Profile, send: Send, log: Log) -> None:
        self.hci_version = self.lmp_version = profile.version
        self.le_features = profile.features
        self.supported_commands = set(profile.commands)
        self.total_num_le_acl_data_packets = profile.buffers
        self._send = send
        self._log = log
        super().__init__(name, public_address=hci.Address(address, hci.AddressType.PUBLIC_DEVICE))

    def send_hci_packet(self, packet: hci.HCI_Packet) -> None:
        self._send(packet)

    def on_hci_command(  # type: ignore[override]  # None: the answer has been sent
        self, command: hci.HCI_Command
    ) -> hci.HCI_StatusReturnParameters | None:
        self._log(f"{self.name}: unsupported command {command.name}")
        if isinstance(command, hci.HCI_SyncCommand):
            return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.UNKNOWN_HCI_COMMAND_ERROR)
        self._send_hci_command_status(hci.HCI_ErrorCode.UNKNOWN_HCI_COMMAND_ERROR, command.op_code)
        return None

    def on_le_encryption_change(self, connection: Connection, status: int) -> None:
        assert isinstance(connection, ConnectionRecord)
        connection.link_layer.encryption_changed(connection.end, on=status == hci.HCI_ErrorCode.SUCCESS)
        super().on_le_encryption_change(connection, status)

    def on_le_long_term_key_reply(
        self, connection: Connection, request: ll.EncReq, long_term_key: bytes | None
    ) -> None:
        assert isinstance(connection, ConnectionRecord)
        if long_term_key is None or long_term_key == request.ltk:
            super().on_le_long_term_key_reply(connection, request, long_term_key)
        else:
            connection.link_layer.keys_differ(connection.end)


Send = Callable[[hci.HCI_Packet], None]
Log = Callable[[str], None]


class BumbleController:
    """Bumble's controller as the rest of the air uses it."""

    def __init__(self, name: str, address: str, profile: Profile, send: Send, log: Log) -> None:
        self._controller = PatchedController(name, address, profile, send, log)

    def answer(self, packet: hci.HCI_Packet) -> None:
        """Handles a packet of the host and sends the answer."""
        self._controller.on_hci_packet(packet)

    # Properties, and values that the host has set

    @property
    def public_address(self) -> Address:
        return address_of(self._controller.public_address)

    @property
    def random_address(self) -> Address:
        return 1, bytes(self._controller.random_address)

    def wants_le_event(self, bit: int) -> bool:
        """Whether a bit of the LE event mask is set (Volume 4, Part E, 7.8.1)."""
        return bool(self._controller.le_event_mask & bit)

    @property
    def suggested_data_length(self) -> int:
        """Octets per packet on a new link."""
        return self._controller.suggested_max_tx_octets

    @property
    def default_phys(self) -> tuple[int, int]:
        """`all_phys` and `tx_phys` of LE Set Default PHY."""
        return self._controller.default_phy["all_phys"], self._controller.default_phy["tx_phys"]

    @property
    def accept_list_size(self) -> int:
        return self._controller.filter_accept_list_size

    @property
    def version(self) -> tuple[int, int, int]:
        """Version, manufacturer and subversion for a peer."""
        controller = self._controller
        return controller.lmp_version, controller.manufacturer_company_identifier, controller.lmp_subversion

    # Records of connections

    def add_connection(
        self, end: End, handle: int, role: hci.Role, own: Address, peer: Address, link_layer: LinkLayer
    ) -> ConnectionRecord:
        record = ConnectionRecord(
            controller=self._controller,
            handle=handle,
            role=role,
            self_address=hci_address(own),
            peer_address=hci_address(peer),
            link=self._controller.link,
            transport=PhysicalTransport.LE,
            link_type=hci.HCI_Connection_Complete_Event.LinkType.ACL,
        )
        record.end, record.link_layer = end, link_layer
        self._controller.le_connections[record.peer_address] = record
        return record

    def end_connection(self, record: ConnectionRecord, reason: int) -> None:
        """Removes a connection, and notifies the host that it is disconnected."""
        self._controller.on_le_disconnected(record, reason)

    def forget_connections(self) -> None:
        self._controller.le_connections.clear()

    def is_connected(self, peer: Address) -> bool:
        return hci_address(peer) in self._controller.le_connections

    def take_control(self, record: ConnectionRecord, packet: ll.ControlPdu) -> None:
        """Handles a link layer message of the other side."""
        self._controller.on_ll_control_pdu(record.peer_address, packet)


def forget_channel(device: Device, channel: LeCreditBasedChannel) -> None:
    """Call this when a channel of a Bumble host has closed."""
    of_link = device.l2cap_channel_manager.le_coc_channels.get(channel.connection.handle, {})
    of_link.pop(channel.destination_cid, None)
