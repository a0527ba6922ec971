# SPDX-License-Identifier: Apache-2.0
"""The page of a co-host has those buttons of the head unit's page that a co-host may use."""

from __future__ import annotations

import pytest
from conftest import MakeServer, Open, answer, posted, shows
from playwright.sync_api import Page, expect
from stand_in import StandIn
from views import ANA, BOB, guest, guest_connected, guest_driving, host_playing


@pytest.fixture
def car(make_server: MakeServer) -> StandIn:
    return make_server(guest_driving())


@pytest.fixture
def page(car: StandIn, open_page: Open) -> Page:
    return open_page(car, "phone")


def test_it_skips_at_once_and_removes(car: StandIn, page: Page) -> None:
    page.get_by_role("button", name="Skip").click()
    assert posted(car) == {"command": "skip"}
    page.get_by_role("button", name="Remove Headlights").click()
    assert posted(car)["command"] == "remove"


def test_it_moves_a_song_with_two_taps(car: StandIn, page: Page) -> None:
    grips = page.locator("#panel-queue .grip")
    expect(grips).to_have_count(8)
    grips.nth(3).click()
    grips.nth(0).click()
    assert posted(car)["position"] == 0


def test_it_votes_as_before(car: StandIn, page: Page) -> None:
    page.locator("#panel-queue button.vote").nth(5).click()
    assert posted(car)["command"] == "vote"


def test_it_sends_a_passenger_away_after_a_question_and_not_itself(car: StandIn, page: Page) -> None:
    page.get_by_role("tab", name="Guests").click()
    expect(page.get_by_role("button", name="Kick Ana")).to_have_count(0)
    page.get_by_role("button", name="Kick Bob").click()
    answer(page, "Really kick Bob?")
    assert posted(car) == {"command": "kick", "peer": BOB["id"]}


def test_a_passenger_has_none_of_it_and_a_driver_loses_it_at_once(car: StandIn, page: Page) -> None:
    car.show(guest_connected())
    expect(page.locator("#panel-queue .grip:visible, #panel-queue .bin:visible")).to_have_count(0)
    expect(page.get_by_role("button", name="Vote to skip (1 of 3)")).to_be_visible()
    page.get_by_role("tab", name="Guests").click()
    expect(page.locator("#panel-guests .out:visible")).to_have_count(0)


def test_a_guest_is_told_that_it_is_a_co_host_and_that_it_is_none_any_more(
    make_server: MakeServer, open_page: Open
) -> None:
    car = make_server(guest_connected())
    page = open_page(car, "phone", clock=True)
    car.show(guest_driving())
    toast = page.locator(".toast")
    expect(toast).to_contain_text("You are a co-host now.")
    expect(toast).to_contain_text("You can skip, move and remove songs, and kick guests.")
    page.clock.fast_forward(13_000)
    expect(toast).to_have_count(0)
    car.show(guest_connected())
    expect(toast).to_contain_text("You are no longer a co-host.")


def test_the_newest_message_about_the_role_replaces_the_one_before(make_server: MakeServer, open_page: Open) -> None:
    car = make_server(guest_connected())
    page = open_page(car, "phone")
    car.show(guest_driving())
    expect(page.locator(".toast")).to_contain_text("You are a co-host now.")
    car.show(guest_connected())
    expect(page.locator(".toast")).to_contain_text("You are no longer a co-host.")
    expect(page.locator(".toast")).to_have_count(1)


def test_on_the_smallest_phone_no_word_of_a_row_is_broken(car: StandIn, page: Page) -> None:
    page.set_viewport_size({"width": 320, "height": 568})
    row = page.locator("#panel-queue .song").first
    heights = row.evaluate(
        "row => ['.title', '.wish'].map(part => row.querySelector(part)).map(text => text.getBoundingClientRect().height"
        " / parseFloat(getComputedStyle(text).fontSize))"
    )
    # A line is at most 1.5 times as high as its letters: "Headlights" has one, and "Vote counted" two.
    assert heights[0] < 1.6 and heights[1] < 3.1, heights


def test_a_co_host_that_loads_its_page_again_is_not_told_again(car: StandIn, page: Page) -> None:
    page.reload()
    shows(page, car)
    expect(page.locator(".toast")).to_have_count(0)


def test_the_head_unit_makes_a_guest_a_co_host_after_a_question_and_takes_it_back(
    make_server: MakeServer, open_page: Open
) -> None:
    car = make_server(host_playing())
    page = open_page(car)
    page.get_by_role("tab", name="Guests").click()
    button = page.get_by_role("button", name="Make Ana a co-host")
    expect(button).to_have_text("Make co-host")
    button.click()
    expect(page.locator(".question")).to_have_text(
        "Really make Ana a co-host? Ana can skip, move and remove songs, and kick guests. Tap again to confirm."
    )
    answer(page, "Really make Ana a co-host?")
    assert posted(car) == {"command": "driver", "peer": ANA["id"]}
    car.show(host_playing(guests=[guest(ANA, -52, isDriver=True)]))
    expect(page.locator("#panel-guests .person-row").first).to_contain_text("Co-host")
    page.get_by_role("button", name="End co-host").click()
    assert posted(car) == {"command": "passenger", "peer": ANA["id"]}


@pytest.mark.parametrize(
    ("choice", "command"),
    [
        ("For 1 hour", {"command": "ban", "peer": BOB["id"], "span": "1h"}),
        ("For 1 day", {"command": "ban", "peer": BOB["id"], "span": "24h"}),
        ("For 1 week", {"command": "ban", "peer": BOB["id"], "span": "7d"}),
        ("Until you unban Bob", {"command": "ban", "peer": BOB["id"]}),
        ("Cancel", None),
    ],
)
def test_a_guest_is_banned_for_as_long_as_the_driver_chooses(
    make_server: MakeServer, open_page: Open, choice: str, command: dict[str, str] | None
) -> None:
    car = make_server(host_playing())
    page = open_page(car, "phone")
    page.get_by_role("tab", name="Guests").click()
    page.get_by_role("button", name="Ban Bob").click()
    dialog = page.get_by_role("dialog", name="Ban Bob")
    dialog.get_by_role("button", name=choice).click()
    expect(dialog).to_have_count(0)
    if command:
        assert posted(car) == command
    assert car.commands.empty()
