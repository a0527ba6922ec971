"""Runs inside a box: a minimal LE L2CAP channel for testing the lab itself.

    channel.py serve ADAPTER PSM          accepts channels and echoes every SDU
    channel.py relay ADAPTER PSM PEER     dials a server, then accepts one channel and passes SDUs between the two
    channel.py dial ADAPTER PEER PSM [N]  opens a channel, echoes N bytes at once if N is given, then obeys its standard
                                          input: `echo N` sends N bytes and waits until they come back,
                                          `flood SIZE COUNT` sends SDUs without waiting

ADAPTER and PEER are addresses. Prints events as the lab expects them of every program: one JSON object per line.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import socket
import struct
import sys
import threading
import time
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)

BDADDR_LE_PUBLIC = 1
SOL_BLUETOOTH, BT_RCVMTU = 274, 13
MTU = 2048


def say(event: str, **fields: Any) -> None:
    print(json.dumps({"event": event, "at": time.time(), **fields}), flush=True)


def address(text: str, psm: int) -> bytes:
    """A sockaddr_l2. Python's own bind() and connect() do not support the address type, which LE needs."""
    raw = bytes.fromhex(text.replace(":", ""))[::-1]
    return struct.pack("<HH6sHBx", socket.AF_BLUETOOTH, psm, raw, 0, BDADDR_LE_PUBLIC)


def call(function: str, descriptor: int, where: bytes) -> None:
    if getattr(LIBC, function)(descriptor, where, len(where)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def channel(adapter: str, psm: int) -> socket.socket:
    made = socket.socket(socket.AF_BLUETOOTH, socket.SOCK_SEQPACKET, socket.BTPROTO_L2CAP)
    call("bind", made.fileno(), address(adapter, psm))
    made.setsockopt(SOL_BLUETOOTH, BT_RCVMTU, struct.pack("<H", MTU))
    return made


def name(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, str(error))


def serve(adapter: str, psm: int) -> None:
    listener = channel(adapter, psm)
    listener.listen(16)
    say("listening", psm=psm)
    while True:
        # Not listener.accept(): Python cannot parse the peer's address.
        descriptor = LIBC.accept(listener.fileno(), None, None)
        peer = socket.socket(fileno=descriptor)
        threading.Thread(target=echo_back, args=(peer, descriptor), daemon=True).start()


def echo_back(peer: socket.socket, number: int) -> None:
    say("accepted", channel=number)
    sdus = received = 0
    try:
        while data := peer.recv(MTU):
            sdus += 1
            received += len(data)
            if data[0] == 1:
                peer.send(data)
        reason = "end"
    except OSError as error:
        reason = name(error)
    say("closed", channel=number, reason=reason, sdus=sdus, bytes=received)
    peer.close()


def relay(adapter: str, psm: int, peer: str) -> None:
    upwards = channel(adapter, 0)
    call("connect", upwards.fileno(), address(peer, psm))
    # Credits must come back before bluetoothd opens channels of its own on the link (docs/bluez.md).
    upwards.send(b"\0")
    listener = channel(adapter, psm)
    listener.listen(1)
    say("listening", psm=psm)
    downwards = socket.socket(fileno=LIBC.accept(listener.fileno(), None, None))
    say("accepted")
    threading.Thread(target=pass_on, args=(upwards, downwards), daemon=True).start()
    pass_on(downwards, upwards)


def pass_on(source: socket.socket, target: socket.socket) -> None:
    while data := source.recv(MTU):
        if data[0] == 1:
            target.send(data)


def dial(adapter: str, peer: str, psm: int, first: int) -> None:
    started = time.monotonic()
    say("dialling")
    line = channel(adapter, 0)
    try:
        call("connect", line.fileno(), address(peer, psm))
    except OSError as error:
        say("refused", reason=name(error), seconds=time.monotonic() - started)
        sys.exit(1)
    say("connected", seconds=time.monotonic() - started)
    echoed = threading.Semaphore(0)
    threading.Thread(target=listen, args=(line, echoed), daemon=True).start()
    if first:
        echo(line, first, echoed)
    for command in sys.stdin:
        verb, *numbers = command.split()
        try:
            if verb == "echo":
                echo(line, int(numbers[0]), echoed)
            elif verb == "flood":
                size, count = map(int, numbers)
                for _ in range(count):
                    line.send(bytes(size))
                say("flooded")
        except OSError as error:
            say("failed", reason=name(error))


def echo(line: socket.socket, size: int, echoed: threading.Semaphore) -> None:
    sent = time.monotonic()
    line.send(b"\1" + bytes(size - 1))
    echoed.acquire()
    say("echo", milliseconds=(time.monotonic() - sent) * 1e3)


def listen(line: socket.socket, echoed: threading.Semaphore) -> None:
    try:
        while line.recv(MTU):
            echoed.release()
        reason = "end"
    except OSError as error:
        reason = name(error)
    say("closed", reason=reason)
    os._exit(0)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2], int(sys.argv[3], 0))
    elif sys.argv[1] == "relay":
        relay(sys.argv[2], int(sys.argv[3], 0), sys.argv[4])
    else:
        first = int(sys.argv[5]) if len(sys.argv) > 5 else 0
        dial(sys.argv[2], sys.argv[3], int(sys.argv[4], 0), first)
