# SPDX-License-Identifier: Apache-2.0
"""What a person does on the page, with fingers or with keys, and what comes of it."""

from __future__ import annotations

import pytest
from conftest import MakeBox, Open, later_than_a_bounce, shows
from playwright.sync_api import expect
from stand_in import StandIn
from views import ANA, BOB, SONGS, guest_connected, host_playing, item


@pytest.fixture
def car(make_box: MakeBox) -> StandIn:
    return make_box(host_playing())


@pytest.fixture
def box(make_box: MakeBox) -> StandIn:
    """What a guest talks to."""
    return make_box(guest_connected(queue=[item(number) for number in range(1, 9)]))


def posted(box: StandIn) -> dict[str, str]:
    command: dict[str, str] = box.commands.get(timeout=10)
    return command


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
    page.get_by_label("Search for songs").fill("mountain")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Add Mountain Pass").click()
    assert posted(car) == {"command": "add", "songID": "s5"}
    car.show(host_playing(queue=[item(1), item(5)]))
    added = page.get_by_role("button", name="Add Mountain Pass: Added")
    expect(added).to_have_attribute("aria-disabled", "true")
    added.click(force=True)
    # A second tap is for nothing: what comes next is another command.
    page.get_by_role("button", name="Pause").click()
    assert posted(car) == {"command": "pause"}


def test_a_search_is_sent_when_typing_pauses_and_not_for_every_letter(car: StandIn, open_page: Open) -> None:
    page = open_page(car)
    page.get_by_role("tab", name="Add").click()
    page.get_by_label("Search for songs").press_sequentially("the milestones", delay=5)
    expect(page.get_by_text("2 songs found.")).to_be_visible()
    assert list(car.searches.queue) == ["the milestones"]


def test_a_search_that_fails_says_why(box: StandIn, open_page: Open) -> None:
    box.answers["search"] = (503, {"message": "There is no host right now."})
    page = open_page(box)
    page.get_by_role("tab", name="Search").click()
    page.get_by_label("Search for songs").fill("road")
    expect(page.get_by_text("There is no host right now.")).to_be_visible()


@pytest.mark.parametrize(
    ("opened", "button", "question", "command"),
    [
        (None, "End the session", "Really end the session for everybody?", {"command": "end"}),
        ("Guests", "Kick Bob", "Really kick Bob?", {"command": "kick", "peer": BOB["id"]}),
    ],
)
def test_what_cannot_be_undone_is_asked_first(
    car: StandIn, open_page: Open, opened: str | None, button: str, question: str, command: dict[str, str]
) -> None:
    page = open_page(car, clock=True)
    if opened:
        page.get_by_role("tab", name=opened).click()
    page.get_by_role("button", name=button).click()
    asked = page.get_by_role("button", name=question)
    expect(asked).to_have_text("Really?")
    expect(page.locator("#spoken")).to_contain_text(question)
    # The question stands no longer than it is in mind.
    page.clock.fast_forward(4_000)
    expect(page.get_by_role("button", name=button)).to_be_visible()
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


def test_a_guest_votes_and_takes_the_vote_back(box: StandIn, open_page: Open) -> None:
    page = open_page(box)
    vote = page.get_by_role("button", name="Vote for Headlights")
    vote.click()
    assert posted(box) == {"command": "vote", "songID": "s1"}
    box.show(guest_connected(queue=[item(1, (ANA,), mine=True)]))
    shows(page, box)
    expect(vote).to_have_attribute("aria-pressed", "true")
    vote.click()
    assert posted(box) == {"command": "takeBack", "songID": "s1"}


def test_a_guest_finds_a_song_and_suggests_it(box: StandIn, open_page: Open) -> None:
    page = open_page(box)
    box.show(guest_connected(queue=[item(1)]))
    page.get_by_role("tab", name="Search").click()
    page.get_by_label("Search for songs").fill("are we")
    page.get_by_role("button", name="Suggest Are We There Yet").click()
    assert posted(box) == {"command": "suggest", "songID": "s4"}
    page.get_by_label("Search for songs").fill("headlights")
    # It is queued: that is a vote.
    page.get_by_role("button", name="Vote for Headlights").click()
    assert posted(box) == {"command": "vote", "songID": "s1"}


def test_a_guest_wants_to_skip_where_that_is_allowed(box: StandIn, open_page: Open) -> None:
    page = open_page(box)
    page.get_by_role("button", name="Skip").click()
    assert posted(box) == {"command": "skip"}
    box.show(guest_connected(skip={"allowed": True, "votes": 2, "needed": 3, "mine": True}))
    expect(page.get_by_role("button", name="You voted to skip (2 of 3)")).to_have_attribute("aria-pressed", "true")
    box.show(guest_connected(skip={"allowed": False, "votes": 0, "needed": 0, "mine": False}))
    expect(page.get_by_role("button", name="Skip")).to_be_hidden()


def test_a_command_that_is_refused_says_so_in_the_boxes_words(car: StandIn, open_page: Open) -> None:
    car.answers["skip"] = (403, {"message": "Only the driver skips songs."})
    page = open_page(car)
    page.get_by_role("button", name="Skip").click()
    expect(page.locator("#toasts")).to_contain_text("Only the driver skips songs.")


def test_everything_is_reached_with_the_keyboard_and_the_focus_is_seen(box: StandIn, open_page: Open) -> None:
    page = open_page(box)
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


def test_the_focus_stays_on_its_song_wherever_that_goes(box: StandIn, open_page: Open) -> None:
    page = open_page(box)
    vote = page.get_by_role("button", name="Vote for Windows Down")
    vote.focus()
    page.evaluate("document.activeElement.addEventListener('blur', () => (window.blurred = true))")
    for order in ([3, 1, 2, 4], [1, 2, 4, 3], [8, 3, 7], [3], [5, 6, 7, 8, 1, 2, 3, 4]):
        box.show(guest_connected(queue=[item(number) for number in order]))
        shows(page, box)
        titles = page.locator("#panel-queue ol .title").all_text_contents()
        assert titles == [SONGS[number][0] for number in order]
        expect(vote).to_be_focused()
    page.keyboard.press("Enter")
    assert posted(box) == {"command": "vote", "songID": "s3"}
    assert not page.evaluate("window.blurred")


def test_where_a_song_goes_that_has_the_focus_its_neighbour_takes_it(box: StandIn, open_page: Open) -> None:
    page = open_page(box)
    page.get_by_role("button", name="Vote for Windows Down").focus()
    box.show(guest_connected(queue=[item(number) for number in (1, 2, 4, 5)]))
    expect(page.get_by_role("button", name="Vote for Are We There Yet")).to_be_focused()


def test_songs_keep_their_places_while_a_finger_is_on_the_screen(box: StandIn, open_page: Open) -> None:
    page = open_page(box)
    vote = page.get_by_role("button", name="Vote for Headlights").bounding_box()
    assert vote
    page.mouse.move(vote["x"] + 20, vote["y"] + 20)
    page.mouse.down()
    box.show(guest_connected(queue=[item(number) for number in (4, 3, 2, 1)]))
    # The view has come, and is not shown: what was sent with it is.
    box.show({**box.view, "notices": [{**TOLD, "id": 77}]})  # type: ignore[dict-item]
    expect(page.locator("#toasts")).to_contain_text("Something else.")
    page.mouse.up()
    assert posted(box) == {"command": "vote", "songID": "s1"}
    shows(page, box)
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
