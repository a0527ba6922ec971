# SPDX-License-Identifier: Apache-2.0
"""The server goes out of reach and comes back: what a person sees in between, and what happens to their taps."""

from __future__ import annotations

import queue
import re
from collections.abc import Callable

import pytest
from conftest import MakeServer, Open, answer, settled, shows
from playwright.sync_api import Page, expect
from stand_in import StandIn
from views import HOST, KICKED, STOPPED, View, guest_choosing, guest_connected, host_playing, item, notice, web_guest

SILENCE = 12_000
RETRY = 10_000
# Time between two attempts of the page.
LONGEST_PAUSE = 3_000


@pytest.fixture
def server(make_server: MakeServer) -> StandIn:
    return make_server(web_guest(queue=[item(number) for number in range(1, 9)]))


def test_no_connection_is_a_banner_that_offers_a_tap_after_ten_seconds(server: StandIn, open_page: Open) -> None:
    page = open_page(server, clock=True)
    assert server.connections.get(timeout=10) == 0
    server.cut()
    banner = page.get_by_role("status", name="Connection")
    expect(banner).to_contain_text("No Connection")
    expect(banner).to_contain_text("Trying to reconnect…")
    expect(page.get_by_text("Last known queue")).to_be_visible()
    expect(banner.get_by_role("button")).to_have_count(0)
    page.clock.fast_forward(RETRY)
    expect(banner.get_by_role("button", name="Retry")).to_be_visible()
    # The page's clock stops after its next failed attempt, so only the tap finds the server again.
    with page.expect_event("requestfailed"):
        page.clock.pause_at(page.evaluate("Date.now()") + LONGEST_PAUSE)
    server.mend()
    banner.get_by_role("button", name="Retry").click()
    assert server.connections.get(timeout=10) == 0
    page.clock.resume()
    expect(banner.locator(".notice")).to_have_count(0)
    expect(page.get_by_text("Last known queue")).to_be_hidden()


def test_the_page_is_back_by_itself(server: StandIn, open_page: Open) -> None:
    page = open_page(server)
    server.cut()
    expect(page.locator(".banner")).to_be_visible()
    server.mend()
    expect(page.locator(".banner")).to_have_count(0)


def test_a_connection_that_has_fallen_silent_is_made_anew(server: StandIn, open_page: Open) -> None:
    page = open_page(server, clock=True)
    assert server.connections.get(timeout=10) == 0
    server.fall_silent()
    page.clock.fast_forward(SILENCE + 8_000)
    # The page has opened a new connection, since nothing came over the old connection.
    assert server.connections.get(timeout=10) == 0


def assert_one_vote_is_sent(server: StandIn, page: Page) -> None:
    """The server is back, and the vote for Headlights is sent once."""
    server.mend()
    assert server.commands.get(timeout=20) == {"command": "vote", "songID": "s1"}
    server.show(web_guest(queue=[item(1, mine=True), item(3)]))
    expect(page.locator(".song").filter(has_text="Headlights")).not_to_contain_text("Vote waiting", use_inner_text=True)
    # Nothing waits any more, so nothing else will be sent.
    assert page.evaluate("localStorage.getItem('roadmesh.taps')") is None
    assert list(server.commands.queue) == []


def test_a_vote_out_of_reach_is_kept_shown_as_kept_and_sent_when_the_server_is_back(
    server: StandIn, open_page: Open
) -> None:
    page = open_page(server)
    server.cut()
    expect(page.locator(".banner")).to_be_visible()
    page.get_by_role("button", name="Vote for Headlights").click()
    page.get_by_role("button", name="Vote for Windows Down").click()
    song = page.locator(".song").filter(has_text="Headlights")
    expect(song).to_contain_text("Vote waiting")
    expect(page.get_by_role("button", name="Vote for Headlights")).to_have_attribute("aria-pressed", "true")
    # A vote is taken back before the server gets it. The tap comes after the vote is shown, since a tap means what the
    # button shows.
    second = page.get_by_role("button", name="Vote for Windows Down")
    expect(second).to_have_attribute("aria-pressed", "true")
    second.click()
    expect(second).to_have_attribute("aria-pressed", "false")
    assert_one_vote_is_sent(server, page)


