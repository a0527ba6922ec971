"""Simulates an hour of one host and its guests in virtual time, with drifting crystals.

The controllers, links, advertising and dials are those of the air. This module moves the clock and
simulates the controllers' hosts: votes, state updates and keepalives for all, successive transfers
at the maximum rate, and the requests for intervals.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from bumble.hci import HCI_ErrorCode as Error
from bumble.hci import Phy

from .advertiser import UNIT
from .connection_events import LinkParameters
from .controller import LabController
from .link import End, Link, Pdu
from .link_intervals import IntervalPlan, plan
from .medium import Medium
from .scanner import Initiator, Window
from .virtual_clock import VirtualClock

# The kernel's parameters of a new link, in units of HCI (50 ms, 420 ms), and the timeout that a node requests, 720 ms.
KERNEL_INTERVAL, KERNEL_TIMEOUT, TUNED_TIMEOUT = 40, 42, 72

# As in RadioLimits.swift: when links are tuned, how long they stay brisk, how a host advertises.
TUNING_DELAY = 0.5
BRISK_TIME = 5.0
FAST_ADVERTISING, SLOW_ADVERTISING, EAGER_TIME = 20e-3, 175e-3, 60.0

# A host registers its advertisement again once a link has come up. The duration varies: with a constant multiple of
# the kernel's interval, the events of the next link would always overlap the last link's.
REGISTERING = (0.05, 0.15)

# Bytes in link layer packets, including L2CAP headers.
VOTE, STATE, KEEPALIVE = 32, 70, 25
FULL_PACKET, PAYLOAD = 251, 247
BUFFERS = 8

KEEPALIVE_INTERVAL = 1.0
POLICY_INTERVAL = 0.25


@dataclass
class Settings:
    links: int
    intervals: str
    drift: float = 50.0
    """The largest random error of a crystal, in ppm."""
    seed: int = 1
    seconds: float = 3600.0
    two_megabit: bool = True
    vote_every: float = 120.0
    """Seconds between two votes of a guest, on average."""
    transfer: float = 10.0
    """Seconds of each transfer, and of the pause after it; 0: no transfers."""
    states_are_data: bool = True
    """A state update makes its link brisk."""
    join_every: float = 2.0
    """Seconds between the first dials of two guests."""
    collide: bool = True


@dataclass
class Guest:
    """A guest, with all links that it has in the hour."""

    number: int
    controller: LabController
    ppm: float
    link: Link | None = None
    asked: LinkParameters | None = None
    brisk_until: float = 0.0
    up_since: float = 0.0
    up: float = 0.0
    lost: int = 0
    """Lost links that were tuned."""
    lost_joining: int = 0
    """Lost links that still had the kernel's interval, or that never carried a packet."""
    held: int = 0
    skipped: int = 0
    silence: float = 0.0
    sent: int = 0
    """Bytes of transfers."""
    transfers: float = 0.0
    """Seconds of transfers."""
    votes: list[float] = field(default_factory=list)
    """The time that each vote took to reach the host."""
    echoes: list[float] = field(default_factory=list)
    """The time from each vote until the guest received the state with this vote."""
    generation: int = 0
    """The number of links so far."""

    def settle(self, link: Link, now: float) -> None:
        """Adds the results of a link that ends, or that the end of the hour stops."""
        self.held += link.events_held
        self.skipped += link.events_skipped
        self.silence = max(self.silence, link.longest_silence)
        self.up += now - self.up_since

    @property
    def goodput(self) -> float:
        """Kilobytes a second during transfers."""
        return self.sent / self.transfers / 1000 if self.transfers else 0.0


