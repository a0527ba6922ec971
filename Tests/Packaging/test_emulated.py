# SPDX-License-Identifier: Apache-2.0
"""The program of another architecture, under an emulator: Tests/Packaging/arm64."""

from __future__ import annotations

import pytest
from roadmesh_program.fixtures import Start, StartHost
from roadmesh_program.measuring import resident

# Emulation takes several times as long.
SLOW = 120.0


@pytest.mark.together
def test_a_guest_joins_and_votes(start_host: StartHost, start: Start, measured: list[str]) -> None:
    host = start_host(3)
    guest = start("guest", "Bob", "bob")
    guest.expect("connection", timeout=SLOW, state="connected")
    host.expect("peerConnected", timeout=SLOW)
    guest.say("vote n2")
    guest.expect("vote", timeout=SLOW, songID="n2", state="confirmed")
    for role, program in (("host", host), ("guest", guest)):
        measured.append(f"{role}: {resident(program.pid) / 1024:.0f} MB resident, with the emulator")
