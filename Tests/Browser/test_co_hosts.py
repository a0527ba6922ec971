# SPDX-License-Identifier: Apache-2.0
"""A passenger whose device steers: its page has what the head unit's has, where it may."""

from __future__ import annotations

import pytest
from conftest import MakeServer, Open, answer, posted
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


def test_the_head_unit_lets_a_guest_steer_and_takes_it_back(make_server: MakeServer, open_page: Open) -> None:
    car = make_server(host_playing())
    page = open_page(car)
    page.get_by_role("tab", name="Guests").click()
    button = page.get_by_role("button", name="Let Ana steer")
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    assert posted(car) == {"command": "driver", "peer": ANA["id"]}
    car.show(host_playing(guests=[guest(ANA, -52, isDriver=True)]))
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#panel-guests .person-row").first).to_contain_text("Driver")
    button.click()
    assert posted(car) == {"command": "passenger", "peer": ANA["id"]}
