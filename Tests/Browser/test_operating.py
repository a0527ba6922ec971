# SPDX-License-Identifier: Apache-2.0
"""A person's actions on the page, with fingers or keys, and their results."""

from __future__ import annotations

import pytest
from conftest import SCREENS, MakeServer, Open, later_than_a_bounce, posted, shows
from playwright.sync_api import Page, expect
from stand_in import StandIn
from views import ANA, BOB, MIA, SONGS, guest, guest_connected, guest_reconnecting, host_playing, item


@pytest.fixture
def car(make_server: MakeServer) -> StandIn:
    return make_server(host_playing())


@pytest.fixture
def server(make_server: MakeServer) -> StandIn:
    """The server of a guest."""
    return make_server(guest_connected(queue=[item(number) for number in range(1, 9)]))


def test_a_host_plays_pauses_and_skips(car: StandIn, open_page: Open) -> None:
    page = open_page(car)
    page.get_by_role("button", name="Pause").click()
    assert posted(car) == {"command": "pause"}
    car.show(host_playing(isPlaying=False))
    page.get_by_role("button", name="Play", exact=True).click()
    assert posted(car) == {"command": "play"}
    page.get_by_role("button", name="Skip").click()
    assert posted(car) == {"command": "skip"}


def test_a_host_removes_a_song_with_one_tap(car: StandIn, open_page: Open) -> None:
    open_page(car).get_by_role("button", name="Remove Headlights").click()
    assert posted(car) == {"command": "remove", "songID": "s1"}


def test_a_host_finds_a_song_and_adds_it(car: StandIn, open_page: Open) -> None:
    page = open_page(car)
    car.show(host_playing(queue=[item(1)]))
    page.get_by_role("tab", name="Add").click()
    expect(page.get_by_text("Search your music and add songs.")).to_be_visible()
    page.get_by_label("Search for songs").fill("mountain")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Add Mountain Pass").click()
    assert posted(car) == {"command": "add", "songID": "s5"}
    car.show(host_playing(queue=[item(1), item(5)]))
    added = page.get_by_role("button", name="Add Mountain Pass: Added")
    expect(added).to_have_attribute("aria-disabled", "true")
    added.click(force=True)
    # A second tap has no effect: the next command that arrives is a different command.
    page.get_by_role("button", name="Pause").click()
    assert posted(car) == {"command": "pause"}


def test_a_search_is_sent_when_typing_pauses_and_not_for_every_letter(car: StandIn, open_page: Open) -> None:
    page = open_page(car)
    page.get_by_role("tab", name="Add").click()
    page.get_by_label("Search for songs").press_sequentially("the milestones", delay=5)
    expect(page.get_by_text("2 songs found.")).to_be_visible()
    assert list(car.searches.queue) == ["the milestones"]


def test_a_search_that_fails_says_why(server: StandIn, open_page: Open) -> None:
    server.answers["search"] = (503, {"message": "You are not connected to a host."})
    page = open_page(server)
    page.get_by_role("tab", name="Search").click()
    page.get_by_label("Search for songs").fill("road")
    expect(page.get_by_text("You are not connected to a host.")).to_be_visible()


def test_a_search_without_a_connection_is_made_when_the_host_is_back(server: StandIn, open_page: Open) -> None:
    server.answers["search"] = (503, {"message": "No connection to the host."})
    page = open_page(server)
    server.show(guest_reconnecting())
    page.get_by_role("tab", name="Search").click()
    page.get_by_label("Search for songs").fill("mountain")
    expect(page.get_by_text("No connection to the host.")).to_be_visible()
    del server.answers["search"]
    server.show(guest_connected())
    expect(page.get_by_text("1 song found.")).to_be_visible()
    # The search runs only once: the next view causes no further search.
    server.show(guest_connected(isPlaying=False))
    shows(page, server)
    assert list(server.searches.queue) == ["mountain", "mountain"]


