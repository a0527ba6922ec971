# SPDX-License-Identifier: Apache-2.0
"""Options of the power cuts, and the program that they are for."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest

CUTS = 25

MEASURED = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("power cuts")
    group.addoption("--cuts", type=int, default=CUTS, help=f"how often to cut the power; {CUTS} an hour")
    group.addoption("--seed", type=int, default=None, help="the first hour's seed; a new one each time by default")
    group.addoption("--no-kill", action="store_true", help="the same hours with power all the time")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "hour" not in metafunc.fixturenames:
        return
    cuts, seed = metafunc.config.getoption("--cuts"), metafunc.config.getoption("--seed")
    first = secrets.randbelow(1_000_000) if seed is None else seed
    hours = [(first + number, min(CUTS, cuts - number * CUTS)) for number in range(-(-cuts // CUTS))]
    metafunc.parametrize("hour", hours, ids=[f"seed {seed}" for seed, _ in hours])


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
