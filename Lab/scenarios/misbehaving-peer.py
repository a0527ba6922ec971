"""A hostile neighbour: a peer that shares no code with ours, first well behaved and then not."""

from __future__ import annotations

from pathlib import Path

from runner import Lab

CHANNEL = Path(__file__).with_name("channel.py")

PSM = 0x81


def scenario(lab: Lab) -> None:
    car = lab.box("car")
    mallory = lab.stranger("mallory")

    advertise = car.spawn(["bluetoothctl"], name="advertise")
    advertise.expect_line("Agent registered")
    for line in ("menu advertise", f"manufacturer 0xffff {PSM:#x}", "name DadsCar", "interval 20 30", "back"):
        advertise.say(line)
    advertise.say("advertise on")
    advertise.expect_line("Advertising object registered")
    server = car.python(CHANNEL, "serve", car.hci(0).address, hex(PSM))
    server.expect("listening")

    # A guest finds the address and the PSM in the advertisement.
    heard = mallory.find(name="DadsCar")
    psm = bytes.fromhex(heard["manufacturerData"])[2]
    mallory.connect(psm, to=heard)
    server.expect("accepted")
    mallory.send(b"\1hello")
    assert mallory.receive() == b"\1hello"

    # An SDU with a length beyond the receiver's limit: the kernel closes the channel.
    mallory.send_frame(b"\xff\xff" + bytes(100))
    server.expect("closed")
    mallory.expect_closed()

    # The car continues: without a link it advertises again, and accepts the next link.
    mallory.disconnect()
    lab.air.expect("linkDown")
    mallory.find(address=car.hci(0).address)
    mallory.connect(psm, to=heard)
    mallory.send(b"\1again")
    assert mallory.receive() == b"\1again"
