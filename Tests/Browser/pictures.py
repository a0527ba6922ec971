# SPDX-License-Identifier: Apache-2.0
"""Takes pictures of every state for a designer: pictures.py FOLDER [WORD-OF-THE-NAME…]."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from conftest import SCREENS, launched, settled
from opened import OPENED
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright
from stand_in import StandIn
from views import PICTURED

# The screens, the smallest phone, and a phone with its keyboard open.
SIZES: dict[str, ViewportSize] = {
    **SCREENS, "tiny": {"width": 320, "height": 568}, "keyboard": {"width": 390, "height": 506}
}

# Further lists to show.
TABS = {
    "host-playing": ["search", "guests", "invitation"],
    "host-empty": ["search"],
    "host-inviting": ["invitation"],
    "host-relays": ["guests"],
    "host-convoy": ["guests"],
    "web-guest-relays": ["guests"],
    "guest-connected": ["search", "guests"],
    "guest-behind-relays": ["guests"],
    "guest-relaying": ["guests"],
}
# The driver's lists to show.
DRIVEN = ["host-playing", "host-paused", "host-silent", "host-trouble"]


LOOKS = {"day": "light", "night": "dark"}
LANGUAGES = {"en": "en-GB", "de": "de-DE"}
# A look and a language. EVERY has each language in both looks, ONCE has each look and each language once.
Way = tuple[tuple[str, str], tuple[str, str]]
EVERY: list[Way] = list(itertools.product(LOOKS.items(), LANGUAGES.items()))
ONCE: list[Way] = list(zip(LOOKS.items(), LANGUAGES.items(), strict=True))


def picture(page: Page, path: Path) -> Path:
    settled(page)
    page.screenshot(path=path)
    return path


def take(browser: Browser, folder: Path, words: list[str], screens: list[str], ways: list[Way] = EVERY) -> list[Path]:
    """Every state with one of these words in its name, or all states, in these looks and languages."""
    folder.mkdir(parents=True, exist_ok=True)
    states = {name: view for name, view in PICTURED.items() if not words or any(word in name for word in words)}
    taken: list[Path] = []
    for screen, ((look, scheme), (language, locale)) in itertools.product(screens, ways):
        context = browser.new_context(  # type: ignore[call-overload]
            viewport=SIZES[screen], color_scheme=scheme, locale=locale, service_workers="block"
        )
        stand_in = StandIn(None)
        page = context.new_page()
        for state, view in states.items():
            stand_in.show(view)
            # One page shows all states one after another. If no guest has joined yet, it must join first.
            if view is None or page.locator("#dashboard[data-version]").count() == 0:
                page.goto(stand_in.url)
            taken += pictures_of(page, stand_in, folder / f"{state}-{screen}-{look}-{language}", state)
        context.close()
        stand_in.close()
    return taken


def pictures_of(page: Page, stand_in: StandIn, path: Path, state: str) -> list[Path]:
    """A state's first list, the further lists, and the driver's parts of it."""
    if stand_in.view:
        page.locator(f"#dashboard[data-version='{stand_in.view['version']}']").wait_for()
        page.locator("#tab-queue").click()
    taken = [picture(page, path.with_name(f"{path.name}.png"))]
    for tab in TABS.get(state, []):
        page.locator(f"#tab-{tab}").click()
        if tab == "search" and state != "host-empty":
            page.locator("#words").fill("the")
            page.locator("#panel-search .song").first.wait_for()
        taken.append(picture(page, path.with_name(f"{path.name}-{tab}.png")))
        if tab == "search" and state != "host-empty":
            # Small screens show no lists while words are searched.
            page.locator("#words").fill("")
            page.locator("#panel-search [data-control=artists]").click()
            page.locator("#panel-search .group").first.wait_for()
            taken.append(picture(page, path.with_name(f"{path.name}-artists.png")))
    for name, (open_it, close_it) in OPENED.get(state, {}).items():
        open_it(page)
        taken.append(picture(page, path.with_name(f"{path.name}-{name}.png")))
        close_it(page)
    if state in DRIVEN:
        page.locator("#header-buttons [data-control=drive]").click()
        page.locator(".drive.like:enabled").wait_for()
        taken.append(path.with_name(f"{path.name}-driving.png"))
        page.screenshot(path=taken[-1])
        page.locator("#driving [data-control=back]").click()
        page.locator("#dashboard:visible").wait_for()
    return taken


def main(folder: Path, words: list[str]) -> None:
    with sync_playwright() as playwright, launched(playwright) as browser:
        take(browser, folder, words, list(SIZES))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
