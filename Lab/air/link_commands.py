"""The HCI commands of links (Core Specification, Volume 4, Part E, sections 7.1.6, 7.5.4 and 7.8.18 to 7.8.49)."""

from __future__ import annotations

import struct
from collections.abc import Callable

from bumble import hci
from bumble.hci import HCI_ErrorCode as Error
from bumble.hci import Phy

from .bumble_adapter import MAXIMUM_DATA_LENGTH
from .clock import Clock
from .connection_events import LinkParameters
from .host_front import Handlers, HostFront
from .links import LE_1M_BIT, LE_2M_BIT, NO_PREFERENCE_TX, Links

TRANSMIT_POWER = 4
"""The transmit power in dBm, as of a class 2 dongle."""

Handle = hci.HCI_StatusAndConnectionHandleReturnParameters


class LinkCommands:
    """Applies the host's commands to a controller's links, and answers queries about them."""

    def __init__(self, clock: Clock, links: Links, front: HostFront, reset: Callable[[], None]) -> None:
        self._clock = clock
        self._links = links
        self._front = front
        self._power_off = reset

    def handlers(self) -> Handlers:
        return {
            hci.HCI_RESET_COMMAND: self._reset,
            hci.HCI_DISCONNECT_COMMAND: self._disconnect,
            hci.HCI_LE_CONNECTION_UPDATE_COMMAND: self._update_parameters,
            hci.HCI_LE_REMOTE_CONNECTION_PARAMETER_REQUEST_REPLY_COMMAND: self._allow_parameters,
            hci.HCI_LE_REMOTE_CONNECTION_PARAMETER_REQUEST_NEGATIVE_REPLY_COMMAND: self._refuse_parameters,
            hci.HCI_LE_SET_PHY_COMMAND: self._set_phy,
            hci.HCI_LE_READ_PHY_COMMAND: self._read_phy,
            hci.HCI_LE_SET_DATA_LENGTH_COMMAND: self._set_data_length,
            hci.HCI_READ_RSSI_COMMAND: self._read_rssi,
            hci.HCI_READ_TRANSMIT_POWER_LEVEL_COMMAND: self._read_transmit_power,
            hci.HCI_READ_REMOTE_VERSION_INFORMATION_COMMAND: self._read_remote_version,
        }

    def _reset(self, _command: hci.HCI_Reset_Command) -> hci.HCI_StatusReturnParameters:
        self._power_off()
        return hci.HCI_StatusReturnParameters(Error.SUCCESS)

    def _disconnect(self, command: hci.HCI_Disconnect_Command) -> None:
        end = self._links.find(command.connection_handle)
        if not end or not end.link:
            self._front.send_status(command, Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR)
            return
        self._front.send_status(command, hci.HCI_COMMAND_STATUS_PENDING)
        end.link.terminate(end, command.reason, Error.CONNECTION_TERMINATED_BY_LOCAL_HOST_ERROR)

    def _update_parameters(self, command: hci.HCI_LE_Connection_Update_Command) -> None:
        end = self._links.find(command.connection_handle)
        if not end or not end.link:
            self._front.send_status(command, Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR)
            return
        self._front.send_status(command, hci.HCI_COMMAND_STATUS_PENDING)
        limits = (command.connection_interval_min, command.connection_interval_max)
        if end is end.link.peripheral:
            self._links.ask_central(end, (*limits, command.max_latency, command.supervision_timeout))
            return
        end.link.update_parameters(
            end, LinkParameters.of(limits[1], command.max_latency, command.supervision_timeout)
        )

    def _allow_parameters(self, command: hci.HCI_LE_Remote_Connection_Parameter_Request_Reply_Command) -> Handle:
        end = self._links.find(command.connection_handle)
        if not end or not end.link:
            return Handle(Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, command.connection_handle)
        parameters = LinkParameters.of(command.interval_max, command.max_latency, command.timeout)
        self._clock.call_soon(end.link.update_parameters, end, parameters)
        return Handle(Error.SUCCESS, command.connection_handle)

    def _refuse_parameters(
        self, command: hci.HCI_LE_Remote_Connection_Parameter_Request_Negative_Reply_Command
    ) -> Handle:
        end = self._links.find(command.connection_handle)
        if not end or not end.link:
            return Handle(Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, command.connection_handle)
        self._clock.call_soon(self._links.refuse_peripheral, end, command.reason)
        return Handle(Error.SUCCESS, command.connection_handle)

    def _set_phy(self, command: hci.HCI_LE_Set_PHY_Command) -> None:
        end = self._links.find(command.connection_handle)
        if not end or not end.link:
            self._front.send_status(command, Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR)
            return
        self._front.send_status(command, hci.HCI_COMMAND_STATUS_PENDING)
        anything = command.all_phys & NO_PREFERENCE_TX
        self._links.ask_for_phy(end, LE_1M_BIT | LE_2M_BIT if anything else command.tx_phys)

    def _read_phy(self, command: hci.HCI_LE_Read_PHY_Command) -> hci.HCI_LE_Read_PHY_ReturnParameters:
        end = self._links.find(command.connection_handle)
        phy = end.link.phy if end and end.link else Phy.LE_1M
        return hci.HCI_LE_Read_PHY_ReturnParameters(
            status=Error.SUCCESS if end else Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR,
            connection_handle=command.connection_handle,
            tx_phy=phy,
            rx_phy=phy,
        )

    def _set_data_length(self, command: hci.HCI_LE_Set_Data_Length_Command) -> Handle:
        end = self._links.find(command.connection_handle)
        if not end or not end.link:
            return Handle(Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, command.connection_handle)
        octets = min(command.tx_octets, MAXIMUM_DATA_LENGTH)
        self._clock.call_soon(end.link.update_data_length, end, octets)
        return Handle(Error.SUCCESS, command.connection_handle)

    def _read_rssi(self, command: hci.HCI_Read_RSSI_Command) -> hci.HCI_Read_RSSI_ReturnParameters:
        end = self._links.find(command.handle)
        return hci.HCI_Read_RSSI_ReturnParameters(
            status=Error.SUCCESS if end else Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR,
            handle=command.handle,
            rssi=end.link.path.rssi if end and end.link else 127,
        )

    def _read_transmit_power(self, command: hci.HCI_Command) -> None:
        # Bumble has no class for this command. Linux sends it together with Read RSSI.
        (handle,) = struct.unpack_from("<H", command.parameters)
        status = Error.SUCCESS if self._links.find(handle) else Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR
        complete = struct.pack("<BBBBHBHb", 0x04, 0x0E, 7, 1, command.op_code, status, handle, TRANSMIT_POWER)
        self._front.send_bytes(complete)

    def _read_remote_version(self, command: hci.HCI_Read_Remote_Version_Information_Command) -> None:
        end = self._links.find(command.connection_handle)
        if not end:
            self._front.send_status(command, Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR)
            return
        self._front.send_status(command, hci.HCI_COMMAND_STATUS_PENDING)
        version, manufacturer, subversion = end.other.controller.bumble.version
        self._front.send(
            hci.HCI_Read_Remote_Version_Information_Complete_Event(
                status=Error.SUCCESS,
                connection_handle=command.connection_handle,
                version=version,
                manufacturer_name=manufacturer,
                subversion=subversion,
            )
        )
