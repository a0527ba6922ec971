# SPDX-License-Identifier: Apache-2.0
"""Relays: the head unit's page draws the tree of guests, and a guest's page shows its relay."""

from __future__ import annotations

import pytest
from conftest import MakeServer, Open, answer, settled, shows
from playwright.sync_api import Locator, Page, ViewportSize, expect
from test_showing import too_large
from views import (
    HOSTILE,
    STATES,
    guest_behind_relays,
    guest_choosing,
    guest_connected,
    heard,
    host_playing,
    host_with_convoy,
    host_with_relays,
    relay_connected,
)

# A head unit of seven inches, the smallest head units, and a phone.
SIZES = [
    ViewportSize(width=1024, height=600),
    ViewportSize(width=800, height=480),
    ViewportSize(width=390, height=844),
    ViewportSize(width=360, height=640),
]

WITH_RELAYS = ["host-relays", "host-convoy", "guest-behind-relays", "guest-relaying", "web-guest-relays"]


def guests(page: Page) -> Locator:
    page.get_by_role("tab", name="Guests").click()
    settled(page)
    return page.locator("#panel-guests .people .person-row")


def depths(page: Page) -> list[float]:
    """The depth of each guest in the tree: the number of branches between its face and the host's."""
    distances: list[float] = page.evaluate(
        "() => { const left = (e) => e.getBoundingClientRect().left;"
        " const all = [...document.querySelectorAll('#panel-guests .face')].filter(face => face.checkVisibility());"
        " const branch = document.querySelector('#panel-guests .branch').offsetWidth;"
        " return all.map(face => (left(face) - left(all[0])) / branch); }"
    )
    return [round(distance, 1) for distance in distances]


def test_a_host_sees_who_hangs_on_whom_how_far_and_what_a_relay_carries(
    make_server: MakeServer, open_page: Open
) -> None:
    page = open_page(make_server(host_with_relays()))
    rows = guests(page)
    expect(page.locator("#panel-guests .root")).to_contain_text("4 of 7 guests through relays, up to 2 hops")
    # The host, and below it each guest behind its relay.
    assert depths(page) == [0, 1, 1, 2, 2, 3, 3, 1]
    expect(rows.nth(0)).not_to_contain_text("hop", use_inner_text=True)
    expect(rows.nth(1)).to_contain_text("Relay for 4 guests")
    expect(rows.nth(1)).to_contain_text("\N{MINUS SIGN}71 dBm")
    expect(rows.nth(3)).to_contain_text("Row 16")
    expect(rows.nth(3)).to_contain_text("1 hop")
    expect(rows.nth(4)).to_contain_text("118 ms")
    expect(rows.nth(4)).to_contain_text("2 hops")
    # A person who cannot see the lines gets the same information.
    expect(rows.nth(4).locator(".unseen")).to_have_text("through Row 16")
    expect(rows.nth(4).locator(".branches")).to_have_attribute("aria-hidden", "true")


def test_lines_lead_from_each_relay_to_the_last_that_hangs_on_it(make_server: MakeServer, open_page: Open) -> None:
    page = open_page(make_server(host_with_relays()))
    guests(page)
    drawn = page.locator("#panel-guests .person-row:not(.root)").evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('.branch')].map(branch => branch.className.slice(7)).join())"
    )
    assert drawn == ["tee", "tee", "on,tee", "on,end", "on,gap,tee", "on,gap,end", "end"]
    # Lines continue from row to row without a gap.
    edges = page.locator("#panel-guests .person-row:not(.root)").evaluate_all(
        "rows => rows.map(row => [row, row.querySelector('.branch')].map(e => {"
        " const { top, bottom } = e.getBoundingClientRect(); return [top, bottom]; }))"
    )
    assert all(row == pytest.approx(branch, abs=0.6) for row, branch in edges)


