# SPDX-License-Identifier: Apache-2.0
"""The report of a drive in a real browser: on a phone and on a desktop, by day and by night, alone and compared."""

from __future__ import annotations

import json
import math
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

BINARY = os.environ.get("ROADMESH_BINARY", "roadmesh")
DRIVES = Path(__file__).parents[2] / "docs" / "drives"
TUNNEL, CITY, GARAGE = (DRIVES / f"{name}.jsonl" for name in ("tunnel", "city", "parking-garage"))

EVIL = "<img src=x onerror=alert(1)>\"'&<script>alert(2)</script>"

# Words of plots that overlap, words of the page that are cut or stick out, and how far the page can be scrolled
# sideways.
LOOK = """() => {
    const words = [...document.querySelectorAll('svg text')].map(one => [one.textContent, one.getBoundingClientRect()]);
    const covering = [];
    words.forEach(([word, a], number) => words.slice(number + 1).forEach(([other, b]) => {
        if (a.left < b.right - .5 && b.left < a.right - .5 && a.top < b.bottom - .5 && b.top < a.bottom - .5)
            covering.push([word, other]);
    }));
    const outside = words.filter(([, server]) => server.left < -.5 || server.right > innerWidth + .5).map(([word]) => word);
    const small = [...document.querySelectorAll('body *')].filter(one => one.checkVisibility() && one.textContent.trim()
        && parseFloat(getComputedStyle(one).fontSize) < 12).map(one => one.tagName);
    const page = document.documentElement;
    return {words: words.length, covering, outside, small, aside: page.scrollWidth - page.clientWidth};
}"""


def report(folder: Path, *drives: Path) -> Path:
    page = folder / "report.html"
    subprocess.run([BINARY, "fieldtest", "report", *map(str, drives), "-o", str(page)], check=True, capture_output=True)
    return page


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    """A hostile drive with far more marks than fit on the page."""
    header, *rows = CITY.read_text().splitlines()
    made = json.loads(header) | {"name": EVIL, "origin": EVIL * 5}
    made["peer"]["name"] = EVIL
    marks = [json.dumps({"at": at, "kind": "mark", "text": EVIL}) for at in range(3, 300, 4)]
    path = tmp_path / "crowded.jsonl"
    path.write_text("\n".join([json.dumps(made), *rows[:-1], *marks, rows[-1]]) + "\n")
    return path


@pytest.fixture(params=[360, 1280])
def width(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def opened(browser: Browser, width: int) -> Iterator[Any]:
    contexts = []

    def open_report(page: Path, scheme: str = "light") -> Page:
        screen: Any = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
        context = browser.new_context(**screen)
        contexts.append(context)
        tab = context.new_page()
        asked: list[str] = []
        complaints: list[str] = []
        tab.on("request", lambda one: asked.append(one.url))
        tab.on("dialog", lambda one: (complaints.append(one.message), one.dismiss()))
        tab.on("console", lambda one: complaints.append(one.text))
        tab.on("pageerror", lambda one: complaints.append(str(one)))
        tab.goto(page.as_uri())
        assert asked == [page.as_uri()], "a report makes no requests"
        assert not complaints
        if folder := os.environ.get("PICTURES"):
            drives = page.parent.name[:40]
            tab.screenshot(path=Path(folder) / f"report-{drives}-{width}-{scheme}.png", full_page=True)
        return tab

    yield open_report
    for context in contexts:
        context.close()


def assert_readable(tab: Page) -> None:
    seen = tab.evaluate(LOOK)
    assert seen["words"] > 10
    assert seen == {"words": seen["words"], "covering": [], "outside": [], "small": [], "aside": 0}


@pytest.mark.parametrize("drive", [TUNNEL, CITY, GARAGE], ids=lambda path: path.stem)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_drive_is_readable(tmp_path: Path, opened: Any, drive: Path, scheme: str) -> None:
    assert_readable(opened(report(tmp_path, drive), scheme))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_two_drives_are_readable_one_below_the_other(tmp_path: Path, opened: Any, scheme: str) -> None:
    tab = opened(report(tmp_path, CITY, GARAGE), scheme)
    assert_readable(tab)
    boxes = [tab.locator("section").nth(number).bounding_box() for number in range(2)]
    assert boxes[1]["y"] >= boxes[0]["y"] + boxes[0]["height"] and boxes[0]["width"] <= 800


def on_a_road(drive: Path, folder: Path, lateral: float = 0) -> Path:
    """The drive with positions on a winding road: 10 m in each second."""
    header, *rows = drive.read_text().splitlines()
    last = json.loads(rows[-1])["at"]
    degree = 6_371_000 * math.pi / 180
    for second in range(int(last)):
        along = second * 10
        north, east = along / 3 + 150 * math.sin(along / 300), along + lateral
        place = {"latitude": 46.5 + north / degree, "longitude": 7.5 + east / degree / math.cos(math.radians(46.5))}
        rows.append(json.dumps({"at": second, "kind": "position", **place}))
    path = folder / f"{drive.stem}-{lateral}.jsonl"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_map_of_two_drives_is_readable(tmp_path: Path, opened: Any, width: int, scheme: str) -> None:
    drives = [on_a_road(CITY, tmp_path), on_a_road(GARAGE, tmp_path, 300)]
    tab = opened(report(tmp_path, *drives), scheme)
    assert_readable(tab)
    box = tab.locator(".map > svg").bounding_box()
    assert 300 < box["width"] <= width and 0.4 <= box["height"] / box["width"] <= 1.1
    numbers = tab.locator(".map text.zone:visible").count()
    assert numbers >= 5
    # Times are on the map where they have room.
    assert (tab.locator(".map text:visible", has_text="back after").count() >= 5) == (width == 1280)


def test_three_drives_push_a_table_aside_and_not_the_page(tmp_path: Path, opened: Any) -> None:
    assert_readable(opened(report(tmp_path, TUNNEL, CITY, GARAGE)))


def test_a_drive_of_somebody_who_means_no_good_does_nothing(tmp_path: Path, opened: Any, crowded: Path) -> None:
    tab = opened(report(tmp_path, crowded))
    assert_readable(tab)
    assert tab.locator("img, script, svg svg script").count() == 0
    assert "<img src=x" in tab.locator("h2").inner_text()


def test_words_are_told_apart_from_what_is_behind_them(tmp_path: Path, opened: Any) -> None:
    for scheme in ("light", "dark"):
        tab = opened(report(tmp_path, CITY), scheme)
        contrast = tab.evaluate(
            """() => {
            const shine = colour => {
                const parts = colour.match(/[\\d.]+/g).map(Number).slice(0, 3).map(one => one / 255)
                    .map(one => one <= .03928 ? one / 12.92 : ((one + .055) / 1.055) ** 2.4);
                return .2126 * parts[0] + .7152 * parts[1] + .0722 * parts[2];
            };
            const paper = shine(getComputedStyle(document.body).backgroundColor);
            const ratio = colour => {
                const [a, b] = [shine(colour), paper].sort((x, y) => y - x);
                return (a + .05) / (b + .05);
            };
            const inks = [...document.querySelectorAll('p, td, th, li, b')].map(one => getComputedStyle(one).color);
            const labels = [...document.querySelectorAll('svg text')].map(one => getComputedStyle(one).fill);
            return Math.min(...[...inks, ...labels].map(ratio));
        }"""
        )
        assert contrast >= 4.5, scheme
