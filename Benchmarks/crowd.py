#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of a crowd for its host: guests on virtual radios of this machine vote, and the script measures the
host's processor time, memory and response times. Prints a line for each quantity.

  ROADMESH_BINARY=~/.cache/roadmesh/build-release/release/roadmesh Benchmarks/crowd.py
  ROADMESH_BINARY=... Benchmarks/crowd.py --endure 100000 --rate 140     does its memory grow with the votes?
"""

from __future__ import annotations

import argparse
import json
import os
import re
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

START = 60.0
SETTLING = 5.0
PLAYING = 3_600

PAGE = re.compile(r"http://(127\.0\.0\.1:\d+)/")
CONFIRMED = re.compile(rb'"event":"vote"[^\n]*"songID":"([^"]+)"[^\n]*"state":"confirmed"')


class Guest:
    """A guest's program, and the votes that it casts. Reads only the confirmations of its large output."""

    def __init__(self, command: list[str]) -> None:
        # A full pipe would block the guest.
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
        self.rest = b""
        self.joined = False
        self.waits: dict[bytes, float] = {}
        self.times: list[float] = []

    def read(self) -> None:
        assert self.process.stdout
        chunk = os.read(self.process.stdout.fileno(), 1 << 20)
        now = time.monotonic()
        if not chunk:
            raise SystemExit("a guest has ended")
        lines = (self.rest + chunk).split(b"\n")
        self.rest = lines.pop()
        for line in lines:
            self.joined = self.joined or b'"event":"snapshot"' in line
            if found := CONFIRMED.search(line):
                cast = self.waits.pop(found[1], None)
                if cast is not None:
                    self.times.append(now - cast)

    def vote(self, song: str) -> None:
        self.waits[song.encode()] = time.monotonic()
        self.say(f"vote {song}")

    def say(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(f"{line}\n".encode())


class Viewer:
    """An open page: a browser's stream of views. Counts the views without parsing them."""

    def __init__(self, printed: Path) -> None:
        deadline = time.monotonic() + START
        while not (found := PAGE.search(printed.read_text())):
            if time.monotonic() > deadline:
                raise SystemExit("the host has not printed the address of its page")
            time.sleep(0.1)
        self.socket = socket.create_connection(found[1].split(":"))
        # A browser on the same machine needs no token.
        self.socket.sendall(f"GET /events HTTP/1.1\r\nHost: {found[1]}\r\n\r\n".encode())
        self.views = self.bytes = 0

    def read(self) -> None:
        chunk = self.socket.recv(1 << 20)
        if not chunk:
            raise SystemExit("a page's stream has ended")
        # Does not count a view if its first letters are split over two reads, which is rare.
        self.views += chunk.count(b"event: view")
        self.bytes += len(chunk)


def processor(pid: int) -> float:
    """Seconds of processor time that a process has used, in all its threads."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def resident(pid: int) -> float:
    """Resident memory of a process, in megabytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]


