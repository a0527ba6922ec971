"""The paths between all controllers: who receives whom, and how that changes."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from random import Random
from typing import Any, Generic, TypeVar

DEFAULT_RSSI = -50

Node = TypeVar("Node", bound=Hashable)


@dataclass(slots=True)
class Path:
    """The path between two controllers, the same in both directions."""

    cut: bool = False
    loss: float = 0.0
    """The share of packets that do not arrive."""
    rssi: int = DEFAULT_RSSI
    lost_connects: int = 0
    """How many of the next requests to connect get lost. Each leaves the central with a one-sided link."""

    def loses(self, chances: Random) -> bool:
        """Whether a packet gets lost. Draws no random number on a path without loss."""
        return bool(self.loss) and chances.random() < self.loss

    def loses_connect(self, chances: Random) -> bool:
        if self.lost_connects:
            self.lost_connects -= 1
            return True
        return self.loses(chances)


class Paths(Generic[Node]):
    """The paths between all added nodes."""

    def __init__(self) -> None:
        self.default = Path()
        """The initial state of a pair; a change of all pairs changes it as well."""
        self._of: dict[Node, dict[Node, Path]] = {}

    def add(self, node: Node) -> None:
        paths: dict[Node, Path] = {}
        for other, others in self._of.items():
            paths[other] = others[node] = Path(self.default.cut, self.default.loss, self.default.rssi)
        self._of[node] = paths

    def of(self, node: Node) -> dict[Node, Path]:
        """The paths from a node to all others."""
        return self._of[node]

    def between(self, one: Node, other: Node) -> Path:
        return self._of[one][other]

    def change(self, pairs: Iterable[tuple[Node, Node]], **changes: Any) -> list[Path]:
        """Sets cut, loss, rssi or lost_connects between these pairs. Returns their paths."""
        changed = [self.between(one, other) for one, other in pairs]
        for path in changed:
            _set(path, changes)
        return changed

    def change_everywhere(self, **changes: Any) -> list[Path]:
        _set(self.default, changes)
        return self.change(itertools.combinations(self._of, 2), **changes)


def _set(path: Path, changes: dict[str, Any]) -> None:
    for name, value in changes.items():
        setattr(path, name, value)
