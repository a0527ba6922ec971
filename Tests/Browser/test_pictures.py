# SPDX-License-Identifier: Apache-2.0
"""Pictures of every view, to be looked at. They are kept in the folder PICTURES, where it is named."""

from __future__ import annotations

import os
import struct
from pathlib import Path

from conftest import SCREENS
from pictures import take
from playwright.sync_api import Browser
from views import STATES

# A picture of nothing but one colour is much smaller.
SMALLEST = 8_000


def test_every_view_has_its_picture_at_both_sizes(browser: Browser, tmp_path: Path, measured: list[str]) -> None:
    folder = Path(os.environ.get("PICTURES", tmp_path))
    taken = take(browser, folder, [])
    assert len(taken) >= len(STATES) * len(SCREENS) * 2
    sizes = {(screen["width"], screen["height"]) for screen in SCREENS.values()}
    for path in taken:
        data = path.read_bytes()
        assert struct.unpack(">II", data[16:24]) in sizes, path
        assert len(data) > SMALLEST, path
    measured.append(f"{len(taken)} pictures of {len(STATES)} states in {folder}")
