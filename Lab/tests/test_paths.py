"""Tests of the paths between controllers."""

from __future__ import annotations

from random import Random

from air.paths import DEFAULT_RSSI, Paths


def paths_between(*names: str) -> Paths[str]:
    paths: Paths[str] = Paths()
    for name in names:
        paths.add(name)
    return paths


def test_a_change_between_two_leaves_the_third_alone() -> None:
    paths = paths_between("car", "ana", "bob")
    paths.change([("car", "ana")], cut=True, rssi=-80)
    assert (paths.between("ana", "car").cut, paths.between("ana", "car").rssi) == (True, -80)
    assert (paths.between("car", "bob").cut, paths.between("car", "bob").rssi) == (False, DEFAULT_RSSI)


def test_a_later_controller_gets_the_present_state_of_the_air() -> None:
    paths = paths_between("car", "ana")
    changed = paths.change_everywhere(cut=True, loss=0.5)
    assert changed == [paths.between("car", "ana")]
    paths.add("bob")
    assert (paths.between("bob", "car").cut, paths.between("bob", "car").loss) == (True, 0.5)


def test_a_share_of_packets_gets_lost() -> None:
    path = paths_between("car", "ana").between("car", "ana")
    chances = Random(1)
    path.loss = 0.25
    assert 200 < sum(path.loses(chances) for _ in range(1000)) < 300


def test_a_path_without_loss_draws_no_random_number() -> None:
    """A seed gives the same losses, regardless of the traffic on other paths."""
    chances, untouched = Random(1), Random(1)
    assert not paths_between("car", "ana").between("car", "ana").loses(chances)
    assert chances.random() == untouched.random()


def test_exactly_the_given_number_of_connects_is_lost() -> None:
    path = paths_between("car", "ana").between("car", "ana")
    path.lost_connects = 2
    assert [path.loses_connect(Random(1)) for _ in range(3)] == [True, True, False]
