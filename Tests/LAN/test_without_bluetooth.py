# SPDX-License-Identifier: Apache-2.0
"""Devices without a Bluetooth adapter: a node starts with the network, and says what is missing. This machine has no adapter."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest
from lan_lab import Device, Start
from roadmesh_program.program import START, Program

Node = Callable[..., Program]
# A network is lost and used again within this time, in seconds.
MOVE = 30.0


@pytest.fixture
def node(binary: Path, tmp_path: Path, air: Path) -> Iterator[Node]:
    running: list[Program] = []

    def node(device: Device, role: str, name: str, *arguments: str) -> Program:
        place = ["--air", str(air), "--state", str(tmp_path / name), "--http", "none"]
        running.append(Program(device.command(binary), role, name, *place, *arguments))
        return running[-1]

    yield node
    codes = [program.end() for program in running]
    assert all(code == 0 for code in codes), f"exit codes {codes}"


def test_a_host_and_a_guest_without_an_adapter_meet_in_the_network(
    car: Device, seat: Device, node: Node, songs: list[str]
) -> None:
    host, guest = node(car, "host", "Car", "--radio", "bluez", *songs), node(seat, "guest", "Ana", "--radio", "bluez")
    for program in (host, guest):
        assert program.expect("ready", timeout=START)["radio"] == "lan"
        notice = program.expect_seen("notice", code="radioUnavailable", cause="noAdapter")
        assert "Bluetooth adapter" in notice["message"]
    guest.expect("connection", state="connected", timeout=START)
    guest.say("vote n1")
    guest.expect("vote", songID="n1", state="confirmed")


def test_auto_without_an_adapter_uses_the_network_too(
    car: Device, seat: Device, node: Node, songs: list[str], tmp_path: Path
) -> None:
    host = node(car, "host", "Car", *songs)
    assert host.expect("ready", timeout=START)["radio"].startswith("virtual ")
    # The guest is on another air, so it can reach the host only over the network.
    guest = node(seat, "guest", "Ana", "--air", str(tmp_path / "other"))
    guest.expect("connection", state="connected", timeout=START)
    assert guest.expect("link")["bearer"] == "lan"


def test_a_network_that_comes_later_is_used(car: Device, seat: Device, node: Node, songs: list[str]) -> None:
    car.stop_avahi()
    host, guest = node(car, "host", "Car", "--radio", "bluez", *songs), node(seat, "guest", "Ana", "--radio", "bluez")
    for program in (host, guest):
        program.expect("ready", timeout=START)
    car.start_avahi()
    guest.expect("connection", state="connected", timeout=START)


def test_with_nothing_to_wait_for_a_start_without_an_adapter_ends(car: Device, binary: Path, tmp_path: Path) -> None:
    command = [car.command(binary), "host", "Car", "--radio", "bluez", "--lan", "off", "--state", tmp_path / "car"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=START, check=False)
    assert done.returncode == 69 and done.stderr.startswith("roadmesh: No radio: ")


class Sentences:
    """The sentences that a host prints for people."""

    def __init__(self, program: Path, *arguments: str) -> None:
        self.text = ""
        self.process = subprocess.Popen(
            [program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.text += line

    def see(self, text: str, timeout: float = START) -> None:
        deadline = monotonic() + timeout
        while text not in self.text:
            assert monotonic() < deadline, self.text
            sleep(0.02)

    def end(self) -> str:
        self.process.terminate()
        assert self.process.wait(10) == 0
        return self.text


def test_a_change_of_bearer_is_no_news_to_the_driver(
    car: Device, seat: Device, start: Start, binary: Path, air: Path, tmp_path: Path, songs: list[str]
) -> None:
    place = ["--radio", "virtual", "--adapter", "car", "--lan", "on", "--air", str(air), "--state", str(tmp_path / "c")]
    host = Sentences(car.command(binary), "host", "Car", *place, *songs)
    host.see("is on the air")
    guest = start(seat, "guest", "Ana")
    guest.expect("link", timeout=MOVE, bearer="lan")
    host.see("Ana has joined.")
    for _ in range(3):
        seat.plug(False)
        guest.expect("link", timeout=MOVE, bearer="virtual")
        seat.plug(True)
        guest.expect("link", timeout=MOVE, bearer="lan")
    assert not guest.seen("notice", code="connectionLost")
    # A loss that was held back is printed before the guest has left.
    guest.say("quit")
    host.see("Ana has left.")
    text = host.end()
    assert text.count("Ana has joined.") == 1
    assert "out of reach" not in text and "another link" not in text
