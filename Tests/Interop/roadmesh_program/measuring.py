# SPDX-License-Identifier: Apache-2.0
"""Shared by all tests of the built program: which program it is, and where figures are collected. A pytest plugin."""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "alone: it measures times, so no other test runs at the same time")
    config.addinivalue_line("markers", "together: it measures, but no times, so other tests may run at the same time")
    config.addinivalue_line("markers", "long: it takes more than some five seconds; scripts/test --all runs it")
    config.addinivalue_line("markers", "sample(count): scripts/test runs its first cases, scripts/test --all the others as well")
    config.addinivalue_line("markers", "slice: part of the browser tests that scripts/test runs")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    cases: Counter[str] = Counter()
    for item in items:
        if "measured" in getattr(item, "fixturenames", ()) and not item.get_closest_marker("together"):
            item.add_marker("alone")
        if sample := item.get_closest_marker("sample"):
            function = item.nodeid.partition("[")[0]
            cases[function] += 1
            if cases[function] > sample.args[0]:
                item.add_marker("long")


@pytest.fixture(scope="session")
def binary() -> Path:
    path = Path(os.environ.get("ROADMESH_BINARY", "")).expanduser()
    if not path.is_file():
        pytest.fail("ROADMESH_BINARY has to name the roadmesh to test", pytrace=False)
    return path


@pytest.fixture(scope="session")
def output(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """The output of the program with these arguments. It runs once for all test processes: help and completion take a
    debug build more than a second of processor time."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent

    def output(arguments: str) -> str:
        file = shared / f"output{arguments.replace(' ', '_')}"
        with file.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not file.exists():
                text = subprocess.run([binary, *arguments.split()], capture_output=True, text=True, check=True).stdout
                file.write_text(text)
        return file.read_text()

    return output


@pytest.fixture
def measured(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """Collects measured figures. The run shows them at its end, also if all tests pass."""
    lines: list[str] = []
    yield lines
    # A test's properties are part of its report, which may come from another process.
    request.node.user_properties += [("measured", line) for line in lines]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [one for some in terminalreporter.stats.values() for one in some if isinstance(one, pytest.TestReport)]
    told = [one for one in reports if one.when == "teardown"]
    if lines := [value for one in told for name, value in one.user_properties if name == "measured"]:
        terminalreporter.section("measured")
        for line in lines:
            terminalreporter.write_line(line)


def resident(pid: int) -> int:
    """A process's resident memory, in kibibytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))
