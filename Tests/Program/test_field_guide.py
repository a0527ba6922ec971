# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/field-guide.md that control a host, run as they are written there.

The hardware is not there. `gpiomon` is gpiod's own program, and a library in front of gpiod's supplies the edges of a line.
`dbus-monitor` listens to a message bus of the test's own, on which a service sends the signals of oFono."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dbus_fast import Message, Variant
from dbus_fast.aio import MessageBus
from roadmesh_program.brokers import wait
from roadmesh_program.fixtures import Start
from roadmesh_program.mounts import needs
from roadmesh_program.music import wav
from roadmesh_program.program import Program

GUIDE = (Path(__file__).parents[2] / "docs/field-guide.md").read_text()

# gpiomon of gpiod 1 calls this function of its library, which then calls `each` for every edge.
EDGES_1 = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int gpiod_ctxless_event_monitor_multiple_ext(const char *chip, int type, const unsigned *offsets, unsigned count, _Bool low,
    const char *consumer, const struct timespec *timeout, void *poll, int (*each)(int, unsigned, const struct timespec *, void *),
    void *data, int flags)
{
    FILE *edges = fopen(getenv("TEST_EDGES"), "r");
    fprintf(stderr, "watches %s %u\n", chip, offsets[0]);
    for (int edge; edges && (edge = fgetc(edges)) != EOF;) {
        // CB_EVENT values of gpiod 1: 1 for its time limit, 2 for a rising and 3 for a falling edge.
        struct timespec now = {0};
        each(edge == '1' ? 2 : 3, offsets[0], &now, data);
    }
    return 0;
}
"""

# gpiomon of gpiod 2 opens the chip, looks at its lines until it has found that with the number, requests it, and waits at the
# file of the request. The functions that prepare a request are the library's own.
EDGES_2 = r"""
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char chip, edge;
static unsigned lines[64];
static int edges = -1;

_Bool gpiod_is_gpiochip_device(const char *path) { return 1; }
void *gpiod_chip_open(const char *path) { fprintf(stderr, "watches %s\n", path); return &chip; }
void gpiod_chip_close(void *chip) {}
void *gpiod_chip_get_info(void *chip) { return chip; }
void gpiod_chip_info_free(void *info) {}
const char *gpiod_chip_info_get_name(void *info) { return "gpiochip0"; }
size_t gpiod_chip_info_get_num_lines(void *info) { return 64; }
void *gpiod_chip_get_line_info(void *chip, unsigned offset) { lines[offset] = offset; return &lines[offset]; }
void gpiod_line_info_free(void *info) {}
unsigned gpiod_line_info_get_offset(unsigned *info) { return *info; }
const char *gpiod_line_info_get_name(void *info) { return NULL; }
void *gpiod_chip_request_lines(void *chip, void *request, void *lines)
{
    edges = open(getenv("TEST_EDGES"), O_RDONLY);
    return edges < 0 ? NULL : chip;
}
int gpiod_line_request_get_fd(void *request) { return edges; }
int gpiod_line_request_read_edge_events(void *request, void *buffer, size_t most) { return read(edges, &edge, 1); }
void gpiod_line_request_release(void *request) {}
void *gpiod_edge_event_buffer_get_event(void *buffer, unsigned long index) { return &edge; }
// 1 for a rising and 2 for a falling edge.
int gpiod_edge_event_get_event_type(char *event) { return *event == '1' ? 1 : 2; }
uint64_t gpiod_edge_event_get_timestamp_ns(void *event) { return 0; }
unsigned gpiod_edge_event_get_line_offset(void *event) { return 0; }
"""


def script(name: str) -> str:
    """The example that begins with this name."""
    found = re.search(rf"^```\n(#!/bin/sh\n# /usr/local/bin/{name}\b.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)
    assert found, f"the field guide has no script {name}"
    return found[1]


@pytest.fixture
def host(start: Start, tmp_path: Path) -> Program:
    """A host that plays."""
    needs("mpv")
    music = tmp_path / "music"
    music.mkdir()
    wav(music / "road.wav", 300, title="Open Road", artist="The Milestones")
    host = start("host", "Dad's Car", "car", "--library", str(music), "--audio-device", "null/")
    host.expect("playback", isPlaying=True)
    return host


@pytest.fixture(autouse=True)
def programs(binary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The first folder of PATH. Its `roadmesh` commands the host of the test, as the package's does that of the device."""
    folder = tmp_path / "programs"
    folder.mkdir()
    roadmesh = folder / "roadmesh"
    words = shlex.join([str(binary)])
    roadmesh.write_text(f'#!/bin/sh\nexec {words} "$@" --state {shlex.quote(str(tmp_path / "car"))}\n')
    roadmesh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


@pytest.fixture
def run(programs: Path) -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    """Runs a script of the guide until the end of the test."""
    running: list[subprocess.Popen[bytes]] = []

    def run(name: str) -> subprocess.Popen[bytes]:
        file = programs / name
        file.write_text(script(name))
        file.chmod(0o755)
        running.append(subprocess.Popen([file], start_new_session=True))
        return running[-1]

    yield run
    for one in running:
        os.killpg(one.pid, 9)
        one.wait()


