# SPDX-License-Identifier: Apache-2.0
"""A host's library of songs without files: n0, which plays, and n1, n2 and so on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SONGS = 20


def song_of(number: int, title: str = "Mile") -> dict[str, Any]:
    return {"id": f"n{number}", "title": f"{title} {number}", "artist": "The Milestones", "duration": 3600}


def write_songs(path: Path, count: int = SONGS, title: str = "Mile") -> Path:
    """Writes n0 and this many more songs, and returns the path."""
    path.write_text(json.dumps([song_of(number, title) for number in range(count + 1)]))
    return path
