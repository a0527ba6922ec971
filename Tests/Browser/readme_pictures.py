# SPDX-License-Identifier: Apache-2.0
"""Takes the README's pictures of a real ride: PYTHONPATH=Tests/Interop python Tests/Browser/readme_pictures.py ROADMESH
FOLDER."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from conftest import SCREENS, launched, settled
from playwright.sync_api import sync_playwright
from ride import Ride


def main(binary: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    ride = Ride(binary, Path(tempfile.mkdtemp()))
    host = ride.host("--web-guests", "--majority-skip")
    guests = [ride.guest(name) for name in ("Ana", "Bob", "Mia")]
    for guest, songs in zip(guests, (("s6", "s4", "s2"), ("s6", "s2"), ("s6", "s4")), strict=True):
        for song in songs:
            guest.program.say(f"vote {song}")
            guest.program.expect("vote", songID=song, state="confirmed")
    with sync_playwright() as playwright, launched(playwright) as browser:
        for name, node, screen, look in (
            ("head-unit", host, "headunit", "dark"),
            ("phone", guests[0], "phone", "light"),
        ):
            page = browser.new_page(viewport=SCREENS[screen], color_scheme=look)  # type: ignore[arg-type]
            page.goto(node.url)
            settled(page)
            page.screenshot(path=folder / f"{name}.png")
            page.close()
    ride.end()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
