"""One turn of an agent's event loop."""

from __future__ import annotations

import selectors


def turn(selector: selectors.BaseSelector, timeout: float | None) -> bool:
    """Waits, and calls what is registered for whatever has happened. Returns whether anything has.

    What one call takes out of the selector is not called in the same turn: an exit that is noticed together with the
    program's last output has already read that output and let its descriptor go.
    """
    ready = selector.select(timeout)
    for key, _ in ready:
        if selector.get_map().get(key.fileobj) is key:
            key.data()
    return bool(ready)
