# SPDX-License-Identifier: Apache-2.0
"""Music as people have it: files that only the player can read, files that end or delay their reader, and songs of
different loudness. With a real mpv."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

import pytest
from roadmesh_program.brokers import wait
from roadmesh_program.fixtures import Start
from roadmesh_program.mounts import needs
from roadmesh_program.music import encoded, piped_flac, wav
from roadmesh_program.processes import running
from roadmesh_program.program import Event, Program

# Time for a scan on a busy machine.
SCAN = 60.0


@pytest.fixture(autouse=True)
def mpv() -> None:
    needs("mpv")


@pytest.fixture
def music(tmp_path: Path) -> Path:
    folder = tmp_path / "music"
    folder.mkdir()
    return folder


def begin(start: Start, library: Path, *arguments: str) -> Program:
    options = ["--library", str(library), "--player", "mpv", "--audio-device", "null/", "--no-shuffle"]
    return start("host", "Dad's Car", "car", *options, *arguments)


def found(host: Program, words: str) -> list[Event]:
    """The songs that a search finds, once it finds any."""
    songs: list[Event] = []

    def ask() -> bool:
        host.say(f"search {words}")
        songs[:] = host.expect("searchResults", query=words)["songs"]
        return songs != []

    wait(ask, f"songs for {words}", SCAN)
    return songs


@pytest.mark.parametrize(
    ("name", "codec", "options"),
    [
        ("piped.flac", "flac", ["--of=flac"]),
        pytest.param("piped.wav", "pcm_s16le", ["--of=wav"], marks=pytest.mark.long),
        pytest.param("cast.weba", "libopus", ["--of=webm"], marks=pytest.mark.long),
        pytest.param("old.au", "pcm_s16be", ["--of=au"], marks=pytest.mark.long),
        pytest.param("disc.ac3", "ac3", ["--of=ac3"], marks=pytest.mark.long),
    ],
)
def test_a_file_that_mpv_plays_is_a_song_with_the_right_length(
    start: Start, music: Path, name: str, codec: str, options: list[str]
) -> None:
    encoded(music / name, 5, codec, *options)
    host = begin(start, music)
    [song] = found(host, name.split(".")[0])
    assert 4.8 < song["duration"] < 5.4, song
    host.expect("snapshot", lambda event: event["isPlaying"] and event["nowPlaying"]["id"] == song["id"])
    assert not host.seen("notice")


def test_what_does_not_play_is_named(start: Start, music: Path) -> None:
    piped_flac(music / "piped.flac", 3)
    (music / "broken.flac").write_bytes(b"no music at all")
    (music / "score.mid").write_bytes(b"MThd")
    host = begin(start, music, "--verbose")
    notice = host.expect("notice", code="libraryFilesUnreadable", timeout=SCAN)
    assert "broken.flac, score.mid" in notice["message"]
    wait(lambda: any("broken.flac cannot be played" in line for line in host.remarks()), "a line in the log")


@pytest.mark.sample(1)
@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGSEGV])
def test_a_reader_that_dies_costs_no_song(start: Start, music: Path, kill: signal.Signals) -> None:
    count = 2_000
    for number in range(count):
        wav(music / f"{number:04}.wav", 0.5, f"Mile {number}", "The Milestones")
    host = begin(start, music)
    killed = 0

    def is_done() -> bool:
        nonlocal killed
        for pid in running("read-tags") if killed < 3 else []:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, kill)
                killed += 1
        counts = host.seen("library")
        return bool(counts) and counts[-1]["songs"] == count and counts[-1].get("toScan") is None

    wait(is_done, "all songs", SCAN)
    assert killed
    assert not [one for one in host.seen("notice") if one["code"].startswith("library")]


def test_loud_and_soft_songs_sound_alike(start: Start, music: Path) -> None:
    """Their loudness is measured in the background, and mpv gets the gain of each file."""
    encoded(music / "loud.flac", 20, "flac", "--of=flac", level=0.9)
    encoded(music / "soft.flac", 20, "flac", "--of=flac", level=0.3)
    host = begin(start, music, "--loudness", "track")
    assert [song["title"] for song in found(host, "loud")] == ["loud"]
    wait(lambda: len(running("--keep-open=yes", host.pid)) == 0, "the end of measuring", SCAN)
