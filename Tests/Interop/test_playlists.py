# SPDX-License-Identifier: Apache-2.0
"""Playlists from other systems at the real host: which songs play, and what people see about the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from roadmesh_program.fixtures import Start
from roadmesh_program.music import wav
from roadmesh_program.program import Program

FOLDERS = ["Queen/Jazz", "宇多田ヒカル/First Love", "Björk/Post", "ABBA/Arrival"]


@pytest.fixture
def music(tmp_path: Path) -> Path:
    folder = tmp_path / "music"
    for path in FOLDERS:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        wav(folder / f"{path}.wav", 1.0, title=path.rpartition("/")[2])
    return folder


def host(start: Start, music: Path, playlist: Path) -> Program:
    arguments = ["--library", str(music), "--playlist", str(playlist), "--player", "none", "--no-shuffle"]
    return start("host", "Dad's Car", "car", *arguments)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("encoding", "lines"),
    [
        ("cp932", ["D:\\音楽\\宇多田ヒカル\\First Love.wav", "D:\\QUEEN\\Jazz.wav"]),
        ("utf-16", ["E:\\宇多田ヒカル\\First Love.wav", "E:\\Queen\\jazz.WAV"]),
        ("cp1252", ["file:///C:/Musik/Bj%F6rk/Post.wav", "\\\\server\\Musik\\Björk\\Post.wav"]),
    ],
    ids=["Shift-JIS", "UTF-16", "Windows-1252"],
)
def test_a_playlist_of_windows_plays_and_what_is_missing_is_counted(
    start: Start, music: Path, tmp_path: Path, encoding: str, lines: list[str]
) -> None:
    playlist = tmp_path / "party.m3u"
    text = ["#EXTM3U", *lines, "D:\\None\\at all.wav", "http://radio.example/", ""]
    playlist.write_bytes("\r\n".join(text).encode(encoding))
    car = host(start, music, playlist)
    notice = car.expect("notice", code="playlistIncomplete")
    assert "1 of 3 entries" in notice["message"] and "at all.wav" in notice["message"]


@pytest.mark.sample(1)
@pytest.mark.parametrize("text", ["", "# nothing\n", "D:\\None.mp3\nE:\\Nor this.mp3\n", "http://radio.example/\n"])
def test_that_the_whole_folder_plays_instead_is_said(start: Start, music: Path, tmp_path: Path, text: str) -> None:
    playlist = tmp_path / "party.m3u"
    playlist.write_text(text)
    car = host(start, music, playlist)
    assert "any song of the folder" in car.expect("notice", code="playlistEmpty")["message"]
    # The problem ends when the songs are there.
    playlist.write_text("ABBA/Arrival.wav\n")
    # Renamed into the folder, because a half-written file would only be read later.
    wav(tmp_path / "New.wav", 1.0, title="New")
    (tmp_path / "New.wav").rename(music / "New.wav")
    car.expect("noticeCleared", code="playlistEmpty", timeout=30)
