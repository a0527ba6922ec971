"""Tests of the line of a controller behind /dev/vhci: packets arrive complete and in order, and the window holds."""

from __future__ import annotations

import asyncio
import random
import socket
import threading

from air.port import SerialPort
from box.h4 import ACL_DATA, COMMAND, EVENT, WINDOW, Splitter, carry


def event(length: int) -> bytes:
    return bytes((EVENT, 0x0E, length)) + bytes(length)


def data(length: int) -> bytes:
    return bytes((ACL_DATA, 1, 0)) + length.to_bytes(2, "little") + bytes(length)


def test_packets_are_split_in_pieces_of_any_size() -> None:
    packets = [event(3), data(251), bytes((COMMAND, 3, 0x0C, 0)), event(255), data(0)]
    for seed in range(20):
        chances = random.Random(seed)
        stream = bytearray(b"\xff\x00" + b"".join(packets))
        splitter, found = Splitter(), list[bytes]()
        while stream:
            size = chances.randint(1, 300)
            found += splitter.take(bytes(stream[:size]))
            del stream[:size]
        assert found == packets


class Line:
    """The air's port, and the box's end of its line."""

    def __init__(self) -> None:
        self.box, ours = socket.socketpair()
        self.taken: asyncio.Queue[bytes] = asyncio.Queue()
        self.port = SerialPort(ours, self.taken.put_nowait, None, is_acknowledged=True)

    def waiting(self) -> int:
        """The number of bytes that wait in the line."""
        return len(self.box.recv(1 << 20, socket.MSG_PEEK | socket.MSG_DONTWAIT))


def test_a_program_that_does_not_read_receives_one_window() -> None:
    async def test() -> None:
        line = Line()
        sent = [data(251) for _ in range(100)]
        for packet in sent:
            line.port.send(packet)
        assert line.waiting() == WINDOW
        # The host has lost power. Its pending data is dropped, and the next host does not receive it.
        line.port.reset()
        assert len(line.box.recv(1 << 20)) == WINDOW
        line.port.send(sent[0])
        assert line.box.recv(1 << 20) == sent[0]
        line.port.close()

    asyncio.run(test())


def test_a_program_carries_packets_complete_and_in_order() -> None:
    async def test() -> None:
        line = Line()
        # A sequenced socket replaces /dev/vhci: it reads and writes one packet at a time.
        kernel, device = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        device.setblocking(False)
        carrier = threading.Thread(target=carry, args=(device.fileno(), line.box.fileno()))
        carrier.start()
        down = [data(number % 251) for number in range(400)]
        up = [bytes((COMMAND, 3, 0x0C, number % 200)) + bytes(number % 200) for number in range(400)]
        came: list[bytes] = []
        loop = asyncio.get_running_loop()
        kernel.setblocking(False)
        for number in range(400):
            line.port.send(down[number])
            await loop.sock_sendall(kernel, up[number])
            came.append(await loop.sock_recv(kernel, 4096))
        assert came == down
        assert [await line.taken.get() for _ in up] == up
        line.port.close()
        carrier.join()

    asyncio.run(test())
