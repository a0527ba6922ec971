# SPDX-License-Identifier: Apache-2.0
"""Every command that is typed at a terminal is confirmed by a line above the prompt."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from roadmesh_program.fixtures import Place, Start
from roadmesh_program.mounts import needs
from roadmesh_program.music import wav
from roadmesh_program.person import Person
from roadmesh_program.program import START, Program

# A song of each is added before, so the queue has three.
HOST = [
    ("search mile", r'6 songs found for "mile"'),
    ("more", r"songs|found|Nothing|That is all\."),
    ("add Mile 2", r'"Mile 2" is in the queue, at place 1\.'),
    ("add Mile 3", r'"Mile 3" is in the queue, at place 2\.'),
    ("add Mile 4", r'"Mile 4" is in the queue, at place 3\.'),
    ("next Mile 4", r'"Mile 4" has a new place; type undo'),
    ("undo", r'"Mile 4" is back at its place\.'),
    ("move Mile 3 1", r'"Mile 3" has a new place; type undo'),
    ("unpin Mile 3", r'Votes decide the place of "Mile 3" again\.'),
    ("remove Mile 2", r'"Mile 2" was removed from the queue; type undo'),
    ("undo", r'"Mile 2" is back in the queue\.'),
    ("clear", r"The queue was cleared; type undo"),
    ("undo", r"The queue is filled again\."),
    ("pause", r"Paused: Mile"),
    ("pause", r"Paused: Mile"),
    ("play", r"Now playing: Mile"),
    ("resume", r"Now playing: Mile"),
    ("skip", r"Now playing: Mile"),
    ("previous", r"Now playing: Mile"),
    ("seek 0:20", r"Now playing: Mile . .*0:2\d / 1:00"),
    ("volume 40", r"The volume is 40 %\."),
    ("duck", r"The music is 20 dB quieter, until duck off\."),
    ("duck off", r"The music is as loud as before\."),
    ("unduck", r"The music is as loud as before\."),
    ("shuffle off", r"Songs play in their order while the queue is empty\."),
    ("playlist party.m3u", r"The playlist party\.m3u plays while the queue is empty\."),
    ("playlist gone.m3u", r'No playlist of the music folder is called "gone\.m3u"\.'),
    ("playlist", r"All songs play while the queue is empty\."),
    ("artists", r"[Aa]rtist|The Milestones"),
    ("open 1", r"Mile 1"),
    ("albums", r"[Aa]lbum|Road"),
    ("newest", r"Mile"),
    ("history", r"Mile"),
    ("driver Bob", r"Co-hosts:"),
    ("driver", r"Co-hosts:"),
    ("passenger Bob", r"There are no co-hosts\."),
    ("kick Bob", r"Bob was kicked\."),
    ("bans", r"Banned:"),
    ("unban Bob", r"Bob may join again\."),
    ("ban Cleo 2h", r"Cleo \([0-9a-f]{8}\), until \d{4}-"),
    ("undo", r"Cleo may join again\."),
    ("invite 1h", r"Everybody who has this invitation can join"),
    ("invite none", r"The open invitation was revoked\."),
    ("retry", r"Everything works; there is nothing to retry\."),
    ("view", r"Now playing: Mile"),
    ("help", r"pauses"),
    ("help duck", r"lowers the music"),
    ("help foo", r'"foo" is not a command'),
    ("end", r"Type end again to do it"),
    ("end", r"The session has ended, and a new one has begun\."),
    ("quit", r"Bye\."),
]

GUEST = [
    ("retry", r"Trying again\.|Looking for a host|Everything works"),
    ("search mile", r'6 songs found for "mile"'),
    ("more", r"songs|found|Nothing|That is all\."),
    ("suggest Mile 5", r'"Mile 5"'),
    ("suggest Mile 5", r'"Mile 5"'),
    ("vote 1", r'Your vote for "Mile \d" counts\.'),
    ("vote 1", r'Your vote for "Mile \d" counts\.|You have voted for'),
    ("unvote 1", r"Your vote for .* is taken back"),
    ("unvote 1", r"is taken back|has no vote of yours"),
    ("skip", r"On this host only the driver can skip songs\."),
    ("remove 1", r'The host is asked to remove "Mile \d"\.|only the driver can do that'),
    ("move 1 2", r'The host is asked to put "Mile \d" at place 2\.|only the driver can do that'),
    ("kick Bob", r"The host is asked to kick Bob\.|only the driver can do that"),
    ("artists", r"[Aa]rtist|The Milestones"),
    ("open 1", r"Mile 1"),
    ("albums", r"[Aa]lbum|Road"),
    ("newest", r"Mile"),
    ("history", r"Mile|Nothing|0 songs|no song"),
    ("hosts", r"Hosts:"),
    ("join Dad's Car", r"You have joined Dad's Car already\."),
    ("pin 314159", r"The PIN is noted\."),
    ("view", r"Now playing: Mile"),
    ("help vote", r"votes for a song"),
    ("leave", r"You have left Dad's Car\. Type retry"),
    ("retry", r"Trying again\."),
    ("join Dad's Car", r"Looking for Dad's Car\.|You have joined Dad's Car already"),
    ("forget Dad's Car", r"Dad's Car is forgotten\."),
    ("quit", r"Bye\."),
]


@pytest.fixture
def music(tmp_path: Path) -> Path:
    needs("mpv")
    folder = tmp_path / "music"
    folder.mkdir()
    for number in range(1, 7):
        wav(folder / f"{number}.wav", 60, title=f"Mile {number}", artist="The Milestones", album="Road")
    (folder / "party.m3u").write_text("1.wav\n2.wav\n")
    return folder


@pytest.fixture
def people(binary: Path, place: Place) -> Iterator[list[Person]]:
    seated: list[Person] = []
    yield seated
    for person in seated:
        person.end()


def words(binary: Path, role: str) -> set[str]:
    """The commands that the program's help lists."""
    text = subprocess.run([binary, role, "--help"], capture_output=True, text=True, check=True, timeout=60).stdout
    listed = text.split("these can be typed:", 1)[1].split("SONG is a number", 1)[0]
    return {found[1] for line in listed.splitlines() if (found := re.match(r" {2,}([a-z]+)\b", line))}