def test_a_search_without_a_connection_is_made_when_the_page_is_back(server: StandIn, open_page: Open) -> None:
    page = open_page(server)
    page.get_by_role("tab", name="Search").click()
    server.cut()
    page.get_by_label("Search for songs").fill("mountain")
    expect(page.get_by_text("No connection. Your search continues when it is back.")).to_be_visible()
    server.mend()
    expect(page.get_by_text("1 song found.")).to_be_visible()


@pytest.mark.parametrize(
    ("opened", "button", "question", "consequence", "command"),
    [
        (
            None,
            "End the session",
            "Really end the session for everybody?",
            "The queue is deleted, and a new session begins.",
            {"command": "end"},
        ),
        (
            "Guests",
            "Kick Bob",
            "Really kick Bob?",
            "Bob cannot join again in this session.",
            {"command": "kick", "peer": BOB["id"]},
        ),
    ],
)
@pytest.mark.parametrize("screen", SCREENS)
def test_what_cannot_be_undone_is_asked_first_and_says_what_it_does(
    car: StandIn,
    open_page: Open,
    screen: str,
    opened: str | None,
    button: str,
    question: str,
    consequence: str,
    command: dict[str, str],
) -> None:
    page = open_page(car, screen, clock=True)
    if opened:
        page.get_by_role("tab", name=opened).click()
    page.get_by_role("button", name=button).click()
    asked = page.get_by_role("button", name=question)
    told = page.locator(".question")
    for text in (told, page.locator("#spoken")):
        expect(text).to_have_text(f"{question} {consequence} Tap again to confirm.")
    expect(told).to_be_in_viewport(ratio=1)
    # The question is readable, and does not cover the button.
    words, under = told.bounding_box(), asked.bounding_box()
    assert words and under
    assert words["y"] >= under["y"] + under["height"] or words["y"] + words["height"] <= under["y"]
    # The question disappears after some time.
    page.clock.fast_forward(8_000)
    expect(page.get_by_role("button", name=button)).to_be_visible()
    expect(told).to_be_hidden()
    page.get_by_role("button", name=button).click()
    page.evaluate("() => new Promise(done => requestAnimationFrame(done))")
    later_than_a_bounce(page)
    asked.click()
    assert posted(car) == command
    assert car.commands.empty()


def test_a_finger_that_bounces_does_not_answer(car: StandIn, open_page: Open) -> None:
    page = open_page(car)
    page.get_by_role("button", name="End the session").dblclick()
    expect(page.get_by_role("button", name="Really end")).to_be_visible()
    assert car.commands.empty()


def test_a_tap_elsewhere_takes_a_question_back(car: StandIn, open_page: Open) -> None:
    page = open_page(car)
    page.get_by_role("tab", name="Guests").click()
    page.get_by_role("button", name="Kick Ana").click()
    page.get_by_role("button", name="Kick Bob").click()
    expect(page.get_by_role("button", name="Really kick")).to_have_count(1)
    expect(page.get_by_role("button", name="Kick Ana")).to_have_text("Kick")
    # The target of a tap need not be a button.
    page.get_by_role("heading", name="Open Road").click()
    expect(page.locator(".question")).to_be_hidden()
    expect(page.get_by_role("button", name="Kick Bob")).to_have_text("Kick")


def asked_about_ana(car: StandIn, open_page: Open) -> Page:
    page = open_page(car)
    page.get_by_role("tab", name="Guests").click()
    page.get_by_role("button", name="Kick Ana").click()
    expect(page.locator(".question")).to_be_visible()
    return page


def test_a_question_goes_with_its_button(car: StandIn, open_page: Open) -> None:
    page = asked_about_ana(car, open_page)
    car.show(host_playing(guests=[guest(BOB, -71)]))
    expect(page.get_by_role("button", name="Kick Ana")).to_have_count(0)
    expect(page.locator(".question")).to_be_hidden()


def test_a_question_goes_where_its_button_can_do_nothing_any_more(car: StandIn, open_page: Open) -> None:
    page = asked_about_ana(car, open_page)
    car.cut()
    expect(page.get_by_role("button", name="Kick Ana")).to_be_disabled()
    expect(page.locator(".question")).to_be_hidden()


