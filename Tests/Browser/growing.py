# SPDX-License-Identifier: Apache-2.0
"""A page's memory, and its growth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import CDPSession, Page

Metrics = dict[str, float]


def watched(page: Page) -> CDPSession:
    session = page.context.new_cdp_session(page)
    # The time of its main thread's work, since other work of this machine does not count.
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    return session


def metrics(session: CDPSession) -> Metrics:
    """The page's memory after garbage collection."""
    for _ in range(3):
        session.send("HeapProfiler.collectGarbage")
    found: dict[str, Any] = session.send("Performance.getMetrics")
    return {metric["name"]: metric["value"] for metric in found["metrics"]}


@dataclass(frozen=True)
class Growth:
    """The additional memory of a page, the heap in bytes."""

    nodes: float
    listeners: float
    heap: float
    whole_heap: float

    # The number of elements of one notice: the page may show one more or less.
    NODES = 60
    HEAP = 512 * 1024

    @classmethod
    def between(cls, before: Metrics, after: Metrics) -> Growth:
        names = ("Nodes", "JSEventListeners", "JSHeapUsedSize")
        nodes, listeners, heap = (after[name] - before[name] for name in names)
        return cls(nodes, listeners, heap, after["JSHeapUsedSize"])

    def __str__(self) -> str:
        return (
            f"{self.nodes:+.0f} nodes, {self.listeners:+.0f} listeners, "
            f"{self.heap / 1024:+.0f} KiB of heap ({self.whole_heap / 1024:.0f} KiB in all)"
        )
