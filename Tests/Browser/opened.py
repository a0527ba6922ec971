# SPDX-License-Identifier: Apache-2.0
"""What a tap opens in a state: a dialog, a question, a menu. Each is opened for a picture and closed again."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

Step = Callable[[Page], None]


def _tap(selector: str, tab: str = "queue") -> Step:
    def act(page: Page) -> None:
        page.locator(f"#tab-{tab}").click()
        target = page.locator(selector).first
        # A narrow screen shows the buttons of a guest in the tree behind one button.
        target.scroll_into_view_if_needed()
        target.click()

    return act


def _escape(page: Page) -> None:
    page.keyboard.press("Escape")


def _answer_no(page: Page) -> None:
    """A tap elsewhere takes a question back."""
    page.locator("#title").click()


def _open_artist(page: Page) -> None:
    page.locator("#tab-search").click()
    page.locator("#words").fill("")
    page.locator("#panel-search [data-control=artists]").click()
    page.locator("#panel-search [data-control=open]").first.click()
    page.locator("#panel-search .song .title").first.wait_for()


def _close_artist(page: Page) -> None:
    page.locator("#panel-search [data-control=back]").click()


def _play_all(page: Page) -> None:
    _open_artist(page)
    page.locator("[data-control=playAll]").click()


def _close_play_all(page: Page) -> None:
    _escape(page)
    _close_artist(page)


# For each state: the name of the picture, what opens it, and what closes it.
OPENED: dict[str, dict[str, tuple[Step, Step]]] = {
    "host-playing": {
        "voters": (_tap("#panel-queue .song .title"), _escape),
        "ban": (_tap("#panel-guests [data-control=ban]", "guests"), _escape),
        "co-host": (_tap("#panel-guests [data-control=steers]", "guests"), _answer_no),
        "end": (_tap("#header-buttons [data-control=end]"), _answer_no),
        "playlist": (_tap("#panel-search [data-control=playlist]", "search"), _escape),
        "artist": (_open_artist, _close_artist),
        "play-all": (_play_all, _close_play_all),
    },
    "host-inviting": {"code": (_tap("#panel-invitation .picture", "invitation"), _escape)},
    "host-pinned": {"bans": (_tap("#tab-guests", "queue"), _tap("#tab-queue"))},
    "guest-connected": {
        "voters": (_tap("#panel-queue .song .title"), _escape),
        "leave": (_tap("#header-buttons [data-control=leave]"), _answer_no),
        "artist": (_open_artist, _close_artist),
    },
}
