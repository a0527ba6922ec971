# SPDX-License-Identifier: Apache-2.0
"""What a network shows of a node, which nodes are found in it, and how a node works without it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from threading import Timer
from time import monotonic

import pytest
from lan_lab import Device, Start
from roadmesh_program.program import Program

INTEROP = Path(__file__).parents[1] / "Interop"
# The page's address in this test.
PAGE = 8_123
# Avahi knows the present services after a second, and looks for the address of each for five seconds at most.
BROWSE = 8.0
# Time until a network shows a change, in seconds.
TOLD = 20.0


def browse(device: Device) -> list[list[str]]:
    """The hosts that this device's avahi-daemon knows: a row for each address."""
    # avahi-browse 0.8 never ends if a service disappears while it looks for its address (avahi/avahi#264, #583).
    told = device.told_within(BROWSE, "avahi-browse", "--parsable", "--resolve", "--terminate", "_roadmesh._tcp")
    rows = [line.split(";") for line in told.splitlines()]
    gone = [row[1:4] for row in rows if row[0] == "-"]
    return [row for row in rows if row[0] == "=" and row[1:4] not in gone]


def names(device: Device) -> str:
    return " ".join(row[-1] for row in browse(device))


def forget(*devices: Device) -> None:
    """Forgets earlier nodes. A daemon does not forget all nodes that have said goodbye: of hosts that are there only
    briefly, one in a hundred stays in Avahi 0.8's cache on a busy machine, with its address."""
    for device in devices:
        device.stop_avahi()
    for device in devices:
        device.start_avahi()


def until_nobody_is_told(device: Device) -> None:
    """A goodbye takes effect after a second (RFC 6762, 10.1)."""
    deadline = monotonic() + TOLD
    while told := browse(device):
        assert monotonic() < deadline, told


def until_host_is_told(device: Device) -> None:
    deadline = monotonic() + TOLD
    while not browse(device):
        assert monotonic() < deadline


def say_by_mdns(device: Device, name: str, seconds: int) -> None:
    """Announces a host's name for this time, without a port or an address."""
    say = (
        "import socket, struct, sys\n"
        "def name(*labels): return b''.join(bytes([len(one)]) + one.encode() for one in labels) + b'\\0'\n"
        "kind = name('_roadmesh', '_tcp', 'local')\n"
        "host = name(sys.argv[2], '_roadmesh', '_tcp', 'local')\n"
        "record = kind + struct.pack('>HHIH', 12, 1, int(sys.argv[3]), len(host)) + host\n"
        "with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as it:\n"
        "    it.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
        "    it.bind((sys.argv[1], 5353))\n"
        "    it.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(sys.argv[1]))\n"
        "    it.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)\n"
        "    it.sendto(struct.pack('>6H', 0, 0x8400, 0, 1, 0, 0) + record, ('224.0.0.251', 5353))\n"
    )
    device.run(sys.executable, "-c", say, device.address, name, str(seconds))


def voted(host: Program, song: str) -> None:
    assert host.expect("intent", songID=song)["accepted"]


def test_looking_for_hosts_ends_although_one_goes_before_its_place_is_known(car: Device, seat: Device) -> None:
    forget(car, seat)
    # Avahi stores what it hears while any program browses.
    watcher = car.begin("avahi-browse", "--parsable", "_roadmesh._tcp")
    try:
        say_by_mdns(seat, "ghost", 120)
        goodbye = Timer(BROWSE / 4, say_by_mdns, [seat, "ghost", 0])
        goodbye.start()
        assert browse(car) == []
        goodbye.join()
    finally:
        watcher.kill()
        watcher.wait()


def test_a_guest_without_a_radio_in_common_joins_and_votes(
    car: Device, seat: Device, start: Start, songs: list[str], air: Path
) -> None:
    host = start(car, "host", "Car", *songs, "--air", str(air / "a"))
    guest = start(seat, "guest", "Ana", "--air", str(air / "b"))
    guest.expect("connection", state="connected", timeout=20)
    guest.say("vote n1")
    guest.expect("vote", songID="n1", state="confirmed")
    voted(host, "n1")
    assert guest.expect("link")["bearer"] == host.expect("link")["bearer"] == "lan"


def test_a_scan_names_the_bearer(
    car: Device, seat: Device, start: Start, songs: list[str], binary: Path, air: Path
) -> None:
    start(car, "host", "Car", *songs, "--air", str(air / "a"))
    scan = ["scan", "--radio", "virtual", "--lan", "on", "--seconds", "3", "--json", "--air", str(air / "b")]
    heard = seat.run(str(binary), *scan)
    assert '"bearer":"lan"' in heard and '"name":"Car"' in heard


def test_the_network_is_told_of_a_host_as_long_as_it_hosts_and_of_no_guest(
    car: Device, seat: Device, start: Start, songs: list[str]
) -> None:
    forget(car, seat)
    guest = start(seat, "guest", "Ana")
    host = start(car, "host", "Car", *songs)
    guest.expect("connection", state="connected", timeout=20)
    # The radio may be faster than the network, which is checked for a second for another host with the name.
    until_host_is_told(car)
    assert "Car" in names(car) and "Ana" not in names(car) + names(seat)
    host.end()
    until_nobody_is_told(car)
    until_nobody_is_told(seat)


