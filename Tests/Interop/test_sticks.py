# SPDX-License-Identifier: Apache-2.0
"""A host with its music on a USB stick that is pulled out, plugged in late, or fails: real mounts and a real mpv."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from roadmesh_program.brokers import wait
from roadmesh_program.fixtures import Start
from roadmesh_program.mounts import Ext4, Fuse, MakeStick, Memory, Stick, Vfat, needs, run
from roadmesh_program.music import flac_without_sound
from roadmesh_program.program import Event, NotExpected, Program

KINDS = [Memory, Ext4, Vfat, Fuse]
QUEUED = 10

# The length of a song that outlasts a test.
LONG = 240.0
# The notice comes with the end of the mount, or when a file fails.
NOTICED = 8.0
# The host checks for a missing folder every two seconds, and then starts mpv.
BACK = 60.0
# A song of 3 s and nine more: a host that ignores the missing folder has an empty queue by then.
FOR_LONG = 45.0

AWAY = ("libraryMissing", "libraryAway", "libraryUnreadable")


@pytest.fixture
def make_stick(tmp_path: Path) -> Iterator[MakeStick]:
    made: list[Stick] = []

    def make(kind: type[Stick]) -> Stick:
        made.append(kind(tmp_path))
        return made[-1]

    yield make
    for stick in made:
        stick.close()


@pytest.fixture
def mpv() -> None:
    needs("mpv")


def begin(start: Start, library: Path, *arguments: str) -> Program:
    music = ["--library", str(library), "--player", "mpv", "--audio-device", "null/", "--no-shuffle"]
    return start("host", "Dad's Car", "car", *music, *arguments)


def queue_of(snapshot: Event) -> list[tuple[str, int]]:
    """The queue's songs, each with its number of votes."""
    return [(item["title"], len(item["voters"])) for item in snapshot["queue"]]


def last(host: Program) -> Event:
    return host.seen("snapshot")[-1]


def fill_queue(host: Program, start: Start) -> list[tuple[str, int]]:
    """Ten songs, each with a guest's vote. Returns the queue."""
    host.say("search Mile")
    songs = host.expect("searchResults", lambda event: len(event["songs"]) > QUEUED)["songs"]
    playing = last(host)["nowPlaying"]["id"]
    bob = start("guest", "Bob", "bob")
    bob.expect("connection", state="connected")
    wanted = [song["id"] for song in songs if song["id"] != playing][:QUEUED]
    for song in wanted:
        host.say(f"add {song}")
    host.expect("snapshot", lambda event: len(event["queue"]) == QUEUED)
    bob.expect("snapshot", lambda event: len(event["queue"]) == QUEUED)
    for song in wanted:
        bob.say(f"vote {song}")
    host.expect("snapshot", lambda event: all(votes == 1 for _, votes in queue_of(event)))
    return queue_of(last(host))


def begin_paused(start: Start, library: Path) -> tuple[Program, list[tuple[str, int]]]:
    """A host that has played and is paused, with a full queue. Its short songs cannot end while it is paused."""
    host = begin(start, library)
    host.expect("snapshot", lambda event: event["isPlaying"])
    host.say("pause")
    host.expect("snapshot", lambda event: not event["isPlaying"])
    return host, fill_queue(host, start)


def is_away(host: Program, timeout: float = NOTICED) -> None:
    """Waits for the notice, and for the music to pause."""
    notice = host.expect("notice", lambda event: event["code"] in AWAY, timeout=timeout)
    assert notice["suggestion"], notice
    wait(lambda: not last(host)["isPlaying"], "the pause", timeout=5)


def is_back(host: Program, plays: bool = True) -> None:
    host.expect("noticeCleared", lambda event: event["code"] in AWAY, timeout=BACK)
    wait(lambda: last(host)["isPlaying"] == plays, "the music", timeout=BACK)


def nothing_failed(host: Program) -> None:
    failed = [one for one in host.seen("notice") if one["code"] in ("cannotBePlayed", "songsMissing", "playerFailed")]
    assert failed == []


def stays(host: Program, queue: list[tuple[str, int]], seconds: float) -> None:
    """For this long, the queue and the playing song do not change."""
    playing = last(host)["nowPlaying"]["id"]

    def is_other(event: Event) -> bool:
        return queue_of(event) != queue or event["nowPlaying"]["id"] != playing

    with pytest.raises(NotExpected):
        host.expect("snapshot", is_other, timeout=seconds)
    assert queue_of(last(host)) == queue


