# SPDX-License-Identifier: Apache-2.0
"""Joining a real host by its page, with an invitation or the PIN, and the end of that access."""

from __future__ import annotations

import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from conftest import CAR, SCREENS, MakeServer, Open, answer, posted
from playwright.sync_api import FloatRect, Page, expect
from ride import Ride
from test_web_guests import Door, join
from views import host_playing, inviting

PIN = "314159"
WEB = ("--web-guests", "--http", "0.0.0.0:0", "--pin", PIN)


def in_by(page: Page, name: str, pin: str | None = None) -> None:
    page.get_by_label("Your name").fill(name)
    if pin:
        page.locator("#pin").fill(pin)
    page.keyboard.press("Enter")


def bare(url: str) -> Door:
    return Door(f"http://{urlsplit(url).netloc}/")


def read(picture: Path) -> str:
    done = subprocess.run(["zbarimg", "--quiet", "--raw", picture], capture_output=True, text=True, check=True)
    return done.stdout


def test_a_bare_page_asks_for_the_pin_and_the_code_on_the_head_unit_does_not(
    ride: Ride, open_page: Open, tmp_path: Path
) -> None:
    host = ride.host(*WEB)
    phone = open_page(bare(host.url), "phone", wait=False)
    expect(phone.locator("#pin")).to_be_visible()
    phone.screenshot(path=tmp_path / "pin.png")
    in_by(phone, "Mia", "271828")
    expect(phone.get_by_role("alert")).to_contain_text("That is not the PIN")
    in_by(phone, "Mia", PIN)
    expect(phone.get_by_role("button", name="Vote for Headlights")).to_be_visible()
    phone.reload()
    expect(phone.get_by_role("button", name="Vote for Headlights")).to_be_visible()
    driver = open_page(host)
    driver.get_by_role("tab", name="Invite").click()
    code = driver.get_by_text("/join?token=").inner_text()
    scanned = open_page(Door(code), "phone", wait=False)
    expect(scanned.get_by_label("Your name")).to_be_visible()
    expect(scanned.locator("#pin")).to_be_hidden()
    in_by(scanned, "Tom")
    expect(scanned.get_by_role("button", name="Vote for Headlights")).to_be_visible()


def test_a_picture_of_an_invitation_lets_one_phone_in_and_a_node_takes_the_same(
    ride: Ride, open_page: Open, tmp_path: Path
) -> None:
    password = tmp_path / "password"
    password.write_text("to the sea\n")
    host = ride.host(*WEB, "--wifi", "Dad's Wi-Fi", "--wifi-password", str(password))
    driver = open_page(host)
    driver.get_by_role("tab", name="Invite").click()
    driver.get_by_role("button", name="Invite one guest").click()
    once = host.program.expect("invitation")
    shown = driver.get_by_text(once["url"])
    expect(shown).to_be_visible()
    driver.screenshot(path=tmp_path / "invited.png")
    driver.get_by_role("button", name="QR code of the invitation below").click()
    expect(driver.get_by_role("dialog")).to_be_visible()
    driver.screenshot(path=tmp_path / "whole.png")
    assert read(tmp_path / "whole.png").strip() == once["url"]
    driver.get_by_role("dialog").click()
    expect(driver.get_by_role("dialog")).to_have_count(0)
    driver.get_by_role("button", name="QR code that joins the Wi-Fi").click()
    driver.screenshot(path=tmp_path / "wifi.png")
    assert read(tmp_path / "wifi.png").strip() == "WIFI:T:WPA;S:Dad's Wi-Fi;P:to the sea;;"
    driver.keyboard.press("Escape")

    mia = join(open_page, once["url"], "Mia")
    expect(mia.get_by_role("button", name="Vote for Headlights")).to_be_visible()
    assert "invitation" not in mia.url
    expect(shown).to_be_hidden()
    eve = open_page(Door(once["url"]), "phone", wait=False)
    in_by(eve, "Eve")
    expect(eve.get_by_role("alert")).to_contain_text("This invitation was used already")

    driver.get_by_role("button", name="Invite for 2 hours").click()
    timed = host.program.expect("invitation")["url"]
    bob = ride.start("guest", "Bob", "--join", timed)
    bob.program.expect("connection", state="connected")
    join(open_page, timed, "Zoe")
    driver.locator(".given").get_by_role("button", name="Revoke", exact=True).click()
    expect(driver.get_by_text(timed)).to_be_hidden()


def test_who_is_kept_out_is_on_a_list_and_may_be_let_in_again(ride: Ride, open_page: Open, tmp_path: Path) -> None:
    host = ride.host()
    bob = ride.guest("Bob")
    driver = open_page(host)
    driver.get_by_role("tab", name="Guests").click()
    driver.get_by_role("button", name="Kick Bob").click()
    answer(driver, "Really kick Bob")
    bob.program.expect("notice", code="kicked")
    expect(driver.get_by_text("until the session ends")).to_be_visible()
    driver.screenshot(path=tmp_path / "kept-out.png")
    driver.get_by_role("button", name="Unban").click()
    expect(driver.get_by_text("Banned")).to_be_hidden()
    bob.program.say("retry")
    bob.program.expect("connection", state="connected")


def test_a_guest_types_the_pin_on_its_own_page(ride: Ride, open_page: Open, tmp_path: Path) -> None:
    ride.host("--pin", PIN)
    bob = ride.start("guest", "Bob")
    page = open_page(bob, "phone", wait=False)
    field = page.locator("#host-pin")
    expect(field).to_be_visible()
    page.screenshot(path=tmp_path / "own-pin.png")
    field.fill(PIN)
    page.keyboard.press("Enter")
    bob.program.expect("connection", state="connected")
    expect(page.get_by_role("button", name="Vote for Headlights")).to_be_visible()


