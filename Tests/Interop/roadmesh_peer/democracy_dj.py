# SPDX-License-Identifier: Apache-2.0
"""The messages of a Democracy DJ guest, by docs/protocol.md: intents, snapshots, changes, rejections."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TypeVar

from . import protobuf as pb
from .covers import CoverPiece
from .protobuf import Fields
from .wire import Malformed


class Why(IntEnum):
    """Why an intent is rejected."""

    UNKNOWN_SONG = 1
    NOT_QUEUED = 2
    ALREADY_VOTED = 4
    QUEUE_FULL = 5
    ALREADY_PLAYED = 6
    NOT_VOTED = 7
    TOO_MANY_SUGGESTIONS = 8
    NOT_PLAYING = 9
    SKIPPING_NOT_ALLOWED = 10
    CANNOT_BE_PLAYED = 11
    TOO_FAST = 12
    VOTING_ONLY = 13
    DRIVER_ONLY = 14
    NOT_HERE = 15


class DoesNotFit(Exception):
    """A change for another state than the current one."""


# Messages of a guest


def vote(song: str) -> bytes:
    return pb.message(1, pb.data(1, song, always=True))


def suggestion(song: str) -> bytes:
    return pb.message(1, pb.data(2, song, always=True))


def take_back(song: str) -> bytes:
    return pb.message(1, pb.data(3, song, always=True))


def skip(song: str) -> bytes:
    return pb.message(1, pb.data(4, song, always=True))


# Messages of a co-host


def skip_now(song: str) -> bytes:
    return pb.message(1, pb.data(5, song, always=True))


def remove(song: str) -> bytes:
    return pb.message(1, pb.data(6, song, always=True))


def move(song: str, at: int) -> bytes:
    return pb.message(1, pb.message(7, pb.data(1, song) + pb.number(2, at)))


def kick(guest: str) -> bytes:
    return pb.message(1, pb.data(8, guest, always=True))


def snapshot_request() -> bytes:
    return pb.message(5, b"")


class Shelf(IntEnum):
    """Where a guest looks for songs."""

    WORDS, ARTISTS, ALBUMS, NEWEST, HEARD, ARTIST, ALBUM = range(7)


def search(number: int, words: str, *, snapshot: bool = False, shelf: Shelf = Shelf.WORDS, start: int = 0) -> bytes:
    where = pb.number(4, shelf) + pb.number(5, start)
    return pb.message(6, pb.number(1, number) + pb.data(2, words) + pb.number(3, snapshot) + where)


def read_heartbeat(body: bytes) -> tuple[int, int] | None:
    """The epoch and revision in a heartbeat. None for other messages."""
    envelope = Fields(body)
    if 8 not in envelope:
        return None
    beat = Fields(envelope.data(8))
    return beat.number(1), beat.number(2)


def state_name(epoch: int, revision: int) -> bytes:
    """The name of a state in shared updates and in hellos."""
    return struct.pack(">II", epoch, revision & 0xFFFFFFFF)


def heartbeat(epoch: int, revision: int) -> bytes:
    return pb.message(8, pb.fixed32(1, epoch) + pb.number(2, revision))


# What a guest sees. Here, a peer is the 16 bytes of its identifier; indices into tables appear only on the wire.


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
class Group:
    """An artist or an album of a host's library."""

    id: str
    name: str
    artist: str
    songs: int

    @classmethod
    def read(cls, body: bytes) -> Group:
        fields = Fields(body)
        return cls(fields.text(1), fields.text(2), fields.text(3), fields.number(4))


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
    now_playing: QueueItem | None = None
    is_playing: bool = False
    queue: tuple[QueueItem, ...] = ()
    guests: tuple[Guest, ...] = ()
    skip_voters: tuple[bytes, ...] = ()
    no_sound: bool = False
    drivers: tuple[bytes, ...] = ()
    unnamed_guests: int = 0
    """Number of linked guests that are not in the list."""

    def voters(self, song: str) -> tuple[bytes, ...] | None:
        """The voters of a song that plays or is queued. None for other songs."""
        items = (*self.queue, *([self.now_playing] if self.now_playing else []))
        return next((item.voters for item in items if item.song.id == song), None)


class Table:
    """The table of peers in a message, by index."""

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
        now_playing=table.item(fields.data(9)) if 9 in fields else None,
        is_playing=bool(fields.number(4)),
        queue=tuple(table.item(item) for item in fields.messages(5)),
        guests=tuple(table.guest(guest) for guest in fields.messages(6)),
        skip_voters=tuple(table[place] for place in fields.numbers(10)),
        no_sound=bool(fields.number(12)),
        drivers=tuple(table[place] for place in fields.numbers(13)),
        unnamed_guests=fields.number(14),
    )


