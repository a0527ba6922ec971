// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension WireChange {
    /// Encodes a change.
    init(_ change: HostChange) {
        self.init()
        let table = PeerTable(change.namedPeers)
        epoch = change.epoch
        base = change.base
        skipped = change.revision &- change.base &- 1
        if let isPlaying = change.isPlaying { self.isPlaying = isPlaying }
        if let hasSound = change.hasSound { noSound = !hasSound }
        if let elapsed = change.elapsed { self.elapsed = DJLimits.milliseconds(elapsed) }
        switch change.nowPlaying {
        case nil: break
        case .nothing: silence = true
        case .item(let item): self.item = WireQueueItem(item, table)
        case .queued(let place): queued = UInt32(clamping: place)
        }
        if let voters = change.playingVoters { playingVoters = WireVoterChange(voters, table) }
        if let skipVoters = change.skipVoters { self.skipVoters.peers = skipVoters.map(table.number(of:)) }
        if let drivers = change.drivers { self.drivers.peers = drivers.map(table.number(of:)) }
        removed = change.queue.removed.map(UInt32.init(clamping:))
        inserted = change.queue.inserted.map { WireQueueInsertion($0, table) }
        voters = change.voters.map { WireVoterChange($0, table) }
        if let unnamedGuests = change.unnamedGuests { self.unnamedGuests = UInt32(clamping: unnamedGuests) }
        guestsRemoved = change.guests.removed.map(UInt32.init(clamping:))
        guestsInserted = change.guests.inserted.map { WireGuestInsertion($0, table) }
        peers = table.bytes
        otherPeers = table.texts
    }
}

extension HostChange {
    /// Decodes a change; nil if it is invalid. Applying it shows whether it fits a state.
    init?(_ wire: WireChange) {
        let (previous, isTooLarge) = wire.base.addingReportingOverflow(wire.skipped)
        guard !isTooLarge, previous < .max, wire.hasBoundedLists,
            let table = PeerTable(bytes: wire.peers, texts: wire.otherPeers)
        else { return nil }
        self.init(epoch: wire.epoch, base: wire.base, revision: previous + 1)
        isPlaying = wire.hasIsPlaying ? wire.isPlaying : nil
        hasSound = wire.hasNoSound ? !wire.noSound : nil
        unnamedGuests = wire.hasUnnamedGuests ? Int(wire.unnamedGuests) : nil
        elapsed = wire.hasElapsed ? DJLimits.seconds(wire.elapsed) : nil
        switch wire.nowPlaying {
        case nil: break
        case .silence: nowPlaying = .nothing
        case .item(let item):
            guard let item = QueueItem(item, table) else { return nil }
            nowPlaying = .item(item)
        case .queued(let place): nowPlaying = .queued(Int(place))
        }
        if wire.hasPlayingVoters {
            guard let voters = VoterChange(wire.playingVoters, table) else { return nil }
            playingVoters = voters
        }
        if wire.hasSkipVoters {
            guard let voters = table.peers(wire.skipVoters.peers) else { return nil }
            skipVoters = voters
        }
        if wire.hasDrivers {
            guard let drivers = table.peers(wire.drivers.peers) else { return nil }
            self.drivers = drivers
        }
        queue.removed = wire.removed.map(Int.init)
        queue.inserted = wire.inserted.compactMap { ListChange.Insertion($0, table) }
        voters = wire.voters.compactMap { VoterChange($0, table) }
        guests.removed = wire.guestsRemoved.map(Int.init)
        guests.inserted = wire.guestsInserted.compactMap { ListChange.Insertion($0, table) }
        guard queue.inserted.count == wire.inserted.count, voters.count == wire.voters.count,
            guests.inserted.count == wire.guestsInserted.count
        else { return nil }
    }

    /// All peers that the change names.
    fileprivate var namedPeers: [Peer.ID] {
        var named: [Peer.ID] = []
        for case .new(let guest) in guests.inserted.map(\.source) { named.append(guest.id) }
        for case .new(let item) in queue.inserted.map(\.source) { named += [item.addedBy] + item.voters }
        if case .item(let item) = nowPlaying { named += [item.addedBy] + item.voters }
        return named + voters.flatMap(\.added) + (playingVoters?.added ?? []) + (skipVoters ?? [])
            + (drivers ?? [])
    }
}

extension WireChange {
    /// Whether no list is longer than a queue and its guests can need.
    fileprivate var hasBoundedLists: Bool {
        [removed.count, inserted.count, voters.count].allSatisfy { $0 <= DJLimits.queuedSongs }
            && [guestsRemoved.count, guestsInserted.count].allSatisfy { $0 <= DJLimits.connectedPeers }
    }
}

extension WireQueueInsertion {
    fileprivate init(_ insertion: ListChange<QueueItem>.Insertion, _ table: PeerTable) {
        self.init()
        at = UInt32(clamping: insertion.at)
        switch insertion.source {
        case .moved(let place): movedFrom = UInt32(clamping: place)
        case .new(let item): self.item = WireQueueItem(item, table)
        }
    }
}

extension ListChange<QueueItem>.Insertion {
    fileprivate init?(_ wire: WireQueueInsertion, _ table: PeerTable) {
        switch wire.source {
        case .movedFrom(let place): self.init(at: Int(wire.at), source: .moved(from: Int(place)))
        case .item(let item):
            guard let item = QueueItem(item, table) else { return nil }
            self.init(at: Int(wire.at), source: .new(item))
        case nil: return nil
        }
    }
}

extension WireGuestInsertion {
    fileprivate init(_ insertion: ListChange<Peer>.Insertion, _ table: PeerTable) {
        self.init()
        at = UInt32(clamping: insertion.at)
        switch insertion.source {
        case .moved(let place): movedFrom = UInt32(clamping: place)
        case .new(let guest): self.guest = WireGuest(guest, table)
        }
    }
}

extension ListChange<Peer>.Insertion {
    fileprivate init?(_ wire: WireGuestInsertion, _ table: PeerTable) {
        switch wire.source {
        case .movedFrom(let place): self.init(at: Int(wire.at), source: .moved(from: Int(place)))
        case .guest(let guest):
            guard let guest = Peer(guest, table) else { return nil }
            self.init(at: Int(wire.at), source: .new(guest))
        case nil: return nil
        }
    }
}

extension WireVoterChange {
    fileprivate init(_ change: HostChange.VoterChange, _ table: PeerTable) {
        self.init()
        at = UInt32(clamping: change.at)
        removed = change.removed.map(UInt32.init(clamping:))
        added = change.added.map(table.number(of:))
    }
}

extension HostChange.VoterChange {
    fileprivate init?(_ wire: WireVoterChange, _ table: PeerTable) {
        guard let added = table.peers(wire.added) else { return nil }
        self.init(at: Int(wire.at), removed: wire.removed.map(Int.init), added: added)
    }
}
