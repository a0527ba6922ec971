# SPDX-License-Identifier: Apache-2.0
"""A driver who controls the queue: undo, play next, another order, clear, volume, previous."""

from __future__ import annotations

import re

import pytest
from conftest import MakeServer, Open, posted, shows
from playwright.sync_api import Page, expect
from stand_in import StandIn
from views import guest_connected, host_playing, item

REMOVED = {"kind": "remove", "title": "Headlights", "step": 3}


@pytest.fixture
def car(make_server: MakeServer) -> StandIn:
    return make_server(host_playing())


def titles(page: Page) -> list[str]:
    return [text.split("(")[0].strip() for text in page.locator("#panel-queue ol .title").all_text_contents()]


@pytest.mark.parametrize(
    ("undo", "says"),
    [
        (REMOVED, "“Headlights” was removed."),
        ({"kind": "move", "title": "Headlights"}, "“Headlights” has a new place."),
        ({"kind": "kick", "name": "Bob"}, "Bob was kicked."),
        ({"kind": "ban", "name": "Bob"}, "Bob was banned."),
        ({"kind": "clear"}, "The queue was cleared."),
    ],
)
def test_what_was_done_can_be_undone_for_eight_seconds(
    car: StandIn, open_page: Open, undo: dict[str, str], says: str
) -> None:
    page = open_page(car, clock=True)
    car.show(host_playing(undo={**undo, "step": 1}))
    toast = page.locator(".toast")
    expect(toast).to_contain_text(says)
    toast.get_by_role("button", name="Undo").click()
    assert posted(car) == {"command": "undo"}
    expect(toast).to_have_count(0)


def test_undo_is_offered_no_longer_than_it_is_in_mind(car: StandIn, open_page: Open) -> None:
    page = open_page(car, clock=True)
    car.show(host_playing(undo=REMOVED))
    toast = page.locator(".toast")
    expect(toast).to_be_visible()
    page.clock.fast_forward(7_000)
    expect(toast).to_be_visible()
    page.clock.fast_forward(2_000)
    expect(toast).to_have_count(0)
    car.show(host_playing(undo=REMOVED, isPlaying=False))
    shows(page, car)
    expect(toast).to_have_count(0)


def test_undo_is_not_offered_for_what_was_done_before_nor_twice(make_server: MakeServer, open_page: Open) -> None:
    car = make_server(host_playing(undo=REMOVED))
    page = open_page(car)
    expect(page.locator(".toast")).to_have_count(0)
    car.show(host_playing(undo={"kind": "remove", "title": "Windows Down", "step": 4}))
    page.get_by_role("button", name="Undo").click()
    # The node would undo earlier steps too, but no person remembers them.
    car.show(host_playing(undo=REMOVED))
    shows(page, car)
    expect(page.locator(".toast")).to_have_count(0)


def test_each_of_two_equal_steps_can_be_undone(car: StandIn, open_page: Open) -> None:
    page = open_page(car)
    for step in (1, 2):
        car.show(host_playing(undo={"kind": "move", "title": "Headlights", "step": step}))
        shows(page, car)
        page.get_by_role("button", name="Undo").click()
        assert posted(car) == {"command": "undo"}
        expect(page.locator(".toast")).to_have_count(0)


def test_a_song_is_played_next_and_the_queue_is_cleared_with_a_tap(car: StandIn, open_page: Open) -> None:
    page = open_page(car)
    expect(page.get_by_role("button", name="Play Headlights next")).to_be_hidden()
    page.get_by_role("button", name="Play Windows Down next").click()
    assert posted(car) == {"command": "playNext", "songID": "s3"}
    page.get_by_role("button", name="Clear the queue").click()
    assert posted(car) == {"command": "clear"}


def test_the_previous_song_is_there_where_there_is_one(car: StandIn, open_page: Open) -> None:
    page = open_page(car)
    previous = page.get_by_role("button", name="Previous song")
    previous.click()
    assert posted(car) == {"command": "previous"}
    car.show(host_playing(canGoBack=False))
    expect(previous).to_have_attribute("aria-disabled", "true")
    previous.click(force=True)
    page.get_by_role("button", name="Pause").click()
    assert posted(car) == {"command": "pause"}