@pytest.fixture
def edges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """The edges of a GPIO line: 1 rises and 0 falls."""
    needs("gpiomon", "gcc")
    monitor = shutil.which("gpiomon") or ""
    version = subprocess.run([monitor, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
    (tmp_path / "edges.c").write_text(EDGES_1 if " v1." in version else EDGES_2)
    library = tmp_path / "edges.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, tmp_path / "edges.c"], check=True)
    pipe = tmp_path / "edges"
    os.mkfifo(pipe)
    descriptor = os.open(pipe, os.O_RDWR)
    # Only gpiomon is started with the preloaded library.
    wrapper = tmp_path / "programs" / "gpiomon"
    wrapper.write_text(f'#!/bin/sh\nTEST_EDGES={pipe} LD_PRELOAD={library} exec {monitor} "$@"\n')
    wrapper.chmod(0o755)

    def edge(kind: str) -> None:
        os.write(descriptor, kind.encode())

    return edge


def test_the_ignition_pauses_and_resumes(
    host: Program, run: Callable[[str], object], edges: Callable[[str], None]
) -> None:
    run("ignition")
    for _ in range(2):
        edges("0")
        host.expect("playback", isPlaying=False)
        edges("1")
        host.expect("playback", isPlaying=True)


def test_the_reverse_gear_ducks_the_music(
    host: Program, run: Callable[[str], object], edges: Callable[[str], None]
) -> None:
    run("reverse-gear")
    for _ in range(2):
        edges("1")
        host.expect("steering", duck=20)
        edges("0")
        host.expect("steering", duck=0)


@pytest.fixture
def system_bus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    needs("dbus-daemon", "dbus-monitor")
    with (tmp_path / "bus.log").open("w") as log:
        daemon = subprocess.Popen(
            ["dbus-daemon", "--session", "--nofork", "--print-address=1"], stdout=subprocess.PIPE, stderr=log, text=True
        )
    assert daemon.stdout
    address = daemon.stdout.readline().strip()
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", address)
    yield address
    daemon.kill()
    daemon.wait()


async def say(address: str, signals: list[tuple[str, str]]) -> None:
    """Sends signals as oFono does: of this member, for the call with this name."""
    bus = await MessageBus(bus_address=address).connect()
    await bus.request_name("org.ofono")
    for member, call in signals:
        properties = {"State": Variant("s", "incoming"), "LineIdentification": Variant("s", "member=CallRemoved")}
        signature, body = ("oa{sv}", [f"/hfp/{call}", properties]) if member == "CallAdded" else ("o", [f"/hfp/{call}"])
        await bus.send(Message.new_signal("/hfp", "org.ofono.VoiceCallManager", member, signature, body))
    bus.disconnect()
    await bus.wait_for_disconnect()


def test_the_music_is_silent_during_calls_and_returns_after_the_last(
    host: Program, run: Callable[[str], object], system_bus: str, tmp_path: Path
) -> None:
    run("calls")
    wait(lambda: "became a monitor" in (tmp_path / "bus.log").read_text(), "dbus-monitor listens")
    asyncio.run(say(system_bus, [("CallAdded", "first")]))
    host.expect("steering", duck=60)
    # A second call waits, and one of the two ends.
    asyncio.run(say(system_bus, [("CallAdded", "second"), ("CallRemoved", "first")]))
    asyncio.run(say(system_bus, [("CallRemoved", "second")]))
    host.expect("steering", duck=0)
    assert [event["duck"] for event in host.seen("steering")][-2:] == [60, 0], "not in between"


def test_home_assistant_controls_the_music_and_shows_it(host: Program) -> None:
    commands = dict(re.findall(r"^  (car_\w+): (.+)$", GUIDE, re.MULTILINE))
    expected: dict[str, tuple[str, dict[str, object]]] = {
        "car_pause": ("playback", {"isPlaying": False}),
        "car_resume": ("playback", {"isPlaying": True}),
        "car_duck": ("steering", {"duck": 20}),
        "car_unduck": ("steering", {"duck": 0}),
    }
    assert commands.keys() == expected.keys()
    for name, (event, fields) in expected.items():
        # Runs the command in the way in which Home Assistant runs a shell command.
        assert subprocess.run(commands[name], shell=True, timeout=30).returncode == 0
        host.expect(event, **fields)
    [command] = re.findall(r"^      command: (.+)$", GUIDE, re.MULTILINE)
    # Home Assistant reads all output of a sensor's command as JSON.
    value = json.loads(subprocess.check_output(command, shell=True, timeout=30))
    [title] = re.findall(r"value_json\.(\w+)", GUIDE)
    [attributes] = re.findall(r"json_attributes: \[(.+)\]", GUIDE)
    assert value[title] == "Open Road"
    shown = {name: value[name] for name in attributes.split(", ")}
    assert shown.keys() == {"artist", "isPlaying", "elapsed", "volume", "duck"}
    assert (shown["artist"], shown["isPlaying"], shown["volume"], shown["duck"]) == ("The Milestones", True, 100, 0)
