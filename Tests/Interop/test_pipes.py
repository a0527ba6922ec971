# SPDX-License-Identifier: Apache-2.0
"""`pipe` of the real program: gaps, killed processes, readers that stop, and forwarded connections."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import select
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from roadmesh_program.tools import StartTool, Tool, data

INCOMPLETE, UNAVAILABLE, INTERRUPTED = 74, 69, 130


def listener(tool: StartTool, *words: str, **files: Any) -> Tool:
    made = tool("pipe", "van", "--listen", "van", "--json", *words, **files)
    made.event("ready")
    return made


class Gaps:
    """Cuts a node's radio again and again."""

    def __init__(self, air: Path, address: str, seed: int) -> None:
        self._file = air / f"{address}.cut"
        self._chance = random.Random(seed)
        self._stop = threading.Event()
        self.count = 0
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(self._chance.uniform(0.2, 0.5)):
            self._file.touch()
            self.count += 1
            self._stop.wait(self._chance.uniform(0.05, 0.3))
            self._file.unlink()

    def end(self) -> int:
        self._stop.set()
        self._thread.join()
        return self.count


# Standard input and output


@pytest.mark.parametrize("size", [0, 1, 3_000_000])
def test_every_byte_of_both_directions_arrives_and_both_sides_say_so(
    size: int, tool: StartTool, files: Callable[[str, str], IO[bytes]], tmp_path: Path
) -> None:
    (tmp_path / "there").write_bytes(data(size))
    (tmp_path / "back").write_bytes(data(size // 2, seed=8))
    van = listener(tool, stdin=files("back", "r"), stdout=files("van.out", "w"))
    car = tool("pipe", "car", "van", stdin=files("there", "r"), stdout=files("car.out", "w"))
    assert (car.ended(), van.ended()) == (0, 0)
    assert (tmp_path / "van.out").read_bytes() == data(size)
    assert (tmp_path / "car.out").read_bytes() == data(size // 2, seed=8)


@pytest.mark.long
def test_a_file_is_equal_byte_for_byte_after_random_gaps(
    tool: StartTool, air: Path, files: Callable[[str, str], IO[bytes]], tmp_path: Path
) -> None:
    size = 20_000_000
    (tmp_path / "there").write_bytes(data(size))
    van = listener(tool, stdout=files("van.out", "w"))
    van.drain()
    gaps = Gaps(air, "car", seed=1)
    car = tool("pipe", "car", "van", stdin=files("there", "r"))
    codes = (car.ended(240), van.ended())
    count = gaps.end()
    assert codes == (0, 0)
    written = (tmp_path / "van.out").read_bytes()
    assert hashlib.sha256(written).digest() == hashlib.sha256(data(size)).digest()
    assert count >= 5, f"only {count} gaps"


@pytest.mark.sample(2)
@pytest.mark.parametrize("victim", ["caller", "listener"])
@pytest.mark.parametrize("arrived", [0, 1, 50_000, 1_500_000])
def test_if_one_side_is_killed_the_other_side_says_that_the_transfer_is_incomplete(
    victim: str, arrived: int, tool: StartTool
) -> None:
    van = listener(tool, "--wait", "1")
    # The input has no end, so no point of time is late.
    car = tool("pipe", "car", "van", "--wait", "1", "--json", stdin=subprocess.PIPE)
    car.event("connection", state="connected")
    assert car.process.stdin and van.process.stdout
    threading.Thread(target=feed, args=(car.process.stdin,), daemon=True).start()
    assert len(van.process.stdout.read(arrived)) == arrived
    killed, other = (car, van) if victim == "caller" else (van, car)
    killed.process.kill()
    van.drain_output()
    # Before the first byte a listener may not know of the caller, and waits for another one.
    if arrived or victim == "listener":
        assert other.ended() in ((INCOMPLETE,) if arrived else (INCOMPLETE, UNAVAILABLE))


def test_ctrl_c_at_the_sender_loses_nothing_that_was_read_and_the_receiver_knows(tool: StartTool) -> None:
    van = listener(tool)
    car = tool("pipe", "car", "van", stdin=subprocess.PIPE)
    assert car.process.stdin and van.process.stdout
    car.process.stdin.write(data(200_000))
    car.process.stdin.flush()
    got = van.process.stdout.read(1)
    car.process.send_signal(signal.SIGINT)
    got += van.process.stdout.read()
    assert (car.ended(), van.ended()) == (INTERRUPTED, INCOMPLETE)
    assert data(200_000).startswith(got)


def test_ctrl_c_at_the_receiver_writes_what_has_arrived_and_the_sender_knows(tool: StartTool) -> None:
    van = listener(tool)
    car = tool("pipe", "car", "van", stdin=subprocess.PIPE)
    assert car.process.stdin and van.process.stdout
    car.process.stdin.write(data(10_000))
    car.process.stdin.flush()
    assert van.process.stdout.read(10_000) == data(10_000)
    van.process.send_signal(signal.SIGINT)
    assert (van.ended(), car.ended()) == (INTERRUPTED, INCOMPLETE)


def test_a_reader_that_goes_away_ends_both_sides(tool: StartTool) -> None:
    van = listener(tool)
    car = tool("pipe", "car", "van", stdin=subprocess.PIPE)
    assert car.process.stdin and van.process.stdout
    car.process.stdin.write(data(100_000))
    car.process.stdin.flush()
    van.process.stdout.read(10)
    van.process.stdout.close()
    threading.Thread(target=feed, args=(car.process.stdin,), daemon=True).start()
    assert (van.ended(), car.ended()) == (INCOMPLETE, INCOMPLETE)


def feed(pipe: IO[bytes]) -> None:
    try:
        while True:
            pipe.write(data(10_000))
            pipe.flush()
    except (BrokenPipeError, ValueError):
        pass


def test_a_reader_that_does_not_read_stops_the_sender_and_memory_stays_flat(tool: StartTool) -> None:
    van = listener(tool)
    car = tool("pipe", "car", "van", stdin=subprocess.PIPE)
    assert car.process.stdin
    written = 0
    # The pipe accepts more data as long as the sender reads.
    while select.select([], [car.process.stdin], [], 4)[1]:
        written += os.write(car.process.stdin.fileno(), data(4_096))
    # These bytes are in the window, the outbox, and the pipes of the kernel.
    assert 100_000 < written < 4_000_000
    for one in (car, van):
        status = Path(f"/proc/{one.process.pid}/status").read_text()
        kilobytes = int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])
        assert kilobytes < 150_000


def test_a_caller_without_a_listener_says_so(tool: StartTool) -> None:
    car = tool("pipe", "car", "nobody", "--wait", "1")
    assert car.ended() == UNAVAILABLE
    assert car.process.stderr and b"nobody was not reached in 1 s" in car.process.stderr.read()


def test_a_second_caller_is_told_that_the_listener_is_busy(tool: StartTool) -> None:
    van = listener(tool)
    car = tool("pipe", "car", "van", stdin=subprocess.PIPE)
    assert car.process.stdin and van.process.stdout
    car.process.stdin.write(b"x")
    car.process.stdin.flush()
    assert van.process.stdout.read(1) == b"x"
    bus = tool("pipe", "bus", "van", stdin=subprocess.PIPE)
    assert bus.ended() == UNAVAILABLE
    assert bus.process.stderr and b"serves another caller" in bus.process.stderr.read()
    car.process.stdin.close()
    assert (car.ended(), van.ended()) == (0, 0)


def test_a_pin_is_needed_on_both_sides_and_must_be_the_same(tool: StartTool, tmp_path: Path) -> None:
    van = listener(tool, "--pin", "314159")
    eve = tool("pipe", "eve", "van", "--json")
    assert eve.ended() == UNAVAILABLE
    assert eve.process.stderr
    events = [json.loads(line) for line in eve.process.stderr if line.startswith(b"{")]
    assert (events[-1]["event"], events[-1]["exitCode"]) == ("bye", UNAVAILABLE)
    assert "PIN" in events[-1]["message"]
    assert tool("pipe", "bob", "van", "--pin", "271828").ended() == UNAVAILABLE
    assert tool("pipe", "car", "van", "--pin", "314159").ended() == 0
    assert van.ended() == 0


# Connections


class Echo:
    """A server that returns what it gets, and counts its connections."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self._listener.getsockname()[1]
        self.count = 0
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.count += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    @staticmethod
    def _serve(connection: socket.socket) -> None:
        with connection:
            while piece := connection.recv(65_536):
                connection.sendall(piece)
            connection.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        # Ends the wait for connections, which would keep the socket open.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.fixture
def echo() -> Iterator[Echo]:
    made = Echo()
    yield made
    made.close()


def asked(path: Path, body: bytes) -> bytes:
    """Sends to the forwarded socket, closes this direction, and reads to the end."""
    with socket.socket(socket.AF_UNIX) as one:
        one.settimeout(60)
        one.connect(str(path))

        def send() -> None:
            one.sendall(body)
            one.shutdown(socket.SHUT_WR)

        # The answer comes while the question is still sent.
        sender = threading.Thread(target=send)
        sender.start()
        answer = b"".join(iter(lambda: one.recv(65_536), b""))
        sender.join()
        return answer


def forwarded(tool: StartTool, echo: Echo, air: Path) -> tuple[Tool, Tool, Path]:
    van = listener(tool, "--socket", str(echo.port))
    van.drain()
    path = air / "forward"
    car = tool("pipe", "car", "van", "--json", "--socket", str(path), "--wait", "5")
    car.event("connection", state="connected")
    car.drain()
    return van, car, path


def test_a_connection_is_forwarded_with_both_of_its_ends(tool: StartTool, echo: Echo, air: Path) -> None:
    van, car, path = forwarded(tool, echo, air)
    for size in (0, 1, 700_000):
        assert asked(path, data(size)) == data(size)
    car.process.send_signal(signal.SIGTERM)
    assert car.ended() == INTERRUPTED
    assert not path.exists()
    van.process.send_signal(signal.SIGTERM)
    assert van.ended() == INTERRUPTED


def test_a_connection_to_a_target_that_refuses_it_is_reset(tool: StartTool, echo: Echo) -> None:
    van = listener(tool, "--socket", str(echo.port))
    van.drain()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    car = tool("pipe", "car", "van", "--json", "--socket", str(port))
    car.event("connection", state="connected")
    echo.close()
    # The reset may come while the connection is made, or later.
    with (
        pytest.raises((ConnectionResetError, BrokenPipeError)),
        socket.create_connection(("127.0.0.1", port), timeout=60) as one,
    ):
        one.sendall(b"x")
        assert one.recv(1) != b"", "a broken connection looks finished"


@pytest.mark.long
def test_a_thousand_short_connections_each_get_their_own_answer(tool: StartTool, echo: Echo, air: Path) -> None:
    _, _, path = forwarded(tool, echo, air)
    wrong: list[int] = []

    def run(first: int) -> None:
        for number in range(first, 1_000, 20):
            body = f"{number}:".encode() + data(number % 300, seed=number)
            if asked(path, body) != body:
                wrong.append(number)

    threads = [threading.Thread(target=run, args=(first,)) for first in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert echo.count == 1_000
