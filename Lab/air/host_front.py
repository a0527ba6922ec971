"""A controller's HCI: reads commands and data, and sends events and data (Volume 4, Part E, section 4)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from box.h4 import ACL_DATA
from bumble import hci

from .faults import Stall

Handlers = Mapping[int, Callable[[Any], hci.HCI_ReturnParameters | None]]
"""Command handlers by operation code. A handler returns the parameters of the Command Complete event, or None if
it has sent its answer."""

NUMBER_OF_COMPLETED_PACKETS = 0x13


class HostPort(Protocol):
    def send(self, packet: bytes) -> None: ...


class NoHost:
    """The port of a controller that is not plugged in."""

    def send(self, packet: bytes) -> None:
        pass


class HostFront:
    def __init__(self, stall: Stall) -> None:
        self.port: HostPort = NoHost()
        self._stall = stall
        self._handlers: dict[int, Callable[[Any], hci.HCI_ReturnParameters | None]] = {}
        self._take_data: Callable[[bytes], None] = _ignore
        self._others: Callable[[hci.HCI_Packet], None] = _ignore

    def serve(
        self, *handlers: Handlers, data: Callable[[bytes], None], others: Callable[[hci.HCI_Packet], None]
    ) -> None:
        """Sets the handlers. `others` receives each packet that is neither data nor a command with a handler."""
        for some in handlers:
            self._handlers.update(some)
        self._take_data, self._others = data, others

    def on_packet(self, packet: bytes) -> None:
        if not self._stall.takes(packet):
            return
        if packet[0] == ACL_DATA:
            self._take_data(packet)
            return
        parsed = hci.HCI_Packet.from_bytes(packet)
        if not isinstance(parsed, hci.HCI_Command) or parsed.op_code not in self._handlers:
            self._others(parsed)
        elif (result := self._handlers[parsed.op_code](parsed)) is not None:
            self.send(
                hci.HCI_Command_Complete_Event(
                    num_hci_command_packets=1, command_opcode=parsed.op_code, return_parameters=result
                )
            )

    def send(self, packet: hci.HCI_Packet) -> None:
        self.send_bytes(bytes(packet))

    def send_bytes(self, packet: bytes) -> None:
        """Sends a packet as bytes: frequent packets are assembled without Bumble."""
        if not self._stall.stalled:
            self.port.send(packet)

    def send_status(self, command: hci.HCI_Command, status: int) -> None:
        """Answers a command whose result is a later event."""
        self.send(
            hci.HCI_Command_Status_Event(status=status, num_hci_command_packets=1, command_opcode=command.op_code)
        )

    def send_data(self, handle: int, flags: int, payload: bytes) -> None:
        self.send_bytes(struct.pack("<BHH", ACL_DATA, handle | flags << 12, len(payload)) + payload)

    def send_completed_packet(self, handle: int) -> None:
        """Reports that one of the host's buffers is free again."""
        self.send_bytes(struct.pack("<BBBBHH", 0x04, NUMBER_OF_COMPLETED_PACKETS, 5, 1, handle, 1))


def _ignore(_packet: object) -> None:
    pass
