// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What has become of a host's state since an earlier one: a small message where the whole would be a large one.
/// `HostSnapshot.applying(_:)` makes the new state of it (`docs/protocol.md`, "Messages").
public struct HostChange: Hashable, Sendable {
    /// What plays now.
    enum NowPlaying: Hashable, Sendable {
        case nothing
        case song(Song)
        /// The song at this place of the base's queue.
        case queued(Int)
    }

    /// What has become of one song's voters.
    struct VoterChange: Hashable, Sendable {
        /// The song's place in the new queue.
        var at: Int
        /// How many are gone from the end.
        var dropped: Int
        /// Who comes after those that stay.
        var added: [Peer.ID]
    }

    /// The run of the host that this is about.
    public var epoch: UInt32
    /// The revision that this builds on: it means nothing to whoever has another.
    public var base: UInt64
    /// The revision that comes of it.
    public var revision: UInt64

    /// Nil where it is as before.
    var isPlaying: Bool?
    /// Nil where it is as before.
    var nowPlaying: NowPlaying?
    /// The queue without its votes: songs that stay or move keep theirs, and new ones have none yet.
    var queue = ListChange<QueueItem>()
    /// The votes, after the queue.
    var voters: [VoterChange] = []
    var guests = ListChange<Peer>()

    init(epoch: UInt32, base: UInt64, revision: UInt64) {
        self.epoch = epoch
        self.base = base
        self.revision = revision
    }

    /// What leads from one state to another. Nil where the other is no later state of the same run: then only the whole
    /// tells it.
    public init?(from base: HostSnapshot, to target: HostSnapshot) {
        guard base.epoch == target.epoch, base.revision < target.revision else { return nil }
        self.init(epoch: target.epoch, base: base.revision, revision: target.revision)
        if base.isPlaying != target.isPlaying { isPlaying = target.isPlaying }
        if base.nowPlaying != target.nowPlaying { nowPlaying = NowPlaying(target.nowPlaying, after: base) }
        queue = ListChange(from: base.queue.map(\.withoutVoters), to: target.queue.map(\.withoutVoters))
        guests = ListChange(from: base.connectedPeers, to: target.connectedPeers)
        let moved = queue.applied(to: base.queue) ?? []
        voters = zip(moved, target.queue).enumerated().compactMap { place, items in
            VoterChange(at: place, from: items.0.voters, to: items.1.voters)
        }
    }

    fileprivate func queue(from old: [QueueItem]) -> [QueueItem]? {
        guard var items = queue.applied(to: old) else { return nil }
        for change in voters {
            guard items.indices.contains(change.at), (0...items[change.at].votes).contains(change.dropped) else {
                return nil
            }
            items[change.at].voters.removeLast(change.dropped)
            items[change.at].voters += change.added
        }
        return items
    }
}

extension HostSnapshot {
    /// The state that a change leads to. Nil where the change builds on another state than this one, or leads to none
    /// that a host can have (`DJLimits`).
    public func applying(_ change: HostChange) -> HostSnapshot? {
        guard epoch == change.epoch, revision == change.base, change.base < change.revision,
            let queue = change.queue(from: queue), let guests = change.guests.applied(to: connectedPeers)
        else { return nil }
        var next = self
        next.revision = change.revision
        next.isPlaying = change.isPlaying ?? isPlaying
        switch change.nowPlaying {
        case nil: break
        case .nothing: next.nowPlaying = nil
        case .song(let song): next.nowPlaying = song
        case .queued(let place):
            guard self.queue.indices.contains(place) else { return nil }
            next.nowPlaying = self.queue[place].song
        }
        next.queue = queue
        next.connectedPeers = guests
        return next.isWithinLimits ? next : nil
    }
}

extension HostChange.NowPlaying {
    fileprivate init(_ song: Song?, after base: HostSnapshot) {
        guard let song else {
            self = .nothing
            return
        }
        self = base.queue.firstIndex { $0.song == song }.map { .queued($0) } ?? .song(song)
    }
}

extension HostChange.VoterChange {
    fileprivate init?(at place: Int, from old: [Peer.ID], to new: [Peer.ID]) {
        guard old != new else { return nil }
        let kept = zip(old, new).prefix { $0 == $1 }.count
        self.init(at: place, dropped: old.count - kept, added: Array(new[kept...]))
    }
}

extension QueueItem {
    fileprivate var withoutVoters: QueueItem { QueueItem(song: song, addedBy: addedBy) }
}
