# SPDX-License-Identifier: Apache-2.0
"""The box goes out of reach and comes back: what a person sees meanwhile, and what becomes of what they tapped."""

from __future__ import annotations

import re

import pytest
from conftest import MakeBox, Open, answer, settled, shows
from playwright.sync_api import Page, expect
from stand_in import StandIn
from views import guest_connected, host_playing, item, web_guest

SILENCE = 12_000
RETRY = 10_000
# Between two attempts of the page's own.
LONGEST_PAUSE = 5_000


@pytest.fixture
def box(make_box: MakeBox) -> StandIn:
    return make_box(web_guest(queue=[item(number) for number in range(1, 9)]))


def test_a_box_out_of_reach_is_a_banner_that_offers_a_tap_after_ten_seconds(box: StandIn, open_page: Open) -> None:
    page = open_page(box, clock=True)
    assert box.connections.get(timeout=10) == 0
    box.cut()
    banner = page.get_by_role("status", name="Connection")
    expect(banner).to_contain_text("Box Out of Reach")
    expect(banner).to_contain_text("Trying to reconnect…")
    expect(page.get_by_text("Last known queue")).to_be_visible()
    expect(banner.get_by_role("button")).to_have_count(0)
    page.clock.fast_forward(RETRY)
    expect(banner.get_by_role("button", name="Retry")).to_be_visible()
    # The page's time stands when its next attempt has failed: nothing but the tap finds the box again.
    with page.expect_event("requestfailed"):
        page.clock.pause_at(page.evaluate("Date.now()") + LONGEST_PAUSE)
    box.mend()
    banner.get_by_role("button", name="Retry").click()
    assert box.connections.get(timeout=10) == 0
    page.clock.resume()
    expect(banner.locator(".notice")).to_have_count(0)
    expect(page.get_by_text("Last known queue")).to_be_hidden()


def test_the_page_is_back_by_itself(box: StandIn, open_page: Open) -> None:
    page = open_page(box)
    box.cut()
    expect(page.locator(".banner")).to_be_visible()
    box.mend()
    expect(page.locator(".banner")).to_have_count(0)


def test_a_connection_that_has_fallen_silent_is_made_anew(box: StandIn, open_page: Open) -> None:
    page = open_page(box, clock=True)
    assert box.connections.get(timeout=10) == 0
    box.fall_silent()
    page.clock.fast_forward(SILENCE + 8_000)
    # It has asked for a new connection, since nothing came over the old one.
    assert box.connections.get(timeout=10) == 0


def assert_one_vote_is_sent(box: StandIn, page: Page) -> None:
    """The box is back, and the vote for Headlights is sent once."""
    box.mend()
    assert box.commands.get(timeout=20) == {"command": "vote", "songID": "s1"}
    box.show(web_guest(queue=[item(1, mine=True), item(3)]))
    expect(page.locator(".song").filter(has_text="Headlights")).not_to_contain_text("Vote kept", use_inner_text=True)
    # Nothing waits any more, so that what has been sent is all that ever is.
    assert page.evaluate("localStorage.getItem('roadmesh.taps')") is None
    assert list(box.commands.queue) == []


def test_a_vote_out_of_reach_is_kept_shown_as_kept_and_sent_when_the_box_is_back(box: StandIn, open_page: Open) -> None:
    page = open_page(box)
    box.cut()
    expect(page.locator(".banner")).to_be_visible()
    page.get_by_role("button", name="Vote for Headlights").click()
    page.get_by_role("button", name="Vote for Windows Down").click()
    song = page.locator(".song").filter(has_text="Headlights")
    expect(song).to_contain_text("Vote kept")
    expect(page.get_by_role("button", name="Vote for Headlights")).to_have_attribute("aria-pressed", "true")
    # One vote is taken back before anybody has heard of it: once it is seen, since a tap is for what the button shows.
    second = page.get_by_role("button", name="Vote for Windows Down")
    expect(second).to_have_attribute("aria-pressed", "true")
    second.click()
    expect(second).to_have_attribute("aria-pressed", "false")
    assert_one_vote_is_sent(box, page)


def test_a_vote_tapped_again_before_it_is_seen_is_still_wanted_and_sent_once(box: StandIn, open_page: Open) -> None:
    page = open_page(box)
    box.cut()
    expect(page.locator(".banner")).to_be_visible()
    vote = page.get_by_role("button", name="Vote for Headlights")
    # Nothing is drawn between the two: both are for a button that shows no vote.
    vote.evaluate("button => { button.click(); button.click(); }")
    song = page.locator(".song").filter(has_text="Headlights")
    expect(song).to_contain_text("Vote kept")
    expect(vote).to_have_attribute("aria-pressed", "true")
    assert_one_vote_is_sent(box, page)


