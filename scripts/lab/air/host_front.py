"""A controller's front to its host: commands and data come in, events and data go out (Volume 4, Part E, section 4)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from bumble import hci

from box.h4 import ACL_DATA

from .faults import Stall

Handlers = Mapping[int, Callable[[Any], hci.HCI_ReturnParameters | None]]
"""By its operation code, what handles a command. It returns what the Command Complete event is to hold, or None where
it has answered by itself."""

NUMBER_OF_COMPLETED_PACKETS = 0x13


class HostPort(Protocol):
    def send(self, packet: bytes) -> None: ...


class NoHost:
    """What a controller is plugged into until it is plugged in."""

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
        """Says who takes what: `others` gets each packet that is neither data nor a command that has a handler."""
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
        """For what is sent so often that it is put together by hand."""
        if not self._stall.stalled:
            self.port.send(packet)

    def send_status(self, command: hci.HCI_Command, status: int) -> None:
        """Answers a command whose result comes later, as an event of its own."""
        self.send(
            hci.HCI_Command_Status_Event(status=status, num_hci_command_packets=1, command_opcode=command.op_code)
        )

    def send_data(self, handle: int, flags: int, payload: bytes) -> None:
        self.send_bytes(struct.pack("<BHH", ACL_DATA, handle | flags << 12, len(payload)) + payload)

    def send_completed_packet(self, handle: int) -> None:
        """One of the host's buffers is free again."""
        self.send_bytes(struct.pack("<BBBBHH", 0x04, NUMBER_OF_COMPLETED_PACKETS, 5, 1, handle, 1))


def _ignore(_packet: object) -> None:
    pass
