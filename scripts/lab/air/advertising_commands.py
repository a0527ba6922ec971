"""The HCI commands of advertising (Core Specification, Volume 4, Part E, 7.8.5 to 7.8.9 and 7.8.52 to 7.8.60)."""

from __future__ import annotations

from bumble import hci
from bumble.hci import HCI_ErrorCode as Error
from bumble.hci import HCI_StatusReturnParameters as Status

from .advertiser import CONNECTABLE, DIRECTED, LEGACY, SCANNABLE, UNIT, Advertiser
from .radio import Radio, address_of

LEGACY_PROPERTIES = {
    0x00: CONNECTABLE | SCANNABLE | LEGACY,
    0x01: CONNECTABLE | DIRECTED | LEGACY,
    0x02: SCANNABLE | LEGACY,
    0x03: LEGACY,
    0x04: CONNECTABLE | DIRECTED | LEGACY,
}

# High duty directed advertising stops by itself after 1.28 s (Volume 6, Part B, 4.4.2.4.3).
HIGH_DUTY_DIRECTED = 0x01
HIGH_DUTY_INTERVAL, HIGH_DUTY_DURATION = 3.75e-3, 1.28

LEGACY_HANDLE = 0

ADVERTISING_SET_TERMINATED = 1 << 17


def interval_between(minimum_units: int, maximum_units: int) -> float:
    """A controller may choose; the middle is as good a guess as any."""
    return (minimum_units + maximum_units) / 2 * UNIT


