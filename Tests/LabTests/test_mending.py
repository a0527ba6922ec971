"""A box recovers automatically from faults of bluetoothd, power, rfkill, and a controller that hangs or resets."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

import pytest
from helpers import START, Figures, await_joined, cast, hold, shows_peers, start_guests, start_host
from runner import Box, Lab, Program

# The figures in docs/bluez.md were measured with `MENDINGS=10`.
ROUNDS = int(os.environ.get("MENDINGS", "2"))

# Time from the end of the cause to a vote that the host has confirmed.
BACK_LIMIT = 5.0

# A silent controller is probed every 5 s, with three timeouts of 3 s. Then it is reset.
SILENCE_NOTICED = 20.0
# The kernel waits ten seconds for a controller that does not answer when it starts.
RESET = 40.0

UP_AGAIN = "hciconfig {0} down; until hciconfig {0} up; do sleep 0.1; done"

Trouble = tuple[Callable[[Box], None], Callable[[Box], None]]

TROUBLES: dict[str, Trouble] = {
    "bluetoothd restarted": (lambda box: box.stop_bluetoothd(), lambda box: box.start_bluetoothd() and None),
    "adapter power-cycled": (
        lambda box: box.ask("power", controller=0, on=False),
        lambda box: box.ask("power", controller=0, on=True),
    ),
    "rfkill on and off": (lambda box: box.rfkill(0, on=True), lambda box: box.rfkill(0, on=False)),
    "adapter pulled out and put back": (lambda box: box.unplug(0), lambda box: box.plug(0)),
}  # fmt: skip


@pytest.fixture(scope="module")
def spare(air_of_file: Lab) -> Box:
    """A head unit with two adapters."""
    return air_of_file.box("spare", controllers=2)


def is_out(program: Program) -> bool:
    """Whether the latest report on the radio says that it does not work."""
    told = [one for one in program.events if one.get("code") == "radioUnavailable"]
    return bool(told) and told[-1]["event"] == "notice"


def told_last(program: Program) -> float:
    """The time of the latest report on the radio."""
    return [one for one in program.events if one.get("code") == "radioUnavailable"][-1]["_received"]


@pytest.fixture(autouse=True)
def mended(road: Lab) -> Iterator[None]:
    """Restores a test's changes to controllers, also after a failure."""
    yield
    for box in road.boxes.values():
        for controller in box.controllers:
            road.air.wake(controller)
            box.rfkill(controller.index, on=False)
            # Without bluetoothd, so that the kernel sets up the reset controller completely.
            box.run(UP_AGAIN.format(controller.adapter), timeout=START)


@pytest.mark.parametrize("whose", ["host", "guest"])
@pytest.mark.parametrize("name", TROUBLES)
def test_votes_flow_again_within_five_seconds(
    road: Lab, car: Box, family: Box, figures: Figures, name: str, whose: str
) -> None:
    host = start_host(car)
    [ana] = start_guests(family, "Ana")
    box, victim = (car, host) if whose == "host" else (family, ana)
    begin, end = TROUBLES[name]
    seconds = []
    for number in range(ROUNDS):
        # Votes for a song, then takes the vote back; five songs in turn.
        song, word, done = f"s{2 + number // 2 % 5}", *(("vote", "vote") if number % 2 == 0 else ("unvote", "takeBack"))
        begin(box)
        ana.expect("connection", state="reconnecting")
        assert road.hub.wait_for(lambda: is_out(victim) or None, START)
        ana.skip()
        ana.say(f"{word} {song}")
        ana.expect("vote", songID=song, wish=done, state="queued")
        gone = time.monotonic()
        end(box)
        confirmed = ana.expect("vote", songID=song, wish=done, state="confirmed", timeout=START)
        # The kernel advertises again as soon as the adapter is on, so a guest may vote before bluetoothd reports the
        # adapter to the host. A node that reported an outage must report its end within the same time.
        assert road.hub.wait_for(lambda: not is_out(victim) or None, START)
        seconds.append(max(confirmed["_received"], told_last(victim)) - gone)
    figures.times(f"{name}, at the {whose}: cause gone to vote confirmed", seconds, BACK_LIMIT)
    assert max(seconds) < BACK_LIMIT


