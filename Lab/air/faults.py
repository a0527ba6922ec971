"""Faults of a controller that it does not report: it stalls, or forgets what its host has set."""

from __future__ import annotations

import struct
from collections.abc import Callable

from box.h4 import COMMAND
from bumble import hci


class Stall:
    """Whether a controller answers."""

    def __init__(self) -> None:
        self.stalled = False
        self._resets_to_wake: int | None = None

    def begin(self, resets: int | None) -> None:
        """`resets`: how many HCI Resets end the stall; None: no number of resets ends it."""
        self.stalled, self._resets_to_wake = True, resets

    def end(self) -> None:
        self.stalled = False

    def takes(self, packet: bytes) -> bool:
        """Whether a packet of the host gets through. The reset that ends a stall does, and is answered."""
        if self.stalled and self._resets_to_wake is not None and _is_reset(packet):
            self._resets_to_wake -= 1
            if self._resets_to_wake <= 0:
                self.end()
        return not self.stalled


class Faults:
    """The faults that a scenario can cause at a controller."""

    def __init__(
        self,
        stall: Stall,
        power_off: Callable[[], None],
        forget_advertising: Callable[[], None],
        stop_listening: Callable[[], None],
        refuse_scans: Callable[[bool], None],
    ) -> None:
        self._stall = stall
        self._power_off = power_off
        self.forget_advertising = forget_advertising
        """Stops advertising, and removes all sets."""
        self.go_deaf = stop_listening
        """Neither scans nor dials any more, until its host sends such a command again."""
        self.refuse_scans_while_linked = refuse_scans
        """Refuses each command to scan while it has a link, as RTL8761B is reported to; or no longer."""

    def stall(self, resets: int | None) -> None:
        """Stops answering, receiving and sending, until `wake` or until this many HCI Resets have
        arrived. Linked controllers notice after the supervision timeout."""
        self._stall.begin(resets)
        self._power_off()

    def wake(self) -> None:
        """Answers again, after dropping all earlier settings."""
        self._stall.end()


def _is_reset(packet: bytes) -> bool:
    return packet[0] == COMMAND and struct.unpack_from("<H", packet, 1)[0] == hci.HCI_RESET_COMMAND