def confirmed(person: Person, line: str, answer: str) -> None:
    """Types a line, and waits for its answer above the prompt."""
    before = person.lines.count(f"> {line}")
    person.enter(line)

    def answers() -> bool:
        lines = person.lines
        if lines.count(f"> {line}") <= before and person.row > 0 and f"> {line}" not in lines:
            return any(re.search(answer, one) for one in lines)
        at = len(lines) - 1 - lines[::-1].index(f"> {line}")
        return any(re.search(answer, one) for one in lines[at + 1 :])

    person.look(answers, f"{answer!r} after {line!r}")


def test_every_command_of_a_host_is_confirmed(
    binary: Path, place: Place, people: list[Person], music: Path, start: Start
) -> None:
    options = ["--library", str(music), "--audio-device", "null/", "--no-shuffle", "--http", "none"]
    host = Person(binary, "host", "Dad's Car", *place("car"), *options, columns=160, rows=50)
    people.append(host)
    host.see("Now playing: Mile", timeout=START)
    guests: list[Program] = [start("guest", name, name.lower(), "--http", "none") for name in ("Bob", "Cleo")]
    for guest in guests:
        guest.expect("connection", state="connected", timeout=START)
    host.see("Guests: Bob", "Cleo")
    for line, answer in HOST:
        confirmed(host, line, answer)
    assert host.wait() == 0
    assert {line.split()[0] for line, _ in HOST} >= words(binary, "host")


def test_every_command_of_a_guest_is_confirmed(
    binary: Path, place: Place, people: list[Person], music: Path, start: Start
) -> None:
    options = ["--library", str(music), "--player", "none", "--no-shuffle", "--http", "none"]
    host = start("host", "Dad's Car", "car", *options)
    for number in (2, 3, 4):
        host.say(f"search mile {number}")
        found = host.expect("searchResults", lambda event: event["songs"] != [])
        host.say(f"add {found['songs'][0]['id']}")
    bob = start("guest", "Bob", "bob", "--http", "none")
    bob.expect("connection", state="connected", timeout=START)
    ana = Person(binary, "guest", "Ana", *place("ana"), "--http", "none", columns=160, rows=50)
    people.append(ana)
    ana.see('Connected to "Dad\'s Car"', "Mile 4", timeout=START)
    for line, answer in GUEST:
        confirmed(ana, line, answer)
    assert ana.wait() == 0
    assert {line.split()[0] for line, _ in GUEST} >= words(binary, "guest") - {"leave"}