def test_a_block_by_rfkill_is_told_as_what_it_is(road: Lab, car: Box) -> None:
    host = start_host(car)
    car.rfkill(0, on=True)
    notice = host.expect("notice", code="radioUnavailable")
    assert notice["cause"] == "blocked" and "rfkill unblock" in notice["suggestion"] and notice["critical"]
    # While the fault lasts, the node neither tries nor reports anything.
    hold(road, 3)
    assert len(host.seen("notice")) == 1
    car.rfkill(0, on=False)
    host.expect("noticeCleared", code="radioUnavailable")
    assert road.air.expect("advertising", on=True)


def test_what_a_person_has_switched_off_stays_off(road: Lab, spare: Box) -> None:
    host = start_host(spare, adapter=None)
    spare.ask("power", controller=0, on=False)
    assert host.expect("notice", code="radioUnavailable")["cause"] == "radioOff"
    road.air.skip()
    hold(road, 8)
    assert len(host.seen("notice")) == 1 and not host.seen("noticeCleared")
    assert not road.air.seen("advertising", on=True, controller=spare.hci(1).name)
    spare.ask("power", controller=0, on=True)
    host.expect("noticeCleared", code="radioUnavailable")


def test_a_host_that_was_off_and_on_often_is_still_found(road: Lab, car: Box, family: Box) -> None:
    # bluetoothd accepts few advertisements, four here, and counts those that were requested while the adapter was going
    # off.
    host = start_host(car)
    [ana] = start_guests(family, "Ana")
    for _ in range(20):
        car.ask("power", controller=0, on=False)
        ana.expect("connection", state="reconnecting")
        host.expect("notice", code="radioUnavailable")
        car.ask("power", controller=0, on=True)
        host.expect("noticeCleared", code="radioUnavailable")
        ana.expect("connection", state="connected")
    cast(ana, "s2", seen_by=[host, ana])


def test_a_host_whose_advertising_was_forgotten_is_found_again(
    road: Lab, car: Box, family: Box, figures: Figures
) -> None:
    host = start_host(car)
    [ana] = start_guests(family, "Ana")
    seconds = []
    for _ in range(ROUNDS):
        # The host renews its advertisement for each guest that joins. Only an active advertisement can be lost.
        hold(road, 2)
        road.air.skip()
        road.air.forget_advertising(car)
        forgotten = road.air.expect("advertising", on=False)["monotonic"]
        seconds.append(road.air.expect("advertising", on=True, timeout=15)["monotonic"] - forgotten)
        assert "could not find this host" in host.expect("notice", code="radioRecovered")["message"]
    figures.times("advertising silently gone: to its return", seconds, 11.0)
    bob = family.roadmesh("guest", "Bob", adapter="hci1")
    await_joined(bob)
    cast(bob, "s3", seen_by=[host, ana, bob])
    assert not ana.seen("peerDisconnected")


def test_a_guest_whose_scan_has_gone_deaf_finds_a_host(road: Lab, car: Box, family: Box, figures: Figures) -> None:
    guest = family.roadmesh("guest", "Ana", adapter="hci0")
    guest.expect("connection", state="connecting", timeout=START)
    # The first scans follow one another quickly; later scans start every five seconds.
    hold(road, 8)
    road.air.go_deaf(family.hci(0))
    host = start_host(car)
    there = time.monotonic()
    figures.times("a deaf scan: host there to joined", [await_joined(guest)["_received"] - there], 8.0)
    cast(guest, "s2", seen_by=[host, guest])


def test_a_guest_that_has_gone_deaf_in_a_gap_is_back(road: Lab, car: Box, family: Box, figures: Figures) -> None:
    host = start_host(car)
    [ana] = start_guests(family, "Ana")
    times = []
    # A new dial before the kernel has dropped the old one sends nothing to the controller. This is a race, so it is
    # tested more than once.
    for _ in range(ROUNDS):
        road.air.cut(car, family)
        ana.expect("connection", state="reconnecting")
        hold(road, 1)
        road.air.go_deaf(family.hci(0))
        healed = time.monotonic()
        road.air.heal()
        times.append(await_joined(ana, timeout=60)["_received"] - healed)
    figures.times("deaf in a gap: heal to snapshot", times, 12.0)
    assert max(times) < 12.0
    cast(ana, "s2", seen_by=[host, ana])


