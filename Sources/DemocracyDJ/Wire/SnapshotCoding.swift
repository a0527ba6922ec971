// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension WireSnapshot {
    /// Encodes a snapshot.
    init(_ snapshot: HostSnapshot) {
        self.init()
        let table = PeerTable(
            snapshot.connectedPeers.map(\.id)
                + snapshot.items.flatMap { [$0.addedBy] + $0.voters }
                + snapshot.skipVoters + snapshot.drivers)
        epoch = snapshot.epoch
        revision = snapshot.revision
        if let item = snapshot.nowPlaying { nowPlaying = WireQueueItem(item, table) }
        skipVoters = snapshot.skipVoters.map(table.number(of:))
        drivers = snapshot.drivers.map(table.number(of:))
        isPlaying = snapshot.isPlaying
        noSound = !snapshot.hasSound
        elapsed = DJLimits.milliseconds(snapshot.elapsed)
        queue = snapshot.queue.map { WireQueueItem($0, table) }
        guests = snapshot.connectedPeers.map { WireGuest($0, table) }
        unnamedGuests = UInt32(clamping: snapshot.unnamedGuests)
        peers = table.bytes
        otherPeers = table.texts
    }
}

extension HostSnapshot {
    /// Decodes a snapshot; nil if no host can have it.
    init?(_ wire: WireSnapshot) {
        guard wire.queue.count <= DJLimits.queuedSongs, wire.guests.count <= DJLimits.connectedPeers,
            let table = PeerTable(bytes: wire.peers, texts: wire.otherPeers)
        else { return nil }
        let queue = wire.queue.compactMap { QueueItem($0, table) }
        let guests = wire.guests.compactMap { Peer($0, table) }
        var nowPlaying = wire.hasNowPlaying ? QueueItem(wire.nowPlaying, table) : nil
        nowPlaying?.isPinned = false
        guard queue.count == wire.queue.count, guests.count == wire.guests.count,
            (nowPlaying != nil) == wire.hasNowPlaying, let skipVoters = table.peers(wire.skipVoters),
            let drivers = table.peers(wire.drivers)
        else { return nil }
        self.init(
            epoch: wire.epoch, revision: wire.revision, nowPlaying: nowPlaying, isPlaying: wire.isPlaying,
            hasSound: !wire.noSound, elapsed: DJLimits.seconds(wire.elapsed), queue: queue, connectedPeers: guests,
            unnamedGuests: Int(wire.unnamedGuests), skipVoters: skipVoters, drivers: drivers)
        guard isWithinLimits else { return nil }
    }
}

extension DJLimits {
    /// Encodes seconds of a song. NaN becomes 0, since it must not stop a host.
    static func milliseconds(_ seconds: Double) -> UInt32 {
        UInt32(((seconds > 0 ? min(seconds, songSeconds) : 0) * 1_000).rounded())
    }

    /// Decodes seconds of a song.
    static func seconds(_ milliseconds: UInt32) -> Double { min(Double(milliseconds) / 1_000, songSeconds) }
}

extension WireSong {
    /// Encodes a song.
    init(_ song: Song) {
        self.init()
        id = song.id
        title = song.title
        artist = song.artist
        milliseconds = DJLimits.milliseconds(song.duration)
        if let art = song.albumArtURL { albumArtURL = art }
    }
}

extension Song {
    /// Decodes a song. Its limits are not checked yet.
    init(_ wire: WireSong) {
        self.init(
            id: wire.id, title: wire.title, artist: wire.artist, duration: Double(wire.milliseconds) / 1_000,
            albumArtURL: wire.hasAlbumArtURL ? wire.albumArtURL : nil)
    }
}

extension WireQueueItem {
    /// Encodes a queued song.
    init(_ item: QueueItem, _ table: PeerTable) {
        self.init()
        song = WireSong(item.song)
        addedBy = table.number(of: item.addedBy)
        voters = item.voters.map(table.number(of:))
        pinned = item.isPinned
    }
}

extension QueueItem {
    /// Decodes a queued song; nil if the table lacks one of its peers. Its limits are not checked yet.
    init?(_ wire: WireQueueItem, _ table: PeerTable) {
        guard let addedBy = table.peer(wire.addedBy), let voters = table.peers(wire.voters) else { return nil }
        self.init(song: Song(wire.song), addedBy: addedBy, voters: voters, isPinned: wire.pinned)
    }
}

extension WireGuest {
    /// Encodes a linked guest.
    init(_ guest: Peer, _ table: PeerTable) {
        self.init()
        peer = table.number(of: guest.id)
        name = guest.name
    }
}

extension Peer {
    /// Decodes a linked guest; nil if the table lacks it. Its limits are not checked yet.
    init?(_ wire: WireGuest, _ table: PeerTable) {
        guard let id = table.peer(wire.peer) else { return nil }
        self.init(id: id, name: wire.name)
    }
}
