# SPDX-License-Identifier: Apache-2.0
"""Many phones at one host: the driver's page has its own slots."""

from __future__ import annotations

import http.client
import json
import secrets
from contextlib import ExitStack
from time import monotonic
from urllib.parse import urlsplit

from conftest import Open
from playwright.sync_api import Page, expect
from ride import Ride
from test_web_guests import invitation

GUESTS, STREAMS = 32, 96
# The time in milliseconds in which the driver's page must load and execute a command. If the browser needs almost all
# of it without other phones, the limit is a multiple of that time.
QUICK, SLOW_BROWSER = 300, 1.5
TRIES = 9


class Phone:
    """A guest's browser, as the host sees it."""

    def __init__(self, url: str, number: int) -> None:
        place = urlsplit(url)
        self.host = place.netloc
        # Each phone has its own address.
        self._from = f"127.0.1.{number + 1}"
        self._cookies: dict[str, str] = {}
        self.ask("GET", f"{place.path}?{place.query}")
        body = json.dumps({"key": secrets.token_hex(32), "name": f"Phone {number}"})
        assert self.ask("POST", "/api/join", body) == 204

    def _open(self) -> http.client.HTTPConnection:
        host, port = self.host.split(":")
        return http.client.HTTPConnection(host, int(port), source_address=(self._from, 0), timeout=20)

    def _headers(self) -> dict[str, str]:
        cookie = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        return {"Cookie": cookie, "Origin": f"http://{self.host}", "Content-Type": "application/json"}

    def ask(self, method: str, path: str, body: str | None = None) -> int:
        connection = self._open()
        connection.request(method, path, body, self._headers())
        answer = connection.getresponse()
        for name, value in answer.getheaders():
            if name.lower() == "set-cookie":
                key, _, content = value.split(";")[0].partition("=")
                self._cookies[key] = content
        answer.read()
        connection.close()
        return answer.status

    def stream(self) -> http.client.HTTPConnection:
        """Requests the live views, and reads none of them."""
        connection = self._open()
        connection.request("GET", "/events", headers=self._headers())
        return connection


def loaded(page: Page, url: str) -> float:
    began = monotonic()
    page.goto(url)
    page.locator("#dashboard:visible").wait_for()
    return (monotonic() - began) * 1_000


def steered(page: Page, now: str, then: str) -> float:
    button = page.get_by_role("button", name=now, exact=True)
    began = monotonic()
    button.click()
    page.get_by_role("button", name=then, exact=True).wait_for()
    return (monotonic() - began) * 1_000


def test_the_drivers_page_loads_and_steers_at_once_beside_32_guests_and_96_streams(
    ride: Ride, open_page: Open, measured: list[str]
) -> None:
    host = ride.host("--web-guests", "--http", "0.0.0.0:0")
    # Not a loopback name, like the driver's tablet: it uses no slot of this device's own browsers.
    driver = open_page(host)
    alone = sorted(loaded(driver, host.url) for _ in range(TRIES))
    code = invitation(driver)
    code = code.replace(urlsplit(code).netloc, f"127.0.0.1:{urlsplit(code).port}")
    with ExitStack() as stack:
        phones = [Phone(code, number) for number in range(GUESTS)]
        for number in range(STREAMS):
            stream = phones[number % GUESTS].stream()
            stack.callback(stream.close)
        expect(driver.get_by_role("tab", name="Guests")).to_contain_text(str(GUESTS))
        steered(driver, "Pause", "Play")
        steered(driver, "Play", "Pause")
        loads = sorted(loaded(driver, host.url) for _ in range(TRIES))
        steers = sorted(
            steered(driver, *(("Pause", "Play") if number % 2 == 0 else ("Play", "Pause"))) for number in range(TRIES)
        )
    measured.append(
        f"beside {GUESTS} guests with a page and {STREAMS} streams the driver's page loads within {loads[-1]:.0f} ms and steers "
        f"within {steers[-1]:.0f} ms (slowest of {TRIES}; {loads[TRIES // 2]:.0f} and {steers[TRIES // 2]:.0f} in the median; "
        f"an empty car's loads in {alone[TRIES // 2]:.0f})"
    )
    limit = max(QUICK, SLOW_BROWSER * alone[TRIES // 2])
    assert loads[TRIES // 2] < limit
    assert steers[TRIES // 2] < limit
