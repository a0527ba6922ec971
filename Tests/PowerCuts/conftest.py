# SPDX-License-Identifier: Apache-2.0
"""Options of the power cuts."""

from __future__ import annotations

import secrets

import pytest

pytest_plugins = ["roadmesh_program.measuring"]

CUTS = 25


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
