"""Looking through what comes in, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")


class Cursor(Generic[Item]):
    """A place in a list that grows: what stands before it has been dealt with."""

    def __init__(self, items: list[Item]) -> None:
        self._items = items
        self._position = 0

    def skip(self) -> None:
        self._position = len(self._items)

    def finder(self, fits: Callable[[Item], Found | None]) -> Callable[[], Found | None]:
        """A function that looks at what it has not looked at yet, until something fits; then it moves the cursor past
        that and returns what `fits` returned. For waiting: it is called again whenever more has come."""
        looked_at = self._position

        def find() -> Found | None:
            nonlocal looked_at
            while looked_at < len(self._items):
                looked_at += 1
                found = fits(self._items[looked_at - 1])
                if found is not None:
                    self._position = looked_at
                    return found
            return None

        return find
