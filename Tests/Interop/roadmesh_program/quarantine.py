# SPDX-License-Identifier: Apache-2.0
"""Retries for the tests on Tests/quarantine.toml, and for no others. A pytest plugin that scripts/test loads.

Each test on the list may run a second time. The end of the run shows how often that happened. Without this plugin, as
when a test is run by hand, every test has one attempt.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LIST = ROOT / "Tests/quarantine.toml"


def listed() -> dict[str, str]:
    """The reason for each test on the list. A test's name is its path in the repository and its function:
    `Tests/…/test_a.py::test_b`."""
    entries = tomllib.loads(LIST.read_text()).get("test", [])
    return {entry["name"]: entry["reason"] for entry in entries}


def name(item: pytest.Item) -> str:
    """The name of a test as the list has it, without parameters."""
    return f"{item.path.relative_to(ROOT)}::{getattr(item, 'originalname', item.name)}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reasons = listed()
    for item in items:
        if name(item) in reasons:
            item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reasons = listed()
    again = [report.nodeid for report in terminalreporter.stats.get("rerun", [])]
    terminalreporter.section("quarantine")
    terminalreporter.write_line(f"retries used: {len(again)}; tests on the quarantine list: {len(reasons)}")
    for nodeid in sorted(set(again)):
        terminalreporter.write_line(f"  {again.count(nodeid)} × {nodeid}")