def test_a_question_stays_beside_its_button(car: StandIn, open_page: Open) -> None:
    page = asked_about_ana(car, open_page)
    before = page.locator(".question").bounding_box()
    car.show(host_playing(guests=[guest(BOB, -71), guest(ANA, -52)]))
    shows(page, car)
    asked = page.get_by_role("button", name="Really kick Ana?").bounding_box()
    told = page.locator(".question").bounding_box()
    assert before and asked and told and told["y"] != before["y"]
    above, below = asked["y"] - told["y"] - told["height"], told["y"] - asked["y"] - asked["height"]
    assert 0 <= max(above, below) <= 16


@pytest.mark.parametrize("width", [320, 390])
def test_on_a_phone_a_question_is_readable_and_moves_no_other_button(
    car: StandIn, open_page: Open, width: int
) -> None:
    page = open_page(car, "phone")
    page.set_viewport_size({"width": width, "height": 640})
    page.get_by_role("tab", name="Guests").click()
    kick = page.get_by_role("button", name="Kick Ana")
    before = kick.bounding_box()
    page.get_by_role("button", name="Make Ana a co-host").click()
    told = page.locator(".question").bounding_box()
    assert told and told["width"] >= 240 and told["x"] >= 0 and told["x"] + told["width"] <= width
    # A second tap at the same place must not meet another button.
    assert kick.bounding_box() == before


@pytest.mark.parametrize("role", ["host", "guest"])
def test_a_tap_on_a_song_says_who_suggested_it_and_who_voted(
    role: str, make_server: MakeServer, open_page: Open
) -> None:
    songs = [item(1, (ANA, {**BOB, "name": None}), MIA), item(3)]
    view = host_playing(queue=songs) if role == "host" else guest_connected(queue=songs)
    page = open_page(make_server(view), "phone")
    page.locator("#panel-queue .song .title").first.click()
    dialog = page.get_by_role("dialog", name="Headlights")
    expect(dialog).to_contain_text("Suggested by Mia")
    # Bob has left, and this browser has seen him.
    expect(dialog).to_contain_text("2 votes: Ana, Bob")
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)
    page.locator("#panel-queue .song .title").nth(1).click()
    dialog = page.get_by_role("dialog", name="Windows Down")
    expect(dialog).to_contain_text("Queued by the host")
    expect(dialog).to_contain_text("No votes yet")
    page.keyboard.press("Escape")
    page.locator("#playing .title").click()
    expect(page.get_by_role("dialog", name="Open Road")).to_be_visible()


def test_a_guest_votes_and_takes_the_vote_back(server: StandIn, open_page: Open) -> None:
    page = open_page(server)
    vote = page.get_by_role("button", name="Vote for Headlights")
    vote.click()
    assert posted(server) == {"command": "vote", "songID": "s1"}
    server.show(guest_connected(queue=[item(1, (ANA,), mine=True)]))
    shows(page, server)
    expect(vote).to_have_attribute("aria-pressed", "true")
    vote.click()
    assert posted(server) == {"command": "takeBack", "songID": "s1"}


def test_a_guest_finds_a_song_and_suggests_it(server: StandIn, open_page: Open) -> None:
    page = open_page(server)
    server.show(guest_connected(queue=[item(1)]))
    page.get_by_role("tab", name="Search").click()
    expect(page.get_by_text("Search the car's music.")).to_be_visible()
    page.get_by_label("Search for songs").fill("are we")
    page.get_by_role("button", name="Suggest Are We There Yet").click()
    assert posted(server) == {"command": "suggest", "songID": "s4"}
    page.get_by_label("Search for songs").fill("headlights")
    # The song is queued, so this is a vote.
    page.get_by_role("button", name="Vote for Headlights").click()
    assert posted(server) == {"command": "vote", "songID": "s1"}


