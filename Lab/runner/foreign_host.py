"""A Bluetooth host on the air that runs none of our code, for scenarios to misuse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .air import decode, encode
from .errors import Closed, NotExpected
from .program import DEFAULT_TIMEOUT, Event

if TYPE_CHECKING:
    from .box import Controller
    from .lab import Lab


@dataclass(frozen=True)
class Card:
    """Represents the stranger's controller when a scenario changes the air."""

    name: str


class Stranger:
    def __init__(self, lab: Lab, name: str, profile: str) -> None:
        self._lab = lab
        self.name = name
        self.address: str = lab.air.request("add_stranger", name=name, profile=profile)["address"]
        self._channel: int | None = None
        self._taken: set[int] = set()
        self._subscribed = 0

    @property
    def controllers(self) -> list[Controller]:
        return [Card(self.name)]  # type: ignore[list-item]

    def _do(self, operation: str, timeout: float = DEFAULT_TIMEOUT, **fields: Any) -> Any:
        return self._lab.air.request(f"stranger.{operation}", timeout, stranger=self.name, **fields)

    # Scanning and advertising

    def find(
        self,
        service: str | None = None,
        name: str | None = None,
        address: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> Event:
        """Scans until it receives an advertisement with this service UUID (with or without hyphens), name or address.

        Returns the advertisement: `address`, `addressType`, `rssi`, `name`, `services`, and in hexadecimal
        `manufacturerData` (company first, as on the air) and `data`.
        """
        wanted = service.replace("-", "").lower() if service else None

        def fits(event: Event) -> bool:
            return (
                event["stranger"] == self.name
                and (wanted is None or wanted in event["services"])
                and (name is None or event["name"] == name)
                and (address is None or event["address"] == address)
            )

        start = len(self._lab.air.events)
        self._do("scan", on=True)
        try:
            return self._await("heard", fits, timeout, f"{service or name or address or 'an advertisement'} on the air", start)
        finally:
            self._do("scan", on=False)

    def advertise(self, data: bytes, scan_response: bytes = b"", interval_milliseconds: float = 30) -> None:
        """Advertises these bytes as connectable until `hush` is called."""
        self._do(
            "advertise",
            data=data.hex(),
            scan_response=scan_response.hex(),
            interval_milliseconds=interval_milliseconds,
        )

    def offer(self, service: int) -> None:
        """Offers an empty GATT service with this assigned number, from the next link on."""
        self._do("offer", service=service)

    def hush(self) -> None:
        self._do("hush")

    # Channels

    def connect(
        self,
        psm: int,
        to: str | Controller | Event,
        mtu: int = 2048,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> int:
        """Dials a box (its address, a controller of it, or the result of `find`) and opens a channel. Returns the
        channel's number. The other methods use the latest channel by default."""
        self._channel = self._do("connect", timeout, **self._address(to), psm=psm, mtu=mtu)
        return self._channel

    def link(
        self,
        to: str | Controller | Event,
        timeout: float = DEFAULT_TIMEOUT,
        interval_milliseconds: float | None = None,
    ) -> None:
        """Dials a box like `connect`, but opens no channel. With `interval_milliseconds` it keeps that interval whatever
        the box requests, as phones do."""
        self._do("link", timeout, **self._address(to), interval_milliseconds=interval_milliseconds)

    def expect_disconnected(self, timeout: float = DEFAULT_TIMEOUT) -> None:
        """Waits until a link has ended."""
        self._await("disconnected", lambda one: one["stranger"] == self.name, timeout, "its link ended")

    @staticmethod
    def _address(to: str | Controller | Event) -> dict[str, str]:
        if isinstance(to, dict):
            return {"address": to["address"], "address_type": to["addressType"]}
        return {"address": to if isinstance(to, str) else to.address, "address_type": "public"}

    # GATT on its current link. UUIDs identify characteristics.

    def discover(self, service: str, mtu: int = 247) -> list[str]:
        """Finds a service, and returns the UUIDs of its characteristics, without hyphens. `mtu` applies to the link."""
        return list(self._do("discover", service=service, mtu=mtu)["characteristics"])

    def read(self, characteristic: str) -> bytes:
        return decode(self._do("read", uuid=characteristic))

    def subscribe(self, characteristic: str) -> None:
        """Subscribes to a characteristic. `notified` returns its values until this link ends."""
        self._subscribed = len(self._lab.air.events)
        self._do("subscribe", uuid=characteristic)

    def unsubscribe(self, characteristic: str) -> None:
        self._do("unsubscribe", uuid=characteristic)

    def write(self, characteristic: str, value: bytes) -> None:
        """Writes without response."""
        self._do("write", uuid=characteristic, data=encode(value))

    def notified(self, characteristic: str, timeout: float = DEFAULT_TIMEOUT) -> bytes | None:
        """The next notified value, or None after the timeout. Raises `Closed` if the link has ended."""

        def look() -> Event | None:
            events = self._lab.air.events[self._subscribed :]
            ours = [one for one in events if one.get("stranger") == self.name and "_taken" not in one]
            value = next((one for one in ours if one["event"] == "notified" and one["uuid"] == characteristic), None)
            if value is None and any(one["event"] == "disconnected" for one in ours):
                raise Closed(f"{self.name}'s link has ended")
            return value

        event = self._lab.hub.wait_for(look, timeout)
        if event is None:
            return None
        event["_taken"] = True
        return decode(event["data"])

    def listen(self, psm: int = 0, mtu: int = 2048) -> int:
        """Accepts channels from now on, on this PSM or on one that it chooses and returns. See `accepted`."""
        return int(self._do("listen", psm=psm or None, mtu=mtu))

    def accepted(self, timeout: float = DEFAULT_TIMEOUT) -> int:
        """Waits until a peer opens a channel to the stranger. Returns the channel's number."""

        def fits(event: Event) -> bool:
            return event["stranger"] == self.name and event["channel"] not in self._taken

        self._channel = self._await("channelAccepted", fits, timeout, "a channel opened")["channel"]
        self._taken.add(self._channel)
        return self._channel

    def send(self, sdu: bytes, channel: int | None = None, timeout: float = DEFAULT_TIMEOUT) -> None:
        """Sends one SDU as soon as the other side's credits allow it."""
        self._do("send", timeout, channel=self._which(channel), data=encode(sdu))

    def send_frame(self, frame: bytes, channel: int | None = None) -> None:
        """Sends one frame unchanged, regardless of credits and lengths. A frame that begins an SDU starts with
        the SDU's length in two bytes, least significant first."""
        self._do("send_frame", channel=self._which(channel), data=encode(frame))

    def receive(self, channel: int | None = None, timeout: float = DEFAULT_TIMEOUT) -> bytes:
        """Waits for the next SDU of a channel. Raises `Closed` if the channel has closed."""
        number = self._which(channel)

        def look() -> Event | None:
            ours = [one for one in self._lab.air.events if one.get("stranger") == self.name]
            of_channel = [one for one in ours if one.get("channel") == number]
            sdu = next((one for one in of_channel if one["event"] == "sdu" and "_taken" not in one), None)
            if sdu is None and any(one["event"] == "channelClosed" for one in of_channel):
                raise Closed(f"{self.name}'s channel {number} is closed")
            return sdu

        event = self._lab.hub.wait_for(look, timeout)
        if event is None:
            raise NotExpected(f"the stranger {self.name} did not see an SDU within {timeout:g} s")
        event["_taken"] = True
        return decode(event["data"])

    def expect_closed(self, channel: int | None = None, timeout: float = DEFAULT_TIMEOUT) -> Event:
        """Waits until the other side has closed the channel, or the link is lost."""
        number = self._which(channel)
        return self._await(
            "channelClosed",
            lambda one: one["stranger"] == self.name and one["channel"] == number,
            timeout,
            "the channel closed",
        )

    def close(self, channel: int | None = None) -> None:
        self._do("close", channel=self._which(channel))

    def disconnect(self) -> None:
        """Ends all its links."""
        self._do("disconnect")

    def _which(self, channel: int | None) -> int:
        if channel is None and self._channel is None:
            raise NotExpected(f"{self.name} has no channel")
        return channel if channel is not None else self._channel  # type: ignore[return-value]

    def _await(self, event: str, fits: Callable[[Event], bool], timeout: float, wanted: str, start: int = 0) -> Event:
        air = self._lab.air

        def look() -> Event | None:
            return next((one for one in air.events[start:] if one["event"] == event and fits(one)), None)

        found = self._lab.hub.wait_for(look, timeout)
        if found is None:
            raise NotExpected(f"the stranger {self.name} did not see {wanted} within {timeout:g} s")
        return found
