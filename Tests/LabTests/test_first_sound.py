"""The engine is switched on: from the power of a box to the first sound, on a real kernel with bluetoothd, with a real mpv."""

from __future__ import annotations

import os
import shutil
import time

import pytest
from helpers import START, Figures
from roadmesh_program.music import wav
from runner import Lab

# How often the box is started.
BOOTS = int(os.environ.get("BOOTS", "5"))
# The limit that is promised for a host, in seconds.
FIRST_SOUND = 15.0


@pytest.mark.skipif(shutil.which("mpv") is None, reason="needs mpv")
def test_the_first_sound_comes_soon_after_the_power(road: Lab, figures: Figures) -> None:
    box = road.box("headunit")
    music = road.folder / "music"
    music.mkdir()
    for number in range(3):
        wav(music / f"{number}.wav", 900, title=f"Mile {number}", artist="The Milestones")
    host = box.roadmesh("host", "Dad's Car", "--library", music, "--audio-device", "null/", "--http", "none")
    # The first run reads the folder.
    host.expect("playback", isPlaying=True, sound=True, timeout=2 * START)
    booted, sounding = [], []
    for _ in range(BOOTS):
        box.power_cut()
        began = time.monotonic()
        box.boot()
        box.await_ready()
        up = time.monotonic()
        host = host.again()
        sound = host.expect("playback", isPlaying=True, sound=True, timeout=START)["_received"]
        booted.append(up - began)
        sounding.append(sound - up)
    figures.times("power on: kernel and bluetoothd", booted)
    figures.times("power on: from there to the first sound", sounding)
    latest = max(map(sum, zip(booted, sounding, strict=True)))
    figures.note(f"power on: the first sound after {latest:.1f} s at the latest; limit {FIRST_SOUND:g} s")
    assert latest < FIRST_SOUND