class AdvertisingCommands(Radio):
    """The part of a controller that the host's advertising commands reach."""

    _high_duty = False

    def _legacy_advertiser(self) -> Advertiser:
        return self._advertiser(LEGACY_HANDLE)

    def _advertiser(self, handle: int) -> Advertiser:
        if handle not in self.advertisers:
            self.advertisers[handle] = Advertiser(self.whole, handle)
        return self.advertisers[handle]

    def advertising_ended(self, advertiser: Advertiser, timed_out: bool) -> None:
        """A set has reached its duration or its number of events."""
        reason = Error.ADVERTISING_TIMEOUT_ERROR if timed_out else Error.LIMIT_REACHED_ERROR
        self._advertising_set_terminated(advertiser, reason, 0)

    def advertising_connected(self, advertiser: Advertiser, connection_handle: int) -> None:
        """A connectable set has ended with the connection that it brought."""
        self._advertising_set_terminated(advertiser, Error.SUCCESS, connection_handle)

    def _advertising_set_terminated(self, advertiser: Advertiser, status: int, connection_handle: int) -> None:
        if not self.le_event_mask & ADVERTISING_SET_TERMINATED:
            return
        self.send_hci_packet(
            hci.HCI_LE_Advertising_Set_Terminated_Event(
                status=status,
                advertising_handle=advertiser.handle,
                connection_handle=connection_handle,
                num_completed_extended_advertising_events=0,
            )
        )

    # The older commands

    def on_hci_le_set_advertising_parameters_command(
        self, command: hci.HCI_LE_Set_Advertising_Parameters_Command
    ) -> Status:
        advertiser = self._legacy_advertiser()
        if advertiser.running:
            return Status(Error.COMMAND_DISALLOWED_ERROR)
        advertiser.properties = LEGACY_PROPERTIES[command.advertising_type]
        advertiser.interval = interval_between(command.advertising_interval_min, command.advertising_interval_max)
        advertiser.own_address_type = command.own_address_type
        directed = advertiser.properties & DIRECTED
        advertiser.directed_to = address_of(command.peer_address) if directed else None
        self._high_duty = command.advertising_type == HIGH_DUTY_DIRECTED
        if self._high_duty:
            advertiser.interval = HIGH_DUTY_INTERVAL
        return Status(Error.SUCCESS)

    def on_hci_le_set_advertising_data_command(self, command: hci.HCI_LE_Set_Advertising_Data_Command) -> Status:
        advertiser = self._legacy_advertiser()
        advertiser.data = bytes(command.advertising_data)
        advertiser.changed()
        return Status(Error.SUCCESS)

    def on_hci_le_set_scan_response_data_command(self, command: hci.HCI_LE_Set_Scan_Response_Data_Command) -> Status:
        advertiser = self._legacy_advertiser()
        advertiser.scan_response = bytes(command.scan_response_data)
        advertiser.changed()
        return Status(Error.SUCCESS)

    def on_hci_le_set_advertising_enable_command(self, command: hci.HCI_LE_Set_Advertising_Enable_Command) -> Status:
        advertiser = self._legacy_advertiser()
        if not command.advertising_enable:
            advertiser.stop()
        elif not advertiser.running:
            advertiser.start(duration=HIGH_DUTY_DURATION if self._high_duty else 0)
        return Status(Error.SUCCESS)

    # The extended commands

    def on_hci_le_set_advertising_set_random_address_command(
        self, command: hci.HCI_LE_Set_Advertising_Set_Random_Address_Command
    ) -> Status:
        advertiser = self._advertiser(command.advertising_handle)
        advertiser.random_address = bytes(command.random_address)
        advertiser.changed()
        return Status(Error.SUCCESS)

    def on_hci_le_set_extended_advertising_parameters_command(
        self, command: hci.HCI_LE_Set_Extended_Advertising_Parameters_Command
    ) -> hci.HCI_LE_Set_Extended_Advertising_Parameters_ReturnParameters:
        handle = command.advertising_handle
        status = Error.SUCCESS
        if handle not in self.advertisers and len(self.advertisers) >= self.profile.advertising_sets:
            status = Error.MEMORY_CAPACITY_EXCEEDED_ERROR
        elif (advertiser := self._advertiser(handle)).running:
            status = Error.COMMAND_DISALLOWED_ERROR
        else:
            advertiser.properties = int(command.advertising_event_properties) & 0x17
            advertiser.interval = interval_between(
                command.primary_advertising_interval_min, command.primary_advertising_interval_max
            )
            advertiser.own_address_type = command.own_address_type
            directed = advertiser.properties & DIRECTED
            advertiser.directed_to = address_of(command.peer_address) if directed else None
            advertiser.set_id = command.advertising_sid
        return hci.HCI_LE_Set_Extended_Advertising_Parameters_ReturnParameters(status=status, selected_tx_power=0)

    def on_hci_le_set_extended_advertising_data_command(
        self, command: hci.HCI_LE_Set_Extended_Advertising_Data_Command
    ) -> Status:
        advertiser = self.advertisers.get(command.advertising_handle)
        if not advertiser:
            return Status(Error.UNKNOWN_ADVERTISING_IDENTIFIER_ERROR)
        return self._set_data(advertiser, "data", command.operation, bytes(command.advertising_data))

    def on_hci_le_set_extended_scan_response_data_command(
        self, command: hci.HCI_LE_Set_Extended_Scan_Response_Data_Command
    ) -> Status:
        advertiser = self.advertisers.get(command.advertising_handle)
        if not advertiser:
            return Status(Error.UNKNOWN_ADVERTISING_IDENTIFIER_ERROR)
        return self._set_data(advertiser, "scan_response", command.operation, bytes(command.scan_response_data))

    def _set_data(self, advertiser: Advertiser, what: str, operation: int, data: bytes) -> Status:
        kinds = hci.HCI_LE_Set_Extended_Advertising_Data_Command.Operation
        if operation == kinds.UNCHANGED_DATA:
            return Status(Error.SUCCESS)
        if operation in (kinds.INTERMEDIATE_FRAGMENT, kinds.LAST_FRAGMENT):
            data = getattr(advertiser, what) + data
        limit = 31 if advertiser.properties & LEGACY else self.profile.advertising_data
        if len(data) > limit:
            return Status(Error.INVALID_COMMAND_PARAMETERS_ERROR)
        setattr(advertiser, what, data)
        advertiser.changed()
        return Status(Error.SUCCESS)

    def on_hci_le_set_extended_advertising_enable_command(
        self, command: hci.HCI_LE_Set_Extended_Advertising_Enable_Command
    ) -> Status:
        if not command.enable and not command.advertising_handles:
            self._stop_advertising()
            return Status(Error.SUCCESS)
        if any(handle not in self.advertisers for handle in command.advertising_handles):
            return Status(Error.UNKNOWN_ADVERTISING_IDENTIFIER_ERROR)
        for handle, duration, events in zip(
            command.advertising_handles,
            command.durations,
            command.max_extended_advertising_events,
            strict=True,
        ):
            if command.enable:
                self.advertisers[handle].start(duration * 10e-3, events)
            else:
                self.advertisers[handle].stop()
        return Status(Error.SUCCESS)

    def on_hci_le_remove_advertising_set_command(self, command: hci.HCI_LE_Remove_Advertising_Set_Command) -> Status:
        advertiser = self.advertisers.get(command.advertising_handle)
        if not advertiser:
            return Status(Error.UNKNOWN_ADVERTISING_IDENTIFIER_ERROR)
        if advertiser.running:
            return Status(Error.COMMAND_DISALLOWED_ERROR)
        del self.advertisers[command.advertising_handle]
        return Status(Error.SUCCESS)

    def on_hci_le_clear_advertising_sets_command(self, _command: hci.HCI_LE_Clear_Advertising_Sets_Command) -> Status:
        self._stop_advertising()
        self.advertisers.clear()
        return Status(Error.SUCCESS)

    def _stop_advertising(self) -> None:
        for advertiser in self.advertisers.values():
            advertiser.stop()

    def on_hci_le_read_maximum_advertising_data_length_command(
        self, _command: hci.HCI_LE_Read_Maximum_Advertising_Data_Length_Command
    ) -> hci.HCI_LE_Read_Maximum_Advertising_Data_Length_ReturnParameters:
        return hci.HCI_LE_Read_Maximum_Advertising_Data_Length_ReturnParameters(
            status=Error.SUCCESS, max_advertising_data_length=self.profile.advertising_data
        )

    def on_hci_le_read_number_of_supported_advertising_sets_command(
        self, _command: hci.HCI_LE_Read_Number_Of_Supported_Advertising_Sets_Command
    ) -> hci.HCI_LE_Read_Number_Of_Supported_Advertising_Sets_ReturnParameters:
        return hci.HCI_LE_Read_Number_Of_Supported_Advertising_Sets_ReturnParameters(
            status=Error.SUCCESS, num_supported_advertising_sets=self.profile.advertising_sets
        )