def test_the_volume_is_set_and_stays_under_the_finger(car: StandIn, open_page: Open) -> None:
    page = open_page(car)
    slider = page.get_by_role("slider", name="Volume")
    expect(slider).to_have_value("70")
    slider.fill("40")
    assert posted(car) == {"command": "volume", "percent": 40}
    # A view from before the command does not change the display back.
    car.show(host_playing(volume=70, isPlaying=False))
    shows(page, car)
    expect(slider).to_have_value("40")
    car.show(host_playing(volume=None))
    expect(slider).to_be_hidden()


def test_a_slider_that_moves_asks_no_more_often_than_the_node_takes(car: StandIn, open_page: Open) -> None:
    page = open_page(car)
    page.get_by_role("slider", name="Volume").evaluate(
        "s => { for (let v = 0; v <= 100; v += 5) { s.value = v; s.dispatchEvent(new Event('input')); } }"
    )
    assert posted(car) == {"command": "volume", "percent": 100}
    page.get_by_role("button", name="Pause").click()
    assert posted(car) == {"command": "pause"}


def test_the_driver_goes_on_at_another_place_of_the_song(car: StandIn, open_page: Open) -> None:
    page = open_page(car)
    slider = page.get_by_role("slider", name="Place in the song")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^1:2[0-9] of 3:34$"))
    slider.fill("150")
    assert posted(car) == {"command": "seek", "seconds": 150}
    expect(page.locator(".times span").first).to_have_text("2:30")
    # A view from before the command does not change the display back.
    car.show(host_playing(isPlaying=False))
    shows(page, car)
    expect(slider).to_have_value("150")


def test_a_guest_sees_the_progress_and_cannot_change_it(make_server: MakeServer, open_page: Open) -> None:
    page = open_page(make_server(guest_connected()))
    expect(page.get_by_role("progressbar", name="Progress of the song")).to_be_visible()
    expect(page.get_by_role("slider")).to_have_count(0)


def test_the_driver_chooses_a_random_order(car: StandIn, open_page: Open) -> None:
    page = open_page(car)
    shuffle = page.get_by_role("button", name="Play in random order when the queue is empty")
    expect(shuffle).to_have_attribute("aria-pressed", "true")
    shuffle.click()
    assert posted(car) == {"command": "shuffle", "isOn": False}
    car.show(host_playing(shuffle=False))
    expect(shuffle).to_have_attribute("aria-pressed", "false")


def test_without_sound_the_page_says_so_and_the_clock_stands(car: StandIn, open_page: Open) -> None:
    page = open_page(car, clock=True)
    car.show(host_playing(sound=False, elapsed=83.4))
    expect(page.locator("#playing-heading")).to_have_text("No sound")
    page.clock.fast_forward(5_000)
    expect(page.locator(".times span").first).to_have_text("1:23")


def drag(page: Page, title: str, over: str) -> None:
    grips = [page.get_by_role("button", name=f"Move {name},").bounding_box() for name in (title, over)]
    start, end = grips
    assert start and end
    page.mouse.move(start["x"] + 20, start["y"] + 20)
    page.mouse.down()
    page.mouse.move(start["x"] + 20, start["y"] + 40, steps=3)
    page.mouse.move(start["x"] + 20, end["y"] + end["height"] / 2 + 4, steps=6)


def test_a_song_is_dragged_to_another_place_and_stays_there(car: StandIn, open_page: Open) -> None:
    page = open_page(car)
    before = titles(page)
    drag(page, "Headlights", "Tunnel of Lights")
    # Nothing moves under the finger, whatever arrives.
    car.show(host_playing(queue=[item(5), item(1), item(2), item(3)]))
    assert titles(page) == before
    page.mouse.up()
    assert posted(car) == {"command": "move", "songID": "s1", "position": 2}
    car.show(host_playing(queue=[item(6), item(2), item(1), item(3)]))
    shows(page, car)
    assert titles(page) == ["Last Exit Home", "Tunnel of Lights", "Headlights", "Windows Down"]
    # The tap that ends a drag does not count.
    expect(page.locator(".picked")).to_have_count(0)


