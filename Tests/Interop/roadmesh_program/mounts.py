# SPDX-License-Identifier: Apache-2.0
"""USB sticks with music that a test plugs in and pulls out: real mounts, which need root."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import struct
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from .brokers import wait
from .music import wav

# FS_IOC_SHUTDOWN of linux/fs.h, and its flag that flushes nothing: every later access fails with EIO.
SHUTDOWN, NO_FLUSH = 0x8004587D, 2

IMAGE_BYTES = 64 << 20


def run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stderr}"


def needs(*programs: str) -> None:
    """Skips a test that cannot run on this machine, with the reason."""
    if os.geteuid() != 0:
        pytest.skip("mounts need root")
    for program in programs:
        if shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") is None:
            if os.environ.get("ROADMESH_LAB") == "required":
                pytest.fail(f"this takes the program {program}", pytrace=False)
            pytest.skip(f"this takes the program {program}")


class Stick:
    """A file system with music. It is mounted at `path` while it is plugged in."""

    programs: tuple[str, ...] = ()

    def __init__(self, folder: Path) -> None:
        needs("mount", *self.programs)
        self.path = folder / "stick"
        self.path.mkdir()
        self.spare = folder / "spare"
        self.spare.mkdir()
        self._is_plugged = False
        self.make()

    def make(self) -> None:
        """Makes the file system."""

    def mount(self) -> None:
        raise NotImplementedError

    def fill(self, seconds: list[float]) -> None:
        """Writes songs of these lengths to it: "Mile 0", "Mile 1"…"""
        for number, length in enumerate(seconds):
            wav(self.spare / f"{number:02}.wav", length, title=f"Mile {number}", artist="The Milestones", album="Road")

    def plug(self) -> None:
        self.mount()
        self._is_plugged = True

    def pull(self) -> None:
        """Unmounts as udisks does for a missing stick: open files stay open."""
        run("umount", "--lazy", self.path)
        self._is_plugged = False

    def close(self) -> None:
        with suppress(AssertionError):
            if self._is_plugged:
                self.pull()
        with suppress(AssertionError):
            self.unmake()

    def unmake(self) -> None:
        """Removes what `make` has made."""


class Memory(Stick):
    """A tmpfs."""

    def make(self) -> None:
        run("mount", "-t", "tmpfs", "music", self.spare)

    def mount(self) -> None:
        run("mount", "--bind", self.spare, self.path)

    def unmake(self) -> None:
        run("umount", "--lazy", self.spare)


class Image(Stick):
    """A file system in a file, on a loop device."""

    kind = "ext4"
    programs = ("mkfs.ext4", "losetup")

    def make(self) -> None:
        self._image = self.spare.parent / "image"
        with self._image.open("wb") as image:
            image.truncate(IMAGE_BYTES)
        run(f"mkfs.{self.kind}", self._image)

    def fill(self, seconds: list[float]) -> None:
        run("mount", "-o", "loop", self._image, self.spare)
        super().fill(seconds)
        run("umount", self.spare)

    def mount(self) -> None:
        run("mount", "-o", "loop", self._image, self.path)


class Ext4(Image):
    def fail(self) -> None:
        """Makes every later access fail."""
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, SHUTDOWN, struct.pack("I", NO_FLUSH))
        finally:
            os.close(descriptor)


class Vfat(Image):
    kind = "vfat"
    programs = ("mkfs.vfat", "losetup")

    def make(self) -> None:
        if "\tvfat\n" not in Path("/proc/filesystems").read_text():
            pytest.skip("this kernel has no vfat")
        super().make()


class Fuse(Stick):
    """A folder that a program provides as a file system."""

    programs = ("bindfs",)

    def mount(self) -> None:
        # Mounted without the kernel's caches, so that each access reaches the program.
        options = "attr_timeout=0,entry_timeout=0,negative_timeout=0"
        self._server = subprocess.Popen(["bindfs", "-f", "-o", options, self.spare, self.path])
        wait(self.path.is_mount, "the mount")

    def pull(self) -> None:
        super().pull()
        self.fail()

    def fail(self) -> None:
        """Kills the program: every access fails with ENOTCONN."""
        self._server.kill()
        self._server.wait()

    def hang(self) -> None:
        """Stops the program: every access waits."""
        self._server.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._server.send_signal(signal.SIGCONT)


MakeStick = Callable[[type[Stick]], Stick]
