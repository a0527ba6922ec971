"""Coming and going without end: nothing is used up."""

from __future__ import annotations

from helpers import await_joined, descriptors, shows_peers, start_guests, start_host
from lab import Box, Lab

ROUNDS = 20
AT_ONCE = 2


def test_twenty_rounds_of_joining_and_leaving_leave_no_descriptor_behind(road: Lab, car: Box, family: Box) -> None:
    host = start_host(car)
    [ana] = start_guests(family, "Ana")
    before = descriptors(host)
    for number in range(ROUNDS // AT_ONCE):
        visitors = [family.roadmesh("guest", f"Visitor {number}", adapter=family.hci(index + 1)) for index in range(AT_ONCE)]
        for visitor in visitors:
            await_joined(visitor)
        # Good manners and bad ones in turn.
        for visitor in visitors:
            visitor.say("quit") if number % 2 else visitor.signal("KILL")
        for visitor in visitors:
            visitor.wait()
        host.expect("snapshot", shows_peers("Ana"))
    assert abs(descriptors(host) - before) <= 2
    assert not ana.seen("peerDisconnected") and not ana.seen("notice")
