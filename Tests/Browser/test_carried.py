# SPDX-License-Identifier: Apache-2.0
"""The page on a home screen, and opened while its node is out of reach."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator

import pytest
from conftest import CAR, PATIENCE, MakeServer, Open, settled, shows
from playwright.sync_api import Browser, BrowserContext, Page, expect
from stand_in import PAGE
from views import guest_connected, host_playing, web_guest

Carried = Callable[..., Page]


def test_it_can_be_put_on_a_home_screen(make_server: MakeServer, open_page: Open) -> None:
    page = open_page(make_server(host_playing()))
    address = page.locator("link[rel=manifest]").get_attribute("href")
    manifest = page.evaluate("async path => (await fetch(path)).json()", address)
    assert manifest["display"] == "standalone" and manifest["start_url"] == "/"
    large = next(icon for icon in manifest["icons"] if icon["type"] == "image/png")
    for name, size in ((large["src"], 512), ("/icon-180.png", 180)):
        data = (PAGE / name[1:]).read_bytes()
        assert struct.unpack(">II", data[16:24]) == (size, size)
    # Chromium's only possible complaint is missing HTTPS with a worker, which not every address has.
    session = page.context.new_cdp_session(page)
    found = session.send("Page.getAppManifest")
    assert found["errors"] == [] and json.loads(found["data"]) == manifest


@pytest.fixture
def carried(browser: Browser) -> Iterator[Carried]:
    """Opens pages in one browser that stores what it may."""
    contexts: list[BrowserContext] = []

    def opened(url: str, context: BrowserContext | None = None, stays: bool = True) -> Page:
        if context is None:
            context = browser.new_context(viewport={"width": 800, "height": 480})
            contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(url)
        # A page that reloads may do so at any time.
        if stays:
            settled(page)
        return page

    expect.set_options(timeout=PATIENCE)
    yield opened
    for context in contexts:
        context.close()


def test_a_reload_while_the_node_is_away_shows_the_last_queue_on_the_head_unit(
    make_server: MakeServer, carried: Carried
) -> None:
    server = make_server(host_playing())
    page = carried(server.url)
    page.evaluate("() => navigator.serviceWorker.ready.then(() => true)")
    page.wait_for_function("async () => Boolean(await (await caches.open('page')).match('/app.js'))")
    shows(page, server)
    server.cut()
    page.reload()
    expect(page.locator("#banners")).to_contain_text("No Connection")
    expect(page.locator("#panel-queue ol .title").first).to_have_text("Headlights")
    expect(page.locator("#playing .label").first).to_have_text("Last known")
    # All controls are disabled.
    expect(page.get_by_role("button", name="Remove Headlights")).to_be_disabled()
    server.mend()
    expect(page.locator("#banners .notice")).to_have_count(0)
    expect(page.get_by_role("button", name="Remove Headlights")).to_be_enabled()


def test_a_phone_that_opens_the_page_again_while_the_node_is_away_sees_the_last_queue(
    make_server: MakeServer, carried: Carried
) -> None:
    server = make_server(web_guest())
    server.keeps_files = True
    url = server.url.replace("127.0.0.1", CAR)
    first = carried(url)
    assert not first.evaluate("isSecureContext")
    shows(first, server)
    first.wait_for_function("() => localStorage.getItem('roadmesh.view')")
    server.cut()
    page = carried(url, first.context)
    first.close()
    expect(page.locator("#panel-queue ol .title").first).to_have_text("Headlights")
    expect(page.locator("#banners")).to_contain_text("No Connection")
    # A vote waits for the connection, as in any gap.
    page.get_by_role("button", name="Vote for Are We There Yet").click()
    expect(page.locator(".song").filter(has_text="Are We There Yet").locator(".wish")).to_have_text("Vote waiting")
    server.mend()
    assert server.commands.get(timeout=30) == {"command": "vote", "songID": "s4"}


@pytest.mark.parametrize("role", ["host", "webGuest"])
def test_the_page_of_a_node_that_was_stopped_has_the_last_queue_when_it_is_opened_again(
    role: str, make_server: MakeServer, carried: Carried
) -> None:
    make = host_playing if role == "host" else web_guest
    server = make_server(make())
    server.keeps_files = True
    server.ends_streams = True
    url = server.url.replace("127.0.0.1", CAR)
    first = carried(url)
    shows(first, server)
    server.show(make(ended="The host has stopped.", connection="hosting" if role == "host" else "disconnected"))
    expect(first.locator("#banners")).to_contain_text("has stopped")
    server.cut()
    page = carried(url, first.context)
    first.close()
    expect(page.locator("#panel-queue ol .title").first).to_have_text("Headlights")
    expect(page.locator("#panel-queue")).to_contain_text("Last known queue")
    expect(page.locator("#banners")).to_contain_text("No Connection")


def test_another_program_with_another_page_is_noticed(make_server: MakeServer, carried: Carried) -> None:
    server = make_server(host_playing())
    server.keeps_files = True
    url = server.url.replace("127.0.0.1", CAR)
    first = carried(url)
    first.wait_for_function("() => localStorage.getItem('roadmesh.page') === '\"1\"'")
    server.tag = '"2"'
    page = carried(url, first.context, stays=False)
    page.wait_for_function("() => localStorage.getItem('roadmesh.page') === '\"2\"'")
    # The page has reloaded once, with the files of the server's other version.
    page.wait_for_function("() => performance.getEntriesByType('navigation')[0]?.type === 'reload'")
    page.locator("#dashboard:visible").wait_for()


def test_who_is_not_let_in_any_more_sees_nothing_of_what_was(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(guest_connected())
    page = open_page(server)
    page.wait_for_function("() => localStorage.getItem('roadmesh.view')")
    server.show(None)
    page.reload()
    page.locator("#join:visible").wait_for()
    assert page.evaluate("localStorage.getItem('roadmesh.view')") is None


@pytest.mark.parametrize(
    ("found", "is_shown"),
    [
        (None, False),
        ({"at": 0, "view": None}, False),
        ({"at": 1_000, "view": "view"}, True),
        ({"at": -12 * 3_600_000, "view": "view"}, False),
        ({"at": 99_999_999, "view": "view"}, False),
        ({"at": 1_000, "view": {"role": "host", "me": {"id": "1"}, "queue": "none"}}, False),
    ],
)
def test_what_is_kept_is_shown_only_where_it_is_a_view_of_today(
    make_server: MakeServer, open_page: Open, found: dict[str, object] | None, is_shown: bool
) -> None:
    page = open_page(make_server(host_playing()))
    if found and found["view"] == "view":
        found = {**found, "view": host_playing()}
    checked = page.evaluate(
        "async a => Boolean((await import('/last.js')).checkedView(a, 2000))", found
    )
    assert checked is is_shown
