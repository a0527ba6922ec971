"""Who hears whom. The air itself: it carries advertisements, makes links, and can be cut anywhere."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bumble import hci
from bumble.link import LocalLink

from .advertiser import Address, Advertiser
from .controller import LabController
from .link import End, Link
from .scanner import Initiator

DEFAULT_RSSI = -50

Announce = Callable[[dict[str, Any]], None]


@dataclass(slots=True)
class Path:
    """What lies between two controllers."""

    cut: bool = False
    loss: float = 0.0
    """The share of packets that do not arrive."""
    rssi: int = DEFAULT_RSSI
    lost_connects: int = 0
    """So many of the next requests to connect get lost, each leaving the central with a link that never was."""


class Medium(LocalLink):
    controllers: set[LabController]  # type: ignore[assignment]

    def __init__(self, announce: Announce, log: Callable[[str], None], seed: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.loop = asyncio.get_running_loop()
        self.random = random.Random(seed)
        self.log = log
        self._announce = announce
        self.links: list[Link] = []
        self._listeners: tuple[LabController, ...] = ()
        self.default = Path()
        """The state in which a pair starts; the global cut, loss and signal strength set it as well."""
        self.duplicate_filter = "leaky"
        self.connection_events = True

    def now(self) -> float:
        return self.loop.time()

    def announce(self, event: str, controller: LabController | None = None, **fields: Any) -> None:
        if controller is not None:
            fields["controller"] = controller.name
        self._announce({"event": event, "monotonic": self.now(), **fields})

    # Who is there

    def add_controller(self, controller: LabController) -> None:  # type: ignore[override]
        for other in self.controllers:
            path = Path(self.default.cut, self.default.loss, self.default.rssi)
            controller.paths[other] = other.paths[controller] = path
        super().add_controller(controller)

    def remove_controller(self, controller: LabController) -> None:  # type: ignore[override]
        controller.power_off()
        super().remove_controller(controller)
        # Links to it go on until their timeouts, so its paths stay as they are; nobody new gets one.

    def listening_changed(self) -> None:
        self._listeners = tuple(one for one in self.controllers if one.listening)

    # Advertising and connecting

    def advertise(self, advertiser: Advertiser) -> None:
        """One advertising event reaches everybody who listens and is not out of reach."""
        sender = advertiser.controller
        now = self.now()
        for listener in self._listeners:
            if listener is sender:
                continue
            path = sender.paths[listener]
            if path.cut or self._loses(path):
                continue
            listener.hear(advertiser, path.rssi, now)
            if not advertiser.running:
                break

    def connect(self, central: LabController, initiator: Initiator, own: Address, advertiser: Advertiser) -> None:
        """The initiator answers an advertisement with CONNECT_IND. If that is lost, it does not know at first."""
        self.listening_changed()
        peripheral = advertiser.controller
        path = central.paths[peripheral]
        lost = self._loses_connect(path) or self._already_linked(peripheral, own)
        near, far = End(central), End(peripheral, gone=lost)
        connection = central.add_link(near, hci.Role.CENTRAL, own, advertiser.address)
        link = Link(near, far, initiator.parameters, deaf=lost)
        self.links.append(link)
        central.send_connection_complete(
            0, connection.handle, hci.Role.CENTRAL, advertiser.address, initiator.parameters
        )
        if not lost:
            self._accept(far, own, advertiser, initiator)
            central.begin_procedures(near)
            peripheral.begin_procedures(far)
        self.announce("linkUp", central=central.name, peripheral=peripheral.name, lost=lost)

    def _accept(self, end: End, peer: Address, advertiser: Advertiser, initiator: Initiator) -> None:
        peripheral = advertiser.controller
        address = advertiser.address
        connection = peripheral.add_link(end, hci.Role.PERIPHERAL, address, peer)
        advertiser.stop()
        peripheral.send_connection_complete(0, connection.handle, hci.Role.PERIPHERAL, peer, initiator.parameters)
        peripheral.advertising_connected(advertiser, connection.handle)

    def _loses(self, path: Path) -> bool:
        return bool(path.loss) and self.random.random() < path.loss

    def _loses_connect(self, path: Path) -> bool:
        if path.lost_connects:
            path.lost_connects -= 1
            return True
        return self._loses(path)

    def _already_linked(self, peripheral: LabController, central: Address) -> bool:
        return hci.Address(central[1], hci.AddressType(central[0])) in peripheral.le_connections

    def link_closed(self, link: Link, reason: int) -> None:
        self.links.remove(link)
        central, peripheral = link.controllers
        self.announce("linkDown", central=central.name, peripheral=peripheral.name, reason=reason)

    # What a scenario does to the air

    def change(self, pairs: list[tuple[LabController, LabController]], **changes: Any) -> None:
        """Sets cut, loss or rssi between these pairs, and tells the links there at once."""
        touched = set()
        for one, other in pairs:
            path = one.paths[other]
            for name, value in changes.items():
                setattr(path, name, value)
            touched.add(id(path))
        for link in list(self.links):
            if id(link.path) in touched:
                link.air_changed()

    def change_everywhere(self, **changes: Any) -> None:
        for name, value in changes.items():
            setattr(self.default, name, value)
        self.change(list(itertools.combinations(self.controllers, 2)), **changes)

    def drop(self, pairs: list[tuple[LabController, LabController]]) -> int:
        """Ends the links between these pairs as a supervision timeout does, at once. Returns how many there were."""
        wanted = {frozenset(pair) for pair in pairs}
        dropped = [link for link in self.links if frozenset(link.controllers) in wanted]
        for link in dropped:
            link.close(hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR)
        return len(dropped)
