"""The parts of the kernel's Bluetooth interface that a box's agent needs: attaching a controller on a serial
line with either of two drivers, and the management socket, which reports when the controller is up."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import socket
import struct
import tty
from collections.abc import Callable

from h4 import carry

LIBC = ctypes.CDLL(None, use_errno=True)

TIOCSETD = 0x5423
N_HCI = 15
HCIUARTSETPROTO = 0x400455C8
HCI_UART_H4 = 0

# A packet to /dev/vhci that requests a controller. The answer, a packet of the same type, has its number.
VENDOR_PACKET, CREATE_PRIMARY = 0xFF, 0x00

HCI_CHANNEL_CONTROL = 3
NO_INDEX = 0xFFFF

MGMT_READ_INFO, MGMT_SET_POWERED, MGMT_LOAD_PARAMETERS, MGMT_SET_DEFAULTS = 0x0004, 0x0005, 0x0035, 0x004C
MGMT_COMMAND_COMPLETE, MGMT_INDEX_ADDED, MGMT_INDEX_REMOVED, MGMT_NEW_SETTINGS = 0x0001, 0x0004, 0x0005, 0x0006
SETTING_POWERED = 0x01
LE_PUBLIC = 1
DEFAULTS = {
    "advertisingMin": 0x0A,
    "advertisingMax": 0x0B,
    "connectionMin": 0x17,
    "connectionMax": 0x18,
    "supervisionTimeout": 0x1A,
}
SETTINGS_OFFSET_IN_INFO = 13


Unplug = Callable[[], None]


def attach(line: str, driver: str) -> Unplug:
    """Attaches the controller on a serial line. Returns the function that detaches it. The kernel
    numbers controllers in the order of these calls."""
    descriptor = os.open(line, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    tty.setraw(descriptor)
    return DRIVERS[driver](descriptor)


def _attach_serial(line: int) -> Unplug:
    """Uses the kernel's driver for serial lines, as `btattach -P h4` does. The driver does not declare the controller's state
    combinations valid, so the kernel does not dial while the adapter has incoming links."""
    fcntl.ioctl(line, TIOCSETD, struct.pack("i", N_HCI))
    fcntl.ioctl(line, HCIUARTSETPROTO, HCI_UART_H4)
    return lambda: os.close(line)


def _attach_virtual(line: int) -> Unplug:
    """Uses /dev/vhci and a process that carries the packets. The driver accepts all states that the controller reports."""
    controller = os.open("/dev/vhci", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    os.write(controller, bytes((VENDOR_PACKET, CREATE_PRIMARY)))
    # The kernel's answer comes first, so this read loses no data of the controller.
    os.read(controller, 4)
    process = os.fork()
    if process == 0:
        _become_carrier(controller, line)
    os.close(controller)
    os.close(line)

    def unplug() -> None:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)

    return unplug


DRIVERS = {"serial": _attach_serial, "vhci": _attach_virtual}


def _become_carrier(controller: int, line: int) -> None:
    """Runs for the rest of the process's life. Must not hold another controller's line, which could not be unplugged then."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for descriptor in map(int, os.listdir("/proc/self/fd")):
            if descriptor > 2 and descriptor not in (controller, line):
                with contextlib.suppress(OSError):
                    os.close(descriptor)
        carry(controller, line)
    finally:
        os._exit(1)


class Management:
    """The management socket. `powered` has the controllers that are up."""

    def __init__(self) -> None:
        self._socket = socket.socket(
            socket.AF_BLUETOOTH, socket.SOCK_RAW | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK, socket.BTPROTO_HCI
        )
        # Python's bind() does not support the channel.
        address = struct.pack("<HHH", socket.AF_BLUETOOTH, NO_INDEX, HCI_CHANNEL_CONTROL)
        if LIBC.bind(self._socket.fileno(), address, len(address)) != 0:
            raise OSError(ctypes.get_errno(), "binding the management socket")
        self.powered: set[int] = set()
        self.present: set[int] = set()

    def fileno(self) -> int:
        return self._socket.fileno()

    def power(self, index: int, on: bool) -> None:
        self._send(MGMT_SET_POWERED, index, bytes((on,)))

    def set_defaults(self, index: int, values: dict[str, int], peers: list[str]) -> None:
        """Restores the kernel's defaults of a controller, as roadmesh has recorded them. The kernel keeps the former values
        for devices that were dialled, which may include `peers`."""
        entries = (struct.pack("<HBH", kind, 2, values[name]) for name, kind in DEFAULTS.items())
        self._send(MGMT_SET_DEFAULTS, index, b"".join(entries))
        intervals = values["connectionMin"], values["connectionMax"], 0, values["supervisionTimeout"]
        for peer in peers:
            address = bytes.fromhex(peer.replace(":", ""))[::-1] + bytes((LE_PUBLIC,))
            self._send(MGMT_LOAD_PARAMETERS, index, struct.pack("<H7s4H", 1, address, *intervals))

    def _send(self, opcode: int, index: int, parameters: bytes = b"") -> None:
        self._socket.send(struct.pack("<HHH", opcode, index, len(parameters)) + parameters)

    def read(self) -> list[tuple[str, int]]:
        """The changes since the last call: ("added" | "removed" | "powered" | "unpowered", index)."""
        changes: list[tuple[str, int]] = []
        while True:
            try:
                packet = self._socket.recv(4096)
            except BlockingIOError:
                return changes
            event, index, _ = struct.unpack_from("<HHH", packet)
            changes += self._handle(event, index, packet[6:])

    def _handle(self, event: int, index: int, body: bytes) -> list[tuple[str, int]]:
        if event == MGMT_INDEX_ADDED:
            self.present.add(index)
            self._send(MGMT_READ_INFO, index)
            return [("added", index)]
        if event == MGMT_INDEX_REMOVED:
            self.present.discard(index)
            self.powered.discard(index)
            return [("removed", index)]
        if event == MGMT_NEW_SETTINGS:
            return self._settings(index, body[0])
        if event == MGMT_COMMAND_COMPLETE and struct.unpack_from("<HB", body) == (MGMT_READ_INFO, 0):
            return self._settings(index, body[3 + SETTINGS_OFFSET_IN_INFO])
        # The socket that has requested new settings receives an answer, and not the event for the other sockets.
        if event == MGMT_COMMAND_COMPLETE and struct.unpack_from("<HB", body) == (MGMT_SET_POWERED, 0):
            return self._settings(index, body[3])
        return []

    def _settings(self, index: int, settings: int) -> list[tuple[str, int]]:
        is_powered = bool(settings & SETTING_POWERED)
        if is_powered == (index in self.powered):
            return []
        if is_powered:
            self.powered.add(index)
            return [("powered", index)]
        self.powered.discard(index)
        return [("unpowered", index)]
