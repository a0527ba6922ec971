# SPDX-License-Identifier: Apache-2.0
"""The page's modules for decisions and texts: tables of inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from conftest import opening
from playwright.sync_api import Browser, Page
from stand_in import StandIn
from views import HOSTILE, guest_connected


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """One page for all tests here: a module's functions depend on their arguments alone."""
    server = StandIn(guest_connected())
    with opening(browser) as open_page:
        yield open_page(server, locale="en-GB")
    server.close()


def call(page: Page, module: str, expression: str, *arguments: Any) -> Any:
    """Evaluates an expression with a module's exports. Its arguments are `a`."""
    return page.evaluate(
        f"async a => {{ const m = await import('/{module}.js'); return {expression}; }}", list(arguments)
    )


@pytest.mark.parametrize(
    ("seconds", "said"), [(0, "0:00"), (59.9, "0:59"), (60, "1:00"), (214, "3:34"), (3_605, "1:00:05"), (-3, "0:00")]
)
def test_a_time_is_minutes_and_seconds(page: Page, seconds: float, said: str) -> None:
    assert call(page, "text", "m.clock(a[0])", seconds) == said


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Open Road", "Open Road"),
        ("", "(untitled)"),
        (None, "(untitled)"),
        (" \t\n", "(untitled)"),
        (HOSTILE["invisible"], "(untitled)"),
        ("x" * 300, "x" * 300),
        ("x" * 301, "x" * 300 + "…"),
        # Half of a character would be shown as a box.
        ("x" * 299 + "\U0001f697y", "x" * 299 + "…"),
        (HOSTILE["script"], HOSTILE["script"]),
    ],
)
def test_a_title_is_shown_as_it_is_but_never_empty_and_never_endless(page: Page, title: str, shown: str) -> None:
    assert call(page, "text", "m.titleOf({title: a[0]})", title) == shown


@pytest.mark.parametrize(("rssi", "bars"), [(-40, 4), (-60, 4), (-61, 3), (-71, 2), (-88, 1), (-91, 0)])
def test_bars_are_those_of_the_terminal(page: Page, rssi: int, bars: int) -> None:
    assert call(page, "text", "m.bars(a[0])", rssi) == bars


@pytest.mark.parametrize(
    ("title", "initials"),
    [
        ("Open Road", "OR"),
        ("headlights", "H"),
        ("", "♪"),
        ("…!", "♪"),
        ("\u05e9\u05d9\u05e8", "\u05e9"),
        ("7 Days", "7D"),
    ],
)
def test_initials_stand_for_a_title(page: Page, title: str, initials: str) -> None:
    assert call(page, "text", "m.initials(a[0])", title) == initials


def test_progress_counts_on_while_it_plays_and_stops_at_the_end(page: Page) -> None:
    def elapsed(is_playing: bool, later: float) -> float:
        view = {"isPlaying": is_playing, "elapsed": 10, "nowPlaying": {"duration": 12}}
        result: float = call(page, "text", "m.elapsed(a[0], 1000, 1000 + a[1])", view, later)
        return result

    assert elapsed(True, 1_500) == 11.5
    assert elapsed(True, 9_000) == 12
    assert elapsed(False, 9_000) == 10


def test_attempts_to_connect_come_ever_slower_and_no_slower_than_every_three_seconds(page: Page) -> None:
    pauses = call(
        page,
        "reach",
        "(() => { const r = new m.Reach(); r.tried(0);"
        " return [1, 2, 3, 4, 5, 6].map(() => {"
        "  r.broke(0, 0); const pause = r.deadline; r.ticked(pause, 0); return pause; }); })()",
    )
    assert pauses == [500, 1_000, 2_000, 3_000, 3_000, 3_000]


def test_a_server_that_only_says_that_all_is_over_is_asked_ever_slower_too_and_is_not_out_of_reach(page: Page) -> None:
    told = call(
        page,
        "reach",
        "(() => { const r = new m.Reach(); let now = 0; r.tried(now);"
        " const next = isOver => {"
        "  r.heard(now); r.broke(now, 0, isOver);"
        "  const told = [r.deadline - now, r.trouble(r.deadline).isTold, r.endings];"
        "  now = r.deadline; r.ticked(now, 0); return told; };"
        " return [true, true, true, true, true, false, true].map(next); })()",
    )
    assert [pause for pause, _, _ in told] == [500, 1_000, 2_000, 3_000, 3_000, 500, 500]
    assert not any(is_told for _, is_told, _ in told)
    assert [endings for _, _, endings in told] == [1, 2, 3, 4, 5, 0, 1]


def test_a_server_that_says_nothing_for_twelve_seconds_is_out_of_reach(page: Page) -> None:
    def after(silence: int) -> Any:
        return call(
            page,
            "reach",
            "(() => { const r = new m.Reach(); r.tried(0); r.heard(0); return [r.ticked(a[0], 0), r.phase]; })()",
            silence,
        )

    assert after(11_999) == [[], "open"]
    assert after(12_000) == [["close"], "waiting"]


