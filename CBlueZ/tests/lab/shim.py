"""Shared by the shim's scenarios: the probe in a box, and the names of its answers."""

from __future__ import annotations

import os

from runner.box import Box
from runner.program import Event, Program

UUID = "8e8b2c1e-0000-5000-8000-000000000001"
DATA = "010080000abc"
ADVERTISEMENT = "/org/roadmesh/advertisement"
NAME = "RoadMesh-Host"
PSM = 0x80


class Probe:
    """A running probe.c in a box."""

    def __init__(self, box: Box, uid: int | None = None, bus: bool = True) -> None:
        self.program: Program = box.spawn([os.environ["CBLUEZ_PROBE"]], name="probe", uid=uid)
        self.program.expect("started")
        if bus:
            self.program.say("bus")
            self.program.expect("ready")
            self.program.expect("appeared")

    def ask(self, command: str, event: str, timeout: float = 10.0) -> Event:
        self.program.skip()
        self.program.say(command)
        return self.program.expect(event, timeout=timeout)

    def result(self, command: str, event: str, timeout: float = 10.0) -> int | str:
        """The result of a command, or the name of its errno."""
        answer = self.ask(command, event, timeout)
        return answer.get("error", answer["result"])

    def call(self, command: str) -> str:
        """The name of the error that a D-Bus call ended with, empty when it succeeded."""
        called = self.ask(command, "called")
        return self.program.expect("reply", serial=called["result"], timeout=15)["error"]

    def advertise(self) -> None:
        """Advertises again. This is needed after each link, since an incoming link stops legacy advertising."""
        self.call(f"unadvertise {ADVERTISEMENT}")
        error = self.call(f"advertise {ADVERTISEMENT} {UUID} {DATA} {NAME} 20 30")
        assert error == "", error
