"""What goes wrong with a controller itself: it stops, or forgets what it was told, and says nothing of it."""

from __future__ import annotations

import struct

from bumble import hci

from .port import COMMAND
from .radio import Radio


class Faults(Radio):
    _stalled = False
    _resets_to_wake: int | None = None

    def stall(self, resets: int | None) -> None:
        """Answers nothing, hears nothing and sends nothing any more: until `wake`, or until it has been sent HCI Reset
        this often. Whoever was linked to it finds out after the supervision timeout."""
        self._stalled, self._resets_to_wake = True, resets
        self.whole.power_off()

    def wake(self) -> None:
        """Answers again, with nothing left of what it was told before."""
        self._stalled = False

    def forget_advertising(self) -> None:
        """Advertises no more, and has no sets any more."""
        for advertiser in self.advertisers.values():
            advertiser.stop()
        self.advertisers.clear()

    def go_deaf(self) -> None:
        """Neither scans nor dials any more, until it is told to anew."""
        self.scanner.enabled = False
        self.initiator = None
        self.medium.listening_changed()

    def on_packet(self, packet: bytes) -> None:
        if self._stalled and self._resets_to_wake is not None and self._is_reset(packet):
            self._resets_to_wake -= 1
            if self._resets_to_wake <= 0:
                self.wake()
        if not self._stalled:
            super().on_packet(packet)

    def send_hci_packet(self, packet: hci.HCI_Packet) -> None:
        if not self._stalled:
            super().send_hci_packet(packet)

    @staticmethod
    def _is_reset(packet: bytes) -> bool:
        return packet[0] == COMMAND and struct.unpack_from("<H", packet, 1)[0] == hci.HCI_RESET_COMMAND
