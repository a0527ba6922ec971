# SPDX-License-Identifier: Apache-2.0
"""The dashboard's page in a real browser, with a stand-in for its server."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, ViewportSize, expect, sync_playwright
from stand_in import StandIn
from views import View

# Head units of seven inches and less, a phone in both orientations, and a desktop.
SCREENS: dict[str, ViewportSize] = {
    "headunit": {"width": 1024, "height": 600},
    "small": {"width": 800, "height": 480},
    "phone": {"width": 390, "height": 844},
    "sideways": {"width": 844, "height": 390},
    "desk": {"width": 1280, "height": 800},
}

# A name that browsers do not treat as loopback, like a head unit's address on the car's Wi-Fi.
CAR = "car.example"

# Everything is on this machine, and only a machine that is busy compiling takes this long. No test measures with it.
PATIENCE = 15_000

Open = Callable[..., Page]
MakeServer = Callable[[View | None], StandIn]

pytest_plugins = ["roadmesh_program.measuring", "ride"]

# The parts of this folder that scripts/test runs: these files, with the parameters of one screen, language and look.
SLICE = {"test_driving.py", "test_notices.py", "test_operating.py", "test_riding.py", "test_web_guests.py"}
ONE = {"screen": "headunit", "locale": "en-GB", "language": "en", "look": "light"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        parameters: dict[str, object] = item.callspec.params if hasattr(item, "callspec") else {}
        others = any(parameters.get(name, one) != one for name, one in ONE.items())
        if item.path.name in SLICE and not others and not item.get_closest_marker("long"):
            item.add_marker("slice")


@contextmanager
def launched(playwright: Playwright) -> Iterator[Browser]:
    """Debian's own browser, without windows around its pages. As root, as in most containers, it has no sandbox."""
    path = os.environ.get("CHROMIUM", "/usr/bin/chromium-headless-shell")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    arguments.append(f"--host-resolver-rules=MAP {CAR} 127.0.0.1")
    browser = playwright.chromium.launch(executable_path=path, args=arguments)
    yield browser
    browser.close()


def settled(page: Page) -> None:
    """Waits until the page shows a view or a form, and has drawn it."""
    page.locator("#dashboard:visible, #join:visible").first.wait_for()
    # With the page's time limit: an evaluation alone would wait forever in a page that reloads in the meantime.
    page.wait_for_function(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
    )


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright, launched(playwright) as browser:
        yield browser


@pytest.fixture
def make_server() -> Iterator[MakeServer]:
    made: list[StandIn] = []

    def make(view: View | None) -> StandIn:
        made.append(StandIn(view))
        return made[-1]

    yield make
    for one in made:
        one.close()


@contextmanager
def opening(browser: Browser) -> Iterator[Open]:
    """Opens a server's page. Any error of the page fails the test."""
    expect.set_options(timeout=PATIENCE)
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_page(
        server: StandIn, screen: str = "headunit", wait: bool = True, clock: bool = False, **options: object
    ) -> Page:
        # A service worker's cache would be between a test and its server. Only some tests need it.
        options.setdefault("service_workers", "block")
        options.setdefault("permissions", ["clipboard-read", "clipboard-write"])
        contexts.append(browser.new_context(viewport=SCREENS[screen], **options))  # type: ignore[arg-type]
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if _is_fault(message.text) else None)
        if clock:
            # The clock runs, and a test can advance it further.
            page.clock.install()
        page.goto(server.url)
        if wait:
            settled(page)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    with opening(browser) as open_page:
        yield open_page


def shows(page: Page, server: StandIn) -> None:
    """Waits until the page shows the last view of the server."""
    assert server.view
    page.locator(f"#dashboard[data-version='{server.view['version']}']").wait_for()


def posted(server: StandIn) -> dict[str, Any]:
    """The next command that the page has sent."""
    command: dict[str, Any] = server.commands.get(timeout=10)
    return command


def later_than_a_bounce(page: Page) -> None:
    """Waits until the browser's own time has advanced. Events contain it, and no test can change it, but animations
    follow it."""
    page.wait_for_function("() => document.body.animate([], 400).finished.then(() => true)")


def answer(page: Page, question: str) -> None:
    """Taps the button that confirms a question, after the question was readable."""
    asked = page.get_by_role("button", name=question)
    expect(asked).to_be_visible()
    later_than_a_bounce(page)
    asked.click()


def _is_fault(text: str) -> bool:
    """Whether a line of the log is a fault. The browser also logs error answers that the page handles."""
    return "Content Security Policy" in text or "Content-Security-Policy" in text or "Trusted" in text
