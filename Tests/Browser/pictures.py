# SPDX-License-Identifier: Apache-2.0
"""Takes pictures of every state, as a designer looks at them: pictures.py FOLDER [WORD-OF-THE-NAME…]."""

from __future__ import annotations

import sys
from pathlib import Path

from conftest import SCREENS, launched, settled
from playwright.sync_api import Browser, Page, sync_playwright
from stand_in import StandIn
from views import STATES

# Lists that are looked at besides the first.
TABS = {
    "host-playing": ["Add", "Guests", "Invite"],
    "host-empty": ["Add"],
    "host-relays": ["Guests"],
    "host-convoy": ["Guests"],
    "web-guest-relays": ["Guests"],
    "guest-connected": ["Search", "Guests"],
    "guest-behind-relays": ["Guests"],
    "guest-relaying": ["Guests"],
}


def picture(page: Page, path: Path) -> None:
    settled(page)
    page.screenshot(path=path)


def take(browser: Browser, folder: Path, words: list[str]) -> list[Path]:
    """Every state that has one of these words in its name, or all of them, at both sizes by day and night."""
    folder.mkdir(parents=True, exist_ok=True)
    taken: list[Path] = []
    for state, view in STATES.items():
        if words and not any(word in state for word in words):
            continue
        stand_in = StandIn(view)
        for (screen, size), look in ((screen, look) for screen in SCREENS.items() for look in ("light", "dark")):
            page = browser.new_page(viewport=size, color_scheme=look)  # type: ignore[arg-type]
            page.goto(stand_in.url)
            name = f"{state}-{screen}-{'night' if look == 'dark' else 'day'}"
            taken.append(folder / f"{name}.png")
            picture(page, taken[-1])
            for tab in TABS.get(state, []):
                page.get_by_role("tab", name=tab).click()
                if tab in ("Add", "Search") and state != "host-empty":
                    page.get_by_label("Search for songs").fill("the")
                    page.get_by_text("songs found").wait_for()
                taken.append(folder / f"{name}-{tab.lower()}.png")
                picture(page, taken[-1])
            page.close()
        stand_in.close()
    return taken


def main(folder: Path, words: list[str]) -> None:
    with sync_playwright() as playwright, launched(playwright) as browser:
        take(browser, folder, words)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