@pytest.mark.long
@pytest.mark.usefixtures("mpv")
@pytest.mark.parametrize("kind", KINDS)
def test_a_stick_that_is_pulled_while_it_plays_pauses_the_music(
    start: Start, make_stick: MakeStick, kind: type[Stick]
) -> None:
    stick = make_stick(kind)
    stick.fill([LONG] * (QUEUED + 1))
    stick.plug()
    host = begin(start, stick.path)
    queue = fill_queue(host, start)
    playing = last(host)["nowPlaying"]["id"]
    stick.pull()
    is_away(host)
    stick.plug()
    is_back(host)
    assert (queue_of(last(host)), last(host)["nowPlaying"]["id"]) == (queue, playing)
    assert len([one for one in host.seen("notice") if one["code"] in AWAY]) == 1
    nothing_failed(host)


@pytest.mark.long
@pytest.mark.usefixtures("mpv")
def test_songs_that_end_while_the_stick_is_away_do_not_empty_the_queue(start: Start, make_stick: MakeStick) -> None:
    stick = make_stick(Memory)
    stick.fill([3.0] * (QUEUED + 1))
    stick.plug()
    host, queue = begin_paused(start, stick.path)
    host.say("play")
    host.expect("snapshot", lambda event: event["isPlaying"])
    stick.pull()
    is_away(host)
    stays(host, queue, FOR_LONG)
    stick.plug()
    is_back(host)
    # The host continues with the next songs, and refuses none of them.
    host.expect("snapshot", lambda event: len(event["queue"]) == QUEUED - 2, timeout=BACK)
    nothing_failed(host)


@pytest.mark.long
@pytest.mark.usefixtures("mpv")
def test_a_pause_of_the_driver_stays_one_when_the_stick_is_back(start: Start, make_stick: MakeStick) -> None:
    stick = make_stick(Memory)
    stick.fill([LONG] * (QUEUED + 1))
    stick.plug()
    host = begin(start, stick.path)
    queue = fill_queue(host, start)
    host.say("pause")
    host.expect("snapshot", lambda event: not event["isPlaying"])
    stick.pull()
    is_away(host)
    stick.plug()
    is_back(host, plays=False)
    stays(host, queue, 2.0)
    host.say("play")
    host.expect("snapshot", lambda event: event["isPlaying"])
    assert queue_of(last(host)) == queue
    nothing_failed(host)


@pytest.mark.long
@pytest.mark.usefixtures("mpv")
@pytest.mark.parametrize("leaves", ["nothing", "an empty folder"])
def test_a_host_that_starts_before_its_stick_keeps_queue_and_votes(
    start: Start, make_stick: MakeStick, leaves: str
) -> None:
    stick = make_stick(Memory)
    stick.fill([LONG] * (QUEUED + 1))
    stick.plug()
    host = begin(start, stick.path)
    queue = fill_queue(host, start)
    playing = last(host)["nowPlaying"]["id"]
    assert host.end() == 0
    stick.pull()
    if leaves == "nothing":
        stick.path.rmdir()
    for _ in range(2):
        # Before the second run, the stick was missing for a complete run.
        host = begin(start, stick.path)
        is_away(host)
        stays(host, queue, 5.0)
        assert host.end() == 0
    host = begin(start, stick.path)
    is_away(host)
    stick.path.mkdir(exist_ok=True)
    stick.plug()
    is_back(host)
    assert (queue_of(last(host)), last(host)["nowPlaying"]["id"]) == (queue, playing)
    nothing_failed(host)


@pytest.mark.long
@pytest.mark.usefixtures("mpv")
def test_a_host_starts_without_its_folder_and_waits_for_it(start: Start, make_stick: MakeStick) -> None:
    stick = make_stick(Memory)
    stick.fill([LONG] * 3)
    stick.path.rmdir()
    host = begin(start, stick.path)
    assert host.expect("notice", lambda event: event["code"] == "libraryMissing")["suggestion"]
    stick.path.mkdir()
    stick.plug()
    host.expect("library", songs=3, timeout=BACK)
    wait(lambda: last(host)["isPlaying"], "the music", timeout=BACK)
    nothing_failed(host)


