"""What goes wrong with a controller itself: it stops, or forgets what it was told, and says nothing of it."""

from __future__ import annotations

import struct
from collections.abc import Callable

from bumble import hci

from box.h4 import COMMAND


class Stall:
    """Whether a controller answers at all."""

    def __init__(self) -> None:
        self.stalled = False
        self._resets_to_wake: int | None = None

    def begin(self, resets: int | None) -> None:
        """`resets`: so many HCI Resets end it; None: they do not."""
        self.stalled, self._resets_to_wake = True, resets

    def end(self) -> None:
        self.stalled = False

    def takes(self, packet: bytes) -> bool:
        """Whether a packet of the host's gets through. The reset that ends a stall does, and is answered."""
        if self.stalled and self._resets_to_wake is not None and _is_reset(packet):
            self._resets_to_wake -= 1
            if self._resets_to_wake <= 0:
                self.end()
        return not self.stalled


class Faults:
    """The faults that a scenario can bring about at one controller."""

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
        """Advertises no more, and has no sets any more."""
        self.go_deaf = stop_listening
        """Neither scans nor dials any more, until it is told to again."""
        self.refuse_scans_while_linked = refuse_scans
        """Refuses each command to scan while it has a link, as RTL8761B is reported to; or no longer."""

    def stall(self, resets: int | None) -> None:
        """Answers nothing, hears nothing and sends nothing any more: until `wake`, or until it has been sent HCI Reset
        this often. Who was linked to it finds out after the supervision timeout."""
        self._stall.begin(resets)
        self._power_off()

    def wake(self) -> None:
        """Answers again, with nothing left of what it was told before."""
        self._stall.end()


def _is_reset(packet: bytes) -> bool:
    return packet[0] == COMMAND and struct.unpack_from("<H", packet, 1)[0] == hci.HCI_RESET_COMMAND
