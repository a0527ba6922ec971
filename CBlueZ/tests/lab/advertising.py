"""An advertisement as it leaves the controller, and as another box receives it; with Bluetooth 5 and 4.2
controllers."""

from __future__ import annotations

from runner import Lab
from shim import ADVERTISEMENT, DATA, NAME, UUID, Probe

# Service UUID (18), manufacturer data (4 + 6), flags (3): general discoverable, no BR/EDR.
PAYLOAD = bytes.fromhex("1107" + bytes.fromhex(UUID.replace("-", ""))[::-1].hex() + "09ffffff" + DATA + "020106")
SCAN_RESPONSE = bytes([len(NAME) + 1, 0x09]) + NAME.encode()
INTERVALS = (32, 48)  # 20 and 30 ms in slots of 0.625 ms


def commands(lab: Lab, controller: str, opcode: int) -> list[bytes]:
    """The parameters of all such commands in a controller's capture."""
    lab.air.request("flush")
    capture = (lab.folder / f"{controller.replace(':', '-')}.btsnoop").read_bytes()
    found, at = [], 16
    while at < len(capture):
        length = int.from_bytes(capture[at : at + 4], "big")
        packet = capture[at + 24 : at + 24 + length]
        at += 24 + length
        if packet[:3] == b"\1" + opcode.to_bytes(2, "little"):
            found.append(packet[4:])
    return found


def scenario(lab: Lab) -> None:
    assert len(PAYLOAD) == 31
    modern, plain, guest = lab.box("modern"), lab.box("plain", profile="plain"), lab.box("guest")
    listener = Probe(guest, uid=1000)
    assert listener.call("filter") == ""
    assert listener.call("discover") == ""
    for box in (modern, plain):
        Probe(box).advertise()
        path = "/org/bluez/hci0/dev_" + box.hci(0).address.replace(":", "_")
        heard = listener.program.expect_seen("device", path=path, name=NAME)
        assert (heard["address"], heard["kind"], heard["company"]) == (box.hci(0).address, 1, 0xFFFF), heard
        assert (heard["data"], heard["uuids"]) == (DATA, [UUID]), heard

    # LE Set Extended Advertising Data, Scan Response Data and Parameters.
    assert commands(lab, "modern:hci0", 0x2037)[-1][4:] == PAYLOAD
    assert commands(lab, "modern:hci0", 0x2038)[-1][4:] == SCAN_RESPONSE
    parameters = commands(lab, "modern:hci0", 0x2036)[-1]
    assert tuple(int.from_bytes(parameters[at : at + 3], "little") for at in (3, 6)) == INTERVALS

    # LE Set Advertising Data, Scan Response Data and Parameters.
    assert commands(lab, "plain:hci0", 0x2008)[-1][1:] == PAYLOAD
    response = commands(lab, "plain:hci0", 0x2009)[-1]
    assert response[1 : 1 + response[0]] == SCAN_RESPONSE
    parameters = commands(lab, "plain:hci0", 0x2006)[-1]
    assert tuple(int.from_bytes(parameters[at : at + 2], "little") for at in (0, 2)) == INTERVALS

    assert listener.call("stop") == ""
    listener.program.expect_seen("device", rssiGone=1)
    assert listener.call(f"unadvertise {ADVERTISEMENT}") == "org.bluez.Error.DoesNotExist"  # not its own