class Crowd:
    def __init__(self, binary: str, folder: Path, options: argparse.Namespace) -> None:
        self.options = options
        songs = [
            {"id": f"n{number}", "title": f"Mile {number}", "artist": "The Milestones", "duration": PLAYING}
            for number in range(options.songs)
        ]
        (folder / "songs.json").write_text(json.dumps(songs))

        def command(role: str, name: str, address: str, *more: str) -> list[str]:
            air = ["--radio", "virtual", "--air", str(folder / "air"), "--adapter", address]
            return [binary, role, name, *air, "--state", str(folder / address), *more]

        shows = ["--json"] if options.json else []
        page = "127.0.0.1:0" if options.viewers else "none"
        printed = folder / "host.txt"
        with printed.open("wb") as output:
            self.host = subprocess.Popen(
                command("host", "Bus", "host", "--library", str(folder / "songs.json"), "--http", page, *shows),
                stdin=subprocess.DEVNULL,
                stdout=output if options.viewers else subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        self.viewers = [Viewer(printed) for _ in range(options.viewers)]
        self.guests = [Guest(command("guest", f"Guest {one}", f"g{one}", "--json")) for one in range(options.guests)]
        self.selector = selectors.DefaultSelector()
        for guest in self.guests:
            assert guest.process.stdout
            self.selector.register(guest.process.stdout, selectors.EVENT_READ, guest)
        for viewer in self.viewers:
            self.selector.register(viewer.socket, selectors.EVENT_READ, viewer)

    def read(self, until: float) -> None:
        while (left := until - time.monotonic()) > 0:
            for key, _ in self.selector.select(left):
                key.data.read()

    def await_joined(self) -> None:
        deadline = time.monotonic() + START
        while not all(guest.joined for guest in self.guests):
            if time.monotonic() > deadline:
                raise SystemExit("not all guests have joined")
            self.read(time.monotonic() + 0.2)

    def idle(self, seconds: float) -> float:
        """The share of a core that the host uses without votes."""
        began, used = time.monotonic(), processor(self.host.pid)
        self.read(began + seconds)
        return (processor(self.host.pid) - used) / (time.monotonic() - began)

    def vote(self, count: int) -> tuple[float, float]:
        """Casts votes in turn, each guest for one song after another. Returns seconds of processor and of elapsed time."""
        for guest in self.guests:
            guest.times, guest.waits = [], {}
        for viewer in self.viewers:
            viewer.views = viewer.bytes = 0
        began, used = time.monotonic(), processor(self.host.pid)
        for number in range(count):
            self.read(began + number / self.options.rate)
            guest, song = self.wish(number)
            guest.vote(song)
        elapsed = time.monotonic() - began
        self.read(time.monotonic() + 1)
        return processor(self.host.pid) - used, elapsed

    def wish(self, number: int) -> tuple[Guest, str]:
        """The guest that casts a vote, and its song. The song that plays takes no votes."""
        guest = number % len(self.guests)
        turn = number // len(self.guests)
        return self.guests[guest], f"n{1 + (turn + 7 * guest) % (self.options.songs - 1)}"

    def endure(self, count: int) -> None:
        """Casts this many votes. When each guest has voted for each song, all guests take their votes back."""
        began, cast, number = time.monotonic(), 0, 0
        round_of_votes, told = self.options.votes, 0
        while cast < count:
            self.read(began + number / self.options.rate)
            guest, song = self.wish(number % round_of_votes)
            if number // round_of_votes % 2:
                guest.say(f"unvote {song}")
            else:
                guest.vote(song)
                cast += 1
            number += 1
            if cast * 20 // count > told:
                told = cast * 20 // count
                times = sorted(one for guest in self.guests for one in guest.times)
                self.forget_times()
                print(
                    f"{cast} votes and {number - cast} taken back, at {number / (time.monotonic() - began):.0f} a second: "
                    f"{resident(self.host.pid):.1f} MiB resident; "
                    f"{times[int(len(times) * 0.99)] * 1e3:.0f} ms at the 99th percentile",
                    flush=True,
                )

    def forget_times(self) -> None:
        for guest in self.guests:
            guest.times = []

    def end(self) -> None:
        for process in [*(guest.process for guest in self.guests), self.host]:
            process.terminate()
        for process in [*(guest.process for guest in self.guests), self.host]:
            process.wait(10)


def report(crowd: Crowd, round_number: int) -> None:
    options = crowd.options
    used, elapsed = crowd.vote(options.votes)
    times = sorted(one for guest in crowd.guests for one in guest.times)
    missing = sum(len(guest.waits) for guest in crowd.guests)
    if not times:
        raise SystemExit("no vote was confirmed")
    print(
        f"round {round_number}: {options.votes} votes at {options.votes / elapsed:.0f} a second: "
        f"{used / options.votes * 1e6:.0f} µs of processor time a vote; confirmed after "
        f"{statistics.median(times) * 1e3:.0f} ms in the median, {times[int(len(times) * 0.99)] * 1e3:.0f} ms at the 99th "
        f"percentile, {times[-1] * 1e3:.0f} ms at most; {missing} not confirmed; {resident(crowd.host.pid):.1f} MiB resident",
        flush=True,
    )
    if crowd.viewers:
        views, length = sum(one.views for one in crowd.viewers), sum(one.bytes for one in crowd.viewers)
        print(
            f"round {round_number}: {len(crowd.viewers)} open pages: {views / len(crowd.viewers) / elapsed:.1f} views a second "
            f"each, of {length / views / 1e3:.1f} KB",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--guests", type=int, default=16)
    parser.add_argument("--songs", type=int, default=100)
    parser.add_argument("--rate", type=float, default=100, help="votes a second, of all guests together")
    parser.add_argument("--votes", type=int, default=1_500, help="per round; each guest votes for each song at most once")
    parser.add_argument("--rounds", type=int, default=1, help="each round starts a new host")
    parser.add_argument("--idle", type=float, default=20, help="seconds without votes")
    parser.add_argument("--endure", type=int, default=0, metavar="VOTES", help="casts this many votes instead of rounds")
    parser.add_argument("--viewers", type=int, default=0, help="browsers that show the host's page, 16 at most")
    parser.add_argument("--json", action="store_true", help="the host prints JSON")
    options = parser.parse_args()
    every = options.guests * (options.songs - 1)
    options.votes = every if options.endure else min(options.votes, every)
    binary = os.environ.get("ROADMESH_BINARY", "")
    if not os.access(binary, os.X_OK):
        sys.exit("Set ROADMESH_BINARY to the roadmesh to measure.")
    for number in range(1, options.rounds + 1):
        with tempfile.TemporaryDirectory() as folder:
            crowd = Crowd(binary, Path(folder), options)
            try:
                crowd.await_joined()
                crowd.read(time.monotonic() + SETTLING)
                if options.endure:
                    crowd.endure(options.endure)
                    continue
                share, memory = crowd.idle(options.idle), resident(crowd.host.pid)
                print(f"round {number}: {options.guests} guests, {options.songs} songs, no votes: "
                      f"{share:.2%} of a core, {memory:.1f} MiB resident", flush=True)
                report(crowd, number)
            finally:
                crowd.end()


if __name__ == "__main__":
    main()
