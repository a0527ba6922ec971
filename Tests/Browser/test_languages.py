# SPDX-License-Identifier: Apache-2.0
"""One table of texts for the page and the terminal: complete, and in the person's language."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from conftest import SCREENS, MakeServer, Open
from playwright.sync_api import expect
from test_showing import CUT_OFF
from texts import LANGUAGES, all_literals, page_texts, places, program_texts, table
from views import STATES, guest_choosing, guest_connected, guest_reconnecting, host_playing


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_said_in_every_language_and_has_a_place_for_all_that_is_put_in(language: str) -> None:
    rows = table(language)
    assert set(rows) == set(table("de"))
    lacking = (page_texts() | program_texts()) - set(rows)
    assert not lacking, "each language's table in Sources/DemocracyDJ/Texts needs a row for what is said"
    assert {text: said for text, said in rows.items() if places(text) != places(said)} == {}
    assert [text for text, said in rows.items() if not said.strip()] == []


def test_no_row_is_there_for_a_text_that_nothing_says() -> None:
    said = all_literals()

    def is_said(text: str) -> bool:
        # The text may contain a limit, and on the page the cause and the advice may be one text.
        with_limit = re.sub(r"\d+(?= letters)", "{1}", text)
        sentences = [*re.finditer(r"(?<=\.) ", text)]
        halves = [(text[: one.start()], text[one.end() :]) for one in sentences]
        return text in said or with_limit in said or any(set(half) <= said for half in halves)

    assert [text for text in table("de") if not is_said(text)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_table_is_in_the_order_of_its_texts_so_that_changes_are_seen(language: str) -> None:
    assert all(one < other for one, other in pairwise(table(language)))


@pytest.mark.parametrize(
    ("locale", "language", "says"),
    [
        ("de-AT", "de", "Jetzt läuft"),
        ("fr-CA", "fr", "En cours"),
        ("es-MX", "es", "Suena ahora"),
        ("en-GB", "en", "Now playing"),
        ("pt-BR", "en", "Now playing"),
    ],
)
def test_the_page_speaks_the_language_that_the_browser_asks_for(
    make_server: MakeServer, open_page: Open, locale: str, language: str, says: str
) -> None:
    page = open_page(make_server(host_playing()), locale=locale)
    expect(page.locator("#playing-heading")).to_have_text(says)
    expect(page.locator("html")).to_have_attribute("lang", language)


def test_of_several_languages_the_first_that_there_is_counts(make_server: MakeServer, open_page: Open) -> None:
    page = open_page(make_server(host_playing()))
    chosen = page.evaluate(
        "async () => { const { languageOf } = await import('/language.js');"
        " return [['nl-NL', 'fr-BE', 'de'], ['en-US', 'de'], ['it'], []].map(languageOf); }"
    )
    assert chosen == ["fr", "en", "en", "en"]


def test_what_the_node_says_is_said_in_the_persons_language(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(guest_reconnecting())
    page = open_page(server, locale="de-DE")
    banner = page.locator("#banners")
    expect(banner).to_contain_text("Verbindung zu Dad's Car verloren. Sie wird wiederhergestellt.")
    expect(banner).to_contain_text("Du siehst die zuletzt bekannte Liste")
    refused = page.locator(".song").filter(has_text="Windows Down").locator(".wish")
    expect(refused).to_have_text("Deine Stimme für „Windows Down“ zählt nicht: Die Liste ist voll.")


def test_what_the_node_refuses_is_said_in_the_persons_language(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(guest_connected())
    server.answers["skip"] = (409, {"message": "Nothing plays now."})
    page = open_page(server, locale="fr-FR")
    page.locator("#playing [data-control=skip]").click()
    expect(page.locator("#toasts")).to_contain_text("Aucun titre n’est en cours.")


def test_a_text_without_a_translation_is_shown_in_english(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(guest_connected())
    server.answers["skip"] = (409, {"message": "A sentence that is new."})
    page = open_page(server, locale="de-DE")
    page.locator("#playing [data-control=skip]").click()
    expect(page.locator("#toasts")).to_contain_text("A sentence that is new.")


@pytest.mark.parametrize("locale", ["en-GB", "de-DE", "fr-FR", "es-ES"])
@pytest.mark.parametrize("screen", SCREENS)
def test_no_button_covers_the_name_of_a_guest(
    make_server: MakeServer, open_page: Open, screen: str, locale: str
) -> None:
    page = open_page(make_server(host_playing()), screen, locale=locale)
    page.locator("#tab-guests").click()
    covered = page.locator("#panel-guests .person-row").evaluate_all(
        "rows => rows.map(row => { const [name, buttons] = ['.person-row .name', '.row-buttons'].map(one => "
        "row.querySelector(one).getBoundingClientRect());"
        " return name.right > buttons.left && name.bottom > buttons.top; })"
    )
    assert len(covered) == 4 and not any(covered)


@pytest.mark.parametrize("locale", ["en-GB", "de-DE", "fr-FR", "es-ES"])
@pytest.mark.parametrize("screen", SCREENS)
def test_no_sentence_is_cut_off_at_any_size_in_any_language(
    make_server: MakeServer, open_page: Open, screen: str, locale: str
) -> None:
    server = make_server(host_playing())
    page = open_page(server, screen, wait=False, locale=locale)
    cut = []
    for name, view in STATES.items():
        if view is None:
            continue
        server.show(view)
        assert server.view
        page.locator(f"#dashboard[data-version='{server.view['version']}']").wait_for()
        for tab in page.get_by_role("tab").all():
            tab.click()
            cut += [(name, tab.text_content(), text) for text in page.evaluate(CUT_OFF)]
            wrapped = page.locator(".tab .word").evaluate_all(
                "all => all.filter(w => w.offsetHeight > 1.7 * parseFloat(getComputedStyle(w).fontSize))"
                ".map(w => w.textContent)"
            )
            cut += [(name, "tabs", text) for text in wrapped]
    assert cut == []

# Smallest distance of the big buttons' words from their borders and icons, in CSS pixels.
ROOM = """() => {
    const rooms = [...document.querySelectorAll('#playing .main')].filter(b => b.checkVisibility()).map((button) => {
        const range = document.createRange();
        range.selectNodeContents(button.lastChild);
        const [words, all] = [range.getBoundingClientRect(), button.getBoundingClientRect()];
        if (!words.width) return all.width;
        const icon = button.querySelector('.icon').getBoundingClientRect();
        return Math.min(words.left - icon.right, icon.left - all.left, all.right - words.right,
            words.top - all.top, all.bottom - words.bottom);
    });
    return Math.min(...rooms);
}"""


@pytest.mark.parametrize("locale", ["en-GB", "de-DE", "fr-FR", "es-ES"])
def test_the_words_of_the_big_buttons_have_room_in_every_language(
    make_server: MakeServer, open_page: Open, locale: str
) -> None:
    for state in (host_playing(), host_playing(isPlaying=False)):
        page = open_page(make_server(state), locale=locale)
        rooms = {}
        for screen, size in SCREENS.items():
            page.set_viewport_size(size)
            rooms[screen] = round(page.evaluate(ROOM), 1)
        assert min(rooms.values()) >= 4, rooms

# Words of a row that lie under the element next to them.
UNDER = """() => [...document.querySelectorAll('#choosing .person-row')].flatMap((row) => {
    const button = row.querySelector('button').getBoundingClientRect();
    const walker = document.createTreeWalker(row.querySelector('.person'), NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
        const range = document.createRange();
        range.selectNodeContents(walker.currentNode);
        const words = range.getBoundingClientRect();
        if (words.width && words.right > button.left) found.push(walker.currentNode.data);
    }
    return found;
})"""


@pytest.mark.parametrize("locale", ["en-GB", "de-DE", "fr-FR", "es-ES"])
def test_the_name_of_a_host_is_not_under_the_button_that_joins_it(
    make_server: MakeServer, open_page: Open, locale: str
) -> None:
    page = open_page(make_server(guest_choosing()), locale=locale)
    for screen, size in SCREENS.items():
        page.set_viewport_size(size)
        assert page.evaluate(UNDER) == [], screen
