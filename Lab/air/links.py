"""A controller's ends of its links, their data, and their events for its host."""

from __future__ import annotations

import itertools
import struct
from typing import Any

from bumble import hci, ll
from bumble.hci import HCI_ErrorCode as Error
from bumble.hci import Phy

from .addresses import Address, hci_address
from .bumble_adapter import MAXIMUM_DATA_LENGTH, MAXIMUM_DATA_TIME, BumbleController
from .connection_events import LinkParameters
from .counters import RadioCounters, Traffic
from .host_front import HostFront
from .link import CONTROL_PDU_BYTES, End, Pdu
from .profiles import Profile

# Packet boundary flags of ACL data: 0 starts an L2CAP packet to the controller, 2 one to the host; 1 continues one.
CONTINUATION, FIRST_TO_HOST = 1, 2

REMOTE_CONNECTION_PARAMETER_REQUEST = 1 << 5
ENHANCED_CONNECTION_COMPLETE = 1 << 9

NO_PREFERENCE_TX = 0x01
LE_1M_BIT, LE_2M_BIT = 0x01, 0x02

LAST_HANDLE = 0x0EFF


class Links:
    def __init__(self, counters: RadioCounters, profile: Profile, front: HostFront, bumble: BumbleController) -> None:
        self._counters = counters
        self._profile = profile
        self._front = front
        self._bumble = bumble
        self._handles = itertools.cycle(range(1, LAST_HANDLE + 1))
        self._ends: dict[int, End] = {}
        self._sent = Traffic()
        self._received = Traffic()

    # New and ended links

    def add(self, end: End, role: hci.Role, own: Address, peer: Address) -> int:
        """Adds a new link's end. Returns its handle for the host."""
        # Handles are not reused at once: a late command for an ended link must not apply to the next link.
        handle = next(handle for handle in self._handles if handle not in self._ends)
        end.connection = self._bumble.add_connection(end, handle, role, own, peer, self)
        self._ends[handle] = end
        self._counters.links_made += 1
        return handle

    @property
    def any(self) -> bool:
        return bool(self._ends)

    def find(self, handle: int) -> End | None:
        return self._ends.get(handle)

    def is_linked(self, peer: Address) -> bool:
        return self._bumble.is_connected(peer)

    def closed(self, end: End, reason: int) -> None:
        self._received.add(end.received)
        self._sent.add(end.other.received)
        if connection := end.connection:
            end.connection = None
            self._ends.pop(connection.handle, None)
            if reason == Error.CONNECTION_TIMEOUT_ERROR:
                self._counters.links_lost += 1
            self._bumble.end_connection(connection, reason)

    def vanish(self) -> None:
        """Leaves every link without notice."""
        ends, self._ends = self._ends, {}
        self._bumble.forget_connections()
        for end in ends.values():
            if end.link:
                end.link.vanish(end)

    def begin_procedures(self, end: End) -> None:
        """The procedures that controllers start on a new link: data length, and the requested PHY."""
        assert end.link
        octets = min(self._bumble.suggested_data_length, MAXIMUM_DATA_LENGTH)
        if octets > end.link.data_length:
            end.link.update_data_length(end, octets)
        all_phys, tx_phys = self._bumble.default_phys
        if not all_phys & NO_PREFERENCE_TX:
            self.ask_for_phy(end, tx_phys, only_faster=True)

    def ask_for_phy(self, end: End, wanted: int, only_faster: bool = False) -> None:
        """Requests 2M if the host wants it and both sides support it, else 1M; the same in both directions."""
        assert end.link
        both = self._profile.two_megabit and end.other.controller.profile.two_megabit
        phy = Phy.LE_2M if wanted & LE_2M_BIT and both else Phy.LE_1M
        if not only_faster or phy > end.link.phy:
            end.link.update_phy(end, phy)

    def traffic(self) -> tuple[Traffic, Traffic]:
        """The data that was sent (and arrived) and received, on links past and present."""
        sent, received = Traffic(), Traffic()
        sent.add(self._sent)
        received.add(self._received)
        for end in self._ends.values():
            sent.add(end.other.received)
            received.add(end.received)
        return sent, received

    # Data

    def take_data(self, packet: bytes) -> None:
        """Handles an ACL packet of the host."""
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
                lambda: other.controller.links.receive(other, first, payload),
                lambda: self._front.send_completed_packet(handle),
            ),
        )

    def receive(self, end: End, first: bool, payload: bytes) -> None:
        end.received.count(first, payload)
        if end.connection:
            self._front.send_data(end.connection.handle, FIRST_TO_HOST if first else CONTINUATION, payload)

    # Bumble's own link layer messages: the exchange of features, and the start of encryption

    def send_control(self, end: End, packet: ll.ControlPdu) -> None:
        other = end.other

        def deliver() -> None:
            if other.connection:
                other.controller.bumble.take_control(other.connection, packet)

        if end.link:
            end.link.send(end, Pdu(CONTROL_PDU_BYTES, deliver))

    def encryption_changed(self, end: End, on: bool) -> None:
        assert end.link
        end.link.encrypted = on

    def keys_differ(self, end: End) -> None:
        """The two sides cannot decrypt each other's packets."""
        if end.link:
            end.link.close(Error.CONNECTION_TERMINATED_DUE_TO_MIC_FAILURE_ERROR)

    # Events for the host

    def made(self, handle: int, role: hci.Role, peer: Address, parameters: LinkParameters) -> None:
        self._connection_complete(Error.SUCCESS, handle, role, peer, parameters.hci())

    def not_made(self, peer: Address) -> None:
        """Reports that a dial has been cancelled."""
        self._connection_complete(Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, 0, 0, peer, (0, 0, 0))

    def _connection_complete(
        self, status: int, handle: int, role: int, peer: Address, parameters: tuple[int, int, int]
    ) -> None:
        interval, latency, timeout = parameters
        fields: dict[str, Any] = {
            "status": status,
            "connection_handle": handle,
            "role": role,
            "peer_address_type": peer[0],
            "peer_address": hci_address(peer),
            "connection_interval": interval,
            "peripheral_latency": latency,
            "supervision_timeout": timeout,
            "central_clock_accuracy": 0,
        }
        event: hci.HCI_Event
        if self._bumble.wants_le_event(ENHANCED_CONNECTION_COMPLETE):
            event = hci.HCI_LE_Enhanced_Connection_Complete_Event(
                local_resolvable_private_address=hci.Address.ANY_RANDOM,
                peer_resolvable_private_address=hci.Address.ANY_RANDOM,
                **fields,
            )
        else:
            event = hci.HCI_LE_Connection_Complete_Event(**fields)
        self._front.send(event)

    # Parameter requests of a peripheral (Volume 6, Part B, 5.1.7)

    def ask_central(self, end: End, wanted: tuple[int, int, int, int]) -> None:
        other = end.other
        if end.link:
            ask = Pdu(CONTROL_PDU_BYTES, lambda: other.controller.links.asked_by_peripheral(other, wanted))
            end.link.send(end, ask)

    def asked_by_peripheral(self, end: End, wanted: tuple[int, int, int, int]) -> None:
        """The central's host decides, unless it has masked this event."""
        if not end.connection or not end.link:
            return
        shortest, longest, latency, timeout = wanted
        if not self._bumble.wants_le_event(REMOTE_CONNECTION_PARAMETER_REQUEST):
            end.link.update_parameters(end, LinkParameters.of(longest, latency, timeout))
            return
        self._front.send(
            hci.HCI_LE_Remote_Connection_Parameter_Request_Event(
                connection_handle=end.connection.handle,
                interval_min=shortest,
                interval_max=longest,
                max_latency=latency,
                timeout=timeout,
            )
        )

    def refuse_peripheral(self, end: End, reason: int) -> None:
        other = end.other
        if end.link:
            refusal = Pdu(CONTROL_PDU_BYTES, lambda: other.controller.links.parameters_changed(other, reason))
            end.link.send(end, refusal)

    def parameters_changed(self, end: End, status: int = Error.SUCCESS) -> None:
        if end.connection and end.link:
            interval, latency, timeout = end.link.parameters.hci()
            self._front.send(
                hci.HCI_LE_Connection_Update_Complete_Event(
                    status=status,
                    connection_handle=end.connection.handle,
                    connection_interval=interval,
                    peripheral_latency=latency,
                    supervision_timeout=timeout,
                )
            )

    def phy_changed(self, end: End) -> None:
        if end.connection and end.link:
            self._front.send(
                hci.HCI_LE_PHY_Update_Complete_Event(
                    status=Error.SUCCESS,
                    connection_handle=end.connection.handle,
                    tx_phy=end.link.phy,
                    rx_phy=end.link.phy,
                )
            )

    def data_length_changed(self, end: End) -> None:
        if end.connection and end.link:
            octets = end.link.data_length
            self._front.send(
                hci.HCI_LE_Data_Length_Change_Event(
                    connection_handle=end.connection.handle,
                    max_tx_octets=octets,
                    max_tx_time=MAXIMUM_DATA_TIME,
                    max_rx_octets=octets,
                    max_rx_time=MAXIMUM_DATA_TIME,
                )
            )
