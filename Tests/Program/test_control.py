# SPDX-License-Identifier: Apache-2.0
"""`roadmesh control`: commands for a running host, from scripts for the ignition, reverse gear, phone calls or home
automation."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from roadmesh_program.brokers import wait
from roadmesh_program.fixtures import Start, StartHost
from roadmesh_program.mounts import needs
from roadmesh_program.music import wav
from roadmesh_program.processes import lives, running

USAGE, DATA, UNAVAILABLE, NOT_PERMITTED = 64, 65, 69, 77
NOBODY = 65534

Control = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def control(binary: Path, tmp_path: Path) -> Control:
    def control(*words: str, state: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [binary, "control", *words, "--state", str(state or tmp_path / "car")],
            capture_output=True,
            text=True,
            env={**os.environ, "LC_ALL": "C", **environment},
            timeout=30,
        )

    return control


def answer(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["event"] == "answer" and found["exitCode"] == done.returncode
    return found


def test_a_script_pauses_and_resumes_the_music(start_host: StartHost, control: Control) -> None:
    host = start_host(2)
    done = control("pause")
    assert done.returncode == 0 and done.stdout.startswith("Paused: Mile 0"), done
    host.expect("playback", isPlaying=False)
    assert answer(control("pause", "--json"))["isPlaying"] is False, "a second pause changes nothing"
    done = control("resume")
    assert done.returncode == 0 and done.stdout.startswith("Now playing: Mile 0"), done
    host.expect("playback", isPlaying=True)
    skipped = answer(control("skip", "--json"))
    assert (skipped["songID"], skipped["isPlaying"], skipped["code"]) == ("n1", True, None)


def test_what_cannot_be_done_has_an_exit_code_and_is_not_on_the_screens_of_the_car(
    start_host: StartHost, control: Control
) -> None:
    host = start_host(2)
    done = control("puase")
    assert (done.returncode, done.stdout) == (USAGE, "")
    assert done.stderr == 'roadmesh: "puase" is not a command. Try: pause, or help.\n'
    assert control("volume", "loud").returncode == USAGE
    assert control("volume").returncode == USAGE
    assert control(" ").returncode == USAGE
    refused = control("duck", "--json")
    assert refused.returncode == DATA and answer(refused)["code"] == "noVolume", "without a player"
    assert control("remove", "nothing of that name").returncode == DATA
    assert [event["code"] for event in host.seen("notice")] == ["noVolume"]


def test_a_playlist_that_is_not_there_is_refused_and_the_former_one_stays(
    start: Start, control: Control, tmp_path: Path
) -> None:
    music = tmp_path / "music"
    (music / "lists").mkdir(parents=True)
    wav(music / "road.wav", 60, title="Open Road")
    (music / "lists/Road Trip.m3u").write_text("../road.wav\n")
    host = start("host", "Dad's Car", "car", "--library", str(music), "--player", "none")
    host.expect("playback", isPlaying=True, timeout=30)
    done = control("playlist", "road trip")
    assert (done.returncode, done.stdout) == (0, "The playlist lists/Road Trip.m3u plays while the queue is empty.\n")
    refused = control("playlist", "Party.m3u")
    assert (refused.returncode, refused.stdout) == (DATA, "")
    assert "Party.m3u" in refused.stderr and "Type playlist and one of: \"lists/Road Trip.m3u\"." in refused.stderr
    assert answer(control("playlist", "Party.m3u", "--json"))["code"] == "noSuchPlaylist", "twice is the same"
    assert control("playlist", "lists/Road Trip.m3u").returncode == 0, "it is still chosen"
    assert control("playlist").stdout == "All songs play while the queue is empty.\n"


def test_demo_songs_have_no_playlists(start_host: StartHost, control: Control) -> None:
    start_host(2)
    assert control("playlist", "Party").returncode == DATA
    assert control("playlist").returncode == 0


def test_an_answer_is_in_the_language_of_who_asks(start_host: StartHost, control: Control) -> None:
    start_host(2)
    assert control("pause", LC_ALL="de_DE.UTF-8").stdout.startswith("Pause: Mile 0")
    assert "ist kein Befehl" in control("puase", LC_ALL="de_DE.UTF-8").stderr
    assert answer(control("pause", "--json", LC_ALL="de_DE.UTF-8"))["message"].startswith("Paused: Mile 0")


def test_lists_searches_and_the_queue_are_answered(start_host: StartHost, control: Control) -> None:
    start_host(3)
    assert control("remove Mile 3").stdout == '"Mile 3" was removed from the queue; type undo to put it back.\n'
    assert control("undo").stdout == '"Mile 3" is back in the queue.\n'
    assert control("remove 3").returncode == 0
    assert "Mile 3" in control("search mile 3").stdout
    assert control("add 1").stdout == '"Mile 3" is in the queue, at place 3.\n', "the first of what was found"
    assert control("move 3 1").returncode == 0
    lines = control("view").stdout.splitlines()
    assert lines[0].startswith("Now playing: Mile 0") and "Mile 3" in lines[1], lines
    assert "pauses" in control("help").stdout


def test_without_a_host_there_is_one_sentence(start_host: StartHost, control: Control, tmp_path: Path) -> None:
    host = start_host(2)
    assert control("end").returncode == 0
    host.expect("notice", code="sessionEnded")
    host.kill()
    done = control("pause")
    assert done.returncode == UNAVAILABLE and done.stdout == "", "the socket that a crash has left is not a host"
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("roadmesh: No host runs with the state folder ")
    again = control("pause", state=tmp_path / "nothing")
    assert again.returncode == UNAVAILABLE and again.stderr.count("\n") == 1


def test_the_last_command_is_answered_as_well(start: Start, control: Control, tmp_path: Path) -> None:
    host = start("host", "Dad's Car", "car")
    assert control("quit").returncode == 0
    assert host.ended() == 0
    assert not (tmp_path / "car/control").exists()


def test_only_the_owner_reaches_the_socket(start_host: StartHost, control: Control, tmp_path: Path) -> None:
    start_host(2)
    place = tmp_path / "car/control"
    status = place.stat()
    assert stat.S_ISSOCK(status.st_mode) and stat.S_IMODE(status.st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "car/control-key").stat().st_mode) == 0o600
    # Even if the socket's mode lets everybody connect, the kernel still reports the user.
    opened = socket.socket(socket.AF_UNIX)
    for folder in [tmp_path, *tmp_path.parents[:3], tmp_path / "car"]:
        folder.chmod(0o755)
    place.chmod(0o666)
    key = (tmp_path / "car/control-key").read_text()
    if os.geteuid() == 0:
        request = json.dumps({"key": key, "command": "pause", "language": "en"})
        script = (
            f"import socket; s = socket.socket(socket.AF_UNIX); s.connect({str(place)!r}); "
            f"s.sendall({request!r}.encode() + b'\\n'); print(s.recv(9999))"
        )
        done = subprocess.run(
            ["python3", "-c", script], capture_output=True, text=True, user=NOBODY, group=NOBODY, timeout=20, cwd="/"
        )
        assert done.stdout == "b''\n" or "Reset" in done.stderr or "Broken" in done.stderr, done
    # A child of the host has its user, and cannot read the folder.
    opened.connect(str(place))
    opened.sendall(json.dumps({"key": "0" * 32, "command": "pause", "language": "en"}).encode() + b"\n")
    assert json.loads(opened.recv(9999))["exitCode"] == NOT_PERMITTED
    opened.close()
    assert control("view").stdout.startswith("Now playing: Mile 0")


def test_clients_that_say_nothing_or_too_much_do_not_keep_others_out(
    start_host: StartHost, control: Control, tmp_path: Path
) -> None:
    start_host(2)
    silent = [socket.socket(socket.AF_UNIX) for _ in range(8)]
    for one in silent:
        one.connect(str(tmp_path / "car/control"))
    # The silent connections are closed after two seconds.
    wait(lambda: control("pause").returncode == 0, "an answer", 20.0)
    assert all(one.recv(1) == b"" for one in silent)
    with socket.socket(socket.AF_UNIX) as loud:
        loud.connect(str(tmp_path / "car/control"))
        loud.settimeout(10)
        try:
            loud.sendall(b"x" * 262_144)
            rest = loud.recv(1)
        except (BrokenPipeError, ConnectionResetError):
            rest = b""
        assert rest == b""
    assert control("view").returncode == 0


def test_a_state_folder_of_any_length_works(start: Start, binary: Path, air: Path, tmp_path: Path, control: Control) -> None:
    long = tmp_path / ("a" * 100) / "car"
    start("host", "Dad's Car", "car", "--state", str(long))
    assert control("pause", state=long).returncode == 0


def test_a_call_ducks_the_music_and_a_restart_forgets_it(start: Start, control: Control, tmp_path: Path) -> None:
    needs("mpv")
    music = tmp_path / "music"
    music.mkdir()
    wav(music / "road.wav", 60, title="Open Road")
    options = ["--library", str(music), "--audio-device", "null/"]
    host = start("host", "Dad's Car", "car", *options)
    host.expect("playback", isPlaying=True)
    assert control("volume 60").stdout == "The volume is 60 %.\n"
    assert control("duck").stdout == "The music is 20 dB quieter, until duck off.\n"
    assert host.expect("steering", duck=20)["volume"] == 60
    ducked = answer(control("duck", "12", "--json"))
    assert (ducked["duck"], ducked["volume"], ducked["isPlaying"]) == (12, 60, True)
    assert control("duck off").stdout == "The music is as loud as before.\n"
    assert control("unduck").returncode == 0, "twice is no error"
    assert control("duck").returncode == 0
    players = running("--input-ipc-client", of=host.pid)
    assert players
    host.kill()
    wait(lambda: not any(map(lives, players)), "mpv ends")
    again = start("host", "Dad's Car", "car", *options)
    again.expect("playback", isPlaying=True)
    after = answer(control("view", "--json"))
    assert (after["duck"], after["volume"], after["title"]) == (0, 60, "Open Road")
