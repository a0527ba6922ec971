"""Tests of a controller's HCI: the handler of each packet, and the packets that a stalled controller accepts."""

from __future__ import annotations

import struct

from air.faults import Stall
from air.host_front import HostFront
from box.h4 import ACL_DATA
from bumble import hci

RESET, READ_ADDRESS = bytes(hci.HCI_Reset_Command()), bytes(hci.HCI_Read_BD_ADDR_Command())
DATA = struct.pack("<BHH", ACL_DATA, 1, 2) + b"hi"


class Front:
    """A front that handles HCI Reset, and records each packet and its handler."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.data: list[bytes] = []
        self.others: list[hci.HCI_Packet] = []
        self.stall = Stall()
        self.front = HostFront(self.stall)
        self.front.port = self
        self.front.serve({hci.HCI_RESET_COMMAND: self._reset}, data=self.data.append, others=self.others.append)

    def send(self, packet: bytes) -> None:
        self.sent.append(packet)

    def _reset(self, _command: hci.HCI_Reset_Command) -> hci.HCI_StatusReturnParameters:
        return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.SUCCESS)


def test_a_command_completes_with_what_its_handler_returns() -> None:
    one = Front()
    one.front.on_packet(RESET)
    event = hci.HCI_Packet.from_bytes(one.sent[0])
    assert isinstance(event, hci.HCI_Command_Complete_Event)
    assert event.command_opcode == hci.HCI_RESET_COMMAND and not one.others


def test_data_and_other_commands_go_to_the_other_handlers() -> None:
    one = Front()
    one.front.on_packet(DATA)
    one.front.on_packet(READ_ADDRESS)
    assert one.data == [DATA]
    assert [type(packet) for packet in one.others] == [hci.HCI_Read_BD_ADDR_Command]


def test_a_stalled_controller_neither_receives_nor_sends_until_it_wakes() -> None:
    one = Front()
    one.stall.begin(resets=None)
    for packet in (DATA, READ_ADDRESS, RESET):
        one.front.on_packet(packet)
    one.front.send_data(1, 2, b"hi")
    assert (one.sent, one.data, one.others) == ([], [], [])
    one.stall.end()
    one.front.on_packet(RESET)
    assert len(one.sent) == 1


def test_the_reset_that_ends_a_stall_is_answered() -> None:
    one = Front()
    one.stall.begin(resets=2)
    one.front.on_packet(RESET)
    assert not one.sent
    one.front.on_packet(RESET)
    assert len(one.sent) == 1
