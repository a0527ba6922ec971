# SPDX-License-Identifier: Apache-2.0
"""Pictures of every view for review: by day in one language, by night in the other. pictures.py takes all of them. If
PICTURES names a folder, they are kept there."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest
from pictures import ONCE, SIZES, take
from playwright.sync_api import Browser
from views import PICTURED

# A picture of a single colour is much smaller.
SMALLEST = 5_000


@pytest.mark.parametrize("screen", SIZES)
def test_every_view_has_its_picture(browser: Browser, tmp_path: Path, screen: str) -> None:
    folder = Path(os.environ.get("PICTURES", tmp_path))
    taken = take(browser, folder, [], [screen], ONCE)
    assert len(taken) >= len(PICTURED) * len(ONCE)
    size = (SIZES[screen]["width"], SIZES[screen]["height"])
    for path in taken:
        data = path.read_bytes()
        assert struct.unpack(">II", data[16:24]) == size, path
        assert len(data) > SMALLEST, path