@pytest.mark.long
@pytest.mark.usefixtures("mpv")
@pytest.mark.parametrize("kind", [Ext4, Fuse])
def test_a_stick_that_fails_says_nothing_about_its_songs(
    start: Start, make_stick: MakeStick, kind: type[Ext4 | Fuse]
) -> None:
    stick = make_stick(kind)
    stick.fill([3.0] * (QUEUED + 1))
    stick.plug()
    host, queue = begin_paused(start, stick.path)
    stick.fail()  # type: ignore[attr-defined]
    host.say("play")
    # mpv has the beginning of two songs in memory.
    is_away(host, timeout=30)
    kept = queue_of(last(host))
    assert kept == queue[-len(kept) :] and len(kept) >= QUEUED - 2
    stays(host, kept, 10.0)
    stick.pull()
    stick.plug()
    is_back(host)
    # mpv opens the files of the new mount: the next songs play to their ends.
    host.expect("snapshot", lambda event: len(event["queue"]) == len(kept) - 2, timeout=BACK)
    nothing_failed(host)


@pytest.mark.long
@pytest.mark.usefixtures("mpv")
def test_a_stick_that_answers_no_more_is_waited_for(start: Start, make_stick: MakeStick) -> None:
    stick = make_stick(Fuse)
    assert isinstance(stick, Fuse)
    stick.fill([LONG] * (QUEUED + 1))
    stick.plug()
    host = begin(start, stick.path)
    queue = fill_queue(host, start)
    stick.hang()
    # mpv may have the complete next song in memory, because it reads ahead from file systems that look like networks.
    for skipped in (1, 2):
        host.say("skip")
        host.expect("snapshot", lambda event, left=QUEUED - skipped: len(event["queue"]) == left)  # type: ignore[misc]
    is_away(host, timeout=60)
    stays(host, queue[2:], 10.0)
    stick.go_on()
    is_back(host)
    assert queue_of(last(host)) == queue[2:]
    nothing_failed(host)


@pytest.mark.long
@pytest.mark.usefixtures("mpv")
def test_a_folder_above_the_stick_is_away_when_it_is_empty(start: Start, make_stick: MakeStick, tmp_path: Path) -> None:
    stick = make_stick(Memory)
    stick.fill([LONG] * (QUEUED + 1))
    media = tmp_path / "media"
    (media / "STICK").mkdir(parents=True)
    run("mount", "--bind", stick.spare, media / "STICK")
    host = begin(start, media)
    queue = fill_queue(host, start)
    run("umount", "--lazy", media / "STICK")
    (media / "STICK").rmdir()
    is_away(host)
    stays(host, queue, 5.0)
    (media / "STICK").mkdir()
    run("mount", "--bind", stick.spare, media / "STICK")
    try:
        is_back(host)
        assert queue_of(last(host)) == queue
        nothing_failed(host)
    finally:
        run("umount", "--lazy", media / "STICK")


@pytest.mark.long
@pytest.mark.usefixtures("mpv")
def test_a_stick_that_is_mounted_over_by_nothing_is_away(start: Start, make_stick: MakeStick) -> None:
    stick = make_stick(Memory)
    stick.fill([LONG] * (QUEUED + 1))
    stick.plug()
    host = begin(start, stick.path)
    queue = fill_queue(host, start)
    run("mount", "-t", "tmpfs", "empty", stick.path)
    is_away(host)
    stays(host, queue, 5.0)
    run("umount", "--lazy", stick.path)
    is_back(host)
    assert queue_of(last(host)) == queue
    nothing_failed(host)


@pytest.mark.usefixtures("mpv")
def test_one_file_that_is_broken_or_gone_is_skipped(start: Start, make_stick: MakeStick) -> None:
    stick = make_stick(Memory)
    stick.fill([LONG] * 5)
    stick.plug()
    # A file that looks like a song, but has no sound.
    flac_without_sound(stick.spare / "zz.flac", 60)
    host = begin(start, stick.path)
    host.expect("snapshot", lambda event: event["isPlaying"])
    host.say("search zz")
    [broken] = host.expect("searchResults", query="zz")["songs"]
    host.say(f"add {broken['id']}")
    host.expect("snapshot", lambda event: event["queue"] != [])
    host.say("skip")
    host.expect("notice", code="cannotBePlayed", timeout=20)
    host.expect("snapshot", lambda event: event["isPlaying"] and event["nowPlaying"]["id"] != broken["id"])
    assert not [one for one in host.seen("notice") if one["code"] in AWAY]