def test_the_pictures_fit_every_screen(ride: Ride, open_page: Open, tmp_path: Path) -> None:
    host = ride.host(*WEB)
    driver = open_page(host)
    driver.get_by_role("tab", name="Invite").click()
    driver.get_by_role("button", name="Invite one guest").click()
    url = host.program.expect("invitation")["url"]
    for name, size in SCREENS.items():
        driver.set_viewport_size(size)
        driver.screenshot(path=tmp_path / f"invite-{name}.png")
        driver.get_by_role("button", name="QR code of the invitation below").click()
        driver.screenshot(path=tmp_path / f"whole-{name}.png")
        assert read(tmp_path / f"whole-{name}.png").strip() == url
        driver.keyboard.press("Escape")


def assert_in_panel(page: Page, what: str) -> FloatRect:
    """The element is in its panel without scrolling."""
    shown, panel = page.locator(what).bounding_box(), page.locator("#panel-invitation").bounding_box()
    assert shown and panel
    assert panel["x"] <= shown["x"] and shown["x"] + shown["width"] <= panel["x"] + panel["width"], (shown, panel)
    assert panel["y"] <= shown["y"] and shown["y"] + shown["height"] <= panel["y"] + panel["height"], (shown, panel)
    return shown


def assert_whole(page: Page, code: str) -> None:
    """The code is in its panel without scrolling, and large enough."""
    shown = assert_in_panel(page, code)
    # A camera on the back seat must be able to read it.
    assert min(shown["width"], shown["height"]) >= 160, shown


def test_an_invitation_is_copied_and_each_is_revoked_by_itself(make_server: MakeServer, open_page: Open) -> None:
    view = inviting()
    newest, older = view["invitation"]["open"]
    older["text"] += "older"
    # Two codes leave no room for the buttons that copy the address.
    view["invitation"]["wifi"] = None
    server = make_server(view)
    page = open_page(server, "phone")
    page.get_by_role("tab", name="Invite").click()
    page.locator(".given").get_by_role("button", name="Copy").click()
    expect(page.locator(".toast")).to_have_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()") == newest["text"]
    page.locator(".open-invitation").get_by_role("button", name="Copy").click()
    page.wait_for_function("async text => await navigator.clipboard.readText() === text", arg=older["text"])
    page.locator(".open-invitation").get_by_role("button", name="Revoke").click()
    assert posted(server) == {"command": "invite", "span": f"none {older['text']}"}
    page.locator(".given").get_by_role("button", name="Revoke", exact=True).click()
    assert posted(server) == {"command": "invite", "span": f"none {newest['text']}"}
    page.locator(".door").get_by_role("button", name="Copy").click()
    page.wait_for_function(
        "async text => await navigator.clipboard.readText() === text", arg=view["invitation"]["url"]
    )


def test_a_page_by_plain_http_copies_as_well(make_server: MakeServer, open_page: Open) -> None:
    server = make_server(inviting())
    server.url = server.url.replace("127.0.0.1", CAR)
    page = open_page(server, "phone")
    assert not page.evaluate("isSecureContext")
    page.get_by_role("tab", name="Invite").click()
    page.locator(".given").get_by_role("button", name="Copy").click()
    expect(page.locator(".toast")).to_have_text("Copied.")


@pytest.mark.parametrize("screen", ["small", "headunit", "sideways", "desk"])
@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
@pytest.mark.parametrize("wifi", [None, {"name": "The Millers' Car", "qr": "/wifi.svg"}])
def test_codes_pin_and_buttons_are_there_without_scrolling(
    screen: str, locale: str, wifi: dict[str, str] | None, make_server: MakeServer, open_page: Open
) -> None:
    door = {**host_playing()["invitation"], "pin": "482116", "open": [], "wifi": wifi}
    driver = open_page(make_server(host_playing(invitation=door)), screen, locale=locale)
    driver.locator("#tab-invitation").click()
    assert_whole(driver, ".door .qr")
    if wifi:
        assert_whole(driver, ".wifi .qr")
    for control in (".pin", "[data-control=inviteOne]", "[data-control=inviteTwo]"):
        assert_in_panel(driver, control)


@pytest.mark.parametrize("screen", ["small", "headunit", "sideways", "desk"])
@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
def test_a_code_is_whole_in_its_panel_without_a_tap(
    screen: str, locale: str, ride: Ride, open_page: Open, tmp_path: Path
) -> None:
    host = ride.host(*WEB)
    driver = open_page(host, screen, locale=locale)
    driver.locator("#tab-invitation").click()
    assert_whole(driver, ".door .qr")
    driver.screenshot(path=tmp_path / "door.png")
    driver.locator("[data-control=inviteOne]").click()
    url = host.program.expect("invitation")["url"]
    expect(driver.locator(".given .qr")).to_be_visible()
    driver.get_by_text(url).wait_for()
    assert_whole(driver, ".given .qr")
    driver.screenshot(path=tmp_path / "invitation.png")
    read_codes = read(tmp_path / "invitation.png")
    assert url in read_codes
    # After a reload the code is still visible, for a person who opens the panel again.
    driver.reload()
    driver.locator("#tab-invitation").click()
    expect(driver.locator(".given .qr")).to_be_visible()
    assert_whole(driver, ".given .qr")
