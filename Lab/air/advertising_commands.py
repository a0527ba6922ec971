"""The HCI commands of advertising (Core Specification, Volume 4, Part E, 7.8.5 to 7.8.9 and 7.8.52 to 7.8.60)."""

from __future__ import annotations

from bumble import hci
from bumble.hci import HCI_ErrorCode as Error
from bumble.hci import HCI_StatusReturnParameters as Status

from .addresses import address_of
from .advertiser import CONNECTABLE, DIRECTED, LEGACY, SCANNABLE, UNIT, Advertiser
from .advertising import Advertising
from .host_front import Handlers
from .profiles import Profile

LEGACY_PROPERTIES = {
    0x00: CONNECTABLE | SCANNABLE | LEGACY,
    0x01: CONNECTABLE | DIRECTED | LEGACY,
    0x02: SCANNABLE | LEGACY,
    0x03: LEGACY,
    0x04: CONNECTABLE | DIRECTED | LEGACY,
}

# High duty directed advertising stops after 1.28 s (Volume 6, Part B, 4.4.2.4.3).
HIGH_DUTY_DIRECTED = 0x01
HIGH_DUTY_INTERVAL, HIGH_DUTY_DURATION = 3.75e-3, 1.28

LEGACY_HANDLE = 0


def interval_between(minimum_units: int, maximum_units: int) -> float:
    """A controller may choose any interval in the range. This one takes the middle."""
    return (minimum_units + maximum_units) / 2 * UNIT


