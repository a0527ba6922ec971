// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The difference between two states of a host: a small message instead of a large one. `HostSnapshot.applying(_:)`
/// creates the new state (`docs/protocol.md`, "Messages").
public struct HostChange: Hashable, Sendable {
    /// The new present song.
    enum NowPlaying: Hashable, Sendable {
        case nothing
        case item(QueueItem)
        /// The song at this position of the base's queue.
        case queued(Int)
    }

    /// The changes of one song's voters.
    struct VoterChange: Hashable, Sendable {
        /// The song's position in the new queue.
        var at = 0
        /// The indices of the removed voters, in ascending order.
        var removed: [Int]
        /// The new voters, appended after the remaining ones.
        var added: [Peer.ID]

        /// The new voters; nil if the change does not fit the old ones.
        func applied(to old: [Peer.ID]) -> [Peer.ID]? {
            old.without(removed).map { $0 + added }
        }
    }

    /// The run of the host.
    public var epoch: UInt32
    /// The revision that this change builds on. A guest with another revision cannot use it.
    public var base: UInt64
    /// The revision after the change.
    public var revision: UInt64

    /// Nil if unchanged.
    var isPlaying: Bool?
    /// Nil if unchanged.
    var hasSound: Bool?
    /// How long the present song has played, in seconds. Nil if it has simply continued.
    var elapsed: Double?
    /// Nil if unchanged.
    var nowPlaying: NowPlaying?
    /// The queue without its votes. Songs that stay or move keep their votes, and new songs start without votes.
    var queue = ListChange<QueueItem>()
    /// The changed votes, by positions in the new queue.
    var voters: [VoterChange] = []
    /// The changed votes of the present song, after `nowPlaying` is applied. Nil if unchanged.
    var playingVoters: VoterChange?
    var guests = ListChange<Peer>()
    /// Nil if unchanged.
    var unnamedGuests: Int?
    /// Nil if unchanged.
    var skipVoters: [Peer.ID]?
    /// Nil if unchanged.
    var drivers: [Peer.ID]?
    /// Earlier results of this change, in a simulation.
    var outcomes = SharedOutcomes()

    init(epoch: UInt32, base: UInt64, revision: UInt64) {
        self.epoch = epoch
        self.base = base
        self.revision = revision
    }

    /// The difference between two states. Nil if `target` is not a later state of the same run; then only the full
    /// state can express it.
    public init?(from base: HostSnapshot, to target: HostSnapshot) {
        guard base.epoch == target.epoch, base.revision < target.revision else { return nil }
        self.init(epoch: target.epoch, base: base.revision, revision: target.revision)
        if base.isPlaying != target.isPlaying { isPlaying = target.isPlaying }
        if base.hasSound != target.hasSound { hasSound = target.hasSound }
        if base.nowPlaying?.withoutVoters != target.nowPlaying?.withoutVoters {
            nowPlaying = NowPlaying(target.nowPlaying, after: base)
        }
        // A song that follows itself is equal, but starts again.
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
        // The driver has sought within the song, and nothing else has changed.
        if says(nothingSince: base, target) { elapsed = target.elapsed }
    }

    /// Whether the two states differ only in the elapsed time of the song.
    private func says(nothingSince base: HostSnapshot, _ target: HostSnapshot) -> Bool {
        var same = base
        (same.revision, same.elapsed) = (target.revision, target.elapsed)
        return same == target
    }

    /// The present song after the change, with its earlier votes.
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
    /// The state after a change. Nil if the change builds on another state, or if no host can have the result
    /// (`DJLimits`).
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
    /// Nil if nothing changes.
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
