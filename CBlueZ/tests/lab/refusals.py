"""The exact error names with which the kernel and bluetoothd refuse calls of root and of a user without
capabilities."""

from __future__ import annotations

from runner import Box, Lab
from shim import ADVERTISEMENT, DATA, PSM, UUID, Probe

NOT_READY = "org.bluez.Error.NotReady"
FAILED = "org.bluez.Error.Failed"
NO_OBJECT = "org.freedesktop.DBus.Error.UnknownObject"
NO_OWNER = "org.freedesktop.DBus.Error.NameHasNoOwner"


def advertise(path: str, data: str = DATA, name: str = "N", intervals: str = "20 30", uuid: str = UUID) -> str:
    return f"advertise {path} {uuid} {data} {name} {intervals}"


def check_calls(probe: Probe, table: dict[str, str]) -> None:
    actual = {command: probe.call(command) for command in table}
    assert actual == table, "\n".join(f"{one}: {actual[one]}" for one in table if actual[one] != table[one])


def bluetoothd_refuses(probe: Probe) -> None:
    check_calls(
        probe,
        {
            "list": "",
            "filter": "",
            "stop": FAILED,  # No discovery started
            "discover": "",
            "discover ": "org.bluez.Error.InProgress",
            "stop ": "",
            "remove /org/bluez/hci0/dev_1": "org.bluez.Error.DoesNotExist",
            "power 1": "",
            advertise("/1"): "",
            advertise("/1", name="again"): "org.bluez.Error.AlreadyExists",
            "unadvertise /1": "",
            "unadvertise /1 ": "org.bluez.Error.DoesNotExist",
            # One byte more than fits; an interval below 20 ms; an inverted range; no UUID.
            advertise("/2", data=DATA + "00"): FAILED,
            advertise("/3", intervals="10 30"): FAILED,
            advertise("/4", intervals="40 30"): FAILED,
            advertise("/5", uuid="nonsense"): FAILED,
            # The name is cut to the scan response's 29 characters.
            advertise("/6", name="ThisNameHasThirtyTwoCharactersXX"): "",
            # The controller has four sets.
            advertise("/7"): "",
            advertise("/8"): "",
            advertise("/9"): "",
            advertise("/10"): "org.bluez.Error.NotPermitted",
            **{f"unadvertise /{number}": "" for number in (6, 7, 8, 9)},
        },
    )
    probe.program.say("adapter /org/bluez/hci7")
    commands = ("filter", "discover", "power 1", advertise("/a"), "unadvertise /a")
    check_calls(probe, {command: NO_OBJECT for command in commands})
    probe.program.say("adapter /org/bluez/hci0")


def the_kernel_refuses(probe: Probe, box: Box, peer: str, is_root: bool) -> None:
    local = box.hci(0).address
    for command, expected in {
        f"listen {local} 0x25": 0 if is_root else "EACCES",  # below 0x80
        f"listen {local} 0x100": "EINVAL",
        f"listen 02:00:00:00:00:99 {PSM}": 0,  # no adapter has this address
    }.items():
        assert probe.result(command, "listening") == expected, command
        probe.program.say("unlisten")
    for command, expected in {
        f"dial 02:00:00:00:00:99 {peer} {PSM}": "EHOSTUNREACH",
        f"dial {local} {peer} 0x1ff": "EINVAL",
    }.items():
        assert probe.result(command, "dialling") == expected, command
    assert probe.result("hci 5", "hci") == "ENODEV"


def powered_off(probe: Probe, box: Box, peer: str) -> None:
    assert probe.call("power 0") == ""
    controller = probe.ask("devices", "controller")
    assert (controller["up"], controller["le"]) == (0, 1), controller
    check_calls(
        probe,
        {
            "filter": NOT_READY,
            "discover": NOT_READY,
            "stop": NOT_READY,
            advertise("/off"): FAILED,
            "unadvertise /off": "org.bluez.Error.DoesNotExist",
        },
    )
    assert probe.result(f"listen {box.hci(0).address} {PSM}", "listening") == 0
    probe.program.say("unlisten")
    assert probe.result(f"dial {box.hci(0).address} {peer} {PSM}", "dialling") == "EHOSTUNREACH"
    assert isinstance(probe.result("hci 0", "hci"), int)
    assert probe.result("rssi 1", "asked") == "ENETDOWN"
    assert probe.call("power 1") == ""


def bluetoothd_goes(probe: Probe, box: Box) -> None:
    assert probe.call("discover") == ""
    probe.advertise()
    probe.program.skip()
    box.stop_bluetoothd()
    assert probe.program.expect("released")["path"] == ADVERTISEMENT
    assert probe.program.expect("adapterRemoved")["path"] == "/org/bluez/hci0"
    probe.program.expect("vanished")
    assert probe.ask("devices", "controller")["up"] == 0  # bluetoothd has powered the adapter off
    check_calls(probe, {command: NO_OWNER for command in ("list", "discover", advertise("/a"))})
    box.start_bluetoothd()
    probe.program.expect("appeared")
    probe.program.expect("adapter", powered=1)
    box.bluetoothd.kill()
    probe.program.expect("vanished")
    assert probe.ask("devices", "controller")["up"] == 1


def scenario(lab: Lab) -> None:
    host, guest = lab.box("host"), lab.box("guest")
    peer = host.hci(0).address
    listener, root, user = Probe(host), Probe(guest), Probe(guest, uid=1000)
    for probe in (root, user):
        bluetoothd_refuses(probe)
        the_kernel_refuses(probe, guest, peer, is_root=probe is root)
        powered_off(probe, guest, peer)
    # The host does not listen at that PSM.
    listener.advertise()
    dialled = user.ask(f"dial {guest.hci(0).address} {peer} 0x85", "dialled", timeout=20)
    assert dialled["error"] == "ECONNREFUSED" and dialled["milliseconds"] < 5000, dialled
    bluetoothd_goes(user, guest)
