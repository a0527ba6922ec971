# SPDX-License-Identifier: Apache-2.0
"""How long a person takes for what a test does on a page, by the keystroke-level model (Card, Moran and Newell, 1980)."""

from __future__ import annotations

from playwright.sync_api import Page

# Seconds to think of the next action, to tap a visible target, and to press a key on a phone.
THINKS, TAPS, PRESSES = 1.35, 1.1, 0.28

_COUNT = """() => {
    window.person = {taps: 0, keys: 0}
    addEventListener('pointerdown', () => { person.taps += 1 }, true)
    addEventListener('keydown', () => { person.keys += 1 }, true)
}"""


class Person:
    """Counts the taps and the pressed keys on a page from now on."""

    def __init__(self, page: Page) -> None:
        self._page = page
        page.evaluate(_COUNT)

    @property
    def taps(self) -> int:
        return int(self._page.evaluate("person.taps"))

    @property
    def keys(self) -> int:
        return int(self._page.evaluate("person.keys"))

    @property
    def seconds(self) -> float:
        """The time of the person, who thinks before each tap and before the first key."""
        thinks = self.taps + (1 if self.keys else 0)
        return thinks * THINKS + self.taps * TAPS + self.keys * PRESSES
