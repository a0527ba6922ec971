"""pytest's way into the radio lab: `pytest -p pytest_lab`, as scripts/radio-lab test does it.

A test that takes the `lab` fixture gets a lab of its own: no boxes yet, a fresh air. A test that needs boxes and finds
a machine that cannot run them is skipped with the reason; with ROADMESH_LAB=required it fails instead, so that a
continuous integration server does not skip everything in silence.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from lab import Lab
from lab.requirements import missing

REPORT = pytest.StashKey[pytest.TestReport]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("radio lab")
    group.addoption("--binary", type=Path, help="the roadmesh to test; default: ROADMESH_BINARY")
    group.addoption("--keep", action="store_true", help="keep the folders of tests that pass as well")
    group.addoption("--air-seed", type=int, help="of the air's chances: delays and losses")


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
            # Printed in the teardown's section of the report, next to the failure.
            print(f"the run's folder: {made.folder.path}")
    if died:
        pytest.fail(f"these boxes died: {', '.join(died)}", pytrace=False)
