# SPDX-License-Identifier: Apache-2.0
"""The header of the page on a phone."""

from __future__ import annotations

import pytest
from conftest import MakeServer, Open, settled
from views import STATES


@pytest.mark.parametrize("state", ["web-guest", "guest-connected", "guest-looking", "guest-choosing"])
@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
def test_a_short_connection_state_is_one_line(
    state: str, locale: str, make_server: MakeServer, open_page: Open
) -> None:
    page = open_page(make_server(STATES[state]), "phone", locale=locale)
    settled(page)
    box = page.locator("#state").bounding_box()
    assert box and box["height"] < 30, box
