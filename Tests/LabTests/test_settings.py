"""A box with Debian's settings is fast while a node may set its adapter, and has its old settings afterwards."""

from __future__ import annotations

import time

import pytest
from helpers import START, Figures, await_joined, cast, hold, links_of, start_host
from runner import Box, Lab, Program
from test_doctor import PASSES_INTERVALS_ON, doctor

# The kernel's own defaults.
ADVERTISING, CONNECTION = "every 1280 ms", "every 30 to 50 ms"


# Seconds for which advertisements are counted.
COUNTED = 6.0


@pytest.fixture(scope="module")
def installed(air_of_file: Lab) -> Box:
    """A box with Debian's settings of bluetoothd: no option, no line in its main.conf."""
    return air_of_file.box("installed", controllers=1, bluetoothd=())


@pytest.fixture(scope="module")
def passengers(air_of_file: Lab) -> Box:
    return air_of_file.box("passengers", controllers=2, bluetoothd=())


def timing(box: Box) -> str:
    """The finding that `doctor` shows to a user who may change nothing."""
    [finding] = doctor(box, uid=1000).seen("finding", area="timing")
    return str(finding["message"])


def is_fast(box: Box) -> bool:
    told = timing(box)
    advertises = PASSES_INTERVALS_ON or "every 20 ms" in told
    return advertises and "every 7.5 ms" in told and "as set by a node" in told


def is_as_installed(box: Box) -> bool:
    told = timing(box)
    return (PASSES_INTERVALS_ON or ADVERTISING in told) and CONNECTION in told


def quit(program: Program) -> None:
    program.say("quit")
    assert program.wait(START) == 0


def test_a_nodes_end_gives_the_adapter_back(road: Lab, installed: Box) -> None:
    assert is_as_installed(installed)
    host = start_host(installed)
    told = host.expect_seen("radio", lambda one: "adapter" in one)["adapter"]
    assert told == {
        "setBy": "roadmesh", "advertisingInterval": [20, 20], "interval": [7.5, 7.5], "supervisionTimeout": 720,
    }  # fmt: skip
    assert is_fast(installed)
    quit(host)
    assert is_as_installed(installed)


@pytest.mark.parametrize("choice", ["set", "leave"])
def test_after_a_crash_the_next_node_gives_the_adapter_back(road: Lab, installed: Box, choice: str) -> None:
    start_host(installed).kill()
    assert is_fast(installed), "no node was left to restore anything"
    host = start_host(installed, "--adapter-settings", choice)
    assert is_fast(installed) if choice == "set" else is_as_installed(installed)
    quit(host)
    assert is_as_installed(installed)


def test_a_node_that_is_to_leave_the_adapter_alone_does(road: Lab, installed: Box) -> None:
    host = start_host(installed, "--adapter-settings", "leave")
    assert is_as_installed(installed)
    assert host.expect_seen("radio", lambda one: "adapter" in one)["adapter"]["setBy"] == "system"
    quit(host)
    assert is_as_installed(installed)


def test_what_is_told_of_the_advertising_interval_is_what_is_on_the_air(
    road: Lab, installed: Box, figures: Figures
) -> None:
    # Without the capability, so that only bluetoothd can apply the host's own interval. Versions since 5.77 do.
    host = start_host(installed, uid=1000)
    told = host.expect_seen("radio", lambda one: "adapter" in one)["adapter"]["advertisingInterval"]
    advertised = lambda: road.air.counters()[installed.hci(0).name]["advertisingEvents"]  # noqa: E731
    before, began = advertised(), time.monotonic()
    hold(road, COUNTED)
    interval = (time.monotonic() - began) * 1_000 / max(1, advertised() - before)
    figures.note(f"told {told[0]:g} to {told[1]:g} ms, on the air every {interval:.0f} ms")
    # A controller adds up to 10 ms to each interval, and few of the longest intervals fit into this time.
    assert told[0] <= interval * 1.5 and interval <= told[1] * 1.5 + 10
    quit(host)