class Hour:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.clock = VirtualClock()
        self.chances = Random(settings.seed)
        # A separate generator, so that lost links do not change the traffic.
        self._delays = Random(settings.seed + 1)
        self.medium = Medium(self.clock, self._announced, lambda text: None, settings.seed)
        self.medium.collide(settings.collide)
        self.plan: IntervalPlan = plan(settings.intervals)
        self.host = LabController("host", self.medium, "02:00:00:00:00:FF", "modern")
        self.guests: list[Guest] = []
        for number in range(settings.links):
            controller = LabController(f"guest{number + 1}", self.medium, f"02:00:00:00:01:{number + 1:02X}", "modern")
            # Drawn in any case, so that the hour without drift has the same traffic.
            ppm = self.chances.uniform(-settings.drift, settings.drift)
            self.guests.append(Guest(number, controller, ppm))
            self.medium.set_crystal(controller, ppm)
        self._by_name = {guest.controller.name: guest for guest in self.guests}
        self._eager_until = 0.0

    def run(self) -> Hour:
        clock = self.clock
        self._advertise()
        for guest in self.guests:
            clock.call_at(self.settings.join_every * guest.number, self._dial, guest)
            clock.call_at(self.chances.expovariate(1 / self.settings.vote_every), self._vote, guest)
            clock.call_at(self.chances.random() * KEEPALIVE_INTERVAL, self._keep_alive, guest)
        clock.call_later(POLICY_INTERVAL, self._tune)
        if self.settings.transfer:
            clock.call_later(self.settings.transfer, self._begin_transfer, 0)
        clock.advance(self.settings.seconds)
        for guest in self.guests:
            if guest.link:
                guest.settle(guest.link, clock.time())
        return self

    # New and lost links

    def _advertise(self) -> None:
        advertiser = self.host.advertising.set(0)
        if all(guest.link for guest in self.guests):
            self._eager_until = self.clock.time() + EAGER_TIME
        advertiser.interval = FAST_ADVERTISING
        advertiser.start()
        self.clock.call_later(EAGER_TIME, self._calm_down)

    def _calm_down(self) -> None:
        if self.clock.time() >= self._eager_until:
            self.host.advertising.set(0).interval = SLOW_ADVERTISING

    def _dial(self, guest: Guest) -> None:
        parameters = LinkParameters.of(KERNEL_INTERVAL, 0, KERNEL_TIMEOUT)
        initiator = Initiator(self.host.bumble.public_address, 0, parameters, Window(60 * UNIT, 60 * UNIT))
        guest.controller.listening.dial(initiator)

    def _announced(self, event: dict[str, Any]) -> None:
        if event["event"] == "linkUp":
            self.clock.call_soon(self._link_up, self._by_name[event["central"]])
        elif event["event"] == "linkDown":
            self._link_down(self._by_name[event["central"]], event["reason"])

    def _link_up(self, guest: Guest) -> None:
        now = self.clock.time()
        link = next(one for one in self.medium.links if one.controllers[0] is guest.controller)
        self.plan.opened(guest.number)
        guest.link, guest.asked, guest.generation = link, link.parameters, guest.generation + 1
        guest.up_since = now
        guest.brisk_until = now + BRISK_TIME
        link.update_data_length(link.central, FULL_PACKET)
        if self.settings.two_megabit:
            link.update_phy(link.central, Phy.LE_2M)
        self.clock.call_later(self._delays.uniform(*REGISTERING), self._advertise)

    def _link_down(self, guest: Guest, reason: int) -> None:
        link, guest.link = guest.link, None
        if not link:
            return
        self.plan.closed(guest.number)
        now = self.clock.time()
        guest.settle(link, now)
        if link.parameters.hci()[2] == TUNED_TIMEOUT:
            guest.lost += 1
        else:
            guest.lost_joining += 1
        if reason == Error.CONNECTION_TIMEOUT_ERROR:
            guest.silence = max(guest.silence, link.parameters.timeout)
        guest.up_since = now
        self._eager_until = now + EAGER_TIME
        self.host.advertising.set(0).interval = FAST_ADVERTISING
        self.clock.call_soon(self._dial, guest)

    # Requests for intervals

    def _tune(self) -> None:
        now = self.clock.time()
        for guest in self.guests:
            if guest.link:
                self.plan.wants_speed(guest.number, guest.brisk_until > now)
        for guest in self.guests:
            link = guest.link
            if not link or now < guest.up_since + TUNING_DELAY:
                continue
            # A requested interval takes effect some events later.
            if link.parameters is not guest.asked:
                continue
            wanted = (self.plan.units(guest.number), 0, TUNED_TIMEOUT)
            if wanted != link.parameters.hci():
                guest.asked = LinkParameters.of(*wanted)
                link.update_parameters(link.peripheral, guest.asked)
        self.clock.call_later(POLICY_INTERVAL, self._tune)

    # Traffic

    def _send(self, guest: Guest, up: bool, size: int, came: Callable[[], None] | None = None) -> None:
        link = guest.link
        if link:
            end: End = link.central if up else link.peripheral
            link.send(end, Pdu(size, came or _nothing))

    def _keep_alive(self, guest: Guest) -> None:
        self._send(guest, True, KEEPALIVE)
        self._send(guest, False, KEEPALIVE)
        self.clock.call_later(KEEPALIVE_INTERVAL, self._keep_alive, guest)

    def _vote(self, guest: Guest) -> None:
        began = self.clock.time()

        def came() -> None:
            now = self.clock.time()
            guest.votes.append(now - began)
            for one in self.guests:
                if one is guest or self.settings.states_are_data:
                    one.brisk_until = max(one.brisk_until, now + BRISK_TIME)
                self._send(one, False, STATE, seen if one is guest else None)

        def seen() -> None:
            guest.echoes.append(self.clock.time() - began)

        guest.brisk_until = began + BRISK_TIME
        self._send(guest, True, VOTE, came)
        self.clock.call_later(self.chances.expovariate(1 / self.settings.vote_every), self._vote, guest)

    def _begin_transfer(self, number: int) -> None:
        guest = self.guests[number % len(self.guests)]
        generation = -1
        # Transfers go alternately from the host and to the host.
        up = bool(number // len(self.guests) % 2)
        ends = self.clock.time() + self.settings.transfer

        def fill() -> None:
            nonlocal generation
            if guest.link and guest.generation != generation and self.clock.time() < ends:
                generation = guest.generation
                for _ in range(BUFFERS):
                    send(generation)
            if self.clock.time() < ends:
                guest.brisk_until = self.clock.time() + BRISK_TIME
                self.clock.call_later(POLICY_INTERVAL, fill)

        def send(of: int) -> None:
            def came() -> None:
                guest.sent += PAYLOAD
                if self.clock.time() < ends and of == guest.generation:
                    send(of)

            self._send(guest, up, FULL_PACKET, came)

        fill()
        guest.transfers += self.settings.transfer
        self.clock.call_later(2 * self.settings.transfer, self._begin_transfer, number + 1)

    # Results

    @property
    def lost(self) -> int:
        return sum(guest.lost for guest in self.guests)

    @property
    def goodput(self) -> float:
        return statistics.mean(guest.goodput for guest in self.guests)

    @property
    def silence(self) -> float:
        return max(guest.silence for guest in self.guests)

    @property
    def skipped(self) -> float:
        """The share of skipped events."""
        skipped = sum(guest.skipped for guest in self.guests)
        return skipped / max(1, skipped + sum(guest.held for guest in self.guests))

    @property
    def lost_joining(self) -> int:
        return sum(guest.lost_joining for guest in self.guests)

    @property
    def votes(self) -> list[float]:
        return sorted(vote for guest in self.guests for vote in guest.votes)

    @property
    def echoes(self) -> list[float]:
        return sorted(echo for guest in self.guests for echo in guest.echoes)


def _nothing() -> None:
    pass


def simulate(settings: Settings) -> Hour:
    """Simulates the complete hour."""

    async def run() -> Hour:
        return Hour(settings).run()

    # Bumble's controllers need a running event loop, but nothing here waits for it.
    return asyncio.run(run())
