"""The HCI commands of scanning and of creating a link (Core Specification, Volume 4, Part E, sections 7.8.10 to 7.8.17
and 7.8.64 to 7.8.66)."""

from __future__ import annotations

from bumble import hci
from bumble.hci import HCI_ErrorCode as Error
from bumble.hci import HCI_StatusReturnParameters as Status

from .addresses import address_of
from .bumble_adapter import BumbleController
from .clock import Clock
from .connection_events import LinkParameters
from .host_front import Handlers, HostFront
from .links import Links
from .listening import Listening
from .scanner import Initiator, Window


class ListeningCommands:
    """Applies the host's scan and dial commands to a controller's listening."""

    def __init__(
        self, clock: Clock, listening: Listening, links: Links, front: HostFront, bumble: BumbleController
    ) -> None:
        self._clock = clock
        self._listening = listening
        self._links = links
        self._front = front
        self._bumble = bumble

    def handlers(self) -> Handlers:
        return {
            hci.HCI_LE_SET_SCAN_PARAMETERS_COMMAND: self._set_legacy_scan,
            hci.HCI_LE_SET_EXTENDED_SCAN_PARAMETERS_COMMAND: self._set_extended_scan,
            hci.HCI_LE_SET_SCAN_ENABLE_COMMAND: self._enable_legacy_scan,
            hci.HCI_LE_SET_EXTENDED_SCAN_ENABLE_COMMAND: self._enable_extended_scan,
            hci.HCI_LE_CLEAR_FILTER_ACCEPT_LIST_COMMAND: self._clear_accept_list,
            hci.HCI_LE_ADD_DEVICE_TO_FILTER_ACCEPT_LIST_COMMAND: self._accept,
            hci.HCI_LE_REMOVE_DEVICE_FROM_FILTER_ACCEPT_LIST_COMMAND: self._accept_no_more,
            hci.HCI_LE_CREATE_CONNECTION_COMMAND: self._create_legacy,
            hci.HCI_LE_EXTENDED_CREATE_CONNECTION_COMMAND: self._create_extended,
            hci.HCI_LE_CREATE_CONNECTION_CANCEL_COMMAND: self._cancel,
        }

    # Scanning

    def _set_legacy_scan(self, command: hci.HCI_LE_Set_Scan_Parameters_Command) -> Status:
        return self._set_scan(
            command.le_scan_type, command.le_scan_interval, command.le_scan_window, command.scanning_filter_policy
        )

    def _set_extended_scan(self, command: hci.HCI_LE_Set_Extended_Scan_Parameters_Command) -> Status:
        # On this air all advertising is on 1M, so only the parameters of the first PHY matter.
        return self._set_scan(
            command.scan_types[0], command.scan_intervals[0], command.scan_windows[0], command.scanning_filter_policy
        )

    def _set_scan(self, kind: int, interval: int, window: int, policy: int) -> Status:
        scanner = self._listening.scanner
        if scanner.enabled:
            return Status(Error.COMMAND_DISALLOWED_ERROR)
        scanner.active = bool(kind)
        scanner.window = Window.of(interval, window)
        scanner.accept_list_only = bool(policy & 1)
        return Status(Error.SUCCESS)

    def _enable_legacy_scan(self, command: hci.HCI_LE_Set_Scan_Enable_Command) -> Status:
        return self._enable_scan(command.le_scan_enable, command.filter_duplicates, extended=False)

    def _enable_extended_scan(self, command: hci.HCI_LE_Set_Extended_Scan_Enable_Command) -> Status:
        # Duration and period are ignored: Linux leaves them at 0 and stops a scan itself.
        return self._enable_scan(command.enable, command.filter_duplicates, extended=True)

    def _enable_scan(self, on: int, filter_duplicates: int, extended: bool) -> Status:
        if on and self._links.any and not self._listening.scans_while_linked:
            return Status(Error.COMMAND_DISALLOWED_ERROR)
        self._listening.scan(bool(on), bool(filter_duplicates), extended, self._clock.time())
        return Status(Error.SUCCESS)

    # The filter accept list

    def _clear_accept_list(self, _command: hci.HCI_LE_Clear_Filter_Accept_List_Command) -> Status:
        self._listening.accept_list.clear()
        return Status(Error.SUCCESS)

    def _accept(self, command: hci.HCI_LE_Add_Device_To_Filter_Accept_List_Command) -> Status:
        if len(self._listening.accept_list) >= self._bumble.accept_list_size:
            return Status(Error.MEMORY_CAPACITY_EXCEEDED_ERROR)
        self._listening.accept_list.add(address_of(command.address))
        return Status(Error.SUCCESS)

    def _accept_no_more(self, command: hci.HCI_LE_Remove_Device_From_Filter_Accept_List_Command) -> Status:
        self._listening.accept_list.discard(address_of(command.address))
        return Status(Error.SUCCESS)

    # Creating a link

    def _create_legacy(self, command: hci.HCI_LE_Create_Connection_Command) -> None:
        parameters = LinkParameters.of(
            command.connection_interval_max, command.max_latency, command.supervision_timeout
        )
        self._create(command, parameters, Window.of(command.le_scan_interval, command.le_scan_window))

    def _create_extended(self, command: hci.HCI_LE_Extended_Create_Connection_Command) -> None:
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
        if self._listening.initiator:
            status = Error.COMMAND_DISALLOWED_ERROR
        elif peer and self._bumble.is_connected(peer):
            status = Error.CONNECTION_ALREADY_EXISTS_ERROR
        else:
            window.start = self._clock.time()
            self._listening.dial(Initiator(peer, command.own_address_type, parameters, window))
        self._front.send_status(command, status)

    def _cancel(self, _command: hci.HCI_LE_Create_Connection_Cancel_Command) -> Status:
        if not self._listening.initiator:
            return Status(Error.COMMAND_DISALLOWED_ERROR)
        peer = self._listening.initiator.peer or (0, bytes(6))
        self._listening.dial(None)
        # After the command, the cancelled attempt completes as well (7.8.13), with status 0x02.
        self._clock.call_soon(self._links.not_made, peer)
        return Status(Error.SUCCESS)
