"""Channels between two boxes, dialled by root and by a user without capabilities: SDUs, credits, signal strength,
ends."""

from __future__ import annotations

from runner import Box, Lab
from shim import PSM, Probe

# Without GATT over enhanced channels. A dial over a link that is up may lose its answer to one of those channels
# (docs/bluez.md, "An accepted channel that takes another one's answer"). The shim does not handle that; `BlueZBearer`
# does.
WITHOUT_EATT = "[GATT]\nChannels=1\n"


def open_channel(lab: Lab, host: Probe, guest: Probe, boxes: tuple[Box, Box]) -> None:
    (a, b) = (box.hci(0).address for box in boxes)
    host.advertise()
    host.program.skip()
    dialling = guest.ask(f"dial {b} {a} {PSM} 1024 16384 16384", "dialling")
    assert dialling["result"] == 0 and dialling["now"] == -115, dialling  # EINPROGRESS
    dialled = guest.program.expect("dialled", timeout=20)
    assert dialled["result"] == 0, dialled
    lab.note(f"dialled in {dialled['milliseconds']} ms")
    assert host.program.expect("accepted")["address"] == b


def send_and_receive(host: Probe, guest: Probe) -> None:
    mine, theirs = guest.ask("info", "info"), host.ask("info", "info")
    assert (mine["sendMTU"], mine["receiveMTU"]) == (2048, 1024), mine
    assert (theirs["sendMTU"], theirs["receiveMTU"]) == (1024, 2048), theirs
    assert mine["sendQueue"] == 0, mine
    for one in (mine, theirs):  # the kernel doubles the sizes; accepting inherits them
        assert (one["sendBuffer"], one["receiveBuffer"]) == (32768, 32768), one
    for size, expected in ((2049, "EMSGSIZE"), (0, "EINVAL"), (300, 300)):
        assert guest.result(f"send {size}", "sent") == expected
    # An SDU longer than the receiver's buffer is lost, and the next one is complete.
    assert until_something(host, 100) == "EMSGSIZE"
    assert guest.result("send 300", "sent") == 300
    assert until_something(host, 300) == 300
    assert host.result("receive 300", "received") == "EAGAIN"


def until_something(probe: Probe, capacity: int) -> int | str:
    while (result := probe.result(f"receive {capacity}", "received")) == "EAGAIN":
        pass
    return result


def run_out_of_credits(host: Probe, guest: Probe) -> None:
    sdus = fill(guest)
    # The receiver reads them, so credits come back. All accepted SDUs arrive, and then the end of the channel.
    host.program.say("drain 1")
    while guest.result("send 1000", "sent") == "EAGAIN":
        pass
    while guest.ask("info", "info")["sendQueue"] > 0:
        pass
    guest.program.say("close")
    ended = host.program.expect("ended", timeout=20)
    assert (ended["result"], ended["sdus"]) == (0, sdus + 1), ended
    host.program.say("drain 0")


def fill(guest: Probe) -> int:
    """Sends until it has no credits, and returns how many SDUs were accepted.

    The receiver's kernel grants credits until its socket's buffer is full, whether or not the program reads. On a
    busy machine credits come late, so the sender may run out of them for a short time."""
    sdus = 0
    while True:
        flooded = guest.ask("send 1000 1000", "sent")
        assert flooded["error"] == "EAGAIN" and flooded["count"] < 1000, flooded
        sdus += flooded["count"]
        # Without credits the result is EAGAIN for any size, even above the MTU. With a credit it is EMSGSIZE.
        if guest.result("send 2049", "sent") == "EAGAIN" and guest.ask("info", "info")["sendQueue"] > 0:
            assert sdus > 0
            return sdus


def read_signal_strength(lab: Lab, guest: Probe, boxes: tuple[Box, Box]) -> None:
    handle = guest.ask("info", "info")["handle"]
    assert isinstance(guest.result("hci 0", "hci"), int)
    for dbm in (-40, -93):
        lab.air.rssi(*boxes, dbm)
        answer = guest.ask("rssi", "rssi")
        assert (answer["handle"], answer["dbm"], answer["status"]) == (handle, dbm, 0), answer
    # No connection has this handle: Unknown Connection Identifier.
    assert guest.ask("rssi 0x0eee", "rssi")["status"] == 2


def scenario(lab: Lab) -> None:
    boxes = a, b = lab.box("host", main_conf=WITHOUT_EATT), lab.box("guest", main_conf=WITHOUT_EATT)
    host, root, user = Probe(a), Probe(b), Probe(b, uid=1000)
    assert host.ask(f"listen {a.hci(0).address} {PSM} 2048 16384 16384", "listening")["psm"] == PSM
    for guest in (root, user):
        open_channel(lab, host, guest, boxes)
        send_and_receive(host, guest)
        read_signal_strength(lab, guest, boxes)
        run_out_of_credits(host, guest)
    # Ends: the peer closes (above, 0), the air is cut, the controller is unplugged.
    open_channel(lab, host, user, boxes)
    host.program.say("drain 1")
    user.program.say("drain 1")
    lab.air.cut(*boxes)
    for probe in (host, user):
        assert probe.program.expect("ended", timeout=10)["error"] == "ETIMEDOUT"
    lab.air.heal(*boxes)
    # The reason of an end is reported once, to the first call that asks.
    user.program.say("drain 0")
    open_channel(lab, host, user, boxes)
    lab.air.drop(*boxes)
    host.program.expect("ended")
    assert user.result("send 10", "sent") == "ETIMEDOUT"
    assert user.result("receive 10", "received") == "ENOTCONN"
    assert user.result("send 10", "sent") == "ENOTCONN"
    assert user.ask("info", "info")["error"] == "ENOTCONN"
    user.program.say("close")
    user.program.say("drain 1")
    open_channel(lab, host, user, boxes)
    user.ask("hci 0", "hci")
    b.unplug(0)
    assert user.program.expect("ended")["error"] == "ECONNABORTED"
    assert user.program.expect_seen("rssi", result=-32)["error"] == "EPIPE"
    assert user.result(f"dial {b.hci(0).address} {a.hci(0).address} {PSM}", "dialling") == "EHOSTUNREACH"
    assert user.result("devices", "devices") == 0
    assert host.program.expect("ended")["error"] == "ETIMEDOUT"
