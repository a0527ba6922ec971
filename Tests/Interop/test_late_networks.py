# SPDX-License-Identifier: Apache-2.0
"""A node starts before its page can: the page's address comes later, or another program has its port."""

from __future__ import annotations

import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from roadmesh_program.fixtures import Place
from roadmesh_program.networks import Device
from roadmesh_program.program import START, Program

# The longest pause between two attempts, with a margin.
LATE = 20.0


@pytest.fixture
def device(tmp_path: Path, binary: Path) -> Iterator[Device]:
    made = Device(tmp_path, binary)
    yield made
    made.close()


@pytest.mark.parametrize("role", ["host", "guest"])
def test_a_page_whose_port_is_taken_comes_when_it_is_free(binary: Path, place: Place, role: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        program = Program(binary, role, "Car", "--http", f"127.0.0.1:{port}", *place("car"))
        assert program.expect("ready", timeout=START)["http"] is None
        notice = program.expect("notice", code="pageNotShown")
        assert notice["message"] == f"The page cannot be shown at 127.0.0.1:{port} yet: Address already in use."
    program.expect("noticeCleared", code="pageNotShown", timeout=LATE)
    url = program.expect("page")["http"]
    assert url == f"http://127.0.0.1:{port}/"
    with urllib.request.urlopen(url, timeout=5) as page:
        assert page.status == 200
    assert program.end() == 0


def test_a_page_whose_address_comes_later_is_shown_then(device: Device, place: Place) -> None:
    program = Program(device.program, "host", "Car", "--http", "192.168.4.1:8080", "--web-guests", *place("car"))
    program.expect("ready", timeout=START)
    assert "Cannot assign requested address" in program.expect("notice", code="pageNotShown")["message"]
    device.add_interface("wlan0")
    device.ip("address", "add", "192.168.4.1/24", "dev", "wlan0")
    program.expect("noticeCleared", code="pageNotShown", timeout=LATE)
    assert program.expect("page")["http"].startswith("http://192.168.4.1:8080/?token=")
    program.say("invite")
    assert program.expect("invitation")["url"].startswith("http://192.168.4.1:8080/join?")
    assert program.end() == 0


def open_page(device: Device, place: Place) -> Program:
    return Program(device.program, "host", "Car", "--http", "0.0.0.0:8080", "--web-guests", *place("car"))


def invitation(program: Program) -> str:
    program.say("invite")
    url = program.expect("invitation")["url"]
    assert isinstance(url, str)
    return url


def is_at(program: Program, address: str) -> None:
    program.expect("page", lambda event: event["http"].startswith(f"http://{address}:8080/"))
    assert invitation(program).startswith(f"http://{address}:8080/join?")


def test_a_host_that_starts_before_its_network_follows_it(device: Device, place: Place) -> None:
    program = open_page(device, place)
    program.expect("ready", timeout=START)
    assert program.expect("notice", code="pageUnreachable")["suggestion"]
    device.add_interface("wlan0")
    device.ip("address", "add", "192.168.4.1/24", "dev", "wlan0")
    program.expect("page", lambda event: event["http"].startswith("http://192.168.4.1:8080/?token="))
    program.expect("noticeCleared", code="pageUnreachable")
    assert invitation(program).startswith("http://192.168.4.1:8080/join?")
    # A new address, a new network with the default route, and no network at all.
    device.ip("address", "delete", "192.168.4.1/24", "dev", "wlan0")
    program.expect("notice", code="pageUnreachable")
    device.ip("address", "add", "192.168.4.77/24", "dev", "wlan0")
    is_at(program, "192.168.4.77")
    device.add_interface("eth0")
    device.ip("address", "add", "10.1.2.3/24", "dev", "eth0")
    device.ip("route", "add", "default", "via", "10.1.2.1")
    is_at(program, "10.1.2.3")
    device.ip("link", "set", "eth0", "down")
    is_at(program, "192.168.4.77")
    assert program.end() == 0