def test_a_car_without_relays_is_a_list_as_ever(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(host_playing())
    page = open_page(server)
    rows = guests(page)
    expect(rows).to_have_count(4)
    expect(page.locator("#panel-guests .root")).to_be_hidden()
    expect(page.locator("#panel-guests .branches:visible")).to_have_count(0)
    expect(page.locator("#panel-guests")).not_to_contain_text("hop", use_inner_text=True)
    # The tree appears with the first guest that has joined through a relay, and disappears with the last.
    server.show(host_with_relays())
    expect(page.locator("#panel-guests .root")).to_be_visible()
    server.show(host_playing())
    expect(page.locator("#panel-guests .root")).to_be_hidden()
    expect(page.locator("#panel-guests .branches:visible")).to_have_count(0)


def test_a_guest_is_told_through_whom_it_is_joined(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(guest_behind_relays())
    page = open_page(server)
    expect(page.locator("#state")).to_have_text("Connectedthrough Row 16\N{MINUS SIGN}64 dBm")
    me = guests(page).filter(has_text="(you)")
    expect(me).to_contain_text("through Row 16")
    expect(me).to_contain_text("2 hops")
    # A guest does not know the routes of other guests, so its page draws no tree.
    expect(page.locator("#panel-guests .root")).to_be_hidden()
    server.show(guest_connected())
    expect(page.locator("#state .way")).to_be_hidden()
    server.show(guest_behind_relays(connection="reconnecting", attempt=1, isStale=True))
    expect(page.locator("#state .way")).to_be_hidden()


def test_a_relay_sees_who_is_joined_through_it(make_server: MakeServer, open_page: Open) -> None:
    page = open_page(make_server(relay_connected()))
    rows = guests(page)
    expect(rows.nth(1)).to_contain_text("Relay for 2 guests")
    expect(rows.nth(2)).to_contain_text("through you")


def test_a_relay_that_is_not_there_is_named_by_its_digits_and_names_are_text(
    make_server: MakeServer, open_page: Open
) -> None:
    page = open_page(make_server(host_with_convoy()))
    rows = guests(page)
    bob = rows.filter(has_text="Bob")
    expect(bob).to_contain_text("through relay 0badf00d", use_inner_text=True)
    expect(page.get_by_text(HOSTILE["script"]).first).to_be_visible()
    expect(page).to_have_title("RoadMesh")
    # Guests beyond the last level are drawn below it, with their distance and their relay.
    assert max(depths(page)) == 4
    expect(rows.nth(9)).to_contain_text("9 hops")
    expect(rows.nth(9)).to_contain_text("through Car 8", use_inner_text=True)


def test_kicking_a_relay_says_that_others_hang_on_it(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(host_with_relays())
    page = open_page(server)
    kick = guests(page).nth(1).get_by_role("button", name="Kick Row 8")
    kick.click()
    expect(page.locator(".question")).to_contain_text("Guests that are connected through it look for another route.")
    answer(page, "Really kick Row 8?")
    assert server.commands.get(timeout=10)["command"] == "kick"


def test_on_a_phone_the_button_with_the_actions_on_a_guest_has_its_dots(
    make_server: MakeServer, open_page: Open
) -> None:
    page = open_page(make_server(host_with_relays()), "phone")
    more = guests(page).nth(1).get_by_role("button", name="What to do with Row 8")
    expect(more.locator(".icon")).to_be_visible()


def test_a_host_that_only_relays_lead_to_says_so_where_one_is_chosen(make_server: MakeServer, open_page: Open) -> None:
    relays = [{"id": "9b1f0c44", "hops": 2, "room": True, "rssi": -71}]
    far = heard({"id": "51c0de", "name": "The Blue Van"}, None, hops=2, relays=relays)
    server = make_server(guest_choosing(hosts=[far]))
    page = open_page(server)
    row = page.get_by_role("region", name="Choose a host").locator(".person-row")
    expect(row).to_contain_text("\N{MINUS SIGN}71 dBm")
    expect(row).to_contain_text("through a relay, 2 hops")
    server.show(guest_choosing())
    shows(page, server)
    expect(page.locator("#choosing")).not_to_contain_text("relay", use_inner_text=True)


@pytest.mark.parametrize("state", WITH_RELAYS)
def test_the_tree_fits_every_screen(make_server: MakeServer, open_page: Open, state: str) -> None:
    page = open_page(make_server(STATES[state]))
    for size in SIZES:
        page.set_viewport_size(size)
        settled(page)
        assert_tree_fits(page)


def assert_tree_fits(page: Page) -> None:
    assert too_large(page) == [], page.viewport_size
    for row in guests(page).all():
        # No word lies under another or under the button, and each button can be tapped.
        overlaps = row.evaluate(
            "row => { const boxes = [...row.querySelectorAll('.title, .details > *:not(.unseen), .out')]"
            ".filter(e => e.checkVisibility()).map(e => e.getBoundingClientRect());"
            " return boxes.some((a, i) => boxes.some((b, j) => i < j && a.left < b.right - 1 && b.left < a.right - 1"
            " && a.top < b.bottom - 1 && b.top < a.bottom - 1)) || boxes.some(b => b.right > innerWidth); }"
        )
        assert not overlaps, row.inner_text()
        # Bars and names have enough space.
        assert row.locator(".details").evaluate("d => d.scrollWidth <= d.clientWidth + 1")
    for button in page.locator("#panel-guests .out:visible").all():
        box = button.bounding_box()
        assert box and min(box["width"], box["height"]) >= 48