def test_a_user_without_the_capability_has_what_there_is(road: Lab, installed: Box) -> None:
    host = start_host(installed, uid=1000)
    assert is_as_installed(installed)
    quit(host)


def test_the_last_of_two_nodes_gives_the_adapter_back(road: Lab, installed: Box) -> None:
    host = start_host(installed)
    guest = installed.roadmesh("guest", "Ana", "--host", "0" * 32)
    guest.expect("ready", timeout=START)
    quit(host)
    assert is_fast(installed)
    quit(guest)
    assert is_as_installed(installed)


def test_a_restart_of_bluetoothd_leaves_a_host_as_fast_as_it_was(
    road: Lab, installed: Box, passengers: Box
) -> None:
    host = start_host(installed)
    installed.stop_bluetoothd()
    host.expect("notice", code="radioUnavailable")
    installed.start_bluetoothd()
    host.expect("noticeCleared", code="radioUnavailable", timeout=START)
    assert is_fast(installed), timing(installed)
    ana = passengers.roadmesh("guest", "Ana")
    await_joined(ana)
    cast(ana, "s2", seen_by=[host, ana])


def test_as_debian_installs_it_a_guest_is_in_at_once(
    road: Lab, installed: Box, passengers: Box, figures: Figures
) -> None:
    start_host(installed)
    seconds, states = [], []
    for number in range(5):
        ana = passengers.roadmesh("guest", "Ana", name=f"ana-{number}")
        ready = ana.expect("ready", timeout=START)["_received"]
        connected = ana.expect("connection", state="connected", timeout=START)["_received"]
        states.append(ana.expect("snapshot", timeout=START)["_received"] - ready)
        seconds.append(connected - ready)
        [link] = links_of(road, installed.hci(0))
        assert link["timeoutMilliseconds"] == 720
        quit(ana)
        hold(road, 0.5)
    figures.times("as installed, with the capability: ready to connected", seconds)
    figures.times("as installed, with the capability: ready to first state", states, 0.7)


@pytest.mark.parametrize(
    ("arguments", "least", "most", "code"),
    [
        # Two intervals of 1.28 s, each with a random delay of 10 ms; two of 20 ms, and the time for bluetoothd's report
        # of the link.
        pytest.param(
            ("--adapter-settings", "leave"), 1_270, 2_650, "heardSeldom", id="as-installed",
            marks=pytest.mark.skipif(PASSES_INTERVALS_ON, reason="this bluetoothd advertises every 20 ms"),
        ),
        pytest.param((), 20, 200, "heard", id="with-the-capability"),
    ],
)
def test_guests_tell_a_host_how_often_it_is_on_the_air(
    road: Lab, installed: Box, passengers: Box, figures: Figures, arguments: tuple[str, ...], least: int, most: int,
    code: str,
) -> None:  # fmt: skip
    host = start_host(installed, *arguments)
    assert host.state
    # The check keeps the host's settings. If it set the adapter, the adapter would advertise often during the check.
    [before] = doctor(installed, *arguments, state=host.state).seen("finding", area="air")
    assert before["code"] == "advertised", "nobody has said anything yet"
    # One advertisement in ten is missed, and the smallest of the guests' values counts.
    for index in range(2):
        await_joined(passengers.roadmesh("guest", f"Guest {index}", adapter=passengers.hci(index)))
    host.expect_seen("radio", lambda one: "foundWithin" in one.get("adapter", {}), timeout=START)
    hold(road, 3)
    told = host.seen("radio")[-1]["adapter"]["foundWithin"]
    assert least <= told <= most
    [finding] = doctor(installed, *arguments, state=host.state).seen("finding", area="air")
    figures.note(f"{' '.join(arguments) or 'with the capability'}: {finding['message']}")
    assert finding["code"] == code and str(told) in finding["message"]
    quit(host)
    [after] = doctor(installed).seen("finding", area="air")
    assert after["code"] == "advertised", "that was of a host that has ended"
