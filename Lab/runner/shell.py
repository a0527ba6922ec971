"""`scripts/radio-lab shell`: a box with a command line."""

from __future__ import annotations

import argparse
import readline  # noqa: F401  (adds history and line editing to input())
import sys

from . import Lab, LabError, NotExpected
from .box import Box

HELP = """Each line is a shell command in the box `box`. Its output appears when it has ended.
  boot NAME [CONTROLLERS]  boots another box, which runs the following lines
  NAME: COMMAND            a command in that box
  air cut|heal|links|counters
  exit                     or end of input"""

COMMAND_TIMEOUT = 3600.0


def shell(arguments: argparse.Namespace) -> int:
    with Lab("shell", binary=arguments.binary, keep=arguments.keep, seed=arguments.seed) as lab:
        box = lab.box("box")
        box.await_ready()
        print(f"ready after {box.boot_seconds:.1f} s. `help` lists the commands.")
        while True:
            try:
                line = input(f"{box.name}# " if sys.stdin.isatty() else "").strip()
            except EOFError:
                return 0
            if line == "exit":
                return 0
            try:
                box = handle(lab, box, line)
            except (LabError, NotExpected) as error:
                print(error)


def handle(lab: Lab, box: Box, line: str) -> Box:
    """Executes a line. Returns the box for the next line."""
    words = line.split()
    if not words:
        return box
    if words[0] == "help":
        print(HELP)
    elif words[0] == "boot" and len(words) in (2, 3):
        box = lab.box(words[1], controllers=int(words[2]) if len(words) == 3 else 1)
        box.await_ready()
    elif words[0] == "air" and len(words) == 2:
        air(lab, words[1])
    elif words[0].endswith(":") and words[0][:-1] in lab.boxes:
        execute(lab.boxes[words[0][:-1]], line.partition(":")[2])
    else:
        execute(box, line)
    return box


def air(lab: Lab, operation: str) -> None:
    if operation == "cut":
        lab.air.cut_all()
    elif operation == "heal":
        lab.air.heal()
    elif operation == "links":
        print("\n".join(str(link) for link in lab.air.links()) or "no links")
    elif operation == "counters":
        for name, counters in lab.air.counters().items():
            print(name, counters)
    else:
        print(HELP)


def execute(box: Box, command: str) -> None:
    program = box.spawn(["/bin/sh", "-c", command], name="sh")
    program.close_input()
    try:
        code = program.wait(COMMAND_TIMEOUT)
    except KeyboardInterrupt:
        program.signal("INT")
        code = program.wait()
    for line in program.lines:
        print(line.text)
    if code != 0:
        print(f"({code})")
