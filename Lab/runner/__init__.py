"""The radio lab's Python interface. See docs/radio-lab.md."""

from .air import Air
from .box import Box, Controller
from .errors import BoxDied, Closed, LabError, NotExpected
from .foreign_host import Stranger
from .lab import Lab
from .program import Event, Program

__all__ = [
    "Air",
    "Box",
    "BoxDied",
    "Closed",
    "Controller",
    "Event",
    "Lab",
    "LabError",
    "NotExpected",
    "Program",
    "Stranger",
]
