"""When a link is lost (Core Specification, Volume 6, Part B, 4.5.2): nothing has been heard for too long."""

from __future__ import annotations

from bumble.hci import HCI_ErrorCode as Error

from .connection_events import ConnectionEvents, LinkParameters

# A link on which nothing has been heard yet is given up after six intervals (Volume 6, Part B, 4.5).
ESTABLISHING_INTERVALS = 6


class Supervision:
    """What one link's timers know. Both sides hear an exchange or neither does, so there is one for the two."""

    def __init__(self, now: float) -> None:
        self.established = False
        """Whether anything has ever been heard."""
        self.longest_silence = 0.0
        self._last_heard = now

    def heard(self, at: float) -> None:
        silence = at - self._last_heard
        if silence > self.longest_silence:
            self.longest_silence = silence
        self._last_heard = at
        self.established = True

    def deadline(self, parameters: LinkParameters) -> float:
        """When it is given up, unless something is heard before."""
        limit = parameters.timeout if self.established else ESTABLISHING_INTERVALS * parameters.interval
        return self._last_heard + limit

    def overdue(self, now: float, parameters: LinkParameters) -> bool:
        """Whether it has been silent for longer than it may."""
        return now > self.deadline(parameters)

    def expires_at(self, now: float, events: ConnectionEvents, parameters: LinkParameters, lossy: bool) -> float:
        """When a link is lost over which nothing comes from now on."""
        if not self.established:
            return events.anchor + ESTABLISHING_INTERVALS * parameters.interval
        # Empty packets are exchanged in every event: the last one heard was in the last event before now. Where packets
        # get lost, each event was looked at by itself.
        last_event = 0 if lossy else events.last(now)
        return max(self._last_heard, last_event) + parameters.timeout

    @property
    def reason(self) -> Error:
        if self.established:
            return Error.CONNECTION_TIMEOUT_ERROR
        return Error.CONNECTION_FAILED_TO_BE_ESTABLISHED_ERROR
