# SPDX-License-Identifier: Apache-2.0
"""What a person sees and types at a terminal, and what is left on it after the program's end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from roadmesh_program.fixtures import Place
from roadmesh_program.person import Person
from roadmesh_program.program import START, Program

Sit = Callable[..., Person]

ESCAPE = b"\x1b"

# Comes after the title of every song of `start_host`.
BY = "\N{EN DASH} The Milestones"


@pytest.fixture
def sit(binary: Path, air: Path, tmp_path: Path) -> Iterator[Sit]:
    """A person at a program on the air."""
    people: list[Person] = []

    def sit(role: str, name: str, address: str, *arguments: str, **terminal: int | str) -> Person:
        place = ["--radio", "virtual", "--air", str(air), "--adapter", address, "--state", str(tmp_path / address)]
        people.append(Person(binary, role, name, *place, *arguments, **terminal))  # type: ignore[arg-type]
        return people[-1]

    yield sit
    for person in people:
        person.end()


@pytest.fixture
def ana(host: Program, sit: Sit) -> Person:
    """Ana has joined, and sees the queue: Mile 1 and the others."""
    person = sit("guest", "Ana", "ana")
    person.see('Connected to "Dad\'s Car"', "Now playing: Mile 0", " 1. Mile 1 ", timeout=START)
    return person


def test_a_number_votes_for_that_line_of_the_queue_and_the_vote_is_marked_as_hers(host: Program, ana: Person) -> None:
    ana.enter("vote 3")
    host.expect("intent", kind="vote", songID="n3")
    ana.see('Your vote for "Mile 3" counts.', f" 1. Mile 3 {BY}  1 vote (yours)")
    # Typed commands stay above, with their answers.
    assert ana.lines.index("> vote 3") < ana.lines.index('Your vote for "Mile 3" counts.')
    ana.enter("unvote mile 3")
    host.expect("intent", kind="takeBackVote", songID="n3")


@pytest.mark.parametrize("variables", [{"LANG": "de_DE.UTF-8"}, {"LANG": "C.UTF-8", "LC_ALL": "de_DE"}])
def test_a_person_is_spoken_to_in_the_language_of_the_environment(
    host: Program, sit: Sit, variables: dict[str, str]
) -> None:
    # The locale does not have to be installed; it only selects the language.
    person = sit("guest", "Ana", "ana", **{"LC_ALL": "", "LC_MESSAGES": "", **variables})
    person.see("Verbunden mit „Dad's Car“", "Jetzt läuft: Mile 0", " 1. Mile 1 ", timeout=START)
    person.enter("vote 1")
    host.expect("intent", kind="vote", songID="n1")
    person.see("Deine Stimme für „Mile 1“ zählt.", f" 1. Mile 1 {BY}  1 Stimme (deine)")


def test_a_number_suggests_what_was_found(host: Program, ana: Person) -> None:
    host.say("remove n7")
    ana.enter("search mile 7")
    ana.see(f"  1. Mile 7 {BY}")
    ana.enter("suggest 1")
    host.expect("intent", kind="suggestSong", songID="n7")
    ana.see('Your suggestion of "Mile 7" was accepted.')
    ana.enter("queue")
    ana.see(f"20. Mile 7 {BY}  suggested by you")


def test_what_arrives_does_not_touch_what_is_being_typed(host: Program, ana: Person) -> None:
    ana.type("vote mi")
    ana.look(lambda: ana.prompt == "> vote mi")
    for number in range(1, 21):
        host.say("pause" if number % 2 else "play")
        host.say(f"remove n{number}")
    host.expect("snapshot", queue=[])
    ana.look(lambda: len(ana.panel) == 4 and ana.panel[-1].startswith("The queue is empty."), "an empty queue")
    assert ana.prompt == "> vote mi"
    ana.type("\x7f\x7f8\n")
    ana.see("> vote 8", "! The queue is empty.")


def test_what_is_said_comes_in_above_the_prompt(start: Callable[..., Program], sit: Sit) -> None:
    car = sit("host", "Dad's Car", "car", rows=30)
    car.see("Now playing: Open Road", timeout=START)
    car.type("kick")
    car.look(lambda: car.prompt == "> kick")
    ana = start("guest", "Ana", "ana")
    ana.expect("connection", state="connected")
    # More lines than the screen has rows.
    for _ in range(20):
        ana.say("vote s2")
        ana.say("unvote s2")
    ana.say("vote nothing")
    car.look(lambda: car.lines[car.row - 1].startswith("Ana asked for [nothing]"), "the last of it above the prompt")
    assert car.prompt == "> kick"
    car.type(" a\n")
    car.see("> kick a", '"a" may be "Ana".')
    car.type("kick ana\n")
    car.see("> kick ana", "Ana was kicked.")


def test_what_the_log_says_comes_in_above_the_prompt_too(host: Program, sit: Sit) -> None:
    ana = sit("guest", "Ana", "ana", "--verbose")
    ana.see('Connected to "Dad\'s Car"', timeout=START)
    ana.type("vo")
    ana.look(lambda: ana.prompt == "> vo")
    host.end()
    ana.see("! Dad's Car has stopped.")
    ana.look(lambda: any(line.startswith("debug: ") for line in ana.lines[: ana.row]), "a log line")
    assert ana.prompt == "> vo"


def test_help_explains_every_command_and_a_slip_is_told_from_one(ana: Person) -> None:
    ana.enter("?")
    ana.see("> ?", "  vote SONG", "  unvote SONG", "  search WORDS", "  leave", "  quit", "help COMMAND tells more.")
    ana.enter("vot 2")
    ana.see('! "vot 2" is not a command. Try: vote SONG, or help.')


def test_out_of_reach_the_queue_is_stale_and_a_vote_is_marked_as_kept(air: Path, ana: Person) -> None:
    (air / "ana.cut").touch()
    ana.see('Reconnecting to "Dad\'s Car", ', "; the queue is stale")
    ana.enter("vote 2")
    ana.see(f" 2. Mile 2 {BY}  your vote is waiting")
    (air / "ana.cut").unlink()
    ana.see('Connected to "Dad\'s Car"', f"1. Mile 2 {BY}  1 vote (yours)")


@pytest.mark.sample(1)
@pytest.mark.parametrize(("columns", "rows", "below"), [(40, 10, 4), (132, 50, 13), (20, 6, 1)])
def test_after_the_window_has_changed_everything_fits_and_what_is_typed_stays(
    host: Program, ana: Person, columns: int, rows: int, below: int
) -> None:
    ana.type("vote 2")
    ana.look(lambda: ana.prompt == "> vote 2")
    ana.resize(columns, rows)
    ana.look(lambda: len(ana.panel) == below, f"{below} lines below the prompt")
    assert ana.prompt == "> vote 2"
    ana.type("\n")
    host.expect("intent", kind="vote", songID="n2")
    ana.look(lambda: ana.prompt == ">", "an empty prompt")
    assert all(len(line) < columns for line in ana.panel)


@pytest.mark.sample(2)
@pytest.mark.parametrize("how", ["quit", "Ctrl-C", "Ctrl-D", "SIGTERM", "SIGHUP"])
def test_however_it_ends_prompt_and_panel_go_and_the_terminal_is_as_it_was(ana: Person, how: str) -> None:
    ana.look(lambda: ana.prompt == ">")
    match how:
        case "quit":
            ana.enter("quit")
        case "Ctrl-C":
            ana.type("half a li\x03")
        case "Ctrl-D":
            ana.type("\x04")
        case name:
            ana.type("half a li")
            ana.look(lambda: ana.prompt == "> half a li")
            ana.signal(getattr(signal, name))
    assert ana.wait() == 0
    assert ana.lines[-1] == "Bye."
    assert ana.prompt == "" and ana.row == len(ana.lines)
    assert ana.mode == ana.line_mode


def test_ctrl_backslash_does_nothing_and_leaves_no_broken_terminal(host: Program, ana: Person) -> None:
    ana.type("vot\x1ce 2")
    ana.look(lambda: ana.prompt == "> vote 2", "what was typed around it")
    ana.type("\n")
    host.expect("intent", kind="vote", songID="n2")
    ana.enter("quit")
    assert ana.wait() == 0
    assert ana.mode == ana.line_mode


def test_even_when_it_is_killed_the_keyboard_works(host: Program, binary: Path, shell: Person, place: Place) -> None:
    """A killed program cannot restore the terminal. The shell does."""
    del host
    shell.type(f"clear; {binary} guest Ana {' '.join(place('ana'))}\n")
    shell.see('Connected to "Dad\'s Car"', timeout=START)
    killed = subprocess.run(["pkill", "-KILL", "-P", str(shell.pid)], check=False)
    assert killed.returncode == 0
    shell.see("Killed")
    shell.type("stty -a; echo still $((40 + 2))\n")
    shell.see("still 42", " icanon", " echo ")
    assert any(line.endswith("stty -a; echo still $((40 + 2))") for line in shell.lines), "what is typed can be seen"


def test_what_is_drawn_leaves_no_mode_behind(ana: Person) -> None:
    ana.enter("vote 1")
    ana.see("1 vote (yours)")
    # The program uses no mode that could stay after its death: scroll regions, the alternate screen, hidden cursors.
    assert b"\x1b[?" not in ana.written and b"r" not in {code[-1:] for code in _codes(bytes(ana.written))}


def _codes(output: bytes) -> list[bytes]:
    return re.findall(rb"\x1b\[[0-9;]*[@-~]", output)


def test_lines_are_edited_and_brought_back(host: Program, ana: Person) -> None:
    ana.enter("vote mile 3")
    host.expect("intent", kind="vote", songID="n3")
    ana.enter("queue")
    ana.type("\x1b[A\x1b[A")
    ana.look(lambda: ana.prompt == "> vote mile 3", "the line before the last one")
    ana.type("\x01un")
    ana.look(lambda: ana.prompt == "> unvote mile 3" and ana.column == 4, "a cursor behind what was typed")
    ana.type("\n")
    host.expect("intent", kind="takeBackVote", songID="n3")
    ana.type("\x12vot")
    ana.look(lambda: "reverse-i-search" in ana.prompt and "unvote mile 3" in ana.prompt, "a search of the history")
    ana.type("\x07")
    ana.look(lambda: ana.prompt == ">", "an empty prompt")
    ana.type("vote 漢é\x7f\x7fn4\n")
    host.expect("intent", kind="vote", songID="n4")


def test_tab_completes_commands_and_titles(start_host: Callable[..., Program], sit: Sit) -> None:
    host = start_host(songs=3)
    ana = sit("guest", "Ana", "ana")
    ana.see(f" 1. Mile 1 {BY}", timeout=START)
    ana.type("unv\t")
    ana.look(lambda: ana.prompt == "> unvote" and ana.column == 9, "the command, and room for a song")
    ana.type("mi\t")
    ana.look(lambda: ana.prompt == "> unvote Mile", "what the titles have in common")
    ana.see("unvote Mile 1", "unvote Mile 2", "unvote Mile 3")
    ana.type("\x15vote mile 2\t\n")
    host.expect("intent", kind="vote", songID="n2")
    ana.see("> vote Mile 2")


def test_a_line_that_is_wider_than_the_window_stays_in_its_row(host: Program, ana: Person) -> None:
    ana.resize(30, 30)
    ana.type("vote " + "mile " * 12)
    ana.look(lambda: ana.prompt.startswith("…") and ana.prompt.endswith("mile"), "the end of it")
    row = ana.row
    host.say("pause")
    ana.see("Paused: ")
    assert ana.row == row and ana.prompt.endswith("mile mile")
    ana.type("\x01")
    ana.look(lambda: ana.prompt.startswith("> vote mile") and ana.prompt.endswith("…"), "the beginning of it")
    assert ana.row == row
    ana.type("\n")
    ana.look(lambda: ana.prompt == ">", "an empty prompt")
    ana.see("! ")
    # The complete input is above, followed by the answer.
    above = " ".join(ana.lines[: ana.row])
    entered = above[above.index("> vote mile") : above.index("! ")]
    assert entered.count("mile") == 12


def test_stopped_and_woken_it_draws_everything_anew(host: Program, ana: Person) -> None:
    ana.stop()
    host.say("pause")
    host.expect("snapshot", isPlaying=False)
    ana.signal(signal.SIGCONT)
    ana.see("Paused: Mile 0")
    ana.enter("vote 1")
    host.expect("intent", kind="vote", songID="n1")


def test_ctrl_z_gives_the_shell_a_clean_screen_and_fg_brings_everything_back(
    host: Program, binary: Path, air: Path, tmp_path: Path
) -> None:
    """In a shell with job control: without job control, a program is never stopped."""
    del host
    shell = Person(Path("/bin/bash"), "--norc", "-i", PS1="$ ")
    try:
        shell.look(lambda: shell.prompt == "$")
        place = f"--radio virtual --air {air} --adapter ana --state {tmp_path / 'ana'}"
        shell.type(f"clear; {binary} guest Ana {place}\n")
        shell.see('Connected to "Dad\'s Car"', timeout=START)
        shell.type("vo\x1a")
        shell.see("Stopped")
        shell.look(lambda: shell.prompt == "$")
        assert not any("Connected to" in line for line in shell.lines)
        shell.type("fg\n")
        shell.see('Connected to "Dad\'s Car"')
        shell.enter("quit")
        shell.see("Bye.")
        shell.look(lambda: shell.prompt == "$")
    finally:
        shell.end()


def test_a_dumb_terminal_gets_plain_lines_and_commands_by_number_all_the_same(host: Program, sit: Sit) -> None:
    ana = sit("guest", "Ana", "ana", TERM="dumb")
    ana.see(f"  1. [n1] Mile 1 {BY}", timeout=START)
    ana.type("vote 2\n")
    host.expect("intent", kind="vote", songID="n2")
    ana.see('Your vote for "Mile 2" counts.')
    ana.signal(signal.SIGTERM)
    assert ana.wait() == 0
    assert ESCAPE not in ana.written


def test_at_a_dumb_terminal_ctrl_d_ends_a_host_too(sit: Sit) -> None:
    car = sit("host", "Car", "car", TERM="dumb")
    car.see("Now playing: Open Road", timeout=START)
    car.type("\x04")
    car.see("Bye.")
    assert car.wait() == 0


def test_no_color_is_respected(host: Program, air: Path, sit: Sit) -> None:
    del host
    plain = sit("guest", "Ana", "ana", NO_COLOR="1")
    colourful = sit("guest", "Bob", "bob", NO_COLOR="")
    for person in (plain, colourful):
        person.see('Connected to "Dad\'s Car"', timeout=START)
    (air / "everyone.cut").touch()
    for person in (plain, colourful):
        person.see('Reconnecting to "Dad\'s Car"')
    assert b"\x1b[33m" in colourful.written
    assert not [
        code for code in _codes(bytes(plain.written)) if code.endswith(b"m") and code[2:-1] not in (b"0", b"1", b"2")
    ]


def test_a_pipe_gets_lines_without_escape_codes(host: Program, binary: Path, air: Path, tmp_path: Path) -> None:
    place = ["--radio", "virtual", "--air", str(air), "--adapter", "ana", "--state", str(tmp_path / "ana")]
    process = subprocess.Popen(
        [binary, "guest", "Ana", *place],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TERM": "xterm"},
        text=True,
    )
    with process:
        assert process.stdin and process.stdout
        said = iter(process.stdout.readline, "")
        lines = [next(said)]
        while "[n2]" not in lines[-1]:
            lines.append(next(said))
        process.stdin.write("vote 2\n")
        process.stdin.flush()
        host.expect("intent", kind="vote", songID="n2")
        process.stdin.close()
        lines += said
    assert process.returncode == 0
    assert lines[-1] == "Bye.\n"
    assert f"  2. [n2] Mile 2 {BY}\n" in lines
    assert not any("\x1b" in line or line.startswith(">") for line in lines)


def test_titles_that_would_command_the_terminal_are_shown_as_text(start_host: Callable[..., Program], sit: Sit) -> None:
    start_host(songs=3, title="\x1b[2J\x1b]0;evil\x07\u202eMi\nle")
    ana = sit("guest", "Ana", "ana")
    ana.see(f" 1. [2J]0;evilMile 1 {BY}", timeout=START)
    assert b"\x1b[2J" not in ana.written and "\u202e".encode() not in ana.written
