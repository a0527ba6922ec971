# SPDX-License-Identifier: Apache-2.0
"""Separate networks for a test: a device whose addresses come and go. It needs root."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from .brokers import wait


class Device:
    """A network namespace. Programs started with `program` are in it."""

    def __init__(self, folder: Path, binary: Path) -> None:
        if os.geteuid() != 0:
            pytest.skip("network namespaces need root")
        self._holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        own = os.readlink("/proc/self/ns/net")
        wait(lambda: os.readlink(f"/proc/{self._holder.pid}/ns/net") != own, "the namespace")
        self._inside = ["nsenter", f"--net=/proc/{self._holder.pid}/ns/net"]
        self.program = folder / "inside"
        self.program.write_text(f'#!/bin/sh\nexec {" ".join(self._inside)} {binary} "$@"\n')
        self.program.chmod(0o755)
        self.ip("link", "set", "lo", "up")

    def run(self, *command: str) -> str:
        done = subprocess.run([*self._inside, *command], capture_output=True, text=True)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout

    def ip(self, *arguments: str) -> None:
        self.run("ip", *arguments)

    def add_interface(self, name: str) -> None:
        """Adds an interface with a carrier: a cable with both ends here."""
        self.ip("link", "add", name, "type", "veth", "peer", "name", f"{name}-end")
        for end in (name, f"{name}-end"):
            self.ip("link", "set", end, "up")

    def close(self) -> None:
        self._holder.kill()
        self._holder.wait()
