"""The virtual radio works if the user has no inotify instance left."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from roadmesh_program.fixtures import Start, StartHost

VIEW = 20.0


@pytest.fixture
def binary(binary: Path, tmp_path: Path) -> Path:
    """The program in a user namespace that allows no inotify instance (namespaces(7), /proc/sys/user)."""
    permitted = subprocess.run(["unshare", "--user", "--map-root-user", "true"], capture_output=True, text=True)
    if permitted.returncode != 0:
        pytest.skip(f"this takes a user namespace, which Linux does not permit in a chroot: {permitted.stderr.strip()}")
    wrapper = tmp_path / "roadmesh"
    inside = f'echo 0 > /proc/sys/user/max_inotify_instances; exec {shlex.quote(str(binary))} "$@"'
    wrapper.write_text(f"#!/bin/sh\nexec unshare --user --map-root-user sh -c {shlex.quote(inside)} sh \"$@\"\n")
    wrapper.chmod(0o755)
    return wrapper


def test_a_guest_joins_votes_and_returns_without_a_watch(
    start: Start, start_host: StartHost, air: Path
) -> None:
    host = start_host()
    guest = start("guest", "Ana", "ana")
    guest.expect("connection", state="connected", timeout=VIEW)
    guest.say("vote n2")
    host.expect("intent", kind="vote", songID="n2", timeout=VIEW)
    zone = air / "ana.cut"
    zone.touch()
    guest.expect("connection", state="reconnecting", timeout=VIEW)
    zone.unlink()
    guest.expect("connection", state="connected", timeout=VIEW)
