"""The medium: carries advertisements, makes links, and can be cut between any controllers."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from bumble import hci

from .addresses import Address
from .advertiser import Advertiser
from .clock import Clock
from .controller import LabController
from .link import End, Link
from .paths import Path, Paths
from .scanner import Initiator

Announce = Callable[[dict[str, Any]], None]


class Medium:
    def __init__(self, clock: Clock, announce: Announce, log: Callable[[str], None], seed: int) -> None:
        self.clock = clock
        self.chances = Random(seed)
        self.log = log
        self.links: list[Link] = []
        self.duplicate_filter = "leaky"
        """How controllers filter duplicates if asked to: one of DUPLICATE_FILTERS."""
        self.connection_events = True
        """False: data does not wait for a link's next connection event."""
        self.events_collide = False
        """True: a controller serves one connection event at a time, and skips overlapping ones. See `collide`."""
        self._announce = announce
        self._paths: Paths[LabController] = Paths()
        self._controllers: dict[str, LabController] = {}
        self._listeners: tuple[LabController, ...] = ()

    def announce(self, event: str, controller: LabController | None = None, **fields: Any) -> None:
        if controller is not None:
            fields["controller"] = controller.name
        self._announce({"event": event, "monotonic": self.clock.time(), **fields})

    # Controllers

    def add_controller(self, controller: LabController) -> None:
        self._paths.add(controller)
        self._controllers[controller.name] = controller

    def listening_changed(self) -> None:
        self._listeners = tuple(one for one in self._controllers.values() if one.listening.on)

    # Advertising and connecting

    def advertise(self, advertiser: Advertiser) -> None:
        """Delivers an advertising event to every listening controller in range."""
        sender = self._controllers[advertiser.sender.name]
        paths = self._paths.of(sender)
        now = self.clock.time()
        for listener in self._listeners:
            if listener is sender:
                continue
            path = paths[listener]
            if path.cut or path.loses(self.chances):
                continue
            listener.listening.hear(advertiser, path.rssi, now)
            if not advertiser.running:
                break

    def connect(self, central: LabController, initiator: Initiator, own: Address, advertiser: Advertiser) -> None:
        """The initiator answers an advertisement with CONNECT_IND, and does not notice at first if that is lost."""
        peripheral = self._controllers[advertiser.sender.name]
        path = self._paths.between(central, peripheral)
        lost = path.loses_connect(self.chances) or peripheral.links.is_linked(own)
        near, far = End(central), End(peripheral, gone=lost)
        handle = central.links.add(near, hci.Role.CENTRAL, own, advertiser.address)
        link = Link(self, near, far, path, initiator.parameters, deaf=lost)
        self.links.append(link)
        central.links.made(handle, hci.Role.CENTRAL, advertiser.address, initiator.parameters)
        if not lost:
            self._accept(far, own, advertiser, initiator)
            central.links.begin_procedures(near)
            peripheral.links.begin_procedures(far)
        self.announce("linkUp", central=central.name, peripheral=peripheral.name, lost=lost)

    def _accept(self, end: End, peer: Address, advertiser: Advertiser, initiator: Initiator) -> None:
        peripheral = end.controller
        handle = peripheral.links.add(end, hci.Role.PERIPHERAL, advertiser.address, peer)
        advertiser.stop()
        peripheral.links.made(handle, hci.Role.PERIPHERAL, peer, initiator.parameters)
        peripheral.advertising.connected(advertiser, handle)

    def link_closed(self, link: Link, reason: int) -> None:
        self.links.remove(link)
        central, peripheral = link.controllers
        self.announce("linkDown", central=central.name, peripheral=peripheral.name, reason=reason)

    # Operations for scenarios

    def change(self, pairs: list[tuple[LabController, LabController]], **changes: Any) -> None:
        """Sets cut, loss, rssi or lost_connects between these pairs, and notifies their links."""
        self._tell(self._paths.change(pairs, **changes))

    def change_everywhere(self, **changes: Any) -> None:
        self._tell(self._paths.change_everywhere(**changes))

    def _tell(self, changed: list[Path]) -> None:
        touched = {id(path) for path in changed}
        for link in list(self.links):
            if id(link.path) in touched:
                link.air_changed()

    def collide(self, on: bool) -> None:
        """On: a connection event that overlaps another one at either controller is
        skipped, as on real controllers. Off, the default: links of one controller take turns."""
        if on == self.events_collide:
            return
        self.events_collide = on
        for link in self.links:
            link.rules_changed()

    def set_crystal(self, controller: LabController, ppm: float) -> None:
        """Sets how many ppm this controller's clock is fast, from now on."""
        controller.radio.crystal_ppm = ppm
        for link in self.links:
            if link.controllers[0] is controller:
                link.crystal_changed()

    def drop(self, pairs: list[tuple[LabController, LabController]]) -> int:
        """Ends the links between these pairs as a supervision timeout does, at once. Returns how many."""
        wanted = {frozenset(pair) for pair in pairs}
        dropped = [link for link in self.links if frozenset(link.controllers) in wanted]
        for link in dropped:
            link.close(hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR)
        return len(dropped)
