# SPDX-License-Identifier: Apache-2.0
"""Programs that read strangers' files have no capability, no network, and no access to the node's key.

The `mpv` of these tests records its rights. The program starts it as it would start mpv: to play, and to scale a
cover."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from roadmesh_program.brokers import wait
from roadmesh_program.fixtures import MakeGuest, Start
from roadmesh_program.music import piped_flac, wav
from roadmesh_program.processes import children, status_of
from roadmesh_program.program import Program
from test_covers import MADE, ask, host, pictures  # noqa: F401  (fixtures)

PROBE = """#!/usr/bin/python3
import json, os, socket, sys

def tried(action):
    try:
        action()
        return "allowed"
    except OSError as error:
        return type(error).__name__ + ": " + os.strerror(error.errno)

state, reports = os.environ["TEST_STATE"], os.environ["TEST_REPORTS"]
kind = "cover" if "--vo=image" in sys.argv else "player"
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
report = {
    "capabilities": {key: int(status[key], 16) for key in ("CapInh", "CapPrm", "CapEff", "CapAmb")},
    "key": tried(lambda: open(state + "/identity", "rb")),
    "database": tried(lambda: open(state + "/roadmesh.sqlite", "rb")),
    "folder": tried(lambda: os.listdir(state)),
    "new file": tried(lambda: open(state + "/new", "wb")),
    "key through the parent": tried(lambda: open(f"/proc/{os.getppid()}/root{state}/identity", "rb")),
    "memory of the parent": tried(lambda: open(f"/proc/{os.getppid()}/mem", "rb")),
    "internet": tried(lambda: socket.socket(socket.AF_INET)),
    "internet 6": tried(lambda: socket.socket(socket.AF_INET6)),
    "bluetooth": tried(lambda: socket.socket(socket.AF_BLUETOOTH, socket.SOCK_SEQPACKET, socket.BTPROTO_L2CAP)),
    "unix": tried(lambda: socket.socket(socket.AF_UNIX)),
    "own files": tried(lambda: open(sys.argv[-1], "rb")) if kind == "cover" else "allowed",
}
with open(reports + "/" + kind + ".part", "w") as file:
    json.dump(report, file)
os.rename(reports + "/" + kind + ".part", reports + "/" + kind)
if kind == "player":
    sys.stdin.read()
"""

ALLOWED = {"unix", "own files"}


@pytest.fixture(autouse=True)
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the reports are; the program finds the probe as mpv."""
    programs, reports = tmp_path / "programs", tmp_path / "reports"
    programs.mkdir()
    reports.mkdir()
    probe = programs / "mpv"
    probe.write_text(PROBE)
    probe.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("TEST_STATE", str(tmp_path / "car"))
    monkeypatch.setenv("TEST_REPORTS", str(reports))
    return reports


def report_of(reports: Path, kind: str) -> dict[str, Any]:
    wait(lambda: (reports / kind).exists(), f"a report of the {kind}", MADE)
    report: dict[str, Any] = json.loads((reports / kind).read_text())
    return report


def check(report: dict[str, Any]) -> None:
    assert set(report.pop("capabilities").values()) == {0}
    assert {what for what, result in report.items() if result == "allowed"} == ALLOWED, report


def test_the_player_has_no_capability_no_network_and_no_key(start: Start, tmp_path: Path, reports: Path) -> None:
    music = tmp_path / "music"
    music.mkdir()
    wav(music / "mile.wav", 60, "Mile 1", "The Milestones")
    start("host", "Dad's Car", "car", "--library", str(music), "--player", "mpv").expect("snapshot")
    check(report_of(reports, "player"))


def test_the_decoder_of_covers_has_none_either(host: Program, make_guest: MakeGuest, reports: Path) -> None:  # noqa: F811
    ana = make_guest("Ana")
    ana.join()
    ask(ana, "n0")
    check(report_of(reports, "cover"))


@pytest.mark.parametrize("player", ["none", "real"])
def test_the_programs_that_read_files_have_few_rights(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, player: str
) -> None:
    """A symbolic link in the music folder points to a song in the state folder. The programs that read strangers'
    files cannot open it."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    music, state = tmp_path / "music", tmp_path / "car"
    music.mkdir()
    state.mkdir(mode=0o700)
    wav(music / "mile.wav", 60, "Mile 1", "The Milestones")
    wav(state / "secret.wav", 60, "Secret", "Nobody")
    (music / "secret.wav").symlink_to(state / "secret.wav")
    for number in range(200):
        wav(music / f"{number}.wav", 1, f"Short {number}", "The Milestones")
    music_options = ["--library", str(music), "--player", "mpv" if player == "real" else "none"]
    if player == "real":
        piped_flac(music / "piped.flac", 3)
        music_options += ["--audio-device", "null/"]
    seen: dict[str, dict[str, str]] = {}
    with children(seen):
        host = start("host", "Dad's Car", "car", *music_options)
        host.expect("notice", code="libraryFilesUnreadable", timeout=60)
    host.say("search secret")
    assert host.expect("searchResults", query="secret")["songs"] == []
    # The reader of tags; the mpv that measures, and the mpv that plays.
    kinds = {"read-tags"} | ({"--keep-open=yes", "--input-ipc-client"} if player == "real" else set())
    # Each run can have another command line.
    assert all(any(kind in command for command in seen) for kind in kinds), list(seen)
    others = [command for command in seen if not any(kind in command for kind in kinds)]
    assert not others, "a process of another kind ran"
    for command, status in seen.items():
        assert {status[key] for key in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {"0" * 16}, command
        assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2"), command
    assert status_of(host.pid)["Seccomp"] == "0", "the host itself needs sockets"


def refuse_landlock() -> None:
    """Does what a container's filter of system calls does if the filter does not know Landlock."""
    errno_eperm, allow = 0x0005_0000 | errno.EPERM, 0x7FFF_0000
    create_ruleset = 444  # on every architecture
    # Load the number of the system call; if it is `create_ruleset`, refuse the call.
    code = [(0x20, 0, 0, 0), (0x15, 0, 1, create_ruleset), (0x06, 0, 0, errno_eperm), (0x06, 0, 0, allow)]
    instructions = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *one) for one in code))
    program = struct.pack("=H6xQ", len(code), ctypes.addressof(instructions))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
    assert libc.prctl(22, 2, program, 0, 0) == 0  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER


def test_a_container_that_refuses_landlock_does_not_silence_the_car(tmp_path: Path) -> None:
    command = [os.environ["ROADMESH_BINARY"], "confined", "--without", str(tmp_path), "--", "/bin/echo", "plays"]
    run = subprocess.run(command, preexec_fn=refuse_landlock, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "plays\n", "")
