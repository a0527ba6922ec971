# SPDX-License-Identifier: Apache-2.0
"""The quarantine list is short, each entry has a reason, and each test on it exists."""

from __future__ import annotations

import re

from roadmesh_program.quarantine import ROOT, listed

# If more tests than this need a second attempt, the tests are wrong.
LONGEST = 8


def test_the_list_is_short_and_each_test_on_it_exists_and_has_a_reason() -> None:
    entries = listed()
    assert len(entries) <= LONGEST
    for name, reason in entries.items():
        assert len(reason.split()) >= 5, f"{name} has no reason"
        path, function = name.split("::")
        file = ROOT / path
        assert file.is_file() and re.search(rf"^def {function}\(", file.read_text(), re.M), f"{name} does not exist"