def test_a_vote_is_kept_when_the_browser_is_closed_too(box: StandIn, open_page: Open) -> None:
    page = open_page(box)
    box.cut()
    expect(page.locator(".banner")).to_be_visible()
    page.get_by_role("button", name="Vote for Headlights").click()
    expect(page.locator(".song").filter(has_text="Headlights")).to_contain_text("Vote kept")
    context = page.context
    page.close()
    box.mend()
    context.new_page().goto(box.url)
    assert box.commands.get(timeout=20) == {"command": "vote", "songID": "s1"}


def test_only_so_many_votes_are_kept_and_a_person_is_told(make_box: MakeBox, open_page: Open) -> None:
    box = make_box(web_guest())
    page = open_page(box)
    box.cut()
    expect(page.locator(".banner")).to_be_visible()
    page.evaluate(
        "() => localStorage.setItem('roadmesh.taps', JSON.stringify(Array.from({length: 64},"
        " (_, i) => ({command: 'vote', songID: `x${i}`, title: null}))))"
    )
    page.get_by_role("button", name="Vote for Are We There Yet").click()
    expect(page.locator("#toasts")).to_contain_text("No more votes can be kept here.")


def test_a_vote_that_the_box_takes_too_often_is_sent_again_and_one_that_it_refuses_is_not(
    box: StandIn, open_page: Open
) -> None:
    page = open_page(box)
    box.answers["vote"] = (429, {"message": "Too often."})
    page.get_by_role("button", name="Vote for Headlights").click()
    assert box.commands.get(timeout=10)["songID"] == "s1"
    box.answers["vote"] = (400, {"message": "There is no such song."})
    assert box.commands.get(timeout=10)["songID"] == "s1"
    expect(page.locator("#toasts")).to_contain_text("There is no such song.")
    expect(page.locator(".song").filter(has_text="Headlights")).not_to_contain_text("Vote kept", use_inner_text=True)
    assert box.commands.empty()


def test_a_host_is_told_that_a_tap_did_nothing(make_box: MakeBox, open_page: Open) -> None:
    box = make_box(host_playing())
    page = open_page(box)
    box.cut()
    page.get_by_role("button", name="Skip").click()
    expect(page.locator("#toasts")).to_contain_text("The box is out of reach, so nothing was done.")
    box.mend()
    expect(page.locator(".banner")).to_have_count(0)
    assert box.commands.empty()


def test_a_session_that_ends_says_so_and_offers_a_way_back(make_box: MakeBox, open_page: Open) -> None:
    box = make_box(guest_connected())
    page = open_page(box)
    box.show(guest_connected(ended="Dad's Car ended the session."))
    expect(page.locator(".banner")).to_contain_text("Dad's Car ended the session.")
    box.show(guest_connected())
    expect(page.locator(".banner")).to_have_count(0)


def join(page: Page, name: str) -> None:
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Join").click()


def test_a_web_guest_types_a_name_and_is_in(make_box: MakeBox, open_page: Open) -> None:
    box = make_box(None)
    box.after_joining = web_guest()
    page = open_page(box, "phone")
    expect(page.get_by_label("Your name")).to_be_focused()
    page.keyboard.type("Mia")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Now playing")).to_contain_text("Open Road")
    first = box.joined.get(timeout=10)
    assert first["name"] == "Mia"
    assert re.fullmatch("[0-9a-f]{64}", first["key"])
    # The box is started anew and knows nobody: the browser joins by itself, as who it was.
    box.show(None)
    assert box.joined.get(timeout=20) == first
    shows(page, box)
    expect(page.get_by_label("Your name")).to_be_hidden()


def test_a_web_guest_that_is_not_let_in_reads_why(make_box: MakeBox, open_page: Open) -> None:
    box = make_box(None)
    box.answers["join"] = (403, {"message": "The driver has sent you away until the session ends.", "reason": "banned"})
    page = open_page(box, "phone")
    join(page, "Mia")
    expect(page.get_by_role("alert")).to_have_text("The driver has sent you away until the session ends.")
    expect(page.get_by_label("Your name")).to_have_value("Mia")


def test_a_web_guest_that_leaves_stays_away_until_it_joins(make_box: MakeBox, open_page: Open) -> None:
    box = make_box(None)
    box.after_joining = web_guest()
    page = open_page(box)
    join(page, "Mia")
    box.joined.get(timeout=10)
    leave = page.get_by_role("button", name="Leave the host")
    leave.click()
    answer(page, "Really leave the host?")
    assert box.commands.get(timeout=10) == {"command": "leave"}
    expect(page.get_by_role("button", name="Leave the host")).to_be_visible()
    page.wait_for_function("localStorage.getItem('roadmesh.left') === 'true'")
    box.show(None)
    settled(page)
    expect(page.get_by_label("Your name")).to_have_value("Mia")
    assert box.joined.empty()