class WritingTable:
    """The table of peers for a message, in the order of their first use."""

    def __init__(self) -> None:
        self.peers: list[bytes] = []

    def place(self, peer: bytes) -> int:
        if peer not in self.peers:
            self.peers.append(peer)
        return self.peers.index(peer)

    def item(self, item: QueueItem) -> bytes:
        return (
            pb.message(1, bytes(item.song))
            + pb.number(2, self.place(item.added_by))
            + pb.packed(3, [self.place(voter) for voter in item.voters])
        )


def snapshot(state: State) -> bytes:
    """A snapshot as a host writes it. Its table has the guests first, then other peers of songs."""
    table = WritingTable()
    guests = [pb.message(6, pb.number(1, table.place(one.peer)) + pb.data(2, one.name)) for one in state.guests]
    playing = pb.message(9, table.item(state.now_playing)) if state.now_playing else b""
    queue = [pb.message(5, table.item(item)) for item in state.queue]
    skip_voters = pb.packed(10, [table.place(voter) for voter in state.skip_voters])
    drivers = pb.packed(13, [table.place(driver) for driver in state.drivers])
    return pb.message(
        2,
        pb.fixed32(1, state.epoch)
        + pb.number(2, state.revision)
        + pb.number(4, state.is_playing)
        + b"".join(queue)
        + b"".join(guests)
        + pb.data(7, b"".join(table.peers))
        + playing
        + skip_voters
        + pb.number(12, state.no_sound)
        + drivers
        + pb.number(14, state.unnamed_guests),
    )


def new_voter(state: State, place: int, peer: bytes) -> bytes:
    """The change that adds one voter to a queued song."""
    voters = pb.message(10, pb.number(1, place) + pb.packed(3, [0]))
    return pb.message(3, pb.fixed32(1, state.epoch) + pb.number(2, state.revision) + voters + pb.data(13, peer))


Listed = TypeVar("Listed")


