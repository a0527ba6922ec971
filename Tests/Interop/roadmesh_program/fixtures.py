# SPDX-License-Identifier: Apache-2.0
"""What the fixtures of Tests/Interop are, for the tests that take them. A test cannot import it from conftest.py: there is
one in every folder."""

from __future__ import annotations

from collections.abc import Callable

from roadmesh_peer.guest import Guest

from .program import Program

Start = Callable[..., Program]
StartHost = Callable[..., Program]
Place = Callable[[str], list[str]]
MakeGuest = Callable[[str], Guest]
