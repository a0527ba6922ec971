# SPDX-License-Identifier: Apache-2.0
"""The header of the page on a phone."""

from __future__ import annotations

import pytest
from conftest import MakeServer, Open, settled
from playwright.sync_api import ViewportSize
from test_showing import CUT_OFF
from views import STATES

PHONES: list[ViewportSize] = [{"width": 390, "height": 844}, {"width": 320, "height": 568}]


@pytest.mark.parametrize("locale", ["en-GB", "de-DE", "fr-FR", "es-ES"])
@pytest.mark.parametrize("phone", PHONES, ids=lambda phone: f"{phone['width']}x{phone['height']}")
def test_the_connection_is_one_line_in_every_state_and_language(
    phone: ViewportSize, locale: str, make_server: MakeServer, open_page: Open
) -> None:
    server = make_server(STATES["host-playing"])
    page = open_page(server, "phone", locale=locale)
    page.set_viewport_size(phone)
    wrong = []
    for name, view in STATES.items():
        if view is None:
            continue
        server.show(view)
        assert server.view
        page.locator(f"#dashboard[data-version='{server.view['version']}']").wait_for()
        settled(page)
        box = page.locator("#state").bounding_box()
        cut = [text for text in page.evaluate(CUT_OFF) if page.locator("#state").filter(has_text=text).count()]
        if not box or box["height"] >= 30 or cut:
            wrong.append((name, box, cut))
    assert wrong == []
