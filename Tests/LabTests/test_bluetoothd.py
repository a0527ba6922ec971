"""Events of the system below the program: bluetoothd stops, crashes or restarts; an adapter is switched off or
unplugged."""

from __future__ import annotations

from helpers import START, await_joined, cast, shows_peers, start_guests, start_host
from runner import Box, Lab

# bluetoothd starts in some 100 ms, and the program then repeats its requests.
BACK = 15.0


def test_a_host_takes_new_guests_after_bluetoothd_has_crashed_and_keeps_those_it_has(
    road: Lab, car: Box, family: Box
) -> None:
    host = start_host(car)
    [ana] = start_guests(family, "Ana")
    car.bluetoothd.kill()
    notice = host.expect("notice", code="radioUnavailable")
    assert notice["critical"] and "bluetoothd" in notice["message"] and notice["suggestion"]
    # Guests that are linked already do not need bluetoothd.
    cast(ana, "s2", seen_by=[host, ana])
    car.start_bluetoothd()
    host.expect("noticeCleared", code="radioUnavailable", timeout=BACK)
    bob = family.roadmesh("guest", "Bob", adapter="hci1")
    await_joined(bob)
    for one in (host, ana, bob):
        one.expect_seen("snapshot", shows_peers("Ana", "Bob"))
    cast(bob, "s3", seen_by=[host, ana, bob])
    assert not ana.seen("peerDisconnected")


def test_everybody_is_back_after_bluetoothd_was_stopped_and_started(road: Lab, car: Box, family: Box) -> None:
    host = start_host(car)
    [ana] = start_guests(family, "Ana")
    # When bluetoothd stops regularly, it switches the adapter off; when it starts, it switches the adapter on.
    car.stop_bluetoothd()
    notice = host.expect("notice", code="radioUnavailable")
    assert notice["critical"] and notice["suggestion"]
    assert ana.expect("peerDisconnected")["reason"] == "linkLost"
    assert host.expect_seen("peerDisconnected")["reason"] == "linkLost"
    car.start_bluetoothd()
    host.expect("noticeCleared", code="radioUnavailable", timeout=BACK)
    await_joined(ana)
    bob = family.roadmesh("guest", "Bob", adapter="hci1")
    await_joined(bob)
    for one in (host, ana, bob):
        one.expect_seen("snapshot", shows_peers("Ana", "Bob"))
    cast(bob, "s3", seen_by=[host, ana, bob])


def test_a_guest_tells_that_bluetoothd_is_gone_and_finds_a_host_when_it_is_back(
    road: Lab, car: Box, family: Box
) -> None:
    guest = family.roadmesh("guest", "Ana")
    guest.expect("connection", state="connecting", timeout=START)
    family.stop_bluetoothd()
    notice = guest.expect("notice", code="radioUnavailable")
    assert notice["critical"] and notice["suggestion"]
    host = start_host(car)
    family.start_bluetoothd()
    guest.expect("noticeCleared", code="radioUnavailable", timeout=BACK)
    await_joined(guest)
    cast(guest, "s2", seen_by=[host, guest])


def test_a_guest_on_a_ride_comes_through_a_restart_of_bluetoothd_and_a_tunnel_after_it(
    road: Lab, car: Box, family: Box
) -> None:
    host = start_host(car)
    [ana] = start_guests(family, "Ana")
    family.stop_bluetoothd()
    ana.expect("notice", code="radioUnavailable")
    family.start_bluetoothd()
    ana.expect("noticeCleared", code="radioUnavailable", timeout=BACK)
    await_joined(ana)
    road.air.cut(car, family)
    ana.expect("connection", state="reconnecting")
    road.air.heal()
    await_joined(ana)
    cast(ana, "s2", seen_by=[host, ana])


def test_an_adapter_that_is_switched_off_and_on_again(road: Lab, car: Box, family: Box) -> None:
    host = start_host(car)
    [ana] = start_guests(family, "Ana")
    car.ask("power", controller=0, on=False)
    assert "switched off" in host.expect("notice", code="radioUnavailable")["message"]
    assert host.expect_seen("peerDisconnected")["reason"] == "linkLost"
    ana.expect("connection", state="reconnecting")
    car.ask("power", controller=0, on=True)
    host.expect("noticeCleared", code="radioUnavailable", timeout=BACK)
    await_joined(ana)
    cast(ana, "s2", seen_by=[host, ana])


def test_a_dongle_that_is_pulled_out_and_put_back(road: Lab, car: Box, family: Box) -> None:
    host = start_host(car)
    [ana] = start_guests(family, "Ana")
    car.unplug(0)
    assert host.expect("notice", code="radioUnavailable")["suggestion"]
    assert host.expect_seen("peerDisconnected")["reason"] == "linkLost"
    ana.expect("connection", state="reconnecting")
    car.plug(0)
    host.expect("noticeCleared", code="radioUnavailable", timeout=BACK)
    await_joined(ana)
    cast(ana, "s2", seen_by=[host, ana])
