"""The pytest plugin of the radio lab: `pytest -p pytest_lab`, as in `scripts/radio-lab test`.

Each test with the `lab` fixture has a new lab: without boxes, and with a new air. If the machine cannot run boxes, such
a test is skipped with the reason. With ROADMESH_LAB=required it fails instead, so that a
continuous integration server does not silently skip all tests.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from runner import Lab
from runner.requirements import missing

REPORT = pytest.StashKey[pytest.TestReport]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("radio lab")
    group.addoption("--binary", type=Path, help="the roadmesh to test; default: ROADMESH_BINARY")
    group.addoption("--keep", action="store_true", help="also keep the folders of tests that pass")
    group.addoption("--air-seed", type=int, help="seed of the air's random delays and losses")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call":
        item.stash[REPORT] = report
    return report


@pytest.fixture(scope="session")
def lab_machine() -> None:
    if reasons := missing():
        if os.environ.get("ROADMESH_LAB") == "required":
            pytest.fail("\n".join(reasons))
        pytest.skip("no radio lab on this machine: " + " ".join(reasons))


@pytest.fixture
def lab(request: pytest.FixtureRequest, lab_machine: None) -> Iterator[Lab]:
    options = request.config.option
    made = Lab(request.node.name, binary=options.binary, keep=options.keep, seed=options.air_seed)
    try:
        yield made
    finally:
        report = request.node.stash.get(REPORT, None)
        died = list(made.deaths)
        if made.close(failed=report is None or report.failed or bool(died)):
            # Appears in the teardown section of the report, next to the failure.
            print(f"the run's folder: {made.folder.path}")
    if died:
        pytest.fail(f"these boxes died: {', '.join(died)}", pytrace=False)
