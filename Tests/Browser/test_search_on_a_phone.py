# SPDX-License-Identifier: Apache-2.0
"""Searches on a phone: the results are visible, even above the keyboard."""

from __future__ import annotations

from time import monotonic

import pytest
from conftest import MakeServer, Open
from person import Person
from playwright.sync_api import Page, ViewportSize, expect
from ride import Ride
from views import guest_connected, host_playing

# A keyboard takes two fifths of a phone's height.
KEYBOARD = 0.4
PHONES: list[ViewportSize] = [{"width": 390, "height": 844}, {"width": 320, "height": 568}]

# Number of result rows that are completely visible.
IN_VIEW = """() => [...document.querySelectorAll('#panel-search .songs .song')].filter(row => {
    const { top, bottom } = row.getBoundingClientRect();
    const list = document.querySelector('#panel-search').getBoundingClientRect();
    const form = document.querySelector('.search').getBoundingClientRect();
    return top >= Math.max(list.top, form.bottom) - 1 && bottom <= Math.min(list.bottom, innerHeight) + 1;
}).length"""


def search(page: Page) -> None:
    page.get_by_role("tab", name="Search").or_(page.get_by_role("tab", name="Add")).click()
    page.get_by_role("searchbox").fill("o")
    expect(page.locator("#panel-search .song").first).to_be_visible()


@pytest.mark.parametrize("role", ["host", "guest"])
@pytest.mark.parametrize("phone", PHONES, ids=lambda phone: f"{phone['width']}x{phone['height']}")
@pytest.mark.parametrize("has_keyboard", [False, True], ids=["", "keyboard"])
def test_what_was_found_is_in_view(
    make_server: MakeServer, open_page: Open, role: str, phone: ViewportSize, has_keyboard: bool
) -> None:
    server = make_server(host_playing() if role == "host" else guest_connected())
    page = open_page(server, "phone")
    height = int(phone["height"] * (1 - KEYBOARD)) if has_keyboard else phone["height"]
    page.set_viewport_size({"width": phone["width"], "height": height})
    search(page)
    assert page.evaluate(IN_VIEW) >= (2 if height > 350 else 1)
    # The current song takes one line, and more again with the queue.
    assert (page.locator("#playing").bounding_box() or {"height": 0})["height"] < 50
    page.get_by_role("tab", name="Up next").click()
    assert (page.locator("#playing").bounding_box() or {"height": 0})["height"] > 100


def test_a_passenger_finds_and_suggests_a_song_above_the_keyboard(
    ride: Ride, open_page: Open, measured: list[str]
) -> None:
    host, ana = ride.host(), ride.guest("Ana")
    host.program.say("remove s5")
    page = open_page(ana, "phone")
    page.set_viewport_size({"width": 390, "height": int(844 * (1 - KEYBOARD))})
    person, began = Person(page), monotonic()
    page.get_by_role("tab", name="Search").click()
    page.get_by_role("searchbox").press_sequentially("are")
    add = page.locator("#panel-search").get_by_role("button", name="Suggest Are We There Yet")
    expect(add).to_be_in_viewport()
    add.click()
    host.program.expect("intent", kind="suggestSong")
    machine = monotonic() - began
    measured.append(
        f"a passenger suggests a song above the keyboard: {person.taps} taps, {person.keys} keys, {person.seconds:.1f} s of a"
        f" person, {machine:.1f} s of this machine; limit 30 s"
    )
    assert person.taps == 2 and person.keys == 3 and person.seconds + machine < 30.0
