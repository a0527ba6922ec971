"""How the kernel confuses two channels on one link whose requests had the same identifier (docs/bluez.md, "An
accepted channel that takes another one's answer"). That makes a dial over a live link hang. The test also shows what
helps."""

from __future__ import annotations

from pathlib import Path

from helpers import START
from runner import Lab, Program

CHANNEL = Path(__file__).parents[2] / "Lab/scenarios/channel.py"
PSM = "0x90"

# Over a live link a dial takes less than 0.2 s.
UNANSWERED = 3.0


def test_an_answer_goes_to_the_first_channel_with_its_identifier(lab: Lab) -> None:
    # Without bluetoothd, whose own channels would use up identifiers.
    box, stranger = lab.box("box", bluetoothd=None), lab.stranger("stranger")
    address = box.hci(0).address

    def dial() -> Program:
        line = box.python(CHANNEL, "dial", address, stranger.address, str(psm))
        line.expect("dialling", timeout=START)
        return line

    psm = stranger.listen()
    server = box.python(CHANNEL, "serve", address, PSM)
    server.expect("listening", timeout=START)
    box.run("hciconfig hci0 leadv 0")
    stranger.connect(int(PSM, 0), box.hci(0))
    server.expect("accepted")
    # The first command of each side on this link: both have the identifier 1.
    hung = dial()
    hung.never("connected", during=UNANSWERED)
    assert hung.running
    # A second dial at the same time has another identifier and another channel number.
    beside = dial()
    beside.expect("connected")
    # The stranger still has a channel for the hanging dial. A later dial that gets its number is refused.
    hung.kill()
    after = dial()
    assert after.expect("refused")["reason"] == "ECONNREFUSED"