class AdvertisingCommands:
    """Applies the host's advertising commands to a controller's sets."""

    def __init__(self, advertising: Advertising, profile: Profile) -> None:
        self._advertising = advertising
        self._profile = profile
        self._high_duty = False

    def handlers(self) -> Handlers:
        return {
            hci.HCI_LE_SET_ADVERTISING_PARAMETERS_COMMAND: self._set_legacy_parameters,
            hci.HCI_LE_SET_ADVERTISING_DATA_COMMAND: self._set_legacy_data,
            hci.HCI_LE_SET_SCAN_RESPONSE_DATA_COMMAND: self._set_legacy_response,
            hci.HCI_LE_SET_ADVERTISING_ENABLE_COMMAND: self._enable_legacy,
            hci.HCI_LE_SET_ADVERTISING_SET_RANDOM_ADDRESS_COMMAND: self._set_random_address,
            hci.HCI_LE_SET_EXTENDED_ADVERTISING_PARAMETERS_COMMAND: self._set_parameters,
            hci.HCI_LE_SET_EXTENDED_ADVERTISING_DATA_COMMAND: self._set_data,
            hci.HCI_LE_SET_EXTENDED_SCAN_RESPONSE_DATA_COMMAND: self._set_response,
            hci.HCI_LE_SET_EXTENDED_ADVERTISING_ENABLE_COMMAND: self._enable,
            hci.HCI_LE_REMOVE_ADVERTISING_SET_COMMAND: self._remove,
            hci.HCI_LE_CLEAR_ADVERTISING_SETS_COMMAND: self._clear,
            hci.HCI_LE_READ_MAXIMUM_ADVERTISING_DATA_LENGTH_COMMAND: self._read_largest_data,
            hci.HCI_LE_READ_NUMBER_OF_SUPPORTED_ADVERTISING_SETS_COMMAND: self._read_number_of_sets,
        }

    # Legacy commands

    def _set_legacy_parameters(self, command: hci.HCI_LE_Set_Advertising_Parameters_Command) -> Status:
        advertiser = self._advertising.set(LEGACY_HANDLE)
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

    def _set_legacy_data(self, command: hci.HCI_LE_Set_Advertising_Data_Command) -> Status:
        advertiser = self._advertising.set(LEGACY_HANDLE)
        advertiser.data = bytes(command.advertising_data)
        advertiser.changed()
        return Status(Error.SUCCESS)

    def _set_legacy_response(self, command: hci.HCI_LE_Set_Scan_Response_Data_Command) -> Status:
        advertiser = self._advertising.set(LEGACY_HANDLE)
        advertiser.scan_response = bytes(command.scan_response_data)
        advertiser.changed()
        return Status(Error.SUCCESS)

    def _enable_legacy(self, command: hci.HCI_LE_Set_Advertising_Enable_Command) -> Status:
        advertiser = self._advertising.set(LEGACY_HANDLE)
        if not command.advertising_enable:
            advertiser.stop()
        elif not advertiser.running:
            advertiser.start(duration=HIGH_DUTY_DURATION if self._high_duty else 0)
        return Status(Error.SUCCESS)

    # Extended commands

    def _set_random_address(self, command: hci.HCI_LE_Set_Advertising_Set_Random_Address_Command) -> Status:
        advertiser = self._advertising.set(command.advertising_handle)
        advertiser.random_address = bytes(command.random_address)
        advertiser.changed()
        return Status(Error.SUCCESS)

    def _set_parameters(
        self, command: hci.HCI_LE_Set_Extended_Advertising_Parameters_Command
    ) -> hci.HCI_LE_Set_Extended_Advertising_Parameters_ReturnParameters:
        handle = command.advertising_handle
        status = Error.SUCCESS
        if handle not in self._advertising.sets and len(self._advertising.sets) >= self._profile.advertising_sets:
            status = Error.MEMORY_CAPACITY_EXCEEDED_ERROR
        elif (advertiser := self._advertising.set(handle)).running:
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

    def _set_data(self, command: hci.HCI_LE_Set_Extended_Advertising_Data_Command) -> Status:
        advertiser = self._advertising.sets.get(command.advertising_handle)
        if not advertiser:
            return Status(Error.UNKNOWN_ADVERTISING_IDENTIFIER_ERROR)
        return self._store(advertiser, "data", command.operation, bytes(command.advertising_data))

    def _set_response(self, command: hci.HCI_LE_Set_Extended_Scan_Response_Data_Command) -> Status:
        advertiser = self._advertising.sets.get(command.advertising_handle)
        if not advertiser:
            return Status(Error.UNKNOWN_ADVERTISING_IDENTIFIER_ERROR)
        return self._store(advertiser, "scan_response", command.operation, bytes(command.scan_response_data))

    def _store(self, advertiser: Advertiser, what: str, operation: int, data: bytes) -> Status:
        kinds = hci.HCI_LE_Set_Extended_Advertising_Data_Command.Operation
        if operation == kinds.UNCHANGED_DATA:
            return Status(Error.SUCCESS)
        if operation in (kinds.INTERMEDIATE_FRAGMENT, kinds.LAST_FRAGMENT):
            data = getattr(advertiser, what) + data
        limit = 31 if advertiser.properties & LEGACY else self._profile.advertising_data
        if len(data) > limit:
            return Status(Error.INVALID_COMMAND_PARAMETERS_ERROR)
        setattr(advertiser, what, data)
        advertiser.changed()
        return Status(Error.SUCCESS)

    def _enable(self, command: hci.HCI_LE_Set_Extended_Advertising_Enable_Command) -> Status:
        if not command.enable and not command.advertising_handles:
            self._advertising.stop()
            return Status(Error.SUCCESS)
        if any(handle not in self._advertising.sets for handle in command.advertising_handles):
            return Status(Error.UNKNOWN_ADVERTISING_IDENTIFIER_ERROR)
        for handle, duration, events in zip(
            command.advertising_handles,
            command.durations,
            command.max_extended_advertising_events,
            strict=True,
        ):
            if command.enable:
                self._advertising.sets[handle].start(duration * 10e-3, events)
            else:
                self._advertising.sets[handle].stop()
        return Status(Error.SUCCESS)

    def _remove(self, command: hci.HCI_LE_Remove_Advertising_Set_Command) -> Status:
        advertiser = self._advertising.sets.get(command.advertising_handle)
        if not advertiser:
            return Status(Error.UNKNOWN_ADVERTISING_IDENTIFIER_ERROR)
        if advertiser.running:
            return Status(Error.COMMAND_DISALLOWED_ERROR)
        del self._advertising.sets[command.advertising_handle]
        return Status(Error.SUCCESS)

    def _clear(self, _command: hci.HCI_LE_Clear_Advertising_Sets_Command) -> Status:
        self._advertising.forget()
        return Status(Error.SUCCESS)

    def _read_largest_data(
        self, _command: hci.HCI_LE_Read_Maximum_Advertising_Data_Length_Command
    ) -> hci.HCI_LE_Read_Maximum_Advertising_Data_Length_ReturnParameters:
        return hci.HCI_LE_Read_Maximum_Advertising_Data_Length_ReturnParameters(
            status=Error.SUCCESS, max_advertising_data_length=self._profile.advertising_data
        )

    def _read_number_of_sets(
        self, _command: hci.HCI_LE_Read_Number_Of_Supported_Advertising_Sets_Command
    ) -> hci.HCI_LE_Read_Number_Of_Supported_Advertising_Sets_ReturnParameters:
        return hci.HCI_LE_Read_Number_Of_Supported_Advertising_Sets_ReturnParameters(
            status=Error.SUCCESS, num_supported_advertising_sets=self._profile.advertising_sets
        )
