# SPDX-License-Identifier: Apache-2.0
"""The program as a person runs it from a shell: what it says, what it leaves, and its exit codes."""

from __future__ import annotations

import os
import socket
import sqlite3
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from roadmesh_program.fixtures import Start

DRIVE = Path(__file__).parents[2] / "docs/drives/tunnel.jsonl"
USAGE, DATA, CANNOT_CREATE = 64, 65, 73

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(binary: Path, air: Path, tmp_path: Path) -> Run:
    def run(*arguments: str, output: Path | None = None, typed: str = "") -> subprocess.CompletedProcess[str]:
        environment = dict(os.environ, XDG_RUNTIME_DIR=str(air), XDG_STATE_HOME=str(tmp_path / "state"))
        with open(output or os.devnull, "w") as file:
            return subprocess.run(
                [binary, *arguments],
                input=typed,
                stdout=file if output else subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=environment,
                cwd=tmp_path,
                timeout=60,
            )

    return run


def record(run: Run, name: str = "Solo") -> None:
    done = run("fieldtest", "record", "guest", name, "--radio", "virtual", "--http", "none", typed="mark here\n")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("role", ["host", "guest"])
def test_a_page_whose_port_is_taken_is_told(run: Run, role: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        # What is let go of in the wrong order trapped most of the times, not always.
        for _ in range(5):
            done = run(role, "Car", "--radio", "virtual", "--http", f"127.0.0.1:{port}")
            assert done.returncode == USAGE
            assert f"cannot listen at 127.0.0.1:{port} (Address already in use)." in done.stderr


@pytest.mark.parametrize("role", ["host", "guest"])
def test_a_recording_that_cannot_begin_is_told(run: Run, tmp_path: Path, role: str) -> None:
    (tmp_path / "state/roadmesh/fieldtest.lock").mkdir(parents=True)
    (tmp_path / "state/roadmesh").chmod(0o700)
    done = run("fieldtest", "record", role, "Car", "--radio", "virtual", "--http", "none")
    assert done.returncode == CANNOT_CREATE
    assert "cannot be recorded" in done.stderr


def test_a_file_that_is_a_pipe_or_a_link_is_written_to_and_stays(run: Run, tmp_path: Path) -> None:
    target, link = tmp_path / "target.jsonl", tmp_path / "link.jsonl"
    target.write_text("something longer than nothing")
    link.symlink_to(target)
    assert run("fieldtest", "export", str(DRIVE), "-o", str(link)).returncode == 0
    assert link.is_symlink() and len(target.read_text().splitlines()) == len(DRIVE.read_text().splitlines())
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True)
    assert run("fieldtest", "export", str(DRIVE), "-o", str(pipe)).returncode == 0
    assert reader.communicate(timeout=20)[0] == target.read_text()
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_an_output_that_takes_nothing_is_told(run: Run) -> None:
    done = run("fieldtest", "export", str(DRIVE), "-o", "-", output=Path("/dev/full"))
    assert done.returncode == CANNOT_CREATE and "Standard output" in done.stderr


def test_a_number_means_the_list_whatever_files_there_are(run: Run, tmp_path: Path) -> None:
    record(run)
    for name in ("1", "last"):
        (tmp_path / name).write_text("no drive")
        assert "Solo" not in run("fieldtest", "report", name, "-o", "report.html").stderr
        assert run("fieldtest", "export", name, "-o", "out.jsonl").returncode == 0


def test_a_guest_that_looks_for_a_host_says_so(start: Start) -> None:
    # Nothing else happens that it could be told with.
    start("guest", "Solo", "solo").expect_seen("radio", scanning=True)


def test_a_state_folder_that_is_a_file_is_told(run: Run, tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("")
    done = run("fieldtest", "list", "--state", str(place))
    assert done.returncode == DATA and "Not a directory" in done.stderr
    looked = run("doctor", "--radio", "virtual", "--state", str(place))
    assert "is no folder" in looked.stdout and "sudo install" not in looked.stdout
    assert "   \n" not in looked.stdout


def test_drives_of_a_newer_roadmesh_are_set_aside_with_a_word(run: Run, tmp_path: Path) -> None:
    record(run)
    database = sqlite3.connect(tmp_path / "state/roadmesh/fieldtest.sqlite")
    with database:
        database.execute("INSERT INTO grdb_migrations VALUES ('99: of tomorrow')")
    database.close()
    done = run("fieldtest", "record", "guest", "Solo", "--radio", "virtual", "--http", "none", "--json", typed="quit\n")
    assert done.returncode == 0 and "They are kept as" in done.stderr
    locked = sqlite3.connect(tmp_path / "state/roadmesh/fieldtest.sqlite", isolation_level=None)
    locked.execute("BEGIN IMMEDIATE")
    refused = run("fieldtest", "forget", "1")
    locked.close()
    assert refused.returncode == CANNOT_CREATE and "cannot be deleted" in refused.stderr
    assert "SQL" not in refused.stderr.split("(")[0] and "executing" not in refused.stderr
