# SPDX-License-Identifier: Apache-2.0
"""The music in README's pictures: invented songs, silent, each with a drawn cover."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser
from roadmesh_program import music

# A cover's width and height in pixels.
SIDE = 400


@dataclass(frozen=True)
class Song:
    """A song, and the SVG of its cover on a square of 100 by 100."""

    title: str
    artist: str
    seconds: int
    cover: str


SONGS = [
    Song(
        "Open Road",
        "The Milestones",
        214,
        """<rect width="100" height="100" fill="#f4a259"/><rect width="100" height="26" fill="#f6bd7a"/>
        <circle cx="50" cy="52" r="20" fill="#fff1d0"/><path d="M0 58 22 44 40 58 62 40 100 60V100H0z" fill="#8c4a5b"/>
        <rect y="62" width="100" height="38" fill="#4a2f48"/><path d="M47 62h6l27 38H20z" fill="#2b2136"/>
        <path d="M49.4 66h1.2l.8 6h-2.8zM48.2 77h3.6l1 8h-5.6zM46.6 90h6.8l1.4 10h-9.6z" fill="#fff1d0"/>""",
    ),
    Song(
        "Headlights",
        "Long Haul",
        263,
        """<rect width="100" height="100" fill="#14213d"/><path d="M0 76h100v24H0z" fill="#0b1326"/>
        <path d="M27 64 4 100h44L37 64zM63 64 52 100h44L73 64z" fill="#fff3b0" opacity=".45"/>
        <circle cx="16" cy="14" r="1" fill="#fff"/><circle cx="78" cy="20" r="1" fill="#fff"/>
        <circle cx="50" cy="9" r="1" fill="#fff"/>
        <rect x="22" y="44" width="56" height="32" rx="9" fill="#e63946"/>
        <path d="M30 44 36 28h28l6 16z" fill="#a8283a"/><path d="M36 42 40 32h20l4 10z" fill="#9fc6e7"/>
        <circle cx="32" cy="60" r="7" fill="#fff3b0"/><circle cx="68" cy="60" r="7" fill="#fff3b0"/>
        <rect x="43" y="58" width="14" height="5" rx="2" fill="#5c1420"/>""",
    ),
    Song(
        "Tunnel of Lights",
        "Night Drivers",
        187,
        """<rect width="100" height="100" fill="#10002b"/><path d="M6 100V50a44 44 0 0 1 88 0v50z" fill="#3c096c"/>
        <path d="M18 100V54a32 32 0 0 1 64 0v46z" fill="#7b2cbf"/>
        <path d="M30 100V58a20 20 0 0 1 40 0v42z" fill="#e0479e"/>
        <path d="M41 100V63a9 9 0 0 1 18 0v37z" fill="#ffd6a5"/>""",
    ),
    Song(
        "Windows Down",
        "Coastline",
        198,
        """<rect width="100" height="100" fill="#a8e0e6"/><circle cx="72" cy="28" r="13" fill="#ffe28a"/>
        <path d="M0 52q12.5-10 25 0t25 0 25 0 25 0v48H0z" fill="#3fa7b5"/>
        <path d="M0 68q12.5-10 25 0t25 0 25 0 25 0v32H0z" fill="#1f7a8c"/>
        <path d="M0 84q12.5-10 25 0t25 0 25 0 25 0v16H0z" fill="#f3d9a4"/>""",
    ),
    Song(
        "Rest Stop Serenade",
        "Paper Maps",
        241,
        """<rect width="100" height="100" fill="#f2e8cf"/><path d="M0 0h25v100H0zM50 0h25v100H50z" fill="#e8dab5"/>
        <path d="M-5 78 30 60 48 70 70 34 105 22" fill="none" stroke="#6a994e" stroke-width="7"/>
        <path d="M12-5 22 30 52 46 88 105" fill="none" stroke="#d9a441" stroke-width="4"/>
        <path d="M60 22a11 11 0 0 1 22 0c0 9-11 22-11 22S60 31 60 22z" fill="#bc4749"/>
        <circle cx="71" cy="22" r="4.5" fill="#f2e8cf"/>""",
    ),
    Song(
        "Mountain Pass",
        "The Hairpins",
        229,
        """<rect width="100" height="100" fill="#cfe3f1"/><path d="M-10 100 34 22 78 100z" fill="#5b7b8f"/>
        <path d="M24 40 34 22 44 40 38 36 34 42 30 36z" fill="#fff"/><path d="M30 100 70 40 110 100z" fill="#3a5566"/>
        <path d="M46 100 84 90 56 80 78 71 64 63 72 56" fill="none" stroke="#f6bd60" stroke-width="4"
        stroke-linejoin="round"/>""",
    ),
]


def make(folder: Path, browser: Browser) -> Path:
    """Creates the folder, with a playlist of the first song. Returns the playlist."""
    folder.mkdir(parents=True)
    page = browser.new_page(viewport={"width": SIDE, "height": SIDE})
    for song in SONGS:
        svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">{song.cover}</svg>'
        page.set_content(f"<style>body {{ margin: 0 }} svg {{ display: block }}</style>{svg}")
        music.wav(folder / f"{song.title}.wav", song.seconds, song.title, song.artist, picture=page.screenshot())
    page.close()
    playlist = folder / "first.m3u"
    playlist.write_text(f"{SONGS[0].title}.wav\n")
    return playlist
