# SPDX-License-Identifier: Apache-2.0
"""The look of a view: all of it is visible, and its content can only be text."""

from __future__ import annotations

import re
from typing import Any

import pytest
from conftest import SCREENS, MakeServer, Open, answer, settled, shows
from playwright.sync_api import Page, ViewportSize, expect
from stand_in import PAGE
from views import (
    ANA,
    HOST,
    HOSTILE,
    STATES,
    guest_choosing,
    guest_connected,
    heard,
    host_playing,
    hostile,
    item,
    notice,
    scanning,
    wish,
)


def song(page: Page, title: str) -> Any:
    return page.locator("#panel-queue .song").filter(has_text=title)


def test_a_host_sees_what_plays_what_is_next_and_who_is_there(make_server: MakeServer, open_page: Open) -> None:
    page = open_page(make_server(host_playing()))
    expect(page.get_by_role("heading", level=1)).to_have_text("Dad's Car")
    playing = page.get_by_role("region", name="Now playing")
    expect(playing).to_contain_text("Open Road")
    expect(playing).to_contain_text("Mia asked · 2 votes")
    expect(playing.get_by_role("slider", name="Place in the song")).to_have_attribute("max", "214")
    expect(song(page, "Headlights")).to_contain_text("Ana asked")
    expect(song(page, "Headlights")).to_contain_text("3 votes")
    # No guest asked for the songs that the host itself has queued.
    expect(song(page, "Windows Down")).not_to_contain_text("asked", use_inner_text=True)
    page.get_by_role("tab", name="Guests").click()
    expect(page.locator(".person-row").nth(1)).to_contain_text("Bob")
    expect(page.locator(".person-row").nth(1)).to_contain_text("\N{MINUS SIGN}71 dBm")
    expect(page.locator(".person-row").nth(1).locator(".full")).to_have_count(2)
    expect(page.locator(".person-row").nth(2)).to_contain_text("Web")


