# SPDX-License-Identifier: Apache-2.0
"""Nodes of this implementation at brokers, in one net."""

from __future__ import annotations

from .broker import BrokerBearer
from .mesh_client import Client
from .mesh_host import Host
from .net import Net
from .noise_link import Key

CAR = "Dad's Car"
PATIENCE = 60.0
"""Seconds until a link is back: its silence is detected after 30 s, and a cluster needs as long for a new leader."""


class BrokerNodes:
    def __init__(self, net: Net) -> None:
        self.net = net
        self.radios: dict[str, BrokerBearer] = {}

    def _radio(self, name: str, url: str, key: Key) -> BrokerBearer:
        self.radios[name] = BrokerBearer(self.net, url, key.identifier)
        return self.radios[name]

    def host(self, url: str, name: str = CAR, songs: int = 8) -> Host:
        key = Key()
        return self.net.do(lambda: Host(self.net, self._radio(name, url, key), name, songs=songs, key=key))

    def calling(self, name: str, url: str, *, host_name: str | None = CAR, key: Key | None = None) -> Client:
        """A guest that is not linked yet."""
        own = key or Key()
        return self.net.do(lambda: Client(self.net, self._radio(name, url, own), name, host_name=host_name, key=own))

    def guest(self, name: str, url: str) -> Client:
        made = self.calling(name, url)
        self.until_in(made)
        return made

    def until_in(self, *guests: Client) -> None:
        def are_in() -> bool:
            return all(guest.is_connected and guest.view.state is not None for guest in guests)

        self.net.until(are_in, "the guests' links", timeout=PATIENCE)

    def until_lost(self, guest: Client) -> None:
        """Waits until a link of the guest has ended, a present or an earlier one."""
        ended = self.net.do(lambda: len(guest.ends) + guest.is_connected)
        self.net.until(lambda: len(guest.ends) >= ended, "the end of a link", timeout=PATIENCE)

    def cast(self, guest: Client, *songs: str) -> None:
        def cast() -> None:
            for song in songs:
                guest.vote(song)

        self.net.do(cast)

    def until_counted(self, guest: Client, *songs: str) -> None:
        def are_counted() -> bool:
            return all(map(guest.shows_vote, songs)) and not guest.conversation.outbox

        self.net.until(are_counted, f"the votes for {', '.join(songs)}", timeout=PATIENCE)

    def vote(self, guest: Client, *songs: str) -> None:
        self.cast(guest, *songs)
        self.until_counted(guest, *songs)

    def close(self) -> None:
        self.net.close()
        for radio in self.radios.values():
            radio.close()
