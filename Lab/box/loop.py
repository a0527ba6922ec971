"""An iteration of an agent's event loop."""

from __future__ import annotations

import selectors


def turn(selector: selectors.BaseSelector, timeout: float | None) -> bool:
    """Waits, and calls the registered functions of all ready descriptors. Returns whether there were any.

    If one call removes a descriptor from the selector, its function is not called in the same iteration. For example, an
    exit that is noticed together with the program's last output has already read that output and closed its descriptor.
    """
    ready = selector.select(timeout)
    for key, _ in ready:
        if selector.get_map().get(key.fileobj) is key:
            key.data()
    return bool(ready)
