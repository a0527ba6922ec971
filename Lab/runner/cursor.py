"""Sequential search in a growing list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")


class Cursor(Generic[Item]):
    """A position in a growing list. The items before it are done."""

    def __init__(self, items: list[Item]) -> None:
        self._items = items
        self._position = 0

    def skip(self) -> None:
        self._position = len(self._items)

    def finder(self, fits: Callable[[Item], Found | None]) -> Callable[[], Found | None]:
        """Returns a function that searches the new items for the first that fits. It moves the cursor past the item and
        returns the result of `fits`. A waiter calls it again whenever items have arrived."""
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