def test_of_a_crowd_some_are_named_and_the_others_counted(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(guest_connected(moreGuests=211))
    page = open_page(server)
    tab = page.get_by_role("tab", name="Guests")
    expect(tab).to_contain_text("214")
    tab.click()
    panel = page.locator("#panel-guests")
    expect(panel.locator(".person-row")).to_have_count(3)
    expect(panel).to_contain_text("and 211 more")
    server.show(guest_connected())
    expect(panel).not_to_contain_text("more", use_inner_text=True)


def test_an_invitation_shows_name_pin_and_code_where_there_are_such(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(host_playing())
    page = open_page(server)
    page.get_by_role("tab", name="Invite").click()
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text("4821")
    expect(panel.get_by_role("button", name="QR code of the address below")).to_be_visible()
    expect(panel).to_contain_text("http://10.0.0.1:8080/join?token=b7k2m9qx4w")
    server.show(host_playing(invitation={"name": "Dad's Car", "pin": None, "url": None, "qr": None}))
    expect(panel).to_contain_text("Guests cannot join with a browser.")
    expect(panel).not_to_contain_text("PIN", use_inner_text=True)
    expect(panel.get_by_role("button", name="QR code")).to_have_count(0)


def test_a_library_that_is_being_read_says_how_far_it_is(make_server: MakeServer, open_page: Open) -> None:
    page = open_page(make_server(scanning()), locale="en-GB")
    page.get_by_role("tab", name="Add").click()
    expect(page.get_by_role("tabpanel")).to_contain_text(
        "1,150 songs in the library so far. 1,200 of 10,000 files read."
    )


@pytest.mark.parametrize(
    ("kind", "state", "says"),
    [
        ("vote", "queued", "Vote waiting"),
        ("vote", "sent", "Vote on its way"),
        ("vote", "confirmed", "Vote counted"),
        ("vote", "rejected", "The queue is full, so it does not count."),
        ("takeBack", "sent", "Taking vote back"),
    ],
)
def test_where_a_vote_is_stands_there_in_words_and_with_an_icon(
    make_server: MakeServer, open_page: Open, kind: str, state: str, says: str
) -> None:
    sentence = "The queue is full, so it does not count." if state == "rejected" else None
    page = open_page(make_server(guest_connected(queue=[item(1, wish=wish(kind, state, sentence))])))
    line = song(page, "Headlights").locator(".wish")
    expect(line).to_have_text(says)
    icon = {"queued": "clock", "sent": "sent", "confirmed": "check", "rejected": "cross"}[state]
    expect(line.locator(f"svg[data-icon={icon}]")).to_be_visible()


def test_a_suggestion_on_its_way_is_shown_above_the_queue(make_server: MakeServer, open_page: Open) -> None:
    wishes = [{"songID": "s40", "title": "The Long Way Round", **wish("suggest", "sent")}]
    page = open_page(make_server(guest_connected(wishes=wishes)))
    expect(song(page, "The Long Way Round")).to_contain_text("Suggestion on its way")


def test_what_is_from_before_a_gap_is_marked_as_such(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(guest_connected())
    page = open_page(server)
    expect(page.get_by_text("Last known queue")).to_be_hidden()
    server.show(guest_connected(isStale=True, connection="reconnecting", attempt=2))
    expect(page.get_by_text("Last known queue")).to_be_visible()
    expect(page.locator("#state")).to_contain_text("Reconnecting…· attempt 2")
    # A vote to skip is not queued without a host.
    expect(page.get_by_role("button", name="Skip")).to_be_hidden()
    expect(song(page, "Headlights")).to_be_visible()


def test_a_guest_without_a_host_sees_which_are_in_range(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(guest_choosing())
    page = open_page(server)
    choosing = page.get_by_role("region", name="Choose a host")
    expect(choosing).to_contain_text("Dad's Car")
    expect(choosing).to_contain_text("\N{MINUS SIGN}63 dBm")
    # If there are several choices, a tap on the text of one has no effect; each choice has its button.
    expect(choosing.locator(".hint")).to_have_text("Tap the host that you want.")
    choosing.get_by_text("Dad's Car").click()
    assert server.commands.empty()
    expect(choosing.get_by_role("button", name="Join", exact=True)).to_be_hidden()
    choosing.get_by_role("button", name="Join The Blue Van").click()
    assert server.commands.get(timeout=10) == {"command": "join", "host": "51c0de"}
    mine = {"id": "aa" * 16, "name": "Dad's Car"}
    other = {**heard({"id": "51c0de", "name": "Dad's Car"}, -84), "other": True}
    server.show(guest_choosing(hosts=[{**heard(HOST, -63), "known": True}, other], knownHosts=[mine]))
    expect(choosing).to_contain_text("another host with this name")
    choosing.get_by_role("button", name="Forget Dad's Car").click()
    answer(page, "Really forget Dad's Car?")
    assert server.commands.get(timeout=10) == {"command": "forget", "host": "aa" * 16}
    server.show(guest_choosing(hosts=[{**HOST, "rssi": -63}]))
    expect(choosing.locator(".hint")).to_have_text("Tap to join.")
    choosing.get_by_text("Dad's Car").click()
    assert server.commands.get(timeout=10) == {"command": "retry"}
    server.show(guest_choosing(hosts=[]))
    expect(choosing).to_contain_text("No host is in range right now.")
    choosing.get_by_role("button", name="Find a host").click()
    assert server.commands.get(timeout=10) == {"command": "retry"}
    server.show(guest_connected())
    expect(page.get_by_role("region", name="Now playing")).to_be_visible()


def test_a_guest_that_is_asked_for_a_pin_reads_that_and_nothing_else(
    make_server: MakeServer, open_page: Open
) -> None:
    asks = notice("proofRequired", "The host asks for a PIN. Its screen shows the six digits.")
    page = open_page(make_server(guest_choosing(hosts=[heard(HOST, -63)], notices=[asks])), "phone")
    choosing = page.get_by_role("region", name="Type the PIN")
    expect(choosing.get_by_label("PIN on the host's screen")).to_be_visible()
    # Nothing else can be tapped to join.
    expect(choosing.locator(".hint")).to_be_hidden()
    expect(choosing.get_by_role("button")).to_have_count(1)


@pytest.mark.parametrize("connection", ["connecting", "failed"])
def test_a_guest_that_looks_for_one_host_names_it_and_lists_the_others(
    connection: str, make_server: MakeServer, open_page: Open
) -> None:
    missing = notice("hostNotFound", "Nowhere was not found.", suggestion="Make sure that it is on.")
    looking = {"connection": connection, "wanted": "Nowhere", "notices": [missing]}
    server = make_server(guest_choosing(**looking, hosts=[]))
    page = open_page(server, "phone")
    choosing = page.get_by_role("region", name="Looking for Nowhere")
    expect(choosing.locator(".hint")).to_have_text(
        "You join it automatically when it is in range. No host is in range right now."
    )
    expect(page.locator("#state [role=status]")).to_have_text("Not in range")
    expect(page.locator(".banner")).to_have_count(0)
    server.show(guest_choosing(**looking))
    expect(choosing.locator(".hint")).to_have_text(
        "You join it automatically when it is in range. You can also join another host:"
    )
    choosing.get_by_role("button", name="Join Dad's Car").click()
    assert server.commands.get(timeout=10) == {"command": "join", "host": HOST["id"]}


@pytest.mark.parametrize("role", ["host", "guest"])
@pytest.mark.parametrize("screen", SCREENS)
def test_titles_from_elsewhere_are_text_and_stay_in_their_place(
    make_server: MakeServer, open_page: Open, role: str, screen: str
) -> None:
    page = open_page(make_server(hostile(role)), screen)
    expect(page).to_have_title("RoadMesh")
    titles = page.locator("#panel-queue ol .title bdi")
    assert titles.nth(0).text_content() == HOSTILE["script"]
    assert titles.nth(list(HOSTILE).index("entity")).text_content() == HOSTILE["entity"]
    assert titles.nth(list(HOSTILE).index("empty")).text_content() == "(untitled)"
    assert titles.nth(list(HOSTILE).index("invisible")).text_content() == "(untitled)"
    assert (
        page.locator("#panel-queue ol .title").evaluate_all(
            "lines => Math.max(...lines.map(l => l.scrollHeight ? l.clientHeight : 0))"
        )
        <= 44
    )
    assert page.evaluate("Math.max(...[...document.querySelectorAll('[title]')].map(e => e.title.length))") <= 501
    # No part of the hostile text has become an element.
    assert page.locator("main script, main [onerror], .song-words img").count() == 0
    # Right-to-left text does not change the direction of other text.
    expect(titles.nth(list(HOSTILE).index("rtl"))).to_have_css("direction", "rtl")
    expect(song(page, HOSTILE["entity"]).first).to_have_css("direction", "ltr")
    assert too_large(page) == []


def too_large(page: Page) -> list[Any]:
    """Elements that are wider than their space, and a page that scrolls as one without long content."""
    found: list[Any] = page.evaluate(
        "() => { const e = document.documentElement;"
        " const parts = [...document.querySelectorAll('header, .tabs, .tab, .panel, #playing, .notice, button')]"
        ".filter(p => p.checkVisibility() && p.scrollWidth > p.clientWidth + 1)"
        ".map(p => [p.id || p.className, p.scrollWidth, p.clientWidth]);"
        " const told = document.querySelectorAll('.notice').length;"
        " const scrolls = e.scrollWidth > innerWidth || (e.scrollHeight > innerHeight && told < 3);"
        " if (scrolls) parts.push(['page', e.scrollWidth, e.scrollHeight]);"
        " return parts; }"
    )
    return found


@pytest.mark.parametrize("state", STATES)
def test_every_state_fits_each_screen_and_fingers_fit_every_button(
    make_server: MakeServer, open_page: Open, state: str
) -> None:
    page = open_page(make_server(STATES[state]))
    for screen, size in SCREENS.items():
        page.set_viewport_size(size)
        settled(page)
        assert_fits(page, screen)


def assert_fits(page: Page, screen: str) -> None:
    """Every list of the page has its space, and its buttons are large enough for fingers."""
    assert too_large(page) == [], screen
    for tab in page.get_by_role("tab").all():
        tab.click()
        assert too_large(page) == [], screen
        small = page.evaluate(
            "() => [...document.querySelectorAll('button, input')].filter(b => b.checkVisibility())"
            ".map(b => [b.getAttribute('aria-label') ?? b.textContent, b.offsetWidth, b.offsetHeight])"
            ".filter(([, width, height]) => Math.min(width, height) < 48)"
        )
        assert small == [], screen
    if page.locator("#playing").is_visible():
        heights = page.locator("#playing button:visible").evaluate_all("all => all.map(b => b.offsetHeight)")
        assert all(height >= 64 for height in heights), screen
        # The buttons of the current song are visible.
        assert page.locator("#playing").evaluate("p => p.scrollHeight <= p.clientHeight + 1"), screen


# The narrowest common phone, in CSS pixels.
NARROW = ViewportSize(width=360, height=640)

# Sentences that are not completely visible: cut by a parent that does not scroll, or covered by a neighbour.
CUT_OFF = """() => {
    const beside = document.querySelector('#header-buttons').getBoundingClientRect();
    const texts = ':is(.notice, .hint, .wish, .label, .form-message, #state, #header-buttons, .buttons, .question)';
    const isCut = (node) => {
        const range = document.createRange();
        range.selectNodeContents(node);
        const text = range.getBoundingClientRect();
        if (node.parentElement.closest('#state') && text.right > beside.left + 1) return true;
        let isAbove = true;
        for (let box = node.parentElement; box !== document.body; box = box.parentElement) {
            const { overflowX, overflowY } = getComputedStyle(box);
            const room = box.getBoundingClientRect();
            if (overflowY === 'auto') isAbove = false;
            if (overflowX !== 'visible' && (text.left < room.left - 1 || text.right > room.right + 1)) return true;
            const isOut = text.top < room.top - 1 || text.bottom > room.bottom + 1;
            if (isAbove && overflowY !== 'visible' && isOut) return true;
        }
        return text.left < 0 || text.right > innerWidth;
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
        const node = walker.currentNode;
        const isSentence = node.data.trim() && node.parentElement.closest(texts);
        if (isSentence && node.parentElement.checkVisibility() && isCut(node)) found.push(node.data);
    }
    return found;
}"""


@pytest.mark.parametrize("locale", ["en-GB", "de-DE", "fr-FR", "es-ES"])
def test_the_smallest_phone_shows_whole_words_in_every_language(
    make_server: MakeServer, open_page: Open, locale: str
) -> None:
    page = open_page(make_server(host_playing()), "phone", locale=locale)
    page.set_viewport_size({"width": 320, "height": 568})
    # No word is wider than what surrounds it: the state, buttons, tabs, and the hint in the search.
    wide = "all => all.filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)"
    for tab in page.get_by_role("tab").all():
        tab.click()
        assert page.locator("#state, button").evaluate_all(wide) == []
        assert page.evaluate(CUT_OFF) == []


@pytest.mark.parametrize("state", STATES)
def test_no_sentence_is_cut_off_on_a_narrow_phone(make_server: MakeServer, open_page: Open, state: str) -> None:
    page = open_page(make_server(STATES[state]), "phone")
    page.set_viewport_size(NARROW)
    assert page.evaluate(CUT_OFF) == []
    for tab in page.get_by_role("tab").all():
        tab.click()
        assert page.evaluate(CUT_OFF) == []
        # Part of the list is visible, however much is above it.
        assert page.get_by_role("tabpanel").evaluate("panel => panel.clientHeight") >= 100


def test_a_long_title_shows_two_whole_lines_on_a_narrow_phone(make_server: MakeServer, open_page: Open) -> None:
    long = {**item(0), "title": "A Very Long Title That Goes On And On And On For Ever"}
    page = open_page(make_server(host_playing(nowPlaying=long)), "phone")
    page.set_viewport_size(NARROW)
    lines = "title => title.clientHeight / parseFloat(getComputedStyle(title).lineHeight)"
    assert page.locator("#playing .title").evaluate(lines) == pytest.approx(2, abs=0.1)


def test_the_longest_sentences_are_there_to_the_end(make_server: MakeServer, open_page: Open) -> None:
    long = " ".join(f"word{number}" for number in range(80))
    notices = [
        notice("storageDamaged", f"{long} first.", suggestion=f"{long} second."),
        notice("storageFull", f"{long} third.", suggestion=f"{long} fourth.", kind="toast"),
    ]
    rejected = wish("vote", "rejected", f"{long} fifth.")
    server = make_server(guest_connected(notices=notices, queue=[item(1, wish=rejected)]))
    page = open_page(server, "phone")
    page.set_viewport_size(NARROW)
    for end in ("first", "second", "third", "fourth", "fifth"):
        page.get_by_text(f"word79 {end}.").scroll_into_view_if_needed()
        expect(page.get_by_text(f"word79 {end}.")).to_be_in_viewport()
    assert page.evaluate(CUT_OFF) == []


def test_it_is_dark_by_night_and_stays_as_it_was_chosen(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(host_playing())
    page = open_page(server, color_scheme="dark")
    night, day = "rgb(7, 9, 11)", "rgb(236, 239, 240)"
    expect(page.locator("body")).to_have_css("background-color", night)
    page.get_by_role("button", name="Change to day colours").click()
    expect(page.locator("body")).to_have_css("background-color", day)
    page.reload()
    shows(page, server)
    expect(page.locator("body")).to_have_css("background-color", day)
    page.get_by_role("button", name="Change to night colours").click()
    # The page follows the system's colours again.
    page.emulate_media(color_scheme="light")
    expect(page.locator("body")).to_have_css("background-color", day)


def test_a_cover_takes_the_place_of_the_initials_and_initials_that_of_a_cover_that_is_gone(
    make_server: MakeServer, open_page: Open
) -> None:
    server = make_server(guest_connected())
    page = open_page(server)
    picture = page.locator("#playing .cover img")
    expect(picture).to_be_visible()
    server.show(guest_connected(nowPlaying=item(0, art="/nothing/here")))
    shows(page, server)
    expect(picture).to_be_hidden()
    # An external URL would reveal to others who listens to what.
    server.show(guest_connected(nowPlaying=item(0, art="https://elsewhere.example/x.png", addedBy=ANA["id"])))
    shows(page, server)
    assert picture.get_attribute("src") is None
    expect(page.locator("#playing .cover .initials")).to_have_text("OR")


def test_the_browser_understands_every_line_of_the_styles(make_server: MakeServer, open_page: Open) -> None:
    """An invalid declaration is dropped silently, and so is a rule."""
    page = open_page(make_server(host_playing()))
    for sheet in ("style", "lists", "night"):
        text = re.sub(r"/\*.*?\*/", "", (PAGE / f"{sheet}.css").read_text(), flags=re.DOTALL)
        properties = {found.strip() for found in re.findall(r"(?<=[;{])\s*([a-z-]+)\s*:(?!:)[^;{}]*(?=[;}])", text)}
        unknown = page.evaluate(
            "names => names.filter(name => !name.startsWith('--') && !CSS.supports(name, 'inherit'))",
            sorted(properties),
        )
        # Only other browsers know these properties.
        assert set(unknown) <= {"line-clamp", "-webkit-text-size-adjust", "text-size-adjust"}
