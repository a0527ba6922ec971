"""The matrix selects tests by their names."""

from __future__ import annotations

import ast

from runner.matrix import LAB_TESTS, TOPICS


def test_each_selected_test_exists() -> None:
    for test in (one for tests in TOPICS.values() for one in tests):
        file, name = test.split("::")
        nodes = ast.walk(ast.parse((LAB_TESTS / file).read_text()))
        assert name.split("[")[0] in [one.name for one in nodes if isinstance(one, ast.FunctionDef)], test
