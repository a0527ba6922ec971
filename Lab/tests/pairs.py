"""A single link in virtual time, between two controllers that only count their calls."""

from __future__ import annotations

from random import Random
from typing import cast

from air.connection_events import LinkParameters
from air.controller import LabController
from air.link import End, Link, Pdu
from air.paths import Path
from air.radio import Radio
from air.virtual_clock import VirtualClock

INTERVAL, TIMEOUT = 0.05, 0.42
SIZE = 100


class Told:
    """Counts the calls to a controller's links."""

    def __init__(self) -> None:
        self.reasons: list[int] = []
        self.changes: list[str] = []

    def closed(self, end: End, reason: int) -> None:
        self.reasons.append(reason)

    def parameters_changed(self, end: End) -> None:
        self.changes.append("parameters")

    def phy_changed(self, end: End) -> None:
        self.changes.append("phy")

    def data_length_changed(self, end: End) -> None:
        self.changes.append("data length")


class Party:
    def __init__(self) -> None:
        self.radio = Radio()
        self.links = Told()


class Air:
    connection_events = True

    def __init__(self, events_collide: bool = False) -> None:
        self.events_collide = events_collide
        self.clock = VirtualClock()
        self.chances = Random(1)
        self.closed: list[int] = []

    def link_closed(self, link: Link, reason: int) -> None:
        self.closed.append(reason)


class Pair:
    """A link, and the times at which its data arrived."""

    def __init__(
        self,
        air: Air | None = None,
        central: Party | None = None,
        deaf: bool = False,
        peripheral: Party | None = None,
        interval: float = INTERVAL,
    ) -> None:
        self.air = air or Air()
        self.central, self.peripheral = central or Party(), peripheral or Party()
        self.path = Path()
        self.near, self.far = (End(cast(LabController, one)) for one in (self.central, self.peripheral))
        self.link = Link(self.air, self.near, self.far, self.path, LinkParameters(interval, 0, TIMEOUT), deaf)
        self.came: list[float] = []

    def send(self, end: End) -> None:
        self.link.send(end, Pdu(SIZE, lambda: self.came.append(self.air.clock.time())))

    def cut(self, cut: bool) -> None:
        self.path.cut = cut
        self.link.air_changed()