def test_a_guest_wants_to_skip_where_that_is_allowed(server: StandIn, open_page: Open) -> None:
    page = open_page(server)
    page.get_by_role("button", name="Skip").click()
    assert posted(server) == {"command": "skip"}
    server.show(guest_connected(skip={"allowed": True, "votes": 2, "needed": 3, "mine": True}))
    voted = page.get_by_role("button", name="You voted to skip (2 of 3)")
    expect(voted).to_have_attribute("aria-pressed", "true")
    # A second vote to skip has no effect: the next command that arrives is a different command.
    expect(voted).to_have_attribute("aria-disabled", "true")
    voted.click(force=True)
    page.get_by_role("button", name="Vote for Are We There Yet").click()
    assert posted(server) == {"command": "vote", "songID": "s4"}
    server.show(guest_connected(skip={"allowed": False, "votes": 0, "needed": 0, "mine": False}))
    expect(page.get_by_role("button", name="Skip")).to_be_hidden()


def test_a_command_that_is_refused_says_so_in_the_servers_words(car: StandIn, open_page: Open) -> None:
    car.answers["skip"] = (403, {"message": "Only the driver skips songs."})
    page = open_page(car)
    page.get_by_role("button", name="Skip").click()
    expect(page.locator("#toasts")).to_contain_text("Only the driver skips songs.")


def test_everything_is_reached_with_the_keyboard_and_the_focus_is_seen(server: StandIn, open_page: Open) -> None:
    page = open_page(server)
    names = []
    for _ in range(8):
        page.keyboard.press("Tab")
        names.append(
            page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent")
        )
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert names[:4] == ["Change to night colours", "Leave the host", "Vote to skip (1 of 3)", "Up next8"]
    assert names[5] == "Vote for Headlights, 0 votes"
    page.get_by_role("tab", name="Up next").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Search")).to_be_focused()
    expect(page.get_by_label("Search for songs")).to_be_visible()
    page.keyboard.press("End")
    expect(page.get_by_role("tab", name="Guests")).to_have_attribute("aria-selected", "true")


def test_the_focus_stays_on_its_song_wherever_that_goes(server: StandIn, open_page: Open) -> None:
    page = open_page(server)
    vote = page.get_by_role("button", name="Vote for Windows Down")
    vote.focus()
    page.evaluate("document.activeElement.addEventListener('blur', () => (window.blurred = true))")
    for order in ([3, 1, 2, 4], [1, 2, 4, 3], [8, 3, 7], [3], [5, 6, 7, 8, 1, 2, 3, 4]):
        server.show(guest_connected(queue=[item(number) for number in order]))
        shows(page, server)
        titles = page.locator("#panel-queue ol .title").all_text_contents()
        assert titles == [SONGS[number][0] for number in order]
        expect(vote).to_be_focused()
    page.keyboard.press("Enter")
    assert posted(server) == {"command": "vote", "songID": "s3"}
    assert not page.evaluate("window.blurred")


def test_where_a_song_goes_that_has_the_focus_its_neighbour_takes_it(server: StandIn, open_page: Open) -> None:
    page = open_page(server)
    page.get_by_role("button", name="Vote for Windows Down").focus()
    server.show(guest_connected(queue=[item(number) for number in (1, 2, 4, 5)]))
    expect(page.get_by_role("button", name="Vote for Are We There Yet")).to_be_focused()


def test_songs_keep_their_places_while_a_finger_is_on_the_screen(server: StandIn, open_page: Open) -> None:
    page = open_page(server)
    vote = page.get_by_role("button", name="Vote for Headlights").bounding_box()
    assert vote
    page.mouse.move(vote["x"] + 20, vote["y"] + 20)
    page.mouse.down()
    server.show(guest_connected(queue=[item(number) for number in (4, 3, 2, 1)]))
    # The page has received the new order but does not show it. It does show the notice that came with it.
    server.show({**server.view, "notices": [{**TOLD, "id": 77}]})  # type: ignore[dict-item]
    expect(page.locator("#toasts")).to_contain_text("Something else.")
    page.mouse.up()
    assert posted(server) == {"command": "vote", "songID": "s1"}
    shows(page, server)
    expect(page.locator("#panel-queue ol .title").first).to_have_text("Are We There Yet")


TOLD = {
    "code": "told",
    "message": "Something else.",
    "suggestion": None,
    "button": None,
    "critical": False,
    "dismissAfter": 60,
    "kind": "toast",
}
