# SPDX-License-Identifier: Apache-2.0
"""A host prints two links, one for its driver and one for passengers, and what is secret goes to no journal."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
from roadmesh_program.brokers import wait
from roadmesh_program.fixtures import Place
from roadmesh_program.networks import Device
from roadmesh_program.person import Person
from roadmesh_program.program import START, Program

PIN = "314159"
ADDRESS = "192.168.4.1"


@pytest.fixture
def device(tmp_path: Path, binary: Path) -> Iterator[Device]:
    made = Device(tmp_path, binary)
    made.add_interface("wlan0")
    made.ip("address", "add", f"{ADDRESS}/24", "dev", "wlan0")
    yield made
    made.close()


def tokens(folder: Path) -> list[str]:
    """The tokens of the page: of the driver and of its guests."""
    return (folder / "page-tokens").read_text().split()


class Lines:
    """A host that writes its sentences to a pipe, as to a log."""

    def __init__(self, program: Path, *arguments: str, **environment: str) -> None:
        self.text = ""
        self.process = subprocess.Popen(
            [program, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **environment},
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.text += line

    def say(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def see(self, text: str) -> None:
        wait(lambda: text in self.text, text, START)

    def end(self) -> int:
        self.process.terminate()
        code = self.process.wait(10)
        self._reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()
        return code


@pytest.mark.parametrize("pin", [[], ["--pin", PIN]])
def test_a_terminal_shows_a_private_link_and_one_for_passengers(
    device: Device, place: Place, tmp_path: Path, pin: list[str]
) -> None:
    page = ["--web-guests", "--http", "0.0.0.0:8080"]
    person = Person(device.program, "host", "Car", *page, *pin, *place("car"), columns=160)
    person.see("Your controls (private): ", "For passengers: ", timeout=START)
    driver, guest = tokens(tmp_path / "car")
    person.see(f"Your controls (private): http://{ADDRESS}:8080/?token={driver}")
    person.see(f"For passengers: http://{ADDRESS}:8080/join?token={guest}")
    person.end()


def test_a_page_for_this_device_has_one_link_and_says_so(binary: Path, place: Place) -> None:
    person = Person(binary, "host", "Car", *place("car"), columns=160)
    person.see("Your controls (this device only): http://127.0.0.1:", timeout=START)
    assert not any("For passengers" in line for line in person.lines)
    person.end()


def test_web_guests_need_no_other_option(device: Device, place: Place) -> None:
    program = Program(device.program, "host", "Car", "--web-guests", *place("car"))
    ready = program.expect("ready", timeout=START)
    assert re.fullmatch(rf"http://{ADDRESS}:8080/\?token=\w+", ready["http"])
    assert re.fullmatch(rf"http://{ADDRESS}:8080/join\?token=\w+", ready["passengers"])
    # Another host on this device uses another port.
    other = Program(device.program, "host", "Bus", "--web-guests", *place("bus"))
    link = other.expect("ready", timeout=START)["passengers"]
    assert link.startswith(f"http://{ADDRESS}:") and ":8080" not in link
    assert program.end() == 0 and other.end() == 0


def test_an_event_has_the_link_for_passengers_where_the_page_comes_later(device: Device, place: Place) -> None:
    device.ip("address", "delete", f"{ADDRESS}/24", "dev", "wlan0")
    program = Program(device.program, "host", "Car", "--web-guests", *place("car"))
    assert "passengers" not in program.expect("ready", timeout=START)
    device.ip("address", "add", f"{ADDRESS}/24", "dev", "wlan0")
    page = program.expect("page", lambda event: ADDRESS in event["http"])
    assert page["passengers"].startswith(f"http://{ADDRESS}:8080/join?token=")
    assert program.end() == 0


def secrets(folder: Path) -> list[str]:
    """The texts of the file that only the driver should read."""
    links = (folder / "links").read_text()
    found = re.findall(r"invitation=([\w-]+)", links)
    assert PIN in links and all(token in links for token in tokens(folder)) and found
    return [*tokens(folder), PIN, *found]


def test_a_log_has_no_secret_and_names_the_file_that_has_them(device: Device, place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "car"
    host = Lines(device.program, "host", "Car", "--web-guests", "--pin", PIN, *place("car"))
    host.see(f"{folder}/links")
    host.see("Guests join with a PIN.")
    host.say("invite 2h")
    host.see("can join with")
    wait(lambda: "invitation=" in (folder / "links").read_text(), "the invitation in the file", START)
    assert stat.S_IMODE((folder / "links").stat().st_mode) == 0o600
    assert f"http://{ADDRESS}:8080/?token={tokens(folder)[0]}" in (folder / "links").read_text()
    hidden = secrets(folder)
    assert host.end() == 0
    # The next start shows the open invitations.
    again = Lines(device.program, "host", "Car", "--web-guests", "--pin", PIN, *place("car"))
    again.see("Guests join with a PIN.")
    assert again.end() == 0
    assert [secret for secret in hidden if secret in host.text + again.text] == []


def test_a_journal_has_no_secret_in_json_either(device: Device, place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "car"
    reading, writing = os.pipe()
    place_of_journal = os.fstat(writing)
    process = subprocess.Popen(
        [device.program, "host", "Car", "--web-guests", "--pin", PIN, "--json", *place("car")],
        stdin=subprocess.PIPE,
        stdout=writing,
        stderr=writing,
        text=True,
        env={**os.environ, "JOURNAL_STREAM": f"{place_of_journal.st_dev}:{place_of_journal.st_ino}"},
    )
    os.close(writing)
    os.set_blocking(reading, False)
    text = ""
    deadline = monotonic() + START

    def read(until: str) -> None:
        nonlocal text
        while until not in text:
            assert monotonic() < deadline, text
            try:
                text += os.read(reading, 65_536).decode()
            except BlockingIOError:
                assert process.poll() is None, text

    read('"event":"ready"')
    assert process.stdin
    process.stdin.write("invite 2h\nview\n")
    process.stdin.flush()
    read('"event":"view"')
    wait(lambda: "invitation=" in (folder / "links").read_text(), "the invitation in the file", START)
    hidden = secrets(folder)
    process.terminate()
    assert process.wait(10) == 0
    os.set_blocking(reading, True)
    text += os.read(reading, 1 << 20).decode()
    os.close(reading)
    process.stdin.close()
    assert [secret for secret in hidden if secret in text] == []
    assert f'"http":"http://{ADDRESS}:8080/"' in text


def test_a_page_that_is_not_there_leaves_no_links(binary: Path, place: Place, tmp_path: Path) -> None:
    host = Lines(binary, "host", "Car", *place("car"))
    host.see("is on the air")
    assert (tmp_path / "car" / "links").exists()
    assert host.end() == 0
    host = Lines(binary, "host", "Car", "--http", "none", *place("car"))
    host.see("is on the air")
    assert not (tmp_path / "car" / "links").exists()
    assert host.end() == 0