@pytest.mark.parametrize("whose", ["host", "guest"])
def test_a_controller_that_stops_to_answer_is_reset(
    road: Lab, car: Box, family: Box, figures: Figures, whose: str
) -> None:
    host = start_host(car)
    [ana] = start_guests(family, "Ana")
    box, victim = (car, host) if whose == "host" else (family, ana)
    stalled = time.monotonic()
    road.air.stall(box.hci(0), resets=1)
    notice = victim.expect("notice", cause="adapterSilent", timeout=SILENCE_NOTICED)
    assert notice["code"] == "radioUnavailable" and notice["critical"] and notice["suggestion"]
    cleared = victim.expect("noticeCleared", code="radioUnavailable", timeout=RESET)
    ana.say("vote s2")
    confirmed = ana.expect_seen("vote", songID="s2", state="confirmed", timeout=START)
    steps = [one["_received"] - stalled for one in (notice, cleared, confirmed)]
    figures.note(
        f"a {whose}'s controller stalls: noticed after {steps[0]:.1f} s, reset after {steps[1]:.1f} s, a vote "
        f"after {steps[2]:.1f} s"
    )


def test_who_may_not_reset_a_dead_controller_says_what_to_do(road: Lab, car: Box) -> None:
    # bluetoothd cannot switch off an adapter that does not answer. Only CAP_NET_ADMIN allows a reset without it.
    host = start_host(car, uid=1000)
    road.air.stall(car.hci(0), resets=1)
    host.expect("notice", cause="adapterSilent", timeout=SILENCE_NOTICED)
    assert "Unplug it" in host.expect("notice", cause="adapterDead", timeout=3 * RESET)["suggestion"]


def test_a_controller_that_stays_dead_is_told_and_taken_back_when_it_wakes(road: Lab, car: Box, family: Box) -> None:
    host = start_host(car)
    road.air.stall(car.hci(0))
    host.expect("notice", cause="adapterSilent", timeout=SILENCE_NOTICED)
    notice = host.expect("notice", cause="adapterDead", timeout=3 * RESET)
    assert "Unplug it" in notice["suggestion"]
    road.air.wake(car.hci(0))
    host.expect("noticeCleared", code="radioUnavailable", timeout=2 * RESET)
    [ana] = start_guests(family, "Ana")
    cast(ana, "s2", seen_by=[host, ana])


@pytest.mark.parametrize("way", ["unplugged", "dead"])
def test_another_adapter_is_taken_where_none_was_named(
    road: Lab, spare: Box, family: Box, figures: Figures, way: str
) -> None:
    host = start_host(spare, adapter=None)
    [ana] = start_guests(family, "Ana")
    gone = time.monotonic()
    if way == "unplugged":
        spare.unplug(0)
    else:
        road.air.stall(spare.hci(0))
    mended = host.expect("notice", code="radioRecovered", timeout=3 * RESET)
    assert "hci1" in mended["message"] and not mended["critical"]
    figures.note(f"first adapter {way}: on the second after {mended['_received'] - gone:.1f} s")
    await_joined(ana)
    cast(ana, "s2", seen_by=[host, ana])
    assert host.expect_seen("snapshot", shows_peers("Ana"))
    if way == "unplugged":
        spare.plug(0)
    else:
        road.air.wake(spare.hci(0))
    hold(road, 2)
    spare.ask("power", controller=0, on=True)


def test_an_adapter_that_was_named_is_waited_for(road: Lab, spare: Box) -> None:
    host = start_host(spare, adapter="hci0")
    spare.unplug(0)
    host.expect("notice", cause="noAdapter")
    hold(road, 6)
    assert not host.seen("notice", code="radioRecovered") and not host.seen("noticeCleared")
    spare.plug(0)
    host.expect("noticeCleared", code="radioUnavailable")
