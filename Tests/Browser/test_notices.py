# SPDX-License-Identifier: Apache-2.0
"""Banners and toasts contain advice, disappear when the cause is over, and do not block the queue."""

from __future__ import annotations

from conftest import MakeServer, Open, shows
from playwright.sync_api import expect
from views import (
    HOST,
    guest_choosing,
    guest_connected,
    guest_reconnecting,
    guest_refused,
    heard,
    host_playing,
    lost,
    notice,
    passing,
)


def test_a_lost_connection_is_a_banner_over_a_queue_that_can_be_used(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(guest_reconnecting())
    page = open_page(server)
    banner = page.get_by_role("status", name="Connection")
    expect(banner.locator("p:visible")).to_have_text(
        [
            "Connection Lost",
            "Connection to Dad's Car lost. Trying to reconnect.",
            "You see the last known queue. Your votes are sent when the connection is back.",
        ]
    )
    expect(banner.get_by_role("button")).to_have_count(0)
    page.get_by_role("button", name="Vote for Headlights").click()
    assert server.commands.get(timeout=10)["command"] == "takeBack"
    # The server offers a button after ten seconds.
    server.show(guest_reconnecting(notices=[{**lost("Retry"), "id": 1}]))
    banner.get_by_role("button", name="Retry").click()
    assert server.commands.get(timeout=10) == {"command": "retry"}
    server.show(guest_connected())
    expect(banner.locator(".notice")).to_have_count(0)


def test_where_a_host_asks_for_its_pin_there_is_one_button_to_join(make_server: MakeServer, open_page: Open) -> None:
    asks = notice("proofRequired", "Dad's Car asks for a PIN.", suggestion="Type the six digits on its screen.")
    server = make_server(guest_choosing(hosts=[heard(HOST, -63)], notices=[asks]))
    page = open_page(server)
    join = page.get_by_role("button", name="Join")
    expect(join).to_have_count(1)
    page.locator("#host-pin").fill("482116")
    join.click()
    assert server.commands.get(timeout=10) == {"command": "pin", "digits": "482116"}


def test_a_passing_toast_goes_by_itself_and_does_not_come_back(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(host_playing())
    page = open_page(server, clock=True)
    told = passing("notQueued", '"s77" is not in the queue.', "Name a song that waits; skip ends the one that plays.")
    server.show(host_playing(notices=[told]))
    toast = page.locator(".toast")
    expect(toast).to_contain_text("Name a song that waits; skip ends the one that plays.")
    page.clock.fast_forward(4_000)
    expect(toast).to_be_visible()
    page.clock.fast_forward(1_500)
    expect(toast).to_have_count(0)
    server.show(host_playing(notices=[told], isPlaying=False))
    shows(page, server)
    expect(toast).to_have_count(0)


def test_a_passing_toast_stays_while_somebody_is_on_it_and_goes_at_a_tap(
    make_server: MakeServer, open_page: Open
) -> None:
    server = make_server(host_playing(notices=[passing("told", "Something happened.")]))
    page = open_page(server, clock=True)
    toast = page.locator(".toast")
    toast.hover()
    page.clock.fast_forward(6_000)
    expect(toast).to_be_visible()
    toast.get_by_role("button", name="Dismiss").click()
    expect(toast).to_have_count(0)


def test_a_critical_toast_stays_until_it_is_cured(make_server: MakeServer, open_page: Open) -> None:
    full = notice(
        "storageFull",
        "The disk is full; nothing more can be saved.",
        kind="toast",
        suggestion="Make room: df -h shows which disk is full.",
    )
    server = make_server(host_playing(notices=[full]))
    page = open_page(server, clock=True)
    toast = page.locator(".toast")
    expect(toast).to_contain_text("Make room: df -h shows which disk is full.")
    page.clock.fast_forward(3_600_000)
    server.show(host_playing(notices=[full]))
    shows(page, server)
    expect(toast).to_be_visible()
    expect(toast.get_by_role("button", name="Dismiss")).to_have_count(0)
    server.show(host_playing())
    expect(toast).to_have_count(0)


def test_a_refusal_is_told_once_at_its_song_with_what_to_do(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(guest_connected())
    page = open_page(server)
    server.show(guest_refused())
    told = "You already have 5 songs waiting. Suggest again when one of them has played."
    line = page.locator(".song").filter(has_text="The Long Way Round").locator(".wish")
    expect(line).to_have_text(told)
    # Another suggestion was refused before for the same reason. The notice is about the newer suggestion.
    expect(page.locator(".song").filter(has_text="Slow Lane").locator(".wish")).to_have_text("Slow Lane is not queued.")
    expect(page.locator(".toast")).to_have_count(0)
    expect(page.locator("#spoken")).to_have_text(told)
    # The notice disappears shortly before the wish does.
    server.show(guest_refused(notices=[]))
    shows(page, server)
    expect(line).to_have_text(told)
    server.show(guest_connected())
    expect(line).to_have_count(0)


def test_a_notice_that_changes_keeps_its_place_and_the_focus(make_server: MakeServer, open_page: Open) -> None:
    out = notice("radioUnavailable", "Bluetooth is switched off.", suggestion="Switch it on.", button="Check Again")
    server = make_server(host_playing(notices=[out]))
    page = open_page(server)
    page.get_by_role("button", name="Check Again").focus()
    server.show(host_playing(notices=[{**out, "message": "There is no Bluetooth adapter."}]))
    expect(page.get_by_text("There is no Bluetooth adapter.")).to_be_visible()
    expect(page.get_by_role("button", name="Check Again")).to_be_focused()


def test_the_last_song_can_be_scrolled_out_from_under_a_toast(make_server: MakeServer, open_page: Open) -> None:
    page = open_page(make_server(host_playing(notices=[passing("told", "Something happened.", seconds=600)])))
    last = page.get_by_role("button", name="Remove Half a Tank")
    last.scroll_into_view_if_needed()
    page.locator("#panel-queue").evaluate("panel => panel.scrollTo(0, panel.scrollHeight)")
    button, toast = last.bounding_box(), page.locator(".toast").bounding_box()
    assert button and toast
    assert button["y"] + button["height"] <= toast["y"]
