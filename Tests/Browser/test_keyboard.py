# SPDX-License-Identifier: Apache-2.0
"""Keys and tooltips for people at a desk."""

from __future__ import annotations

import pytest
from conftest import MakeServer, Open, posted
from playwright.sync_api import expect
from views import STATES, guest_connected, host_playing


def test_the_space_bar_pauses_and_plays(make_server: MakeServer, open_page: Open) -> None:
    car = make_server(host_playing())
    page = open_page(car)
    page.keyboard.press("Space")
    assert posted(car) == {"command": "pause"}
    car.show(host_playing(isPlaying=False))
    page.get_by_role("button", name="Play", exact=True).wait_for()
    page.keyboard.press("Space")
    assert posted(car) == {"command": "play"}


def test_the_space_bar_pauses_in_the_driving_view(make_server: MakeServer, open_page: Open) -> None:
    car = make_server(host_playing())
    page = open_page(car)
    page.get_by_role("button", name="Driving view").click()
    page.locator("#driving:visible").wait_for()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Space")
    assert posted(car) == {"command": "pause"}


def test_space_on_a_button_is_for_that_button_and_in_a_search_is_a_letter(
    make_server: MakeServer, open_page: Open
) -> None:
    car = make_server(host_playing())
    page = open_page(car)
    page.get_by_role("button", name="Skip").focus()
    page.keyboard.press("Space")
    assert posted(car) == {"command": "skip"}
    page.get_by_role("tab", name="Add").click()
    page.get_by_label("Search for songs").press_sequentially("a b/")
    expect(page.get_by_label("Search for songs")).to_have_value("a b/")
    assert car.commands.empty()


@pytest.mark.parametrize("role", ["host", "guest"])
def test_a_slash_opens_the_search(role: str, make_server: MakeServer, open_page: Open) -> None:
    page = open_page(make_server(host_playing() if role == "host" else guest_connected()))
    page.keyboard.press("/")
    expect(page.get_by_label("Search for songs")).to_be_focused()
    page.keyboard.type("headlights")
    expect(page.get_by_text("1 song found.")).to_be_visible()


def test_the_space_bar_of_a_guest_and_keys_with_control_do_nothing(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(guest_connected())
    page = open_page(server)
    page.keyboard.press("Space")
    page.keyboard.press("Control+/")
    expect(page.get_by_label("Search for songs")).to_be_hidden()
    assert server.commands.empty()


@pytest.mark.parametrize("state", ["host-playing", "guest-connected", "guest-driving", "guest-choosing"])
def test_every_button_that_is_a_picture_says_what_it_does_on_pointing_at_it(
    state: str, make_server: MakeServer, open_page: Open
) -> None:
    page = open_page(make_server(STATES[state]), "phone")
    silent = []
    for tab in page.get_by_role("tab").all() or [None]:
        if tab:
            tab.click()
        silent += page.locator("button:visible").evaluate_all(
            "all => all.filter(b => !b.title && !(b.innerText ?? '').trim()).map(b => b.outerHTML.slice(0, 120))"
        )
    assert silent == []
