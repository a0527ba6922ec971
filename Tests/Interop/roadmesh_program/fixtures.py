# SPDX-License-Identifier: Apache-2.0
"""Types of Tests/Interop's fixtures, for tests that use them. Tests cannot import them from conftest.py, because
every folder has one."""

from __future__ import annotations

from collections.abc import Callable

from roadmesh_peer.guest import Guest

from .program import Program

Start = Callable[..., Program]
StartHost = Callable[..., Program]
Place = Callable[[str], list[str]]
MakeGuest = Callable[[str], Guest]
