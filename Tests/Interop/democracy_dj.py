# SPDX-License-Identifier: Apache-2.0
"""What a guest of Democracy DJ says and hears by docs/protocol.md: intents, snapshots, changes, rejections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TypeVar

import protobuf as pb
from protobuf import Fields
from wire import Malformed


class Why(IntEnum):
    """Why an intent is not followed."""

    UNKNOWN_SONG = 1
    NOT_QUEUED = 2
    ALREADY_PLAYING = 3
    ALREADY_VOTED = 4
    QUEUE_FULL = 5


class DoesNotFit(Exception):
    """A change that does not build on the state at hand."""


# What a guest says


def vote(song: str) -> bytes:
    return pb.message(1, pb.data(1, song, always=True))


def suggestion(song: str) -> bytes:
    return pb.message(1, pb.data(2, song, always=True))


def snapshot_request() -> bytes:
    return pb.message(5, b"")


# What it sees. Peers are the 16 bytes of their identifiers here; their places in tables stay on the wire.


@dataclass(frozen=True)
class Song:
    id: str
    title: str
    artist: str
    milliseconds: int
    album_art_url: str | None = None

    @classmethod
    def read(cls, body: bytes) -> Song:
        fields = Fields(body)
        art = fields.text(5) if 5 in fields else None
        return cls(fields.text(1), fields.text(2), fields.text(3), fields.number(4), art)

    def __bytes__(self) -> bytes:
        start = pb.data(1, self.id) + pb.data(2, self.title) + pb.data(3, self.artist) + pb.number(4, self.milliseconds)
        return start + (b"" if self.album_art_url is None else pb.data(5, self.album_art_url, always=True))


@dataclass(frozen=True)
class QueueItem:
    song: Song
    added_by: bytes
    voters: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Guest:
    peer: bytes
    name: str


@dataclass(frozen=True)
class State:
    epoch: int
    revision: int
    now_playing: Song | None = None
    is_playing: bool = False
    queue: tuple[QueueItem, ...] = ()
    guests: tuple[Guest, ...] = ()

    def voters(self, song: str) -> tuple[bytes, ...] | None:
        """Who has voted for a queued song; nothing where it is not queued."""
        return next((item.voters for item in self.queue if item.song.id == song), None)


class Table:
    """The peers that a message names, by their places."""

    def __init__(self, peers: bytes, others: Sequence[bytes] = ()) -> None:
        if len(peers) % 16:
            raise Malformed("identifiers of 16 bytes each, and a part of one")
        self._peers = [peers[start : start + 16] for start in range(0, len(peers), 16)] + list(others)

    def __getitem__(self, place: int) -> bytes:
        if place >= len(self._peers):
            raise Malformed(f"there is no peer {place}")
        return self._peers[place]

    def item(self, body: bytes) -> QueueItem:
        fields = Fields(body)
        voters = tuple(self[place] for place in fields.numbers(3))
        return QueueItem(Song.read(fields.data(1)), self[fields.number(2)], voters)

    def guest(self, body: bytes) -> Guest:
        fields = Fields(body)
        return Guest(self[fields.number(1)], fields.text(2))


def read_snapshot(body: bytes) -> State:
    fields = Fields(body)
    table = Table(fields.data(7), fields.messages(8))
    return State(
        epoch=fields.number(1),
        revision=fields.number(2),
        now_playing=Song.read(fields.data(3)) if 3 in fields else None,
        is_playing=bool(fields.number(4)),
        queue=tuple(table.item(item) for item in fields.messages(5)),
        guests=tuple(table.guest(guest) for guest in fields.messages(6)),
    )


class WritingTable:
    """The peers that a message names, in the order in which they first occur."""

    def __init__(self) -> None:
        self.peers: list[bytes] = []

    def place(self, peer: bytes) -> int:
        if peer not in self.peers:
            self.peers.append(peer)
        return self.peers.index(peer)


def snapshot(state: State) -> bytes:
    """A snapshot as a host writes it: guests first in the table of peers, then whom the queue names."""
    table = WritingTable()
    guests = [pb.message(6, pb.number(1, table.place(one.peer)) + pb.data(2, one.name)) for one in state.guests]
    queue = [
        pb.message(
            5,
            pb.message(1, bytes(item.song))
            + pb.number(2, table.place(item.added_by))
            + pb.packed(3, [table.place(voter) for voter in item.voters]),
        )
        for item in state.queue
    ]
    return pb.message(
        2,
        pb.fixed32(1, state.epoch)
        + pb.number(2, state.revision)
        + (pb.message(3, bytes(state.now_playing)) if state.now_playing else b"")
        + pb.number(4, state.is_playing)
        + b"".join(queue)
        + b"".join(guests)
        + pb.data(7, b"".join(table.peers)),
    )


def new_voter(state: State, place: int, peer: bytes) -> bytes:
    """The change by which a queued song has one voter more."""
    voters = pb.message(10, pb.number(1, place) + pb.packed(3, [0]))
    return pb.message(3, pb.fixed32(1, state.epoch) + pb.number(2, state.revision) + voters + pb.data(13, peer))


Listed = TypeVar("Listed")


def changed(
    base: Sequence[Listed], removed: Sequence[int], inserted: Sequence[tuple[int, int | Listed]]
) -> list[Listed]:
    """A list after a change: places that are taken out of the base, then what is put in, in order.

    What is put in is a place in the base, or something new.
    """
    leaving = [*removed, *(source for _, source in inserted if isinstance(source, int))]
    if len(set(leaving)) != len(leaving) or any(place >= len(base) for place in leaving):
        raise DoesNotFit(f"places {leaving} of {len(base)}")
    gone = set(leaving)
    result = [one for place, one in enumerate(base) if place not in gone]
    for at, source in inserted:
        if at > len(result):
            raise DoesNotFit(f"nothing can be put in at {at} of {len(result)}")
        result.insert(at, base[source] if isinstance(source, int) else source)
    return result


class Change:
    """What leads from one state to a later one."""

    def __init__(self, body: bytes) -> None:
        self._fields = fields = Fields(body)
        self._table = Table(fields.data(13), fields.messages(14))
        self.epoch = fields.number(1)
        self.base = fields.number(2)
        self.revision = self.base + 1 + fields.number(3)

    def applied(self, state: State) -> State:
        if (self.epoch, self.base) != (state.epoch, state.revision):
            raise DoesNotFit(f"of revision {self.base}, not {state.revision}")
        fields = self._fields
        queue = changed(state.queue, fields.numbers(8), [self._queue_insertion(one) for one in fields.messages(9)])
        for voters in map(Fields, fields.messages(10)):
            at, dropped = voters.number(1), voters.number(2)
            if at >= len(queue) or dropped > len(queue[at].voters):
                raise DoesNotFit(f"voters at {at} of {len(queue)}")
            kept = queue[at].voters[: len(queue[at].voters) - dropped]
            queue[at] = replace(queue[at], voters=kept + tuple(self._table[peer] for peer in voters.numbers(3)))
        guests = changed(state.guests, fields.numbers(11), [self._guest_insertion(one) for one in fields.messages(12)])
        return State(
            self.epoch,
            self.revision,
            self._now_playing(state),
            bool(fields.number(4)) if 4 in fields else state.is_playing,
            tuple(queue),
            tuple(guests),
        )

    def _now_playing(self, state: State) -> Song | None:
        if 5 in self._fields:
            place = self._fields.number(5)
            if place >= len(state.queue):
                raise DoesNotFit(f"song {place} of {len(state.queue)}")
            return state.queue[place].song
        if 6 in self._fields:
            return Song.read(self._fields.data(6))
        return None if 7 in self._fields else state.now_playing

    def _queue_insertion(self, body: bytes) -> tuple[int, int | QueueItem]:
        fields = Fields(body)
        source = self._table.item(fields.data(3)) if 3 in fields else fields.number(2)
        return fields.number(1), source

    def _guest_insertion(self, body: bytes) -> tuple[int, int | Guest]:
        fields = Fields(body)
        source = self._table.guest(fields.data(3)) if 3 in fields else fields.number(2)
        return fields.number(1), source


@dataclass(frozen=True)
class Rejection:
    reason: Why
    vote: str | None = None
    suggestion: str | None = None

    @classmethod
    def read(cls, body: bytes) -> Rejection:
        fields = Fields(body)
        intent = Fields(fields.data(1))
        try:
            reason = Why(fields.number(2))
        except ValueError as error:
            raise Malformed("a rejection for another reason") from error
        return cls(reason, intent.text(1) if 1 in intent else None, intent.text(2) if 2 in intent else None)

    def __bytes__(self) -> bytes:
        field, song = (1, self.vote) if self.vote is not None else (2, self.suggestion or "")
        return pb.message(4, pb.message(1, pb.data(field, song, always=True)) + pb.number(2, self.reason))


class View:
    """What a guest has on view of its host, and how messages change it."""

    def __init__(self) -> None:
        self.state: State | None = None
        self.rejections: list[Rejection] = []
        self.snapshots = 0
        self.changes = 0
        self._fresh = True
        self._asked = False

    def begin_link(self) -> None:
        """The first snapshot on a link always takes the place of what is on view."""
        self._fresh = True
        self._asked = False

    def hear(self, body: bytes) -> bytes | None:
        """Takes a message. Returns what has to be said to it, of class latest."""
        envelope = Fields(body)
        if 2 in envelope:
            self._show(read_snapshot(envelope.data(2)))
        elif 3 in envelope:
            return self._change(Change(envelope.data(3)))
        elif 4 in envelope:
            self.rejections.append(Rejection.read(envelope.data(4)))
        return None

    def _show(self, state: State) -> None:
        self.snapshots += 1
        self._asked = False
        old = self.state
        if self._fresh or old is None or (state.epoch, state.revision) > (old.epoch, old.revision):
            self.state = state
        self._fresh = False

    def _change(self, change: Change) -> bytes | None:
        if self._asked:
            return None
        if self.state is not None:
            on_view = (self.state.epoch, self.state.revision)
            if (change.epoch, change.base) != on_view and (change.epoch, change.revision) <= on_view:
                return None
            try:
                self.state = change.applied(self.state)
                self.changes += 1
                return None
            except DoesNotFit:
                pass
        self._asked = True
        return snapshot_request()
