"""The HCI commands of links, and the data that goes over them (Core Specification, Volume 4, Part E, sections 7.1.6,
7.5.4 and 7.8.18 to 7.8.49)."""

from __future__ import annotations

import struct

from bumble import hci, ll
from bumble.controller import Connection
from bumble.core import PhysicalTransport
from bumble.hci import HCI_ErrorCode as Error
from bumble.hci import Phy

from .advertiser import Address
from .link import CONTROL_PDU_BYTES, End, Pdu
from .port import ACL_DATA
from .radio import MAXIMUM_DATA_TIME, LabConnection, Radio
from .scanner import LinkParameters

# Packet boundary flags of ACL data: to the controller 0 starts an L2CAP packet, to the host 2 does; 1 continues one.
CONTINUATION, FIRST_TO_HOST = 1, 2

NO_PREFERENCE_TX = 0x01
LE_1M_BIT, LE_2M_BIT = 0x01, 0x02

TRANSMIT_POWER = 4
"""In dBm: what a dongle of class 2 has."""

Handle = hci.HCI_StatusAndConnectionHandleReturnParameters


class LinkCommands(Radio):
    # Links come and go

    def add_link(self, end: End, role: hci.Role, own: Address, peer: Address) -> LabConnection:
        handle = self.allocate_connection_handle()
        connection = LabConnection(
            controller=self,
            handle=handle,
            role=role,
            self_address=hci.Address(own[1], hci.AddressType(own[0])),
            peer_address=hci.Address(peer[1], hci.AddressType(peer[0])),
            link=self.medium,
            transport=PhysicalTransport.LE,
            link_type=hci.HCI_Connection_Complete_Event.LinkType.ACL,
        )
        connection.end = end
        end.connection = connection
        self.le_connections[connection.peer_address] = connection
        self._ends[handle] = end
        self.counters.links_made += 1
        return connection

    def link_closed(self, end: End, reason: int) -> None:
        self.received.add(end.received)
        self.sent.add(end.other.received)
        if connection := end.connection:
            end.connection = None
            self._ends.pop(connection.handle, None)
            if reason == Error.CONNECTION_TIMEOUT_ERROR:
                self.counters.links_lost += 1
            self.on_le_disconnected(connection, reason)

    def begin_procedures(self, end: End) -> None:
        """What controllers do by themselves on a new link: agree on longer packets, and on the PHY asked for."""
        assert end.link
        octets = min(self.suggested_max_tx_octets, end.other.controller.supported_max_rx_octets)
        if octets > end.link.data_length:
            end.link.update_data_length(end, octets)
        if not self.default_phy["all_phys"] & NO_PREFERENCE_TX:
            self._ask_for_phy(end, self.default_phy["tx_phys"], only_faster=True)

    def find_end(self, handle: int) -> End | None:
        return self._ends.get(handle)

    def on_hci_disconnect_command(self, command: hci.HCI_Disconnect_Command) -> None:
        end = self.find_end(command.connection_handle)
        if not end or not end.link:
            self._send_hci_command_status(Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, command.op_code)
            return
        self._send_hci_command_status(hci.HCI_COMMAND_STATUS_PENDING, command.op_code)
        end.link.terminate(end, command.reason, Error.CONNECTION_TERMINATED_BY_LOCAL_HOST_ERROR)

    def on_hci_reset_command(self, _command: hci.HCI_Reset_Command) -> hci.HCI_StatusReturnParameters:
        self.power_off()
        return hci.HCI_StatusReturnParameters(Error.SUCCESS)

    def power_off(self) -> None:
        """Falls silent. Whoever was linked to us finds out after the supervision timeout."""
        for advertiser in self.advertisers.values():
            advertiser.stop()
        self.advertisers.clear()
        self.scanner.enabled = False
        self.initiator = None
        self.accept_list.clear()
        self.medium.listening_changed()
        ends, self._ends = self._ends, {}
        self.le_connections.clear()
        for end in ends.values():
            if end.link:
                end.link.vanish(end)

    # Data

    def on_acl_data(self, packet: bytes) -> None:
        field, length = struct.unpack_from("<HH", packet, 1)
        handle = field & 0x0FFF
        end = self._ends.get(handle)
        if not end or not end.link:
            return
        first = (field >> 12) & 3 != CONTINUATION
        payload = packet[5:]
        other = end.other
        end.link.send(
            end,
            Pdu(
                length,
                lambda: other.controller.receive(other, first, payload),
                lambda: self.send_completed_packets(handle),
            ),
        )

    def receive(self, end: End, first: bool, payload: bytes) -> None:
        end.received.count(first, payload)
        if end.connection:
            field = end.connection.handle | (FIRST_TO_HOST if first else CONTINUATION) << 12
            self.port.send(struct.pack("<BHH", ACL_DATA, field, len(payload)) + payload)

    def send_control(self, end: End, packet: ll.ControlPdu) -> None:
        """Bumble's own link layer messages: the exchange of features, and the start of encryption."""
        other = end.other

        def deliver() -> None:
            if other.connection:
                other.controller.on_ll_control_pdu(other.connection.peer_address, packet)

        if end.link:
            end.link.send(end, Pdu(CONTROL_PDU_BYTES, deliver))

    # Encryption

    def on_le_encryption_change(self, connection: Connection, status: int) -> None:
        assert isinstance(connection, LabConnection) and connection.end.link
        connection.end.link.encrypted = status == Error.SUCCESS
        super().on_le_encryption_change(connection, status)

    def on_le_long_term_key_reply(
        self, connection: Connection, request: ll.EncReq, long_term_key: bytes | None
    ) -> None:
        assert isinstance(connection, LabConnection)
        if long_term_key is None or long_term_key == request.ltk:
            super().on_le_long_term_key_reply(connection, request, long_term_key)
        elif connection.end.link:
            # The two have different keys: neither can read the other's packets.
            connection.end.link.close(Error.CONNECTION_TERMINATED_DUE_TO_MIC_FAILURE_ERROR)

    # Parameters

    def on_hci_le_connection_update_command(self, command: hci.HCI_LE_Connection_Update_Command) -> None:
        end = self.find_end(command.connection_handle)
        if not end or not end.link:
            self._send_hci_command_status(Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, command.op_code)
            return
        self._send_hci_command_status(hci.HCI_COMMAND_STATUS_PENDING, command.op_code)
        # A peripheral's wish is granted without asking the central's host.
        parameters = LinkParameters.of(
            command.connection_interval_max, command.max_latency, command.supervision_timeout
        )
        end.link.update_parameters(end, parameters)

    def parameters_changed(self, end: End) -> None:
        if end.connection and end.link:
            interval, latency, timeout = end.link.parameters.hci()
            self.send_hci_packet(
                hci.HCI_LE_Connection_Update_Complete_Event(
                    status=Error.SUCCESS,
                    connection_handle=end.connection.handle,
                    connection_interval=interval,
                    peripheral_latency=latency,
                    supervision_timeout=timeout,
                )
            )

    def on_hci_le_set_phy_command(self, command: hci.HCI_LE_Set_PHY_Command) -> None:
        end = self.find_end(command.connection_handle)
        if not end or not end.link:
            self._send_hci_command_status(Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, command.op_code)
            return
        self._send_hci_command_status(hci.HCI_COMMAND_STATUS_PENDING, command.op_code)
        anything = command.all_phys & NO_PREFERENCE_TX
        self._ask_for_phy(end, LE_1M_BIT | LE_2M_BIT if anything else command.tx_phys)

    def _ask_for_phy(self, end: End, wanted: int, only_faster: bool = False) -> None:
        """2M if the host wants it and both sides can, 1M otherwise; the same in both directions."""
        assert end.link
        both = self.profile.two_megabit and end.other.controller.profile.two_megabit
        phy = Phy.LE_2M if wanted & LE_2M_BIT and both else Phy.LE_1M
        if not only_faster or phy > end.link.phy:
            end.link.update_phy(end, phy)

    def phy_changed(self, end: End) -> None:
        if end.connection and end.link:
            self.send_hci_packet(
                hci.HCI_LE_PHY_Update_Complete_Event(
                    status=Error.SUCCESS,
                    connection_handle=end.connection.handle,
                    tx_phy=end.link.phy,
                    rx_phy=end.link.phy,
                )
            )

    def on_hci_le_read_phy_command(self, command: hci.HCI_LE_Read_PHY_Command) -> hci.HCI_LE_Read_PHY_ReturnParameters:
        end = self.find_end(command.connection_handle)
        phy = end.link.phy if end and end.link else Phy.LE_1M
        return hci.HCI_LE_Read_PHY_ReturnParameters(
            status=Error.SUCCESS if end else Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR,
            connection_handle=command.connection_handle,
            tx_phy=phy,
            rx_phy=phy,
        )

    def on_hci_le_set_data_length_command(self, command: hci.HCI_LE_Set_Data_Length_Command) -> Handle:
        end = self.find_end(command.connection_handle)
        if not end or not end.link:
            return Handle(Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, command.connection_handle)
        octets = min(command.tx_octets, end.other.controller.supported_max_rx_octets)
        self.loop.call_soon(end.link.update_data_length, end, octets)
        return Handle(Error.SUCCESS, command.connection_handle)

    def data_length_changed(self, end: End) -> None:
        if end.connection and end.link:
            octets = end.link.data_length
            self.send_hci_packet(
                hci.HCI_LE_Data_Length_Change_Event(
                    connection_handle=end.connection.handle,
                    max_tx_octets=octets,
                    max_tx_time=MAXIMUM_DATA_TIME,
                    max_rx_octets=octets,
                    max_rx_time=MAXIMUM_DATA_TIME,
                )
            )

    # Questions about a link

    def on_hci_read_rssi_command(self, command: hci.HCI_Read_RSSI_Command) -> hci.HCI_Read_RSSI_ReturnParameters:
        end = self.find_end(command.handle)
        return hci.HCI_Read_RSSI_ReturnParameters(
            status=Error.SUCCESS if end else Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR,
            handle=command.handle,
            rssi=end.link.path.rssi if end and end.link else 127,
        )

    def on_hci_read_transmit_power_level_command(self, command: hci.HCI_Command) -> None:
        # Bumble has no class for this one; Linux asks for it along with the signal strength.
        (handle,) = struct.unpack_from("<H", command.parameters)
        status = Error.SUCCESS if self.find_end(handle) else Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR
        complete = struct.pack("<BBBBHBHb", 0x04, 0x0E, 7, 1, command.op_code, status, handle, TRANSMIT_POWER)
        self.port.send(complete)

    def on_hci_read_remote_version_information_command(
        self, command: hci.HCI_Read_Remote_Version_Information_Command
    ) -> None:
        end = self.find_end(command.connection_handle)
        if not end:
            self._send_hci_command_status(Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, command.op_code)
            return
        self._send_hci_command_status(hci.HCI_COMMAND_STATUS_PENDING, command.op_code)
        peer = end.other.controller
        self.send_hci_packet(
            hci.HCI_Read_Remote_Version_Information_Complete_Event(
                status=Error.SUCCESS,
                connection_handle=command.connection_handle,
                version=peer.lmp_version,
                manufacturer_name=peer.manufacturer_company_identifier,
                subversion=peer.lmp_subversion,
            )
        )
