# SPDX-License-Identifier: Apache-2.0
"""The program under a shell: in the background, with signals before it runs, with ignored signals, and with few file
descriptors."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from roadmesh_program.fixtures import Place, Start
from roadmesh_program.person import Person
from roadmesh_program.program import START, Program

UNAVAILABLE = 69

def goes_on(shell: Person, ana: Program) -> None:
    ana.say("vote s2")
    ana.expect("vote", songID="s2", state="confirmed")
    # Typed text belongs to the shell, and the program does not draw over it.
    shell.type("clear; echo still $((40 + 2))\n")
    shell.see("still 42")
    assert not any("Bye." in line or "on the air" in line for line in shell.lines)


def bring_back(shell: Person) -> None:
    shell.type("fg\n")
    shell.see("Now playing: Open Road")
    shell.enter("queue")
    shell.see("> queue", "  1. Tunnel of Lights")
    shell.enter("quit")
    shell.see("Bye.")
    shell.look(lambda: shell.prompt == "$")


def test_a_host_in_the_background_goes_on_and_listens_again_in_the_foreground(
    shell: Person, binary: Path, place: Place, start: Start
) -> None:
    shell.type(f"clear; {binary} host Car {' '.join(place('car'))} &\n")
    shell.see(
        '"Car" is on the air',
        "Your controls (this device only): http://127.0.0.1:",
        "fg brings back its commands",
        timeout=START,
    )
    ana = start("guest", "Ana", "ana")
    ana.expect("connection", state="connected", timeout=START)
    goes_on(shell, ana)
    bring_back(shell)


def test_a_host_that_was_suspended_goes_on_in_the_background(
    shell: Person, binary: Path, place: Place, start: Start
) -> None:
    shell.type(f"clear; {binary} host Car {' '.join(place('car'))}\n")
    shell.see("Now playing: Open Road", timeout=START)
    shell.type("\x1a")
    shell.see("Stopped")
    shell.look(lambda: shell.prompt == "$")
    shell.type("clear; bg\n")
    ana = start("guest", "Ana", "ana")
    ana.expect("connection", state="connected", timeout=START)
    goes_on(shell, ana)
    bring_back(shell)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_before_the_node_runs_is_quit(binary: Path, place: Place, tmp_path: Path, name: str) -> None:
    """Before the node runs, the program prints a warning into a full pipe. Until the pipe is read, it handles no
    input."""
    folder = tmp_path / "car"
    folder.mkdir(mode=0o700)
    (folder / "fieldtest.sqlite").write_text("no database")
    nobody, full = os.pipe()
    os.set_blocking(full, False)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(full, bytes(4096))
    os.set_blocking(full, True)
    process = subprocess.Popen([binary, "fieldtest", "record", "host", "Car", *place("car")], stderr=full)
    deadline = monotonic() + START
    while not list(folder.glob("fieldtest.*damaged*")):
        assert process.poll() is None and monotonic() < deadline
    process.send_signal(getattr(signal, name))
    assert process.wait(timeout=START) == 0
    os.close(nobody)
    os.close(full)


@pytest.mark.parametrize("milliseconds", [0, 5, 10, 20, 40])
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
@pytest.mark.parametrize("command", [["host", "Car"], ["guest", "Ana"]], ids=["host", "guest"])
def test_a_signal_in_the_first_milliseconds_is_quit(
    binary: Path, place: Place, command: list[str], name: str, milliseconds: int
) -> None:
    """This applies from the program's first instruction on. While the system loads the program, a signal has its
    default effect."""
    number = getattr(signal, name)
    # The program's input stays open, because the end of input would also end a guest.
    process = subprocess.Popen(
        [binary, *command, *place(command[0])],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(milliseconds / 1e3)
        runs = is_handled(process.pid, number)
        process.send_signal(number)
        assert process.wait(timeout=START) in ([0] if runs else [0, -number])
    finally:
        process.kill()
        process.wait()
        assert process.stdin
        process.stdin.close()


def is_handled(pid: int, number: int) -> bool:
    """Whether a process handles a signal, instead of the default."""
    status = (line.partition(":") for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    masks = [int(value, 16) for field, _, value in status if field in ("SigIgn", "SigCgt")]
    return any(mask >> (number - 1) & 1 for mask in masks)


def test_a_host_that_is_to_ignore_hangups_ignores_them(binary: Path, place: Place, start: Start) -> None:
    """nohup starts a program like this, and so does a script that ends before the program."""
    program = Program(Path("/usr/bin/nohup"), str(binary), "host", "Car", *place("car"))
    program.expect("ready", timeout=START)
    os.kill(program.pid, signal.SIGHUP)
    ana = start("guest", "Ana", "ana")
    ana.expect("connection", state="connected")
    assert not program.seen("bye") and program.end() == 0


@pytest.mark.parametrize("files", [10, 16, 34, 64])
@pytest.mark.parametrize("command", [["host", "Car"], ["guest", "Ana"], ["scan", "--seconds", "0.1"]])
def test_too_few_files_are_told_in_a_sentence(binary: Path, place: Place, command: list[str], files: int) -> None:
    done = subprocess.run(
        ["prlimit", f"--nofile={files}", binary, *command, *place("car")],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == UNAVAILABLE, done.stderr
    assert f"lets roadmesh open only {files} files" in done.stderr and "ulimit -n 256" in done.stderr


def test_a_soft_limit_is_raised(binary: Path, place: Place) -> None:
    program = Program(Path("/usr/bin/prlimit"), "--nofile=16:4096", str(binary), "host", "Car", *place("car"))
    program.expect("ready", timeout=START)
    limits = Path(f"/proc/{program.pid}/limits").read_text()
    assert program.end() == 0
    assert next(line for line in limits.splitlines() if line.startswith("Max open files")).split()[3] == "256"


def test_browsers_leave_guests_their_files(binary: Path, place: Place, start: Start) -> None:
    program = Program(Path("/usr/bin/prlimit"), "--nofile=112", str(binary), "host", "Car", *place("car"))
    port = int(program.expect("ready", timeout=START)["http"].rstrip("/").rsplit(":", 1)[1])
    held = [connection(port, number) for number in range(150)]
    ana = start("guest", "Ana", "ana")
    ana.expect("connection", state="connected")
    ana.say("vote s2")
    ana.expect("vote", songID="s2", state="confirmed")
    before, began = processor_time(program.pid), monotonic()
    ana.say("unvote s2")
    ana.expect("vote", songID="s2", state="confirmed")
    # It answers within milliseconds. If it could not accept connections, it would use a full core.
    assert processor_time(program.pid) - before < 0.5 * (monotonic() - began) + 0.2
    assert sum(1 for _ in Path(f"/proc/{program.pid}/fd").iterdir()) <= 64
    for one in held:
        one.close()
    assert program.end() == 0
    assert "the page takes 16 connections at a time" in program.tail()


def test_few_files_are_a_remark_about_the_page_where_there_is_one(binary: Path, place: Place) -> None:
    def told(*command: str) -> str:
        program = Program(Path("/usr/bin/prlimit"), "--nofile=112", str(binary), *command, *place(command[1]))
        program.expect("ready", timeout=START)
        assert program.end() == 0
        return program.tail()

    page = "the page takes 16 connections at a time"
    assert f"{page}, so that guests have theirs. ulimit -n 256 is enough for all." in told("host", "Car")
    assert f"{page}. ulimit -n 256 is enough for all." in told("guest", "Ana")
    for command in (("host", "Van"), ("guest", "Bob")):
        assert "connections" not in told(*command, "--http", "none")


def connection(port: int, number: int) -> socket.socket:
    """Connects from addresses of several devices."""
    return socket.create_connection(("127.0.0.1", port), timeout=10, source_address=(f"127.0.0.{number % 5 + 2}", 0))


def processor_time(pid: int) -> float:
    fields: list[Any] = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
