# SPDX-License-Identifier: Apache-2.0
"""Shell completion: the scripts that the program writes for each shell, as the package installs them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from roadmesh_program.fixtures import Start

Complete = Callable[[str], list[str]]

# Simulates bash when Tab is pressed, without a terminal: it calls the completion function with the words of a line.
BASH = """
source "$3"
PATH=$(dirname "$1"):$PATH
eval "COMP_WORDS=($2)"
COMP_LINE=$2 COMP_POINT=${#2} COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_TYPE=9
_roadmesh roadmesh "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def complete(binary: Path, tmp_path: Path, output: Callable[[str], str]) -> Complete:
    script = tmp_path / "roadmesh.bash"
    script.write_text(output("--generate-completion-script bash"))

    def complete(line: str) -> list[str]:
        done = subprocess.run(
            ["/bin/bash", "--norc", "-c", BASH, "bash", binary, f"roadmesh {line}", script],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "home")},
            timeout=60,
        )
        assert not done.stderr, done.stderr
        return [one.rstrip() for one in done.stdout.splitlines() if one.strip()]

    return complete


def test_commands_and_options_are_completed(complete: Complete) -> None:
    assert {"host", "guest", "scan", "demo", "doctor", "control", "pair", "fieldtest"} <= set(complete("''"))
    assert complete("fieldtest fo") == ["forget"]
    assert complete("host Car --lib") == ["--library"]
    assert complete("guest Ana --rel") == ["--relay"]
    assert complete("host Car --rel") == []
    assert complete("scan --radio b") == ["bluez"]


@pytest.mark.parametrize("name", ["Dad's Car", "$(touch run)`>r`'\"*"])
def test_hosts_that_were_heard_before_are_completed_and_nothing_in_a_name_is_obeyed(
    start: Start, complete: Complete, air: Path, binary: Path, tmp_path: Path, name: str
) -> None:
    start("host", name, "car")
    start("guest", "Ana", "ana").expect("connection", state="connected")
    state = f"--state {tmp_path / 'ana'}"
    assert complete(f"guest Ana {state} --host ''") == [name]
    assert complete(f"guest Ana {state} --host Vera") == []
    # A scan has no folder of its own. It stores the hosts in the folder that this user's commands share.
    (tmp_path / "home/roadmesh").mkdir(parents=True)
    assert complete("guest Ana --host ''") == []
    scan = [binary, "scan", "--radio", "virtual", "--air", air, "--seconds", "1"]
    subprocess.run(scan, check=True, capture_output=True, env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "home")})
    assert complete("guest Ana --host ''") == [name]
    assert not (tmp_path / "run").exists() and not (tmp_path / "r").exists()


@pytest.mark.sample(1)
@pytest.mark.parametrize("state", ["--state '~/ana'", "--state={}/ana", "--state = {}/ana", "--state x --state={}/ana"])
def test_the_state_folder_is_found_however_it_is_typed(complete: Complete, tmp_path: Path, state: str) -> None:
    """A shell passes words as typed: not expanded, and bash splits them at "="."""
    (tmp_path / "ana").mkdir()
    (tmp_path / "ana/heard").write_text("Dad's Car\n")
    assert complete(f"guest Ana {state.format(tmp_path)} --host ''") == ["Dad's Car"]


def test_a_pipe_in_the_place_of_the_names_is_not_waited_for(complete: Complete, tmp_path: Path) -> None:
    (tmp_path / "ana").mkdir()
    os.mkfifo(tmp_path / "ana/heard")
    assert complete(f"guest Ana --state {tmp_path / 'ana'} --host ''") == []


def test_a_name_with_a_colon_is_whole_in_zsh(binary: Path, tmp_path: Path) -> None:
    """zsh's _describe treats the text after a colon as a description, and a backslash as the escape of a colon."""
    (tmp_path / "roadmesh").mkdir()
    (tmp_path / "roadmesh/heard").write_text("Car: red\nC:\\Music\n")
    done = subprocess.run(
        [binary, "---completion", "guest", "--", "--host", "4", "0", "roadmesh", "guest", "Ana", "--host", ""],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "SAP_SHELL": "zsh", "XDG_STATE_HOME": str(tmp_path)},
    )
    assert done.stdout.splitlines()[:2] == ["Car\\: red", "C\\:\\\\Music"]


def test_files_and_drives_are_completed(complete: Complete, tmp_path: Path, binary: Path) -> None:
    (tmp_path / "Music").mkdir()
    (tmp_path / "Murks.txt").touch()
    assert set(complete("host Car --library Mu")) == {"Music", "Murks.txt"}
    assert complete("host Car --state Mu") == ["Music"]
    assert complete("fieldtest forget ''") == []
    state = ["--state", str(tmp_path / "home/roadmesh")]
    quick = [binary, "fieldtest", "record", "guest", "Solo", "--radio", "virtual", "--http", "none", *state]
    subprocess.run(quick, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    assert complete("fieldtest forget ''") == ["1", "last"]


@pytest.mark.sample(1)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_script(output: Callable[[str], str], shell: str) -> None:
    script = output(f"--generate-completion-script {shell}")
    assert "fieldtest" in script and "Vera" not in script
