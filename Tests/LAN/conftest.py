# SPDX-License-Identifier: Apache-2.0
"""Two devices in one network, each with its own message bus and avahi-daemon."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from lan_lab import SONGS, Device, Network, Start
from roadmesh_program.program import START, Program
from roadmesh_program.songs import write_songs

pytest_plugins = ["roadmesh_program.measuring", "roadmesh_program.fixtures"]


@pytest.fixture(scope="session")
def network() -> Iterator[Network]:
    if os.geteuid() != 0 or not shutil.which("avahi-daemon"):
        if os.environ.get("ROADMESH_LAB") == "required":
            pytest.fail("a network of its own takes root and the package avahi-daemon", pytrace=False)
        pytest.skip("a network of its own takes root and the package avahi-daemon")
    made = Network()
    yield made
    made.close()


@pytest.fixture
def car(network: Network) -> Device:
    network.mend()
    return network.devices[0]


@pytest.fixture
def seat(network: Network) -> Device:
    return network.devices[1]


@pytest.fixture
def start(binary: Path, air: Path, tmp_path: Path) -> Iterator[Start]:
    """Starts a program on a device. In addition to the network it has a radio, which reaches all others."""
    running: list[Program] = []

    def start(device: Device, role: str, name: str, *arguments: str, lan: str = "on") -> Program:
        place = ["--radio", "virtual", "--air", str(air), "--adapter", name.lower(), "--state", str(tmp_path / name)]
        program = Program(device.command(binary), role, name, *place, "--lan", lan, *arguments)
        running.append(program)
        program.expect("ready", timeout=START)
        return program

    yield start
    codes = [program.end() for program in running]
    assert all(code == 0 for code in codes), f"exit codes {codes}"


@pytest.fixture
def songs(tmp_path: Path) -> list[str]:
    """The library options of a host: n0 (plays), n1, …"""
    return ["--library", str(write_songs(tmp_path / "songs.json", SONGS))]
