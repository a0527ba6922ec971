# SPDX-License-Identifier: Apache-2.0
"""The folder that represents the air, as docs/protocol.md describes it: stale files, and the PSM."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
from pathlib import Path

import pytest
from roadmesh_peer.hosting import HostTalk
from roadmesh_peer.noise_link import Key
from roadmesh_peer.virtual_air import HostRadio, Radio
from roadmesh_peer.wire import CIRCUITS_ONLY, NO_ROOM, RELAYS, Hello, Tail
from roadmesh_program.fixtures import MakeGuest, Start, StartHost
from roadmesh_program.program import Program

EPOCH = 0xCA4
NAME = "Dad's Car"


def leave_behind(path: Path, kind: socket.SocketKind) -> None:
    """A socket as a killed program leaves it: the file exists, and no process has it open."""
    with socket.socket(socket.AF_UNIX, kind) as left:
        left.bind(str(path))
    assert path.is_socket()


def comes_to_be(socket_file: Path) -> bool:
    """Checks at each advertisement, of which a host sends some thirty a second."""
    listening = Radio(socket_file.parent, "watcher")
    return any(socket_file.is_socket() or not listening.listen() for _ in range(150))


def test_an_ear_that_nobody_listens_with_is_removed_and_the_others_stay(host: Program, bob: Program, air: Path) -> None:
    stale = air / "ghost.ear"
    leave_behind(stale, socket.SOCK_DGRAM)
    # An advertisement goes to one ear after the other. The first one received here may have begun before the stale ear
    # existed, and the last may not have reached it yet. Those in between went to all ears.
    listening = Radio(air, "listener")
    for _ in range(3):
        listening.listen()
    assert not stale.exists()
    # A host does not listen for advertisements, and neither does a linked guest.
    assert comes_to_be(air / "car.deaf") and comes_to_be(air / "bob.deaf")


def test_a_guest_hears_advertisements_only_while_it_looks_for_its_host(host: Program, bob: Program, air: Path) -> None:
    assert comes_to_be(air / "bob.deaf") and not (air / "bob.ear").exists()
    cut = air / "bob.cut"
    cut.touch()
    assert comes_to_be(air / "bob.ear") and not (air / "bob.deaf").exists()
    cut.unlink()
    assert comes_to_be(air / "bob.deaf")


def test_a_radio_takes_the_place_of_one_that_was_killed(
    air: Path, start: Start, start_host: StartHost, make_guest: MakeGuest
) -> None:
    leave_behind(air / "car.ear", socket.SOCK_DGRAM)
    leave_behind(air / "car.psm", socket.SOCK_SEQPACKET)
    leave_behind(air / "bob.ear", socket.SOCK_DGRAM)
    leave_behind(air / "bob.deaf", socket.SOCK_DGRAM)
    host = start_host()
    make_guest("Ana").join()
    assert host.expect("peerConnected")["peer"]["name"] == "Ana"
    start("guest", "Bob", "bob").expect("connection", state="connected")


@pytest.mark.parametrize("psm", [0x80, 0xA7, 0xFF], ids=hex)
def test_a_host_is_joined_whatever_its_psm_is(psm: int, air: Path, start: Start) -> None:
    bob = start("guest", "Bob", "bob")
    key = Key()
    with contextlib.closing(HostRadio(air, "car", NAME)) as radio:
        radio.PSM = psm
        HostTalk(radio.accept(key.identifier), key).let_in(Hello(EPOCH, NAME))
        bob.expect("connection", state="connected")


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["people", "programs"])
def test_a_scan_tells_of_a_host_and_of_the_relays_that_lead_to_it(
    form: list[str], air: Path, start_host: StartHost, binary: Path
) -> None:
    host = start_host().seen("ready")[0]["peer"]
    relays = [(key := Key()).identifier for _ in range(2)]
    tails = (
        Tail(relays[0][4:9], RELAYS, 1, bytes.fromhex(host["id"])[:5]),
        Tail(relays[1][4:9], RELAYS | NO_ROOM, 3, key.identifier[:5]),
    )
    place = ["--radio", "virtual", "--air", str(air), "--adapter", "scan", "--seconds", "2"]
    with (
        contextlib.closing(HostRadio(air, "near", NAME)) as near,
        contextlib.closing(HostRadio(air, "far", "Quiz Bus")) as far,
        subprocess.Popen([binary, "scan", *place, *form], stdout=subprocess.PIPE, text=True) as scan,
    ):
        while scan.poll() is None:
            for radio, identifier, tail in zip((near, far), relays, tails, strict=True):
                with contextlib.suppress(TimeoutError):
                    radio.accept(identifier, timeout=0.03, critical=CIRCUITS_ONLY, tail=tail)
        told = scan.stdout.read().splitlines() if scan.stdout else []
    near_head, far_head = (identifier.hex()[:8] for identifier in relays)
    if form:
        found = [event for event in map(json.loads, told) if event["event"] == "peerDiscovered"]
        seen = {(one["peer"]["id"], one["peer"]["name"], one["hops"], one.get("relay", {}).get("id")) for one in found}
        assert seen == {
            (host["id"][:8], NAME, 0, None),
            (host["id"][:8], NAME, 1, near_head),
            (key.identifier.hex()[:8], "Quiz Bus", 3, far_head),
        }
        assert {one["relay"]["id"]: one["room"] for one in found if "relay" in one} == {near_head: True, far_head: False}
        return
    assert f'Heard "{NAME}", through a relay (1 hop).' in told
    tree = told[told.index("2 hosts are in range:") :]
    assert f"    through relay {near_head} (1 hop)" == tree[tree.index(f'  "{NAME}"') + 1]
    assert f"    through relay {far_head} (3 hops, no room)" == tree[tree.index('  "Quiz Bus", through relays only') + 1]


@pytest.mark.parametrize("psm", [0x00, 0x7F], ids=hex)
def test_what_has_no_psm_of_a_channel_is_no_host(psm: int, air: Path, start: Start) -> None:
    bob = start("guest", "Bob", "bob")
    with contextlib.closing(HostRadio(air, "car", NAME)) as radio:
        radio.PSM = psm
        with pytest.raises(TimeoutError):
            radio.accept(Key().identifier, timeout=1.0)
    assert not bob.seen("peerDiscovered")
