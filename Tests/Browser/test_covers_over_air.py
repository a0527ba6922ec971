# SPDX-License-Identifier: Apache-2.0
"""A guest's page has covers without any network."""

from __future__ import annotations

from pathlib import Path

from conftest import Open
from playwright.sync_api import expect
from ride import Ride
from roadmesh_program import music
from roadmesh_program.covers import gradient

# Scaling on a busy machine, and the transfer over the air.
MADE = 60_000


def test_a_guests_page_shows_what_plays_and_what_comes_next(ride: Ride, open_page: Open, tmp_path: Path) -> None:
    folder = tmp_path / "music"
    folder.mkdir()
    for number in range(8):
        music.wav(folder / f"{number}.wav", 600.0, f"Song {number}", "The Milestones", picture=gradient(400, 30 * number))
    host = ride.host("--library", str(folder), "--audio-device", "null/", "--no-shuffle")
    guest = ride.guest("Ana")
    page = open_page(guest)
    cover = page.locator("#playing .cover img")
    expect(cover).to_be_visible(timeout=MADE)
    assert cover.evaluate("image => image.decode().then(() => [image.naturalWidth, image.naturalHeight])") == [160, 160]
    guest.program.say("search song")
    found = [song["id"] for song in guest.program.expect("searchResults")["songs"]]
    for song in found[1:6]:
        guest.program.say(f"suggest {song}")
    # There are five next songs.
    expect(page.locator(".songs .cover.small img:visible")).to_have_count(5, timeout=MADE)
    # The next song has its cover at once, since the cover was loaded before the song began.
    host.program.say("skip")
    expect(page.locator(".songs .vote")).to_have_count(4, timeout=MADE)
    expect(cover).to_be_visible()
    expect(page.locator(".songs .cover.small img:visible")).to_have_count(4)
    # Without a page no covers are requested, and no notice reports that they are missing.
    bob = ride.start("guest", "Bob", "--http", "none")
    bob.program.expect("snapshot")
    for song in bob.program.seen("snapshot")[-1]["queue"][:2]:
        bob.program.say(f"vote {song['id']}")
        bob.program.expect("vote", songID=song["id"], state="confirmed")
    assert not bob.program.seen("artwork") and not bob.program.seen("notice")