def test_being_out_of_reach_is_told_after_a_second_and_a_tap_offered_after_ten(page: Page) -> None:
    def trouble(now: int) -> Any:
        return call(page, "reach", "(() => { const r = new m.Reach(); r.broke(0, 0); return r.trouble(a[0]); })()", now)

    assert trouble(999) == {"isTold": False, "offersRetry": False}
    assert trouble(1_000) == {"isTold": True, "offersRetry": False}
    assert trouble(10_000) == {"isTold": True, "offersRetry": True}


def test_messages_of_the_stream_are_read_however_they_are_cut_up(page: Page) -> None:
    stream = ': ping\n\nevent: view\r\ndata: {"a":\r\ndata: 1}\r\n\r\ndata: x\n\n'
    for size in (1, 2, 3, 7, len(stream)):
        pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
        assert call(
            page, "stream", "(() => { const p = new m.EventParser(); return a[0].flatMap(x => p.read(x)); })()", pieces
        ) == [
            {"event": "view", "data": '{"a":\n1}'},
            {"event": "message", "data": "x"},
        ]


def test_a_message_without_end_is_refused(page: Page) -> None:
    endless = (
        "(() => { const p = new m.EventParser(); const piece = 'data: ' + 'x'.repeat(1 << 20) + a[0];"
        " try { for (let i = 0; i < 9; i++) p.read(piece); return 'all read'; } catch (e) { return e.message; } })()"
    )
    assert call(page, "stream", endless, "") == "A message without end."
    assert call(page, "stream", endless, "\n") == "A message without end."
    assert call(page, "stream", endless, "\n\n") == "all read"


Tap = dict[str, Any]


def tap(command: str, song: str = "s1", **more: Any) -> Tap:
    return {"command": command, "songID": song, **more}


@pytest.mark.parametrize(
    ("kept", "new", "after"),
    [
        ([], tap("vote"), [tap("vote")]),
        ([tap("vote")], tap("vote"), [tap("vote")]),
        ([tap("vote")], tap("takeBack"), []),
        # The vote may have reached the server.
        ([tap("vote", isTried=True)], tap("takeBack"), [tap("takeBack")]),
        ([tap("vote")], tap("takeBack", "s2"), [tap("vote"), tap("takeBack", "s2")]),
        ([tap("suggest")], tap("vote"), [tap("suggest"), tap("vote")]),
        ([tap("vote", f"s{number}") for number in range(64)], tap("vote", "another"), None),
    ],
)
def test_taps_that_are_kept_are_few_and_say_what_was_wanted_last(
    page: Page, kept: list[Tap], new: Tap, after: list[Tap] | None
) -> None:
    assert call(page, "outbox", "m.adding(a[0], a[1])", kept, new) == after


@pytest.mark.parametrize(
    "found", [None, 7, {"a": 1}, [None, 3, {"command": "end", "songID": "s1"}, {"command": "vote"}]]
)
def test_what_is_no_tap_is_not_taken_from_the_browsers_storage(page: Page, found: Any) -> None:
    assert call(page, "outbox", "m.checked(a[0])", found) == []


@pytest.mark.parametrize(
    ("notices", "banners", "toasts"),
    [
        (["B1", "B2", "B3"], ["B2", "B3"], []),
        (["p1", "p2", "p3", "p4"], [], ["p2", "p3", "p4"]),
        # One slot is reserved for notices that are not permanent.
        (["C1", "C2", "C3", "p1"], [], ["C2", "C3", "p1"]),
        (["C1", "C2", "C3"], [], ["C1", "C2", "C3"]),
        (["C1", "p1", "p2", "p3"], [], ["C1", "p2", "p3"]),
    ],
)
def test_of_many_notices_the_newest_are_in_view(
    page: Page, notices: list[str], banners: list[str], toasts: list[str]
) -> None:
    given = [
        {"id": name, "kind": "banner" if name[0] == "B" else "toast", "critical": name[0].isupper()} for name in notices
    ]
    found = call(page, "notices", "m.inView(a[0], () => false)", given)
    assert [one["id"] for one in found["banners"]] == banners
    assert [one["id"] for one in found["toasts"]] == toasts


@pytest.mark.parametrize(
    ("heights", "index", "offset", "place"),
    [
        ([80, 80, 80], 0, 0, 0),
        ([80, 80, 80], 0, 40, 0),
        ([80, 80, 80], 0, 41, 1),
        ([80, 80, 80], 0, 121, 2),
        ([80, 80, 80], 2, -41, 1),
        ([80, 80, 80], 2, -500, 0),
        ([80, 80, 80], 1, 0, 1),
        # A dragged row changes places with a row of another height when it reaches the middle of that row.
        ([140, 80], 0, 41, 1),
        ([80, 140], 0, 69, 0),
        ([80, 140], 0, 71, 1),
    ],
)
def test_a_row_passes_another_when_its_edge_passes_the_middle_of_that(
    page: Page, heights: list[int], index: int, offset: int, place: int
) -> None:
    rows = [{"top": sum(heights[:at]), "height": height} for at, height in enumerate(heights)]
    assert call(page, "reorder", "m.placeOf(...a)", rows, index, offset) == place
