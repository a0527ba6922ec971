# SPDX-License-Identifier: Apache-2.0
"""What every test of the built program needs: which program it is, and a place for what was measured. A pytest plugin."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

MEASURED = pytest.StashKey[list[str]]()


@pytest.fixture(scope="session")
def binary() -> Path:
    path = Path(os.environ.get("ROADMESH_BINARY", "")).expanduser()
    if not path.is_file():
        pytest.fail("ROADMESH_BINARY has to name the roadmesh to test", pytrace=False)
    return path


@pytest.fixture
def measured(request: pytest.FixtureRequest) -> list[str]:
    """Takes down what was measured: it is shown at the end of the run, also when all is well."""
    return request.config.stash.setdefault(MEASURED, [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if lines := terminalreporter.config.stash.get(MEASURED, []):
        terminalreporter.section("measured")
        for line in lines:
            terminalreporter.write_line(line)


def resident(pid: int) -> int:
    """Kibibytes of a process that are in memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))