def test_a_host_that_is_told_to_leave_the_network_alone_is_not_found_there(
    car: Device, seat: Device, start: Start, songs: list[str]
) -> None:
    forget(car, seat)
    start(car, "host", "Car", *songs, lan="off")
    guest = start(seat, "guest", "Ana")
    guest.expect("connection", state="connected", timeout=20)
    assert guest.expect("link")["bearer"] == "virtual"
    until_nobody_is_told(seat)


def test_a_guest_is_back_in_the_network_after_a_restart_of_its_daemon(
    car: Device, seat: Device, start: Start, songs: list[str], air: Path
) -> None:
    host = start(car, "host", "Car", *songs, "--air", str(air / "a"))
    car.stop_avahi()
    car.start_avahi()
    guest = start(seat, "guest", "Ana", "--air", str(air / "b"))
    guest.expect("connection", state="connected", timeout=30)
    seat.stop_avahi()
    guest.say("vote n1")
    voted(host, "n1")
    seat.start_avahi()


def test_a_node_written_from_the_document_joins_and_votes_over_the_network(
    car: Device, seat: Device, start: Start, songs: list[str]
) -> None:
    host = start(car, "host", "Car", *songs)
    peer = [sys.executable, "-m", "roadmesh_peer.lan"]
    done = seat.run("env", f"PYTHONPATH={INTEROP}", *peer, seat.address, "Ana", "n3")
    voted(host, "n3")
    assert "Mile 3" in done.splitlines()[1], "it is voted to the front of the queue"


def test_who_is_not_in_the_network_is_not_let_in(car: Device, seat: Device, start: Start, songs: list[str]) -> None:
    forget(car, seat)
    start(car, "host", "Car", *songs)
    until_host_is_told(seat)
    port = browse(seat)[0][-2]
    dial = (
        "import socket, sys\n"
        "with socket.create_connection((sys.argv[1], int(sys.argv[2])), 5, (sys.argv[3], 0)) as it:\n"
        "    it.settimeout(2)\n"
        "    try:\n"
        "        print('closed' if it.recv(1) == b'' else 'open')\n"
        "    except TimeoutError:\n"
        "        print('open')\n"
        "    except ConnectionResetError:\n"
        "        print('closed')\n"
    )
    seat.run("ip", "addr", "add", "192.0.2.7/32", "dev", "eth0")
    car.run("ip", "route", "add", "192.0.2.7/32", "dev", "eth0")
    try:
        assert seat.run(sys.executable, "-c", dial, car.address, port, seat.address) == "open\n"
        assert seat.run(sys.executable, "-c", dial, car.address, port, "192.0.2.7") == "closed\n"
    finally:
        seat.run("ip", "addr", "del", "192.0.2.7/32", "dev", "eth0")
        car.run("ip", "route", "del", "192.0.2.7/32", "dev", "eth0")


def traced(device: Device, binary: Path, tmp_path: Path, lan: str, *arguments: str) -> set[str]:
    """The sockets that a node opens until it has joined, or another node has joined it: the addresses that it listens
    on or connects to."""
    log = tmp_path / f"{arguments[0]}-{lan}.strace"
    script = tmp_path / f"traced-{arguments[0]}-{lan}"
    calls = "trace=socket,bind,connect,listen"
    script.write_text(f'#!/bin/sh\nexec strace -D -f -qq -e {calls} -o {log} {binary} "$@"\n')
    script.chmod(0o755)
    program = Program(device.command(script), *arguments, "--lan", lan)
    program.expect("ready", timeout=60)
    try:
        program.expect("snapshot", timeout=30)
    finally:
        program.end()
    return {match[1] for match in re.finditer(r"(?:bind|connect)\(\d+, (\{.*?\})", log.read_text())}


@pytest.mark.parametrize("role", ["host", "guest"])
def test_with_the_network_off_nothing_opens_a_socket_beyond_the_air_and_the_page(
    role: str, car: Device, seat: Device, binary: Path, start: Start, songs: list[str], tmp_path: Path, air: Path
) -> None:
    def sockets(lan: str) -> set[str]:
        place = ["--radio", "virtual", "--air", str(air), "--adapter", "traced", "--state", str(tmp_path / "traced")]
        page = ["--http", f"127.0.0.1:{PAGE}"]
        return traced(car, binary, tmp_path, lan, role, "Traced", *place, *page, *(songs if role == "host" else []))

    if role == "guest":
        start(seat, "host", "Car", *songs, lan="off")
    assert {one for one in sockets("off") if not is_own(one, air)} == set()
    # With the network on, the same method finds sockets, so the check above is able to fail.
    assert any("/bus" in one for one in sockets("on"))


def is_own(address: str, air: Path) -> bool:
    """The radio and the page, and local sockets: of the state folder, the kernel, and the user database."""
    is_air = str(air) in address or 'sun_path=@"roadmesh' in address
    is_page = 'sin_addr=inet_addr("127.0.0.1")' in address and f"htons({PAGE})" in address
    is_control = "AF_UNIX" in address and address.rstrip("}").endswith("/traced/control\"")
    return is_air or is_page or is_control or "AF_NETLINK" in address or "nscd" in address

