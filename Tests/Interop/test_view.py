# SPDX-License-Identifier: Apache-2.0
"""The view of a node: a program that asks for it receives the same as the node's page."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPResponse
from http.cookiejar import CookieJar
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from roadmesh_peer.guest import Refused
from roadmesh_peer.noise_link import Key
from roadmesh_program.fixtures import MakeGuest, Place, Start
from roadmesh_program.program import START, Program

View = dict[str, Any]


def told(program: Program, fits: Callable[[View], bool] = lambda _: True) -> View:
    program.say("view")
    view = program.expect("view")["view"]
    assert fits(view), view
    return dict(view)


def becomes(program: Program, fits: Callable[[View], bool]) -> View:
    """Asks for the view until it matches: for changes without an event of their own."""
    deadline = monotonic() + START
    while not fits(view := told(program)):
        assert monotonic() < deadline, view
    return view


def stream(url: str, opener: urllib.request.OpenerDirector | None = None) -> tuple[HTTPResponse, View]:
    """An open page, and the first view that it receives."""
    page = (opener or urllib.request.build_opener()).open(url + "events", timeout=START)
    while not (line := page.readline()).startswith(b"data: "):
        assert line, "the stream has ended"
    return page, json.loads(line.removeprefix(b"data: "))


def browser(invitation: str) -> tuple[str, urllib.request.OpenerDirector]:
    """A passenger's browser that has opened an invitation: the page's address, and an opener with the cookies."""
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    opener.open(invitation, timeout=START).close()
    return invitation.split("join?")[0], opener


def request(opener: urllib.request.OpenerDirector, base: str, path: str, **fields: str) -> None:
    """Posts a request of the page."""
    headers = {"Content-Type": "application/json", "Origin": base.rstrip("/")}
    opener.open(urllib.request.Request(f"{base}api/{path}", json.dumps(fields).encode(), headers), timeout=START).close()


def lasting(view: View) -> View:
    """The parts of a view that do not change every second."""
    guests = [{**guest, "roundTrip": None, "hops": None} for guest in view["guests"]]
    return {**view, "version": 0, "elapsed": 0, "guests": guests}


def test_a_program_is_told_the_view_that_the_page_shows(host: Program, bob: Program) -> None:
    bob.say("vote n3")
    bob.expect("vote", songID="n3", state="confirmed")
    host.expect("intent", songID="n3")
    for program, connection in ((host, "hosting"), (bob, "connected")):
        # A guest's bearer is known from the first report on its link.
        program.expect_seen("link")
        view = told(program)
        page, shown = stream(program.expect_seen("ready")["http"])
        page.close()
        assert view.keys() == shown.keys() and view["connection"] == connection
        assert view["queue"][0]["id"] == "n3" and view["queue"][0]["mine"] == (program is bob)
        # The result of a vote is marked for some seconds only.
        for one in (view, shown):
            one["queue"][0]["wish"] = None
        assert lasting(view) == lasting(shown)


def test_a_view_has_another_version_where_it_has_changed_and_only_there(start: Start) -> None:
    host = start("host", "Car", "car", "--http", "none")
    # The events of a start. The view is stable when all have arrived, in any order.
    for event in ("snapshot", "playback", "steering"):
        host.expect_seen(event)
    before = told(host)
    assert lasting(told(host)) == lasting(before) and told(host)["version"] == before["version"]
    host.say("remove nothing")
    host.expect("notice")
    noticed = told(host)
    assert noticed["notices"] and noticed["version"] > before["version"]
    # A notice that ends automatically causes no event.
    deadline = monotonic() + START
    while (later := told(host))["notices"]:
        assert later["version"] == noticed["version"] and monotonic() < deadline
        sleep(0.2)
    assert later["version"] > noticed["version"]


def test_a_view_shows_what_was_told_before_it(host: Program, bob: Program) -> None:
    del host
    for song in range(1, 6):
        bob.say(f"vote n{song}")
        bob.expect("vote", songID=f"n{song}", state="confirmed")
        told(bob, lambda view: sum(item["mine"] for item in view["queue"]) == song)  # noqa: B023


def test_a_view_knows_passengers_with_a_browser(start: Start) -> None:
    host = start("host", "Car", "car", "--web-guests", "--http", "127.0.0.1:0")
    base, opener = browser(told(host)["invitation"]["url"])
    request(opener, base, "join", key="07" * 32, name="Mia")
    page, _ = stream(base, opener)
    host.expect("peerConnected")
    becomes(host, lambda view: [(guest["name"], guest["isWeb"]) for guest in view["guests"]] == [("Mia", True)])
    page.close()


def test_one_key_by_page_and_by_radio_is_one_guest_and_is_kicked_on_both(start: Start, make_guest: MakeGuest) -> None:
    host = start("host", "Car", "car", "--web-guests", "--http", "127.0.0.1:0")
    base, opener = browser(told(host)["invitation"]["url"])
    key = bytes([7]) * 32
    request(opener, base, "join", key=key.hex(), name="Mia")
    page, _ = stream(base, opener)
    host.expect("peerConnected")
    mia = make_guest("Mia")
    mia.key = Key(key)
    mia.join()
    becomes(host, lambda view: [guest["name"] for guest in view["guests"]] == ["Mia"])
    # She leaves the page, and is still a guest.
    page.close()
    request(opener, base, "command", command="leave")
    becomes(host, lambda view: [guest["name"] for guest in view["guests"]] == ["Mia"])
    host.say("kick Mia")
    host.expect("peerDisconnected")
    with pytest.raises(Refused):
        mia.until_lost()
    becomes(host, lambda view: view["guests"] == [])
    with pytest.raises(urllib.error.HTTPError, match="403"):
        request(opener, base, "join", key=key.hex(), name="Mia")
    with pytest.raises(Refused):
        mia.join()


def test_a_view_that_is_asked_for_at_once_comes_after_the_greeting(binary: Path, place: Place) -> None:
    program = Program(binary, "host", "Car", *place("car"), "--http", "none")
    program.say("view")
    program.expect("ready", timeout=START)
    view = program.expect("view")["view"]
    assert view["role"] == "host" and view["invitation"] is None
    assert program.end() == 0
