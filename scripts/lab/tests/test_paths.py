"""Who hears whom."""

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


def test_who_comes_later_comes_into_the_air_as_it_is() -> None:
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


def test_where_nothing_gets_lost_no_chance_is_taken() -> None:
    """A seed gives the same losses, however much goes over other paths."""
    chances, untouched = Random(1), Random(1)
    assert not paths_between("car", "ana").between("car", "ana").loses(chances)
    assert chances.random() == untouched.random()


def test_so_many_connects_get_lost_and_no_more() -> None:
    path = paths_between("car", "ana").between("car", "ana")
    path.lost_connects = 2
    assert [path.loses_connect(Random(1)) for _ in range(3)] == [True, True, False]
