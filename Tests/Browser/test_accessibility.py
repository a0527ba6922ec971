# SPDX-License-Identifier: Apache-2.0
"""What axe-core finds: nothing, in any state, by day and by night."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from conftest import MakeServer, Open, settled
from playwright.sync_api import Page
from views import STATES


def findings(page: Page) -> list[str]:
    results: dict[str, Any] = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{found['id']} ({found['impact']}): {node['html'][:160]}"
        for found in results["violations"]
        for node in found["nodes"]
    ]


@pytest.mark.parametrize("look", ["light", "dark"])
@pytest.mark.parametrize("screen", ["small", "phone"])
@pytest.mark.parametrize("state", STATES)
def test_nothing_keeps_anybody_out(
    make_server: MakeServer, open_page: Open, state: str, screen: str, look: str
) -> None:
    page = open_page(make_server(STATES[state]), screen, color_scheme=look)
    page.evaluate(AXE_SCRIPT)
    assert findings(page) == []
    for tab in page.get_by_role("tab").all()[1:]:
        tab.click()
        settled(page)
        assert findings(page) == []
