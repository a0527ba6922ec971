"""An LE L2CAP channel with messages of any length. Python's socket module does not support LE addresses."""

import ctypes
import os
import socket
import struct
from collections.abc import Iterator

LIBC = ctypes.CDLL(None, use_errno=True)

# Some builds of Python lack the constants of Bluetooth.
AF_BLUETOOTH, BTPROTO_L2CAP = 31, 0
BDADDR_LE_PUBLIC = 1
SOL_BLUETOOTH, BT_RCVMTU = 274, 13

# The same as RoadMesh's: nine full link-layer packets.
MTU = 2221
LENGTH = struct.Struct("<I")


def _address(text: str, psm: int) -> bytes:
    raw = bytes.fromhex(text.replace(":", ""))[::-1]
    return struct.pack("<HH6sHBx", AF_BLUETOOTH, psm, raw, 0, BDADDR_LE_PUBLIC)


def _call(function: str, descriptor: int, where: bytes) -> None:
    if getattr(LIBC, function)(descriptor, where, len(where)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _channel(adapter: str, psm: int) -> socket.socket:
    made = socket.socket(AF_BLUETOOTH, socket.SOCK_SEQPACKET, BTPROTO_L2CAP)
    _call("bind", made.fileno(), _address(adapter, psm))
    made.setsockopt(SOL_BLUETOOTH, BT_RCVMTU, struct.pack("<H", MTU))
    return made


def listen(adapter: str, psm: int) -> socket.socket:
    listener = _channel(adapter, psm)
    listener.listen(16)
    return listener


def accept(listener: socket.socket) -> socket.socket:
    # Not listener.accept(): Python cannot parse the peer's address.
    descriptor = LIBC.accept(listener.fileno(), None, None)
    if descriptor < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return socket.socket(fileno=descriptor)


def dial(adapter: str, peer: str, psm: int) -> socket.socket:
    line = _channel(adapter, 0)
    _call("connect", line.fileno(), _address(peer, psm))
    return line


def send(line: socket.socket, message: bytes) -> None:
    framed = LENGTH.pack(len(message)) + message
    for start in range(0, len(framed), MTU):
        line.send(framed[start : start + MTU])


def messages(line: socket.socket) -> Iterator[bytes]:
    """The received messages, until the channel ends."""
    received = bytearray()
    while sdu := line.recv(MTU):
        received += sdu
        while len(received) >= LENGTH.size:
            end = LENGTH.size + LENGTH.unpack_from(received)[0]
            if len(received) < end:
                break
            yield bytes(received[LENGTH.size : end])
            del received[:end]
