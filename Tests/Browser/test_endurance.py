# SPDX-License-Identifier: Apache-2.0
"""Hours on the road: memory does not grow, and a busy host does not delay the page's answer to a finger."""

from __future__ import annotations

import pytest
from conftest import MakeServer, Open, shows
from growing import Growth, Metrics, metrics, watched
from views import View, guest_connected, item, many, passing

VIEWS = 1_000
SONGS = 100
# Shortest time between two drawings of the page, in milliseconds: `drawing` in limits.js.
DRAWING = 100.0


def drive(number: int) -> View:
    """Songs are played and new songs come. Every tenth view has a temporary notice."""
    queue = [item(number + place, id=f"n{number + place}") for place in range(20)]
    notices = [{**passing("told", f"Notice {number // 10}."), "id": number // 10}] if number % 10 < 5 else []
    return guest_connected(
        queue=queue, notices=notices, nowPlaying=item(number, id=f"p{number}", art=f"/art/{number % 5}")
    )


# A view takes a quarter of a second on a machine that runs other tests as well.
@pytest.mark.timeout(900)
@pytest.mark.together
def test_a_thousand_views_leave_nothing_behind(make_server: MakeServer, open_page: Open, measured: list[str]) -> None:
    server = make_server(drive(0))
    page = open_page(server)
    session = watched(page)

    def show(numbers: range) -> Metrics:
        for number in numbers:
            server.show(drive(number))
            shows(page, server)
        server.show(drive(0))
        shows(page, server)
        return metrics(session)

    before = show(range(200))
    after = show(range(200, 200 + VIEWS))
    grown = Growth.between(before, after)
    measured.append(f"page: {VIEWS} views, {grown}")
    assert grown.nodes <= Growth.NODES
    assert grown.listeners <= 6
    assert grown.heap <= Growth.HEAP


def test_a_hundred_songs_that_all_change_places_are_drawn_faster_than_the_page_draws(
    make_server: MakeServer, open_page: Open, measured: list[str]
) -> None:
    server = make_server(many(SONGS))
    page = open_page(server)
    session = watched(page)
    views = 60
    before = metrics(session)["TaskDuration"]
    for number in range(1, views + 1):
        server.show(many(SONGS, number))
        shows(page, server)
    busy = (metrics(session)["TaskDuration"] - before) / views * 1000
    measured.append(f"page: {SONGS} songs that all change places take {busy:.1f} ms of the browser's main thread")
    assert busy < DRAWING
