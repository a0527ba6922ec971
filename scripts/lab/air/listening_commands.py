"""The HCI commands of scanning and of creating a link (Core Specification, Volume 4, Part E, sections 7.8.10 to 7.8.17
and 7.8.64 to 7.8.66)."""

from __future__ import annotations

from typing import Any

from bumble import hci
from bumble.hci import HCI_ErrorCode as Error
from bumble.hci import HCI_StatusReturnParameters as Status

from .advertiser import Address, Advertiser
from .radio import Radio, address_of
from .scanner import Initiator, LinkParameters, Window

ENHANCED_CONNECTION_COMPLETE = 1 << 9


class ListeningCommands(Radio):
    """The part of a controller that hears what others advertise."""

    def hear(self, advertiser: Advertiser, rssi: int, now: float) -> None:
        """Called by the air for each advertising event that reaches us."""
        if self.busy_until > now:
            return
        scanner = self.scanner
        if scanner.enabled and scanner.window.is_open(now):
            self._report(advertiser, rssi, now)
        initiator = self.initiator
        if initiator and initiator.window.is_open(now):
            own = self._own_address(initiator.own_address_type)
            if initiator.wants(advertiser, own, self.accept_list):
                self.initiator = None
                self.medium.connect(self.whole, initiator, own, advertiser)

    def _report(self, advertiser: Advertiser, rssi: int, now: float) -> None:
        scanner = self.scanner
        if scanner.accept_list_only and advertiser.address not in self.accept_list:
            return
        reports = [advertiser.report()]
        if scanner.active and (response := advertiser.response()):
            reports.append(response)
        for report in reports:
            if scanner.takes(report, self.medium.duplicate_filter, now):
                packet = report.extended(rssi) if scanner.extended else report.legacy(rssi)
                if packet:
                    self.counters.reports += 1
                    self.port.send(packet)

    def _own_address(self, own_address_type: int) -> Address:
        address = self.random_address if own_address_type & 1 else self.public_address
        return own_address_type & 1, bytes(address)

    # Scanning

    def on_hci_le_set_scan_parameters_command(self, command: hci.HCI_LE_Set_Scan_Parameters_Command) -> Status:
        return self._set_scan(
            command.le_scan_type, command.le_scan_interval, command.le_scan_window, command.scanning_filter_policy
        )

    def on_hci_le_set_extended_scan_parameters_command(
        self, command: hci.HCI_LE_Set_Extended_Scan_Parameters_Command
    ) -> Status:
        # Advertising is on 1M here, so the first of the PHYs' parameters counts.
        return self._set_scan(
            command.scan_types[0], command.scan_intervals[0], command.scan_windows[0], command.scanning_filter_policy
        )

    def _set_scan(self, kind: int, interval: int, window: int, policy: int) -> Status:
        if self.scanner.enabled:
            return Status(Error.COMMAND_DISALLOWED_ERROR)
        self.scanner.active = bool(kind)
        self.scanner.window = Window.of(interval, window)
        self.scanner.accept_list_only = bool(policy & 1)
        return Status(Error.SUCCESS)

    def on_hci_le_set_scan_enable_command(self, command: hci.HCI_LE_Set_Scan_Enable_Command) -> Status:
        return self._enable_scan(command.le_scan_enable, command.filter_duplicates, extended=False)

    def on_hci_le_set_extended_scan_enable_command(
        self, command: hci.HCI_LE_Set_Extended_Scan_Enable_Command
    ) -> Status:
        # Duration and period are not acted on: Linux leaves them at 0 and stops a scan itself.
        return self._enable_scan(command.enable, command.filter_duplicates, extended=True)

    def _enable_scan(self, on: int, filter_duplicates: int, extended: bool) -> Status:
        self.scanner.extended = extended
        self.scanner.enable(bool(on), bool(filter_duplicates), self.medium.now())
        self.medium.listening_changed()
        return Status(Error.SUCCESS)

    # The filter accept list

    def on_hci_le_clear_filter_accept_list_command(
        self, _command: hci.HCI_LE_Clear_Filter_Accept_List_Command
    ) -> Status:
        self.accept_list.clear()
        return Status(Error.SUCCESS)

    def on_hci_le_add_device_to_filter_accept_list_command(
        self, command: hci.HCI_LE_Add_Device_To_Filter_Accept_List_Command
    ) -> Status:
        if len(self.accept_list) >= self.filter_accept_list_size:
            return Status(Error.MEMORY_CAPACITY_EXCEEDED_ERROR)
        self.accept_list.add(address_of(command.address))
        return Status(Error.SUCCESS)

    def on_hci_le_remove_device_from_filter_accept_list_command(
        self, command: hci.HCI_LE_Remove_Device_From_Filter_Accept_List_Command
    ) -> Status:
        self.accept_list.discard(address_of(command.address))
        return Status(Error.SUCCESS)

    # Creating a link

    def on_hci_le_create_connection_command(self, command: hci.HCI_LE_Create_Connection_Command) -> None:
        parameters = LinkParameters.of(
            command.connection_interval_max, command.max_latency, command.supervision_timeout
        )
        self._create(command, parameters, Window.of(command.le_scan_interval, command.le_scan_window))

    def on_hci_le_extended_create_connection_command(
        self, command: hci.HCI_LE_Extended_Create_Connection_Command
    ) -> None:
        parameters = LinkParameters.of(
            command.connection_interval_maxs[0], command.max_latencies[0], command.supervision_timeouts[0]
        )
        self._create(command, parameters, Window.of(command.scan_intervals[0], command.scan_windows[0]))

    def _create(
        self,
        command: hci.HCI_LE_Create_Connection_Command | hci.HCI_LE_Extended_Create_Connection_Command,
        parameters: LinkParameters,
        window: Window,
    ) -> None:
        peer = None if command.initiator_filter_policy else address_of(command.peer_address)
        status: int = hci.HCI_COMMAND_STATUS_PENDING
        if self.initiator:
            status = Error.COMMAND_DISALLOWED_ERROR
        elif peer and any(address_of(known) == peer for known in self.le_connections):
            status = Error.CONNECTION_ALREADY_EXISTS_ERROR
        else:
            window.start = self.medium.now()
            self.initiator = Initiator(peer, command.own_address_type, parameters, window)
            self.medium.listening_changed()
        self._send_hci_command_status(status, command.op_code)

    def on_hci_le_create_connection_cancel_command(
        self, _command: hci.HCI_LE_Create_Connection_Cancel_Command
    ) -> Status:
        if not self.initiator:
            return Status(Error.COMMAND_DISALLOWED_ERROR)
        peer = self.initiator.peer or (0, bytes(6))
        self.initiator = None
        self.medium.listening_changed()
        # The attempt that was cancelled completes too, after the command (7.8.13): with status 0x02.
        self.loop.call_soon(self.send_connection_complete, Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, 0, 0, peer, None)
        return Status(Error.SUCCESS)

    def send_connection_complete(
        self, status: int, handle: int, role: int, peer: Address, parameters: LinkParameters | None
    ) -> None:
        interval, latency, timeout = parameters.hci() if parameters else (0, 0, 0)
        fields: dict[str, Any] = {
            "status": status,
            "connection_handle": handle,
            "role": role,
            "peer_address_type": peer[0],
            "peer_address": hci.Address(peer[1], hci.AddressType(peer[0])),
            "connection_interval": interval,
            "peripheral_latency": latency,
            "supervision_timeout": timeout,
            "central_clock_accuracy": 0,
        }
        event: hci.HCI_Event
        if self.le_event_mask & ENHANCED_CONNECTION_COMPLETE:
            event = hci.HCI_LE_Enhanced_Connection_Complete_Event(
                local_resolvable_private_address=hci.Address.ANY_RANDOM,
                peer_resolvable_private_address=hci.Address.ANY_RANDOM,
                **fields,
            )
        else:
            event = hci.HCI_LE_Connection_Complete_Event(**fields)
        self.send_hci_packet(event)
