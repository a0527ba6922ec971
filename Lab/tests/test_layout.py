"""Tests of nodes that receive only their neighbours: the runner's side of a real air, without boxes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from runner import Lab, Stranger

LOOKS = 5


def advertising(lab: Lab, *names: str) -> list[Stranger]:
    made = [lab.stranger(name) for name in names]
    for one in made:
        one.advertise(bytes((2, 0x01, 0x06, len(one.name) + 1, 0x09)) + one.name.encode())
    return made


def heard_by(lab: Lab, one: Stranger, neighbours: Sequence[Stranger]) -> set[str]:
    """The names that a stranger hears while it looks for each neighbour several times."""
    with lab.hub.changed:
        lab.air.events.clear()
    for neighbour in [*neighbours] * LOOKS:
        one.find(name=neighbour.name)
    return {event["name"] for event in lab.air.seen("heard", stranger=one.name)}


def test_in_a_line_each_node_hears_only_its_neighbours(lab: Lab) -> None:
    nodes = advertising(lab, "host", "left", "right", "guest")
    lab.air.line(*nodes)
    expected = [["left"], ["host", "right"], ["left", "guest"], ["right"]]
    for one, names in zip(nodes, expected, strict=True):
        assert heard_by(lab, one, [node for node in nodes if node.name in names]) == set(names)


def test_on_a_ladder_each_node_hears_its_own_row_and_the_next(lab: Lab) -> None:
    host, left, right, guest = advertising(lab, "host", "left", "right", "guest")
    lab.air.ladder([host], [left, right], [guest])
    assert heard_by(lab, host, [left, right]) == {"left", "right"}
    assert heard_by(lab, left, [host, right, guest]) == {"host", "right", "guest"}
    assert heard_by(lab, guest, [left, right]) == {"left", "right"}


def test_a_new_line_replaces_the_old_one_and_healing_removes_it(lab: Lab) -> None:
    nodes = advertising(lab, "host", "left", "guest")
    lab.air.line(*nodes)
    lab.air.line(nodes[1], nodes[0], nodes[2])
    assert heard_by(lab, nodes[2], [nodes[0]]) == {"host"}
    lab.air.heal()
    for one, other in itertools.permutations(nodes, 2):
        one.find(name=other.name)
