"""The advertising sets of a controller, and the events that notify its host when they end."""

from __future__ import annotations

from bumble import hci
from bumble.hci import HCI_ErrorCode as Error

from .advertiser import Advertiser, AdvertisingAir, Sender
from .bumble_adapter import BumbleController
from .host_front import HostFront

ADVERTISING_SET_TERMINATED = 1 << 17


class Advertising:
    def __init__(self, air: AdvertisingAir, sender: Sender, front: HostFront, bumble: BumbleController) -> None:
        self.sets: dict[int, Advertiser] = {}
        self._air = air
        self._sender = sender
        self._front = front
        self._bumble = bumble

    @property
    def running(self) -> bool:
        return any(one.running for one in self.sets.values())

    def set(self, handle: int) -> Advertiser:
        """The set with this handle. Creates it if necessary."""
        if handle not in self.sets:
            self.sets[handle] = Advertiser(self._air, self._sender, handle, self._ended)
        return self.sets[handle]

    def stop(self) -> None:
        for advertiser in self.sets.values():
            advertiser.stop()

    def forget(self) -> None:
        """Stops and removes all sets."""
        self.stop()
        self.sets.clear()

    def connected(self, advertiser: Advertiser, connection_handle: int) -> None:
        """A connectable set has ended with a connection."""
        self._terminated(advertiser, Error.SUCCESS, connection_handle)

    def _ended(self, advertiser: Advertiser, timed_out: bool) -> None:
        self._terminated(advertiser, Error.ADVERTISING_TIMEOUT_ERROR if timed_out else Error.LIMIT_REACHED_ERROR, 0)

    def _terminated(self, advertiser: Advertiser, status: int, connection_handle: int) -> None:
        if not self._bumble.wants_le_event(ADVERTISING_SET_TERMINATED):
            return
        self._front.send(
            hci.HCI_LE_Advertising_Set_Terminated_Event(
                status=status,
                advertising_handle=advertiser.handle,
                connection_handle=connection_handle,
                num_completed_extended_advertising_events=0,
            )
        )
