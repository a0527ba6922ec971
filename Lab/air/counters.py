"""The air's counters. Every number is a running total; a scenario takes two readings and subtracts."""

from __future__ import annotations

from dataclasses import dataclass

# Channels from this one on carry application data; those below are signalling, ATT and the security manager.
FIRST_DYNAMIC_CHANNEL = 0x40

L2CAP_HEADER_BYTES = 4


@dataclass(slots=True)
class Traffic:
    """Data that arrived over one link in one direction."""

    packets: int = 0
    """ACL packets, each of up to 251 bytes."""
    octets: int = 0
    """Octets of these packets' payload, L2CAP headers included."""
    channel_octets: int = 0
    """Octets of dynamic channels, without L2CAP headers. Each SDU includes its two bytes of length."""
    lost: int = 0
    """Packets that were sent again."""
    channel: int = 0
    """The channel of the last fragment: a continuation does not name its own."""

    def count(self, first: bool, payload: bytes) -> None:
        length = len(payload)
        self.packets += 1
        self.octets += length
        if first and length >= L2CAP_HEADER_BYTES:
            self.channel = int.from_bytes(payload[2:4], "little")
            length -= L2CAP_HEADER_BYTES
        if self.channel >= FIRST_DYNAMIC_CHANNEL:
            self.channel_octets += length

    def summary(self) -> dict[str, int]:
        return {"packets": self.packets, "bytes": self.octets, "channelBytes": self.channel_octets, "lost": self.lost}

    def add(self, other: Traffic) -> None:
        self.packets += other.packets
        self.octets += other.octets
        self.channel_octets += other.channel_octets
        self.lost += other.lost


@dataclass(slots=True)
class RadioCounters:
    """The totals of one controller, including those of links that have ended."""

    advertising_events: int = 0
    advertising_events_skipped: int = 0
    reports: int = 0
    scan_responses: int = 0
    links_made: int = 0
    links_lost: int = 0

    def summary(self) -> dict[str, int]:
        return {
            "advertisingEvents": self.advertising_events,
            "advertisingEventsSkipped": self.advertising_events_skipped,
            "reports": self.reports,
            "scanResponses": self.scan_responses,
            "linksMade": self.links_made,
            "linksLost": self.links_lost,
        }
