# SPDX-License-Identifier: Apache-2.0
"""The program as a person runs it from a shell: its output, the files that it leaves, and its exit codes."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from roadmesh_program.fixtures import Start
from roadmesh_program.person import Person
from roadmesh_program.program import START

DRIVE = Path(__file__).parents[2] / "docs/drives/tunnel.jsonl"
REFERENCE = Path(__file__).parents[2] / "docs/reference.md"
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


def record(run: Run, name: str = "Solo", *arguments: str) -> None:
    quick = ["--radio", "virtual", "--http", "none", *arguments]
    done = run("fieldtest", "record", "guest", name, *quick, typed="mark here\n")
    assert done.returncode == 0, done.stderr


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


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "help foo",
            'There is no command "foo". There are host, guest, scan, demo, doctor, control, pair, ping, trace, pipe, '
            "fieldtest.",
        ),
        ("help hsot", 'There is no command "hsot". Did you mean host?'),
        ("host --colour red Car", "There is no option --colour. Try: roadmesh host --help"),
        ("host", "<name> is missing: the name that guests see, for example \"Dad's Car\". Try: roadmesh host --help"),
        (
            "scan --seconds many",
            '--seconds <n> cannot be "many": how many seconds to listen: more than 0, and at most 3600. '
            "Try: roadmesh scan --help",
        ),
        (
            "fieldtest forget",
            "<drive> is missing: a number or a name of the list, or last. Try: roadmesh fieldtest forget --help",
        ),
        ("hots Car", 'There is no command "hots". Did you mean host?'),
        ("guest Ana --http nowhere", None),
        (
            "guest Ana --join-any --host Car",
            "Use --join-any without --host or --join. Try: roadmesh guest --help",
        ),
    ],
)
def test_whatever_is_wrong_with_a_command_line_is_told_in_one_line_of_one_form(
    run: Run, line: str, sentence: str | None
) -> None:
    done = run(*line.split())
    assert done.returncode == USAGE and done.stdout == ""
    assert done.stderr.startswith("roadmesh: ") and done.stderr.count("\n") == 1
    assert sentence is None or done.stderr == f"roadmesh: {sentence}\n"


def test_help_and_version_are_no_errors(run: Run) -> None:
    for line in ("--version", "--help", "help host", "host --help", ""):
        done = run(*line.split())
        assert done.returncode == 0 and done.stdout and not done.stderr


PAGES = {
    "roadmesh",
    *(f"roadmesh {command}" for command in ("host", "guest", "scan", "demo", "doctor", "control", "pair", "fieldtest")),
    *(f"roadmesh {command}" for command in ("ping", "trace", "pipe")),
    *(f"roadmesh pair {command}" for command in ("with", "list", "forget")),
    *(f"roadmesh fieldtest {command}" for command in ("record", "list", "report", "export", "import", "replay", "forget")),
    *(f"roadmesh fieldtest {command}" for command in ("collect", "fleet", "bench")),
    *(f"roadmesh fieldtest record {command}" for command in ("host", "guest")),
}


def described(command: dict[str, Any], above: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """A command and its subcommands, as they are typed."""
    name = f"{above} {command['commandName']}".strip()
    yield name, command
    for each in command.get("subcommands", []):
        if each["commandName"] != "help":
            yield from described(each, name)


def typed(section: str) -> set[str]:
    """The commands that docs/reference.md lists for a node."""
    chapter = REFERENCE.read_text().partition(f"\n## {section}\n")[2]
    table = chapter.partition("\n| line | what it does |\n")[2].partition("\n\n")[0]
    return set(re.findall(r"^\| `([a-z]+)", table, re.MULTILINE))


def test_each_command_and_option_says_what_its_manual_page_needs(output: Callable[[str], str]) -> None:
    """scripts/manual makes the pages from this; Tests/Packaging checks that they are installed."""
    pages = dict(described(json.loads(output("--experimental-dump-help"))["command"]))
    assert set(pages) == PAGES
    for name, page in pages.items():
        assert page.get("abstract"), name
        for one in page.get("arguments", []):
            assert one.get("abstract"), f"{name}: {one.get('valueName')} {one.get('names')}"
    # `help` explains the other commands, and does not list itself.
    for role, section in (("host", "At a host"), ("guest", "At a guest")):
        for page, more in ((f"roadmesh {role}", set()), (f"roadmesh fieldtest record {role}", {"mark"})):
            told = set(re.findall(r"^  ([a-z]+)\b.*  \w", pages[page]["discussion"], re.MULTILINE))
            assert told == typed(section) - {"help"} | more, page


@pytest.mark.sample(1)
@pytest.mark.parametrize(("answer", "isKept"), [("no", True), ("", True), ("yes", False), ("y", False)])
def test_forgetting_a_drive_asks_first(run: Run, binary: Path, tmp_path: Path, answer: str, isKept: bool) -> None:
    record(run)
    person = Person(binary, "fieldtest", "forget", "last", "--state", str(tmp_path / "state/roadmesh"))
    try:
        person.see("Delete drive 1?  ", "  (guest, ", "Type yes or no:")
        person.type(answer + "\n")
        assert person.wait() == 0
    finally:
        person.end()
    assert person.lines[-1] == ("Kept." if isKept else "Deleted.")
    assert run("fieldtest", "list").stdout.startswith("1  ") == isKept


def test_forgetting_a_drive_takes_a_yes(run: Run) -> None:
    record(run)
    refused = run("fieldtest", "forget", "1", typed="yes\n")
    assert refused.returncode == USAGE and "--yes" in refused.stderr
    assert run("fieldtest", "list").stdout.startswith("1  ")
    assert run("fieldtest", "forget", "1", "--yes").returncode == 0
    assert not run("fieldtest", "list").stdout.startswith("1  ")


@pytest.mark.long
def test_a_drive_goes_by_its_number_its_name_or_the_beginning_of_it(run: Run) -> None:
    for name in ("Alps", "Alps by night", "2"):
        record(run, "Solo", "--drive", name)
    for name, number in [("alps", 1), ("Alps b", 2), ("2", 2), ("last", 3)]:
        done = run("fieldtest", "export", name, "-o", "-")
        assert done.returncode == 0 and f'"name":"{["Alps", "Alps by night", "2"][number - 1]}"' in done.stdout, name
    several, none = run("fieldtest", "forget", "al", "--yes"), run("fieldtest", "forget", "bus", "--yes")
    assert several.returncode == none.returncode == DATA
    assert several.stderr == 'roadmesh: "al" may be drive 1, 2; use the number of the one you mean.\n'
    assert 'There is no drive "bus"' in none.stderr
    assert run("fieldtest", "forget", "alps by", "--yes").returncode == 0
    assert [line[0] for line in run("fieldtest", "list").stdout.splitlines()] == ["1", "3"]


def test_a_drive_whose_name_looks_like_a_path_goes_by_that_name(run: Run, tmp_path: Path) -> None:
    record(run, "Solo", "--drive", "I-95/exit 4.2")
    for name in ("I-95/exit 4.2", "i-95/"):
        done = run("fieldtest", "export", name, "-o", "-")
        assert done.returncode == 0 and '"name":"I-95/exit 4.2"' in done.stdout, done.stderr
    # A folder's name may look like a road's; a file is only meant if it exists.
    (tmp_path / "I-95").mkdir()
    (tmp_path / "I-95/exit 4.2").write_text(DRIVE.read_text())
    done = run("fieldtest", "export", "I-95/exit 4.2", "-o", "-")
    assert done.returncode == 0 and '"name":"I-95/exit 4.2"' not in done.stdout
    for slip in ("missing/", "missing.jsonl"):
        done = run("fieldtest", "export", slip, "-o", "-")
        assert done.returncode == DATA
        assert done.stderr == f"roadmesh: {slip} cannot be read; make sure that the file is there and readable.\n"


@pytest.mark.long
def test_a_replay_says_how_far_it_is_to_who_waits_at_a_terminal_and_to_nobody_else(run: Run, binary: Path) -> None:
    # Enough runs that the replay takes longer than a second.
    person = Person(binary, "fieldtest", "replay", str(DRIVE), "--runs", "1000")
    try:
        person.see("Replaying the drive: ", " of 1000", timeout=START)
    finally:
        person.end()
    done = run("fieldtest", "replay", str(DRIVE), "--runs", "20")
    assert done.returncode == 0 and "Replayed 20 times" in done.stdout and done.stderr == ""


def test_a_guest_that_looks_for_a_host_says_so(start: Start) -> None:
    # No other event could have ended the wait.
    start("guest", "Solo", "solo").expect_seen("radio", scanning=True)


def test_a_state_folder_that_is_a_file_is_told(run: Run, tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("")
    done = run("fieldtest", "list", "--state", str(place))
    assert done.returncode == DATA and "Not a directory" in done.stderr
    looked = run("doctor", "--radio", "virtual", "--state", str(place))
    assert "is not a folder" in " ".join(looked.stdout.split()) and "sudo install" not in looked.stdout
    assert "   \n" not in looked.stdout


def test_drives_of_a_newer_roadmesh_are_neither_added_to_nor_moved(run: Run, tmp_path: Path) -> None:
    record(run)
    database = sqlite3.connect(tmp_path / "state/roadmesh/fieldtest.sqlite")
    with database:
        database.execute("INSERT INTO grdb_migrations VALUES ('99: of tomorrow')")
    database.close()
    folder = tmp_path / "state/roadmesh"
    before = {file.name for file in folder.glob("fieldtest*.sqlite")}
    for command in (["record", "guest", "Solo", "--radio", "virtual", "--http", "none", "--json"], ["forget", "1", "--yes"]):
        refused = run("fieldtest", *command, typed="quit\n")
        assert refused.returncode in (CANNOT_CREATE, 65) and "made by a newer roadmesh" in refused.stderr
    assert {file.name for file in folder.glob("fieldtest*.sqlite")} == before


def test_drives_that_another_program_holds_are_told_in_words(run: Run, tmp_path: Path) -> None:
    record(run)
    locked = sqlite3.connect(tmp_path / "state/roadmesh/fieldtest.sqlite", isolation_level=None)
    locked.execute("BEGIN IMMEDIATE")
    refused = run("fieldtest", "forget", "1", "--yes")
    locked.close()
    assert refused.returncode == CANNOT_CREATE and "cannot be deleted" in refused.stderr
    assert "SQL" not in refused.stderr.split("(")[0] and "executing" not in refused.stderr


def test_an_identity_that_others_could_read_is_told_and_protected(start: Start, tmp_path: Path) -> None:
    start("host", "Car", "car").end()
    identity = tmp_path / "car/identity"
    identity.chmod(0o644)
    for is_told in (True, False):
        host = start("host", "Car", "car")
        host.end()
        assert ("could read the identity" in host.tail()) == is_told
        assert stat.S_IMODE(identity.stat().st_mode) == 0o600