def test_a_vote_tapped_again_before_it_is_seen_is_still_wanted_and_sent_once(server: StandIn, open_page: Open) -> None:
    page = open_page(server)
    server.cut()
    expect(page.locator(".banner")).to_be_visible()
    vote = page.get_by_role("button", name="Vote for Headlights")
    # Nothing is drawn between the two taps: both are for a button without a vote.
    vote.evaluate("button => { button.click(); button.click(); }")
    song = page.locator(".song").filter(has_text="Headlights")
    expect(song).to_contain_text("Vote waiting")
    expect(vote).to_have_attribute("aria-pressed", "true")
    assert_one_vote_is_sent(server, page)


def test_a_vote_is_kept_when_the_browser_is_closed_too(server: StandIn, open_page: Open) -> None:
    page = open_page(server)
    server.cut()
    expect(page.locator(".banner")).to_be_visible()
    page.get_by_role("button", name="Vote for Headlights").click()
    expect(page.locator(".song").filter(has_text="Headlights")).to_contain_text("Vote waiting")
    context = page.context
    page.close()
    server.mend()
    context.new_page().goto(server.url)
    assert server.commands.get(timeout=20) == {"command": "vote", "songID": "s1"}


def test_only_so_many_votes_are_kept_and_a_person_is_told(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(web_guest())
    page = open_page(server)
    server.cut()
    expect(page.locator(".banner")).to_be_visible()
    page.evaluate(
        "() => localStorage.setItem('roadmesh.taps', JSON.stringify(Array.from({length: 64},"
        " (_, i) => ({command: 'vote', songID: `x${i}`, title: null}))))"
    )
    page.get_by_role("button", name="Vote for Are We There Yet").click()
    expect(page.locator("#toasts")).to_contain_text("Too many votes are waiting already.")


def test_a_vote_that_the_server_takes_too_often_is_sent_again_and_one_that_it_refuses_is_not(
    server: StandIn, open_page: Open
) -> None:
    page = open_page(server)
    server.answers["vote"] = (429, {"message": "Too often."})
    page.get_by_role("button", name="Vote for Headlights").click()
    assert server.commands.get(timeout=10)["songID"] == "s1"
    server.answers["vote"] = (400, {"message": "There is no such song."})
    assert server.commands.get(timeout=10)["songID"] == "s1"
    expect(page.locator("#toasts")).to_contain_text("There is no such song.")
    expect(page.locator(".song").filter(has_text="Headlights")).not_to_contain_text("Vote waiting", use_inner_text=True)
    assert server.commands.empty()


def test_a_host_is_told_that_a_tap_did_nothing(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(host_playing())
    page = open_page(server)
    server.cut()
    page.get_by_role("button", name="Skip").click()
    expect(page.locator("#toasts")).to_contain_text("No connection, so nothing was done.")
    server.mend()
    expect(page.locator(".banner")).to_have_count(0)
    assert server.commands.empty()


SHELVES = {"artists", "albums", "newest", "heard"}


def assert_usable(page: Page, usable: set[str], unusable: set[str]) -> None:
    """Whether a tap works on each button of each list, for each control."""
    found: dict[bool, set[str]] = {True: set(), False: set()}
    for tab in page.get_by_role("tab").all():
        tab.click()
        # Controls that change only the display always work.
        shown = ":is(#header-buttons, #dashboard) [data-control]:visible"
        controls = page.locator(f"{shown}:not([data-control=moon], [data-control=drive])")
        for button in controls.all():
            found[button.is_enabled()].add(button.get_attribute("data-control") or "")
    assert found[True] ^ usable == set()
    assert found[False] ^ unusable == set()


@pytest.mark.parametrize("view", [host_playing, guest_connected, web_guest])
def test_a_session_that_is_over_says_so_and_has_no_button_that_looks_as_if_it_worked(
    make_server: MakeServer, open_page: Open, view: Callable[..., View]
) -> None:
    server = make_server(view())
    page = open_page(server)
    wishes = {"remove", "leave", "steers", "ban", "grip", "next", "clear"} if view is host_playing else {"vote"}
    driver = {"skip", "end", "play", "previous", "shuffle", "inviteOne", "inviteTwo", "copy", "playlist"}
    commands = (driver if view is host_playing else {"skip", "leave"}) | SHELVES
    assert_usable(page, wishes | commands, set())
    server.show(view(ended="The session has ended."))
    expect(page.locator(".banner")).to_contain_text("The session has ended.")
    # The session has ended, so there is nothing left to leave.
    gone = wishes | commands - {"end", "previous", "shuffle"} if view is host_playing else {"vote", "skip"} | SHELVES
    assert_usable(page, set(), gone)
    # The program is gone by then, and the page must not report it as unreachable.
    with page.expect_event("requestfailed"):
        server.cut()
    expect(page.locator("#state")).to_contain_text("Ended")
    server.mend()
    page.get_by_role("tab", name="Guests").click()
    expect(page.get_by_text("Last known guests")).to_be_visible()
    page.get_by_role("tab", name="Up next").click()
    expect(page.get_by_text("Last known queue")).to_be_visible()
    expect(page.get_by_role("heading", name="Last known", exact=True)).to_be_visible()
    expect(page.locator("#words")).to_be_disabled()
    # The server starts again.
    server.show(view())
    expect(page.locator(".banner")).to_have_count(0)
    assert_usable(page, wishes | commands, set())


def test_a_session_that_is_over_offers_nothing(make_server: MakeServer, open_page: Open) -> None:
    empty: View = {"nowPlaying": None, "queue": [], "guests": [], "ended": "The session has ended."}
    page = open_page(make_server(host_playing(**empty)))
    expect(page.locator("#playing .hint")).to_be_hidden()
    expect(page.locator("#panel-queue")).to_have_text("The queue was empty.", use_inner_text=True)
    page.get_by_role("tab", name="Guests").click()
    expect(page.locator("#panel-guests")).to_have_text("No guests were here.", use_inner_text=True)
    server = make_server(guest_choosing(ended="This guest has stopped.", hosts=[{**HOST, "rssi": -63}]))
    page = open_page(server)
    expect(page.get_by_text("Tap to join.")).to_be_hidden()
    page.locator("#choosing").get_by_text("Dad's Car").click()
    expect(page.get_by_role("button", name="Join", exact=True)).to_be_disabled()
    for button in page.get_by_role("button", name="Join").all():
        expect(button).to_be_disabled()
    assert server.commands.empty()


def test_a_song_of_a_session_that_is_over_does_not_play_on(make_server: MakeServer, open_page: Open) -> None:
    page = open_page(make_server(host_playing(ended="The session has ended.")), clock=True)
    page.clock.fast_forward(5_000)
    expect(page.locator(".times")).to_contain_text("1:23")


def test_out_of_reach_a_driver_can_do_nothing_and_a_guest_can_vote(make_server: MakeServer, open_page: Open) -> None:
    for view, usable, unusable in (
        (
            host_playing,
            set(),
            {"play", "skip", "remove", "leave", "steers", "ban", "end", "grip", "next", "clear", "previous", "shuffle"}
            | {"inviteOne", "inviteTwo", "copy", "playlist"}
            | SHELVES,
        ),
        (web_guest, {"vote"}, {"skip", "leave"} | SHELVES),
    ):
        server = make_server(view())
        page = open_page(server)
        server.cut()
        expect(page.locator(".banner")).to_be_visible()
        assert_usable(page, usable, unusable)


def test_a_guest_that_was_sent_away_returns_to_the_start_and_reads_there_why_it_cannot_join(
    make_server: MakeServer, open_page: Open
) -> None:
    server = make_server(web_guest())
    page = open_page(server, "phone")
    server.show(web_guest(ended=KICKED))
    server.answers["join"] = (403, {"message": KICKED, "reason": "banned"})
    page.get_by_role("button", name="Return to Start").click()
    expect(page.locator("#dashboard")).to_be_hidden()
    expect(page.locator(".banner")).to_have_count(0)
    join(page, "Mia")
    expect(page.get_by_role("alert")).to_have_text(KICKED)
    # The driver starts a new session.
    del server.answers["join"]
    server.after_joining = web_guest()
    join(page, "Mia")
    expect(page.get_by_role("region", name="Now playing")).to_be_visible()


def test_the_page_of_a_passenger_that_was_sent_away_leaves_the_server_in_peace(
    make_server: MakeServer, open_page: Open
) -> None:
    server = make_server(web_guest())
    server.ends_streams = True
    page = open_page(server, "phone")
    server.show(web_guest(ended=KICKED, connection="disconnected"))
    # The first connection, and three more until the page is sure.
    for _ in range(4):
        assert server.connections.get(timeout=10) == 0
    with pytest.raises(queue.Empty):
        server.connections.get(timeout=4)
    expect(page.locator(".banner")).to_contain_text("kicked or banned you")
    expect(page.locator("#state")).to_contain_text("Ended")
    # The guest returns with its button.
    server.after_joining = web_guest()
    page.get_by_role("button", name="Return to Start").click()
    join(page, "Mia")
    expect(page.get_by_role("region", name="Now playing")).to_be_visible()


def test_a_passenger_finds_a_host_again_that_has_stopped_and_is_started_again(
    make_server: MakeServer, open_page: Open
) -> None:
    server = make_server(web_guest())
    server.ends_streams = True
    page = open_page(server, "phone")
    # Links end when a node stops, so this view looks like that of a removed guest.
    server.show(web_guest(ended=STOPPED, connection="disconnected"))
    expect(page.locator(".banner")).to_contain_text("The host is off.")
    server.cut()
    with page.expect_event("requestfailed"):
        pass
    server.show(web_guest())
    server.mend()
    expect(page.locator(".banner")).to_have_count(0)


def test_a_notice_of_a_node_that_is_away_or_has_ended_offers_no_button(
    make_server: MakeServer, open_page: Open
) -> None:
    out = notice("radioUnavailable", "Bluetooth is switched off.", suggestion="Switch it on.", button="Check Again")
    server = make_server(host_playing(notices=[out]))
    page = open_page(server)
    button = page.get_by_role("button", name="Check Again")
    expect(button).to_be_visible()
    server.cut()
    expect(page.locator(".banner").filter(has_text="No Connection")).to_be_visible()
    expect(page.get_by_text("Bluetooth is switched off.")).to_be_visible()
    expect(button).to_be_hidden()
    server.mend()
    expect(button).to_be_visible()
    server.show(host_playing(notices=[out], ended=STOPPED))
    expect(page.locator("#banners").get_by_text("The host is off.")).to_be_visible()
    expect(button).to_be_hidden()


def join(page: Page, name: str) -> None:
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Join").click()


def test_a_web_guest_types_a_name_and_is_in(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(None)
    server.after_joining = web_guest()
    page = open_page(server, "phone")
    expect(page.get_by_label("Your name")).to_be_focused()
    page.keyboard.type("Mia")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Now playing")).to_contain_text("Open Road")
    first = server.joined.get(timeout=10)
    assert first["name"] == "Mia"
    assert re.fullmatch("[0-9a-f]{64}", first["key"])
    # The restarted server knows no browsers: the browser joins again automatically, with its name.
    server.show(None)
    assert server.joined.get(timeout=20) == first
    shows(page, server)
    expect(page.get_by_label("Your name")).to_be_hidden()


def test_a_web_guest_that_is_not_let_in_reads_why(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(None)
    refusal = {"message": "The host has kicked you until the session ends.", "reason": "banned"}
    server.answers["join"] = (403, refusal)
    page = open_page(server, "phone")
    join(page, "Mia")
    expect(page.get_by_role("alert")).to_have_text("The host has kicked you until the session ends.")
    expect(page.get_by_label("Your name")).to_have_value("Mia")


def test_a_web_guest_that_leaves_stays_away_until_it_joins(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(None)
    server.after_joining = web_guest()
    page = open_page(server)
    join(page, "Mia")
    server.joined.get(timeout=10)
    leave = page.get_by_role("button", name="Leave the host")
    leave.click()
    answer(page, "Really leave the host?")
    assert server.commands.get(timeout=10) == {"command": "leave"}
    expect(page.get_by_role("button", name="Leave the host")).to_be_visible()
    page.wait_for_function("() => localStorage.getItem('roadmesh.left') === 'true'")
    server.show(None)
    settled(page)
    expect(page.get_by_label("Your name")).to_have_value("Mia")
    assert server.joined.empty()
