"""What the kernel makes of two channels on one link whose requests had the same identifier (docs/bluez.md, "An accepted
channel that takes another one's answer"): why a dial over a link that is up may hang, and what helps."""

from __future__ import annotations

from pathlib import Path

from helpers import START
from lab import Lab, Program

CHANNEL = Path(__file__).parents[2] / "scripts/lab/scenarios/channel.py"
PSM = "0x90"

# Over a link that is up a dial takes less than 0.2 s.
UNANSWERED = 3.0


def test_an_answer_goes_to_the_first_channel_with_its_identifier(lab: Lab) -> None:
    # Without bluetoothd, whose own channels would have used identifiers up.
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
    # The first command of either side on this link: both have the identifier 1.
    hung = dial()
    hung.never("connected", during=UNANSWERED)
    assert hung.running
    # One beside it has another identifier, and another number.
    beside = dial()
    beside.expect("connected")
    # The stranger has a channel for the one that hangs: one that comes after it and gets its number is refused.
    hung.kill()
    after = dial()
    assert after.expect("refused")["reason"] == "ECONNREFUSED"
