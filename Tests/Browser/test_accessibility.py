# SPDX-License-Identifier: Apache-2.0
"""axe-core finds no faults in any state, by day or by night."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from conftest import SCREENS, MakeServer, Open, settled
from pictures import LOOKS
from playwright.sync_api import Page
from views import STATES

# Colours depend on the look, and positions on the screen.
SEEN = [("small", LOOKS["day"]), ("small", LOOKS["night"]), ("phone", LOOKS["day"])]


def findings(page: Page) -> list[str]:
    results: dict[str, Any] = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{found['id']} ({found['impact']}): {node['html'][:160]}"
        for found in results["violations"]
        for node in found["nodes"]
    ]


@pytest.mark.parametrize("state", STATES)
def test_nothing_keeps_anybody_out(make_server: MakeServer, open_page: Open, state: str) -> None:
    page = open_page(make_server(STATES[state]))
    page.evaluate(AXE_SCRIPT)
    for screen, look in SEEN:
        page.set_viewport_size(SCREENS[screen])
        page.emulate_media(color_scheme=look)  # type: ignore[arg-type]
        for tab in page.get_by_role("tab").all() or [None]:
            if tab:
                tab.click()
            settled(page)
            assert findings(page) == [], (screen, look)