def test_a_song_that_is_dragged_and_put_back_stays_where_it_was(car: StandIn, open_page: Open) -> None:
    page = open_page(car)
    drag(page, "Headlights", "Headlights")
    page.mouse.up()
    page.get_by_role("button", name="Pause").click()
    assert posted(car) == {"command": "pause"}


def test_a_song_is_moved_with_the_keyboard_and_keeps_the_focus(car: StandIn, open_page: Open) -> None:
    page = open_page(car)
    page.get_by_role("button", name="Move Tunnel of Lights, place 3 of 8").focus()
    page.keyboard.press("ArrowUp")
    assert posted(car) == {"command": "move", "songID": "s2", "position": 1}
    expect(page.locator("#spoken")).to_have_text("Tunnel of Lights is at place 2.")
    moved = page.get_by_role("button", name="Move Tunnel of Lights, place 2 of 8")
    expect(moved).to_be_focused()
    page.keyboard.press("End")
    assert posted(car) == {"command": "move", "songID": "s2", "position": 7}


def test_a_song_is_moved_with_two_taps(car: StandIn, open_page: Open) -> None:
    page = open_page(car)
    page.get_by_role("button", name="Move Tunnel of Lights,").click()
    expect(page.locator("#spoken")).to_have_text("Tap the number of the new place for Tunnel of Lights.")
    page.get_by_role("button", name="Move Headlights,").click()
    assert posted(car) == {"command": "move", "songID": "s2", "position": 0}
    expect(page.locator(".picked")).to_have_count(0)


def test_a_move_that_is_refused_is_taken_back(car: StandIn, open_page: Open) -> None:
    car.answers["move"] = (409, {"message": "The queue has changed."})
    page = open_page(car)
    before = titles(page)
    page.get_by_role("button", name="Move Tunnel of Lights,").focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#toasts")).to_contain_text("The queue has changed.")
    assert titles(page) == before


def test_a_bin_takes_no_tap_while_rows_move(car: StandIn, open_page: Open) -> None:
    page = open_page(car, clock=True)
    car.show(host_playing(queue=[item(6), item(1), item(2)]))
    shows(page, car)
    bin_of_moved = page.get_by_role("button", name="Remove Headlights")
    bin_of_moved.click()
    page.clock.fast_forward(1_000)
    bin_of_moved.click()
    assert posted(car) == {"command": "remove", "songID": "s1"}
    assert car.commands.empty()


def test_half_a_row_is_enough_to_move_a_song_by_one_place(car: StandIn, open_page: Open) -> None:
    page = open_page(car)
    rows = page.locator("#panel-queue ol .song")
    grip = page.get_by_role("button", name="Move Windows Down,").bounding_box()
    after = rows.nth(4).bounding_box()
    assert grip and after
    page.mouse.move(grip["x"] + 20, grip["y"] + 20)
    page.mouse.down()
    page.mouse.move(grip["x"] + 20, grip["y"] + 20 + after["height"] / 2 + 2, steps=8)
    page.mouse.up()
    assert posted(car) == {"command": "move", "songID": "s3", "position": 4}


def test_a_node_that_cannot_steer_shows_no_button_for_it(make_server: MakeServer, open_page: Open) -> None:
    view = host_playing()
    for field in ("undo", "volume", "canGoBack", "sound", "shuffle"):
        del view[field]
    page = open_page(make_server(view))
    expect(page.get_by_role("button", name="Remove Headlights")).to_be_visible()
    for name in ("Move Headlights, place", "Play Windows Down next", "Clear the queue", "Previous song"):
        expect(page.get_by_role("button", name=name)).to_be_hidden()
    expect(page.get_by_role("slider", name="Volume")).to_be_hidden()


def test_a_pinned_song_is_unpinned_with_one_tap(car: StandIn, open_page: Open) -> None:
    page = open_page(car)
    expect(page.get_by_role("button", name="Unpin")).to_have_count(0)
    car.show(host_playing(queue=[item(2, pinned=True), item(3)]))
    page.get_by_role("button", name="Unpin").click()
    assert posted(car) == {"command": "unpin", "songID": "s2"}
