"""Covers over the air, at the same time as votes."""

from __future__ import annotations

import statistics

from helpers import START, Figures, await_joined, cast
from roadmesh_program import music
from roadmesh_program.covers import noise
from runner import Box, Lab, Program

NAMES = ("Ana", "Bob", "Cy")
SONGS = 12
# Maximum number of seconds that covers may add to a vote's time: the jitter of a connection interval.
ALLOWED = 0.030


def party(car: Box, family: Box, folder: str, *options: str) -> tuple[Program, list[Program], list[str]]:
    """A host that plays a folder, guests, and what is queued."""
    host = car.roadmesh("host", "Dad's Car", "--library", folder, "--audio-device", "null/", "--no-shuffle")
    host.expect("ready", timeout=START)
    guests = [family.roadmesh("guest", name, *options, adapter=family.hci(index)) for index, name in enumerate(NAMES)]
    for guest in guests:
        await_joined(guest)
    guests[0].say("search song")
    songs = [song["id"] for song in guests[0].expect("searchResults", timeout=START)["songs"]]
    playing = guests[0].expect_seen("snapshot")["nowPlaying"]["id"]
    queued = [song for song in songs if song != playing][: SONGS - 2]
    for number, song in enumerate(queued):
        guests[number % 3].say(f"suggest {song}")
    host.expect("snapshot", lambda snapshot: len(snapshot["queue"]) == len(queued), timeout=START)
    return host, guests, queued


def votes(host: Program, guests: list[Program], songs: list[str]) -> list[float]:
    return [cast(guest, song, seen_by=[host, *guests]) for song in songs for guest in guests]


def covered(guest: Program) -> bool:
    """Whether a guest has all covers that it can have."""
    shown = guest.expect_seen("snapshot")
    songs = [shown["nowPlaying"]["id"], *(item["id"] for item in shown["queue"][:5])]
    return set(songs) <= {event["songID"] for event in guest.seen("artwork")}


def test_covers_come_to_every_guest_and_no_vote_waits_for_one(
    road: Lab, car: Box, family: Box, figures: Figures
) -> None:
    folder = road.folder / "music"
    folder.mkdir()
    for number in range(SONGS):
        music.wav(folder / f"{number}.wav", 600.0, f"Song {number}", "The Milestones", picture=noise(300, number))
    host, guests, queued = party(car, family, str(folder))
    guests[0].expect_seen("artwork", timeout=START)
    beside = votes(host, guests, queued[:5])
    assert not all(map(covered, guests)), "covers were still on their way"
    for guest in guests:
        while not covered(guest):
            guest.expect("artwork", timeout=START)
    after = votes(host, guests, queued[5:])
    figures.times("a vote while covers come", beside)
    figures.times("a vote without", after)
    assert statistics.median(beside) <= statistics.median(after) + ALLOWED
