# SPDX-License-Identifier: Apache-2.0
"""Takes README's pictures of a host with four guests: readme_pictures.py ROADMESH FOLDER. scripts/pictures runs it."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import readme_music
from conftest import SCREENS, launched, settled
from playwright.sync_api import Browser, Page, expect, sync_playwright
from ride import Node, Ride

# The passenger with a phone, and the songs that she votes for.
PHONE = ("Mia", ("Headlights", "Tunnel of Lights"))
# The guests on Linux devices and their votes, in the order in which they vote. The first vote for a song suggests it.
VOTES = (
    ("Ana", "Headlights"),
    ("Bob", "Tunnel of Lights"),
    ("Leo", "Windows Down"),
    ("Ana", "Rest Stop Serenade"),
    ("Bob", "Mountain Pass"),
    ("Bob", "Headlights"),
    ("Leo", "Headlights"),
    ("Leo", "Tunnel of Lights"),
    ("Ana", "Windows Down"),
)
# The first song has played for this long when the pictures are taken.
PLAYED = re.compile("0:4[0-9]")
PLAYED_TIMEOUT = 60_000


def vote(guest: Node, title: str, queued: set[str]) -> None:
    """Searches for a song, suggests it unless it is queued, and votes for it."""
    guest.program.say(f"search {title}")
    song = guest.program.expect("searchResults", query=title)["songs"][0]["id"]
    if title not in queued:
        guest.program.say(f"suggest {song}")
        guest.program.expect("suggestion", songID=song, state="confirmed")
        queued.add(title)
    guest.program.say(f"vote {song}")
    guest.program.expect("vote", songID=song, state="confirmed")


def opened(browser: Browser, url: str, screen: str, look: str) -> Page:
    page = browser.new_page(viewport=SCREENS[screen], color_scheme=look, locale="en-GB")  # type: ignore[arg-type]
    page.goto(url)
    return page


def invitation(driver: Page) -> str:
    """The link in the QR code that a phone scans."""
    driver.get_by_role("tab", name="Invite").click()
    link = driver.get_by_text(re.compile(r"/join\?token=")).inner_text()
    driver.get_by_role("tab", name="Up next").click()
    return link


def joined(browser: Browser, url: str) -> Page:
    """A phone that has joined with its browser, and voted."""
    name, titles = PHONE
    phone = opened(browser, url, "phone", "light")
    phone.get_by_label("Your name").fill(name)
    phone.keyboard.press("Enter")
    for title in titles:
        button = phone.get_by_role("button", name=f"Vote for {title}")
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
    return phone


def main(binary: Path, folder: Path) -> None:
    work = Path(tempfile.mkdtemp())
    with sync_playwright() as playwright, launched(playwright) as browser:
        playlist = readme_music.make(work / "music", browser)
        ride = Ride(binary, work)
        # Silent, so it needs no sound card.
        sound = ("--audio-device", "null/", "--no-shuffle")
        page = ("--web-guests", "--http", "127.0.0.1:0")
        host = ride.host("--library", str(work / "music"), "--playlist", str(playlist), *page, *sound)
        host.program.expect("playback", isPlaying=True, timeout=30)
        queued: set[str] = set()
        guests = {name: ride.guest(name) for name in ("Ana", "Bob", "Leo")}
        for name, title in VOTES:
            vote(guests[name], title, queued)
        driver = opened(browser, host.url, "headunit", "dark")
        phone = joined(browser, invitation(driver))
        expect(driver.locator("#playing")).to_contain_text(PLAYED, timeout=PLAYED_TIMEOUT)
        for page, name in ((driver, "head-unit"), (phone, "phone")):
            settled(page)
            page.screenshot(path=folder / f"{name}.png")
        ride.end()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
