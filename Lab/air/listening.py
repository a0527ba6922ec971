"""A controller's reception of advertising: reports it to the host, or requests a connection."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from .addresses import Address
from .counters import RadioCounters
from .host_front import HostFront
from .radio import Radio
from .scanner import Initiator, Scanner

if TYPE_CHECKING:
    from .advertiser import Advertiser


class ListeningAir(Protocol):
    """The air as listening uses it."""

    duplicate_filter: str

    def listening_changed(self) -> None: ...


class Listener(Protocol):
    """The controller as listening uses it."""

    counters: RadioCounters
    radio: Radio

    def own_address(self, own_address_type: int) -> Address: ...


Connect = Callable[[Initiator, Address, "Advertiser"], None]
"""Makes a link from the pending command, our own address, and the received advertiser."""


class Listening:
    def __init__(self, air: ListeningAir, listener: Listener, front: HostFront, connect: Connect) -> None:
        self.scanner = Scanner()
        self.initiator: Initiator | None = None
        self.accept_list: set[Address] = set()
        self.scans_while_linked = True
        """Whether the controller takes the command to scan while it has a link."""
        self._air = air
        self._listener = listener
        self._front = front
        self._connect = connect

    @property
    def on(self) -> bool:
        return self.scanner.enabled or self.initiator is not None

    @property
    def share(self) -> float:
        """The share of the time in which the receiver is on for advertisements, with the present settings."""
        windows = [self.scanner.window] if self.scanner.enabled else []
        if self.initiator:
            windows.append(self.initiator.window)
        return min(1.0, sum(window.length / window.interval for window in windows))

    def dial(self, initiator: Initiator | None) -> None:
        """Waits for an advertiser to connect to; None cancels this."""
        self.initiator = initiator
        self._air.listening_changed()

    def scan(self, on: bool, filter_duplicates: bool, extended: bool, now: float) -> None:
        self.scanner.extended = extended
        self.scanner.enable(on, filter_duplicates, now)
        self._air.listening_changed()

    def stop(self) -> None:
        """Stops scanning and dialling."""
        self.scanner.enabled = False
        self.dial(None)

    def hear(self, advertiser: Advertiser, rssi: int, now: float) -> None:
        """Called by the air for each advertising event that this controller receives."""
        if self._listener.radio.busy_until > now:
            return
        scanner = self.scanner
        if scanner.enabled and scanner.window.is_open(now):
            self._report(advertiser, rssi, now)
        initiator = self.initiator
        if initiator and initiator.window.is_open(now):
            own = self._listener.own_address(initiator.own_address_type)
            if initiator.wants(advertiser, own, self.accept_list):
                self.dial(None)
                self._connect(initiator, own, advertiser)

    def _report(self, advertiser: Advertiser, rssi: int, now: float) -> None:
        scanner = self.scanner
        if scanner.accept_list_only and advertiser.address not in self.accept_list:
            return
        reports = [advertiser.report()]
        if scanner.active and (response := advertiser.response()):
            reports.append(response)
        for report in reports:
            if scanner.takes(report, self._air.duplicate_filter, now):
                packet = report.extended(rssi) if scanner.extended else report.legacy(rssi)
                if packet:
                    self._listener.counters.reports += 1
                    self._front.send_bytes(packet)
