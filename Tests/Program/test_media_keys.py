# SPDX-License-Identifier: Apache-2.0
"""A desktop's media controls at a running host: playerctl on a session bus of the test's own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from roadmesh_program.brokers import wait
from roadmesh_program.fixtures import Start
from roadmesh_program.mounts import needs
from roadmesh_program.music import wav


@pytest.fixture
def session_bus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    needs("mpv", "playerctl", "dbus-daemon")
    address = f"unix:path={tmp_path}/bus"
    command = ["dbus-daemon", "--session", "--nofork", f"--address={address}", "--print-address"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as daemon:
        assert daemon.stdout
        # dbus-daemon prints its address as soon as it accepts connections.
        daemon.stdout.readline()
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        yield
        daemon.kill()


def playerctl(*words: str) -> str | None:
    done = subprocess.run(["playerctl", "--player=roadmesh", *words], capture_output=True, text=True, timeout=20)
    return done.stdout.strip() if done.returncode == 0 else None


@pytest.mark.usefixtures("session_bus")
def test_a_desktop_shows_the_song_and_moves_its_position(start: Start, tmp_path: Path) -> None:
    music = tmp_path / "music"
    music.mkdir()
    wav(music / "road.wav", 60, title="Open Road", artist="The Milestones", album="Summer")
    host = start("host", "Dad's Car", "car", "--library", str(music), "--audio-device", "null/")
    host.expect("playback", isPlaying=True, timeout=30)
    wait(lambda: playerctl("metadata", "--format", "{{title}} {{album}}") == "Open Road Summer", "the song on the bus")
    assert playerctl("position", "30") is not None
    assert 30 <= host.expect("playback", lambda event: event["elapsed"] >= 30)["elapsed"] < 35
    assert playerctl("position", "10+") is not None
    assert 40 <= host.expect("playback", lambda event: event["elapsed"] >= 40)["elapsed"] < 50
    # mpv is there as well.
    wait(lambda: float(playerctl("position") or 0) >= 41, "the music to go on")
