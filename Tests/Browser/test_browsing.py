# SPDX-License-Identifier: Apache-2.0
"""A library without typing: artists, albums, newest and played songs, and searches with a typing error."""

from __future__ import annotations

import pytest
from conftest import MakeServer, Open, posted
from playwright.sync_api import Page, expect
from stand_in import StandIn
from views import LIBRARY, guest_connected, host_playing, item


@pytest.fixture
def car(make_server: MakeServer) -> StandIn:
    return make_server(host_playing())


@pytest.fixture
def page(car: StandIn, open_page: Open) -> Page:
    opened = open_page(car)
    opened.get_by_role("tab", name="Add").click()
    return opened



def test_an_artist_is_opened_with_a_tap_and_its_song_is_added(car: StandIn, page: Page) -> None:
    page.get_by_role("button", name="Artists").click()
    expect(page.get_by_role("button", name="Artists")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Long Haul").click()
    songs = page.locator("#panel-search li.song:not(:has(.group))")
    expect(songs).to_have_count(1)
    expect(songs).to_contain_text("Headlights")
    expect(page.locator("#panel-search > .hint")).to_have_text("Long Haul: 1 song.")
    # The shelf of artists is still selected, and leads back to the list.
    page.get_by_role("button", name="Artists").click()
    expect(page.get_by_role("button", name="Long Haul")).to_be_visible()
    expect(songs).to_have_count(0)


def test_an_album_leads_back_to_where_it_was_found(car: StandIn, page: Page) -> None:
    page.get_by_role("button", name="Artists").click()
    page.get_by_role("button", name="Long Haul").click()
    page.get_by_role("button", name="Back", exact=True).click()
    expect(page.get_by_role("button", name="Night Drivers")).to_be_visible()
    expect(page.get_by_role("button", name="Back", exact=True)).to_be_hidden()
    page.get_by_role("searchbox").fill("haul")
    page.get_by_role("button", name="Road Mix").click()
    page.get_by_role("button", name="Back", exact=True).click()
    expect(page.get_by_role("searchbox")).to_have_value("haul")
    expect(page.locator("#panel-search li.song")).to_have_count(3)


@pytest.mark.parametrize(
    ("choice", "commands"),
    [
        ("Play now", [("playNext", "s8"), ("playNext", "s0b"), ("skip", None)]),
        ("Play next", [("playNext", "s8"), ("playNext", "s0b")]),
        ("Add to the end", [("add", "s0b")]),
    ],
)
def test_all_songs_of_an_artist_are_played_now_next_or_last(
    car: StandIn, page: Page, choice: str, commands: list[tuple[str, str | None]]
) -> None:
    # The second song is in the queue already.
    songs = [{**item(0), "id": "s0b"}, item(8)]
    page.get_by_role("button", name="Artists").click()
    page.get_by_role("button", name="Long Haul").wait_for()
    car.answers["search"] = (200, {"songs": songs, "groups": [], "artists": [], "albums": [], "total": 2})
    page.get_by_role("button", name="Long Haul").click()
    page.get_by_role("button", name="Play all").click()
    page.get_by_role("dialog", name="Long Haul").get_by_role("button", name=choice).click()
    wanted = [{"command": command, **({"songID": song} if song else {})} for command, song in commands]
    assert [posted(car) for _ in wanted] == wanted
    expect(page.locator(".toast")).to_contain_text("2 songs of “Long Haul” are queued.")
    assert car.commands.empty()


def test_a_song_that_was_found_is_played_now_or_next(car: StandIn, page: Page) -> None:
    page.get_by_role("button", name="Played").click()
    page.get_by_role("button", name="Choose when Old Times plays").click()
    page.get_by_role("button", name="Play now").click()
    assert [posted(car), posted(car)] == [{"command": "playNext", "songID": "old"}, {"command": "skip"}]


def test_the_driver_chooses_a_playlist_for_an_empty_queue(car: StandIn, page: Page) -> None:
    page.get_by_role("button", name="While the queue is empty: All songs").click()
    dialog = page.get_by_role("dialog", name="Songs while the queue is empty")
    dialog.get_by_role("button", name="Quiet Evening").click()
    assert posted(car) == {"command": "playlist", "playlist": "lists/Quiet Evening.m3u"}
    car.show(host_playing(library={**LIBRARY, "playlist": "lists/Quiet Evening.m3u"}))
    page.get_by_role("button", name="While the queue is empty: Quiet Evening").click()
    page.get_by_role("button", name="All songs").click()
    assert posted(car) == {"command": "playlist", "playlist": ""}
    car.show(host_playing(library={**LIBRARY, "playlists": []}))
    expect(page.get_by_role("button", name="While the queue")).to_be_hidden()


def test_a_guest_has_no_button_to_play_all(make_server: MakeServer, open_page: Open) -> None:
    page = open_page(make_server(guest_connected()), "phone")
    page.get_by_role("tab", name="Search").click()
    page.get_by_role("button", name="Artists").click()
    page.get_by_role("button", name="Long Haul").click()
    expect(page.get_by_role("button", name="Back", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Play all")).to_have_count(0)
    expect(page.locator(".more-places")).to_have_count(0)


def test_more_is_shown_behind_what_is_there(car: StandIn, page: Page) -> None:
    page.get_by_role("button", name="Newest").click()
    songs = page.locator("#panel-search li.song")
    expect(songs).to_have_count(20)
    more = page.get_by_role("button", name="Show more")
    more.click()
    expect(songs).to_have_count(40)
    more.click()
    expect(songs).to_have_count(45)
    expect(more).to_be_hidden()
    assert list(car.searches.queue) == ["newest ", "newest  from 20", "newest  from 40"]


def test_more_that_cannot_be_had_takes_nothing_away(car: StandIn, page: Page) -> None:
    page.get_by_role("button", name="Newest").click()
    songs = page.locator("#panel-search li.song")
    expect(songs).to_have_count(20)
    car.answers["search"] = (503, {"message": "The host does not answer."})
    page.get_by_role("button", name="Show more").click()
    expect(page.get_by_text("The host does not answer.")).to_be_visible()
    expect(songs).to_have_count(20)


def test_what_was_played_can_be_played_again(car: StandIn, page: Page) -> None:
    page.get_by_role("button", name="Played").click()
    page.get_by_role("button", name="Play Old Times again").click()
    assert posted(car) == {"command": "add", "songID": "old"}


def test_a_slip_is_forgiven_and_told(page: Page) -> None:
    page.get_by_role("searchbox").fill("hedlights")
    expect(page.locator("#panel-search > .hint")).to_have_text(
        "Nothing found for “hedlights”. 1 song found for “headlights”."
    )
    expect(page.locator("#panel-search li.song")).to_have_count(1)


def test_a_search_lists_artists_and_albums_and_opens_one(car: StandIn, page: Page) -> None:
    page.get_by_role("searchbox").fill("haul")
    rows = page.locator("#panel-search li.song")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text("Artist · 3 songs")
    expect(rows.nth(1)).to_contain_text("Album · Long Haul · 3 songs")
    expect(rows.nth(2)).to_contain_text("Headlights")
    expect(page.get_by_role("button", name="Show more")).to_be_hidden()
    page.get_by_role("button", name="Road Mix").click()
    page.get_by_role("searchbox").fill("haul")
    page.get_by_role("button", name="Artist · 3 songs").click()
    expect(rows).to_have_count(1)
    expect(page.locator("#panel-search > .hint")).to_have_text("Long Haul: 1 song.")
    asked = list(car.searches.queue)
    assert asked[0] == asked[2] == "haul" and asked[1].startswith("album ") and asked[3].startswith("artist ")


def test_typing_leaves_the_shelf(car: StandIn, page: Page) -> None:
    page.get_by_role("button", name="Albums").click()
    expect(page.get_by_role("button", name="Long Haul")).to_contain_text("Several · 3 songs")
    page.get_by_role("searchbox").fill("head")
    expect(page.get_by_role("button", name="Albums")).to_have_attribute("aria-pressed", "false")
    expect(page.locator("#panel-search > .hint")).to_have_text("1 song found.")
    expect(page.locator(".group")).to_have_count(0)


def test_a_guest_browses_and_suggests(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(guest_connected(queue=[]))
    page = open_page(server, "phone")
    page.get_by_role("tab", name="Search").click()
    page.get_by_role("button", name="Artists").click()
    page.get_by_role("button", name="Long Haul").click()
    page.get_by_role("button", name="Suggest Headlights").click()
    assert posted(server)["command"] == "suggest"
