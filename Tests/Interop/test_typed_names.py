# SPDX-License-Identifier: Apache-2.0
"""Names as people type them, at the real host and guest: without capitals and accents, and with any apostrophe."""

from __future__ import annotations

import pytest
from roadmesh_program.fixtures import Start, StartHost


@pytest.mark.sample(1)
@pytest.mark.parametrize(("typed", "name"), [("jose", "José"), ("O'NEILL", "O’Neill"), ("nguyen", "Nguyễn")])
def test_a_guest_is_sent_away_by_a_name_without_accents(
    start_host: StartHost, start: Start, typed: str, name: str
) -> None:
    host = start_host(3, "Mile")
    guest = start("guest", name, "guest")
    guest.expect("connection", state="connected")
    host.say(f"kick {typed}")
    guest.expect("notice", code="kicked")


@pytest.mark.sample(1)
@pytest.mark.parametrize("typed", ["dad's car", "DAD’S CAR", "Dád`s Car"])
def test_a_host_is_named_without_capitals_and_accents(start_host: StartHost, start: Start, typed: str) -> None:
    start_host(3, "Mile")
    guest = start("guest", "Ana", "ana", "--host", typed)
    guest.expect("connection", state="connected")