def changed(
    base: Sequence[Listed], removed: Sequence[int], inserted: Sequence[tuple[int, int | Listed]]
) -> list[Listed]:
    """A list after a change: entries are removed from the base, then others are inserted, in order.

    An insertion is an index of the base, or a new entry.
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
    """The difference between a state and a later one."""

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
            at = voters.number(1)
            if at >= len(queue):
                raise DoesNotFit(f"voters at {at} of {len(queue)}")
            queue[at] = self._voted(queue[at], voters)
        guests = changed(state.guests, fields.numbers(11), [self._guest_insertion(one) for one in fields.messages(12)])
        return State(
            self.epoch,
            self.revision,
            self._now_playing(state),
            bool(fields.number(4)) if 4 in fields else state.is_playing,
            tuple(queue),
            tuple(guests),
            self._named(17, state.skip_voters),
            bool(fields.number(19)) if 19 in fields else state.no_sound,
            self._named(20, state.drivers),
            fields.number(21) if 21 in fields else state.unnamed_guests,
        )

    def _voted(self, item: QueueItem, voters: Fields) -> QueueItem:
        gone = set(voters.numbers(4))
        if any(place >= len(item.voters) for place in gone):
            raise DoesNotFit(f"voters {gone} of {len(item.voters)}")
        kept = tuple(voter for place, voter in enumerate(item.voters) if place not in gone)
        return replace(item, voters=kept + tuple(self._table[peer] for peer in voters.numbers(3)))

    def _named(self, number: int, before: tuple[bytes, ...]) -> tuple[bytes, ...]:
        """The peers in the field with this number. If the field is missing, the previous peers."""
        if number not in self._fields:
            return before
        return tuple(self._table[place] for place in Fields(self._fields.data(number)).numbers(1))

    def _now_playing(self, state: State) -> QueueItem | None:
        playing = self._playing_before_votes(state)
        if 16 not in self._fields:
            return playing
        if playing is None:
            raise DoesNotFit("voters of silence")
        return self._voted(playing, Fields(self._fields.data(16)))

    def _playing_before_votes(self, state: State) -> QueueItem | None:
        if 5 in self._fields:
            place = self._fields.number(5)
            if place >= len(state.queue):
                raise DoesNotFit(f"song {place} of {len(state.queue)}")
            return state.queue[place]
        if 15 in self._fields:
            return self._table.item(self._fields.data(15))
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
    take_back: str | None = None
    skip: str | None = None

    @classmethod
    def read(cls, body: bytes) -> Rejection:
        fields = Fields(body)
        intent = Fields(fields.data(1))
        try:
            reason = Why(fields.number(2))
        except ValueError as error:
            raise Malformed("a rejection for another reason") from error
        return cls(reason, *(intent.text(field) if field in intent else None for field in (1, 2, 3, 4)))

    def __bytes__(self) -> bytes:
        wishes = enumerate((self.vote, self.suggestion, self.take_back, self.skip), start=1)
        field, song = next((field, song) for field, song in wishes if song is not None)
        return pb.message(4, pb.message(1, pb.data(field, song, always=True)) + pb.number(2, self.reason))


class View:
    """A guest's current view of its host, and how messages change it."""

    def __init__(self) -> None:
        self.state: State | None = None
        self.rejections: list[Rejection] = []
        self.snapshots = 0
        self.changes = 0
        self.heartbeats = 0
        self.found: dict[int, list[Song]] = {}
        # By the number of the search: the artists or albums, and their total count.
        self.groups: dict[int, list[Group]] = {}
        self.totals: dict[int, int] = {}
        self.pieces: list[CoverPiece] = []
        self._fresh = True
        self._asked = False

    def begin_link(self) -> None:
        """The first snapshot on a link always replaces the current state."""
        self._fresh = True
        self._asked = False

    def hear(self, body: bytes) -> bytes | None:
        """Handles a message. Returns the reply to send, of class latest."""
        envelope = Fields(body)
        if 2 in envelope:
            self._show(read_snapshot(envelope.data(2)))
        elif 3 in envelope:
            return self._change(Change(envelope.data(3)))
        elif 4 in envelope:
            self.rejections.append(Rejection.read(envelope.data(4)))
        elif 7 in envelope:
            results = Fields(envelope.data(7))
            self.found[results.number(1)] = [Song.read(song) for song in results.messages(2)]
            self.groups[results.number(1)] = [Group.read(group) for group in results.messages(4)]
            self.totals[results.number(1)] = results.number(3)
        elif 8 in envelope:
            return self._heartbeat(Fields(envelope.data(8)))
        elif 10 in envelope:
            self.pieces.append(CoverPiece.read(envelope.data(10)))
        return None

    # Behind a relay, shared updates come separately from the host's messages to this guest alone.

    def hear_shared(self, body: bytes) -> bytes | None:
        """Handles a shared update. It may be old: it only counts if it is newer than the current state."""
        envelope = Fields(body)
        if 2 in envelope:
            state = read_snapshot(envelope.data(2))
            if self.state is None or (state.epoch, state.revision) > (self.state.epoch, self.state.revision):
                self.snapshots += 1
                self._asked = False
                self.state = state
        elif 3 in envelope and self.state is not None:
            return self._change(Change(envelope.data(3)))
        return None

    def lacks(self, epoch: int, revision: int) -> bool:
        """Whether this is a state that the guest lacks. The current state may be newer than a delayed heartbeat."""
        return self.state is None or self.state.epoch != epoch or self.state.revision < revision

    def ask(self) -> bytes:
        self._asked = True
        return snapshot_request()

    def forget(self) -> None:
        """Drops the state of the previous host."""
        self.state = None

    def _heartbeat(self, beat: Fields) -> bytes | None:
        """Compares the host's current state with the guest's. If they differ, the guest requests a snapshot."""
        self.heartbeats += 1
        if self._asked or self._fresh or self.state is None:
            return None
        if (self.state.epoch, self.state.revision) == (beat.number(1), beat.number(2)):
            return None
        self._asked = True
        return snapshot_request()

    def _show(self, state: State) -> None:
        self.snapshots += 1
        self._asked = False
        old = self.state
        if self._fresh or old is None or (state.epoch, state.revision) > (old.epoch, old.revision):
            self.state = state
        self._fresh = False

    def _change(self, change: Change) -> bytes | None:
        if self.state is not None:
            on_view = (self.state.epoch, self.state.revision)
            if (change.epoch, change.base) != on_view and (change.epoch, change.revision) <= on_view:
                return None
            try:
                self.state = change.applied(self.state)
                self.changes += 1
                # The missed update was only late.
                self._asked = False
                return None
            except DoesNotFit:
                pass
        if self._asked:
            return None
        self._asked = True
        return snapshot_request()
