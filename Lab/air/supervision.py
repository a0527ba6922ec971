"""The supervision of a link, which is lost after too long a silence (Core Specification, Volume 6, Part B, 4.5.2)."""

from __future__ import annotations

from bumble.hci import HCI_ErrorCode as Error

from .connection_events import ConnectionEvents, LinkParameters

# A link without any received packet is given up after six intervals (Volume 6, Part B, 4.5).
ESTABLISHING_INTERVALS = 6


class Supervision:
    """The supervision timer of a link. Both sides receive an exchange or neither does, so one timer serves both."""

    def __init__(self, now: float) -> None:
        self.established = False
        """Whether any packet was received."""
        self.longest_silence = 0.0
        self._last_heard = now

    def heard(self, at: float) -> None:
        silence = at - self._last_heard
        if silence > self.longest_silence:
            self.longest_silence = silence
        self._last_heard = at
        self.established = True

    def deadline(self, parameters: LinkParameters) -> float:
        """The time at which the link is lost, unless a packet arrives before."""
        limit = parameters.timeout if self.established else ESTABLISHING_INTERVALS * parameters.interval
        return self._last_heard + limit

    def overdue(self, now: float, parameters: LinkParameters) -> bool:
        """Whether the silence has exceeded the timeout."""
        return now > self.deadline(parameters)

    def expires_at(self, now: float, events: ConnectionEvents, parameters: LinkParameters, lossy: bool) -> float:
        """The time at which a link is lost if no packet arrives from now on."""
        if not self.established:
            return events.anchor + ESTABLISHING_INTERVALS * parameters.interval
        # Every event exchanges empty packets, so the last packet was received in the last event before now. On lossy
        # paths each event has been checked individually.
        last_event = 0 if lossy else events.last(now)
        return max(self._last_heard, last_event) + parameters.timeout

    @property
    def reason(self) -> Error:
        if self.established:
            return Error.CONNECTION_TIMEOUT_ERROR
        return Error.CONNECTION_FAILED_TO_BE_ESTABLISHED_ERROR
