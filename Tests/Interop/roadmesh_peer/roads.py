# SPDX-License-Identifier: Apache-2.0
"""The ranges of radios: each node's radio has its own folder, with the files of its neighbours."""

from __future__ import annotations

from pathlib import Path

from .net import Net, NetRadio, in_range, out_of_range


class Roads:
    def __init__(self, folder: Path, net: Net) -> None:
        self._folder = folder
        self.net = net
        self.radios: dict[str, NetRadio] = {}

    def air(self, address: str) -> Path:
        path = self._folder / address
        path.mkdir(exist_ok=True)
        return path

    def radio(self, address: str, *neighbours: str) -> NetRadio:
        """A radio in range of these neighbours, which may be added later."""
        self.radios[address] = NetRadio(self.net, self.air(address), address)
        self.join(address, *neighbours)
        return self.radios[address]

    def join(self, address: str, *neighbours: str) -> None:
        for other in neighbours:
            in_range(self.air(address), self.air(other), address, other)

    def part(self, address: str, *neighbours: str) -> None:
        """Puts radios out of each other's range. Existing channels stay."""
        for other in neighbours:
            out_of_range(self.air(address), self.air(other), address, other)

    def close(self) -> None:
        for radio in self.radios.values():
            radio.close()
