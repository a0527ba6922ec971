// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What has become of a host's state since an earlier one: a small message where the whole would be a large one.
/// `HostSnapshot.applying(_:)` makes the new state of it (`docs/protocol.md`, "Messages").
public struct HostChange: Hashable, Sendable {
    /// What plays now.
    enum NowPlaying: Hashable, Sendable {
        case nothing
        case item(QueueItem)
        /// The song at this place of the base's queue.
        case queued(Int)
    }

    /// What has become of one song's voters.
    struct VoterChange: Hashable, Sendable {
        /// The song's place in the new queue.
        var at = 0
        /// The places of those that are gone, in ascending order.
        var removed: [Int]
        /// Who comes after those that stay.
        var added: [Peer.ID]

        /// The new voters, or nil where this is no change of those old ones.
        func applied(to old: [Peer.ID]) -> [Peer.ID]? {
            old.without(removed).map { $0 + added }
        }
    }

    /// The run of the host that this is about.
    public var epoch: UInt32
    /// The revision that this builds on: it means nothing to a guest that has another.
    public var base: UInt64
    /// The revision that comes of it.
    public var revision: UInt64

    /// Nil where it is as before.
    var isPlaying: Bool?
    /// Nil where it is as before.
    var hasSound: Bool?
    /// For how long what plays has played, in seconds. Nil where it has gone on as before.
    var elapsed: Double?
    /// Nil where it is as before.
    var nowPlaying: NowPlaying?
    /// The queue without its votes: songs that stay or move keep theirs, and new ones have none yet.
    var queue = ListChange<QueueItem>()
    /// The votes, after the queue.
    var voters: [VoterChange] = []
    /// The votes of what plays now, after `nowPlaying`. Nil where they are as before.
    var playingVoters: VoterChange?
    var guests = ListChange<Peer>()
    /// Nil where they are as many as before.
    var unnamedGuests: Int?
    /// Nil where they are as before.
    var skipVoters: [Peer.ID]?
    /// Nil where they are as before.
    var drivers: [Peer.ID]?
    /// What it has led to before, in a simulation.
    var outcomes = SharedOutcomes()

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
        if base.hasSound != target.hasSound { hasSound = target.hasSound }
        if base.nowPlaying?.withoutVoters != target.nowPlaying?.withoutVoters {
            nowPlaying = NowPlaying(target.nowPlaying, after: base)
        }
        // A song that follows itself is the same, and begins again.
        if isPlaying != nil || nowPlaying != nil || target.elapsed < base.elapsed { elapsed = target.elapsed }
        if let item = target.nowPlaying, let plays = playing(after: base) {
            playingVoters = VoterChange(from: plays.voters, to: item.voters)
        }
        if base.skipVoters != target.skipVoters { skipVoters = target.skipVoters }
        if base.drivers != target.drivers { drivers = target.drivers }
        queue = ListChange(
            from: base.queue, to: target.queue, key: \.song.id, isSame: { $0.isSameEntry(as: $1) }, of: \.withoutVoters)
        if base.unnamedGuests != target.unnamedGuests { unnamedGuests = target.unnamedGuests }
        guests = ListChange(from: base.connectedPeers, to: target.connectedPeers)
        let moved = queue.applied(to: base.queue) ?? []
        voters = zip(moved, target.queue).enumerated().compactMap { place, items in
            VoterChange(at: place, from: items.0.voters, to: items.1.voters)
        }
        // The driver has gone on in the song, and nothing else has changed.
        if says(nothingSince: base, target) { elapsed = target.elapsed }
    }

    /// Whether both states differ in the progress of the song alone.
    private func says(nothingSince base: HostSnapshot, _ target: HostSnapshot) -> Bool {
        var same = base
        (same.revision, same.elapsed) = (target.revision, target.elapsed)
        return same == target
    }

    /// What plays after the change, with the votes that it had.
    fileprivate func playing(after base: HostSnapshot) -> QueueItem? {
        switch nowPlaying {
        case nil: base.nowPlaying
        case .nothing: nil
        case .item(let item): item.unpinned
        case .queued(let place): base.queue.indices.contains(place) ? base.queue[place].unpinned : nil
        }
    }

    fileprivate func queue(from old: [QueueItem]) -> [QueueItem]? {
        guard var items = queue.applied(to: old) else { return nil }
        for change in voters {
            guard items.indices.contains(change.at), let voters = change.applied(to: items[change.at].voters) else {
                return nil
            }
            items[change.at].voters = voters
        }
        return items
    }
}

extension HostSnapshot {
    /// The state that a change leads to. Nil where the change builds on another state than this one, or leads to none
    /// that a host can have (`DJLimits`).
    public func applying(_ change: HostChange) -> HostSnapshot? {
        change.outcomes.outcome(of: self, elapsed: change.elapsed) { made(by: change) }
    }

    private func made(by change: HostChange) -> HostSnapshot? {
        guard epoch == change.epoch, revision == change.base, change.base < change.revision,
            let queue = change.queue(from: queue), let guests = change.guests.applied(to: connectedPeers)
        else { return nil }
        var next = self
        next.revision = change.revision
        next.isPlaying = change.isPlaying ?? isPlaying
        next.hasSound = change.hasSound ?? hasSound
        next.elapsed = change.elapsed ?? elapsed
        next.nowPlaying = change.playing(after: self)
        if next.nowPlaying == nil, change.nowPlaying != nil, change.nowPlaying != .nothing { return nil }
        if let voters = change.playingVoters {
            guard let item = next.nowPlaying, let voters = voters.applied(to: item.voters) else { return nil }
            next.nowPlaying?.voters = voters
        }
        next.skipVoters = change.skipVoters ?? skipVoters
        next.drivers = change.drivers ?? drivers
        next.queue = queue
        next.connectedPeers = guests
        next.unnamedGuests = change.unnamedGuests ?? unnamedGuests
        return next.isWithinLimits(after: self, by: change) ? next : nil
    }
}

extension HostChange.NowPlaying {
    fileprivate init(_ item: QueueItem?, after base: HostSnapshot) {
        guard let item else {
            self = .nothing
            return
        }
        let place = base.queue.firstIndex { $0.isSameSong(as: item) }
        self = place.map { .queued($0) } ?? .item(item)
    }
}

extension HostChange.VoterChange {
    /// Nil where nothing changes.
    fileprivate init?(at place: Int = 0, from old: [Peer.ID], to new: [Peer.ID]) {
        guard old != new else { return nil }
        var kept = 0
        var removed: [Int] = []
        for (index, voter) in old.enumerated() {
            if kept < new.count, new[kept] == voter { kept += 1 } else { removed.append(index) }
        }
        self.init(at: place, removed: removed, added: Array(new[kept...]))
    }
}

extension QueueItem {
    fileprivate var withoutVoters: QueueItem { QueueItem(song: song, addedBy: addedBy, isPinned: isPinned) }

    fileprivate var unpinned: QueueItem { QueueItem(song: song, addedBy: addedBy, voters: voters) }

    fileprivate func isSameSong(as other: QueueItem) -> Bool { song == other.song && addedBy == other.addedBy }

    fileprivate func isSameEntry(as other: QueueItem) -> Bool { isSameSong(as: other) && isPinned == other.isPinned }
}
