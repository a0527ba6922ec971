// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
internal import SwiftProtobuf

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// Messages as bytes: `democracy_dj.proto`, and `docs/protocol.md`, "Messages". The code above this handles only
// messages, and the code below only bytes.

extension MeshMessage {
    /// The encoded message, at most `DJLimits.messageBytes`. The end of a queue that does not fit is left out.
    public var encoded: [UInt8] {
        if case .stateUpdate(let snapshot) = self { MeshMessage.stateUpdate(snapshot.fitted).bytes } else { bytes }
    }

    /// Decodes a message. Nil if the bytes are not a message or it exceeds `DJLimits`. Fields that this version does
    /// not know are ignored.
    public init?(encoded bytes: some Collection<UInt8>) {
        guard bytes.count <= DJLimits.messageBytes else { return nil }
        var options = BinaryDecodingOptions()
        options.discardUnknownFields = true
        options.messageDepthLimit = 8
        guard let envelope = try? WireEnvelope(serializedBytes: Array(bytes), options: options) else { return nil }
        self.init(envelope)
    }

    /// The encoded message, whatever its size.
    fileprivate var bytes: [UInt8] {
        do {
            return try WireEnvelope(self).serializedBytes()
        } catch {
            preconditionFailure("a message cannot be encoded: \(error)")
        }
    }

    private init?(_ envelope: WireEnvelope) {
        switch envelope.content {
        case .intent(let wire):
            guard let intent = GuestIntent(wire) else { return nil }
            self = .intent(intent)
        case .snapshot(let wire):
            guard let snapshot = HostSnapshot(wire) else { return nil }
            self = .stateUpdate(snapshot)
        case .change(let wire):
            guard let change = HostChange(wire) else { return nil }
            self = .stateChange(change)
        case .rejection(let wire):
            guard let intent = GuestIntent(wire.intent), let reason = RejectionReason(wire.reason) else { return nil }
            self = .rejection(intent, reason)
        case .heartbeat(let wire):
            self = .stateHeartbeat(
                epoch: wire.epoch, revision: wire.revision,
                elapsed: wire.hasElapsed ? DJLimits.seconds(wire.elapsed) : nil)
        case .snapshotRequest: self = .stateRequest
        case .search(let wire):
            // A shelf that this version does not know is empty.
            guard let shelf = SongQuery.Shelf(wire.shelf) else { return nil }
            let query = SongQuery(wire.words, on: shelf, from: Int(wire.from))
            let request = SearchRequest(number: wire.number, query: query, asksForState: wire.snapshot)
            guard request.isWithinLimits else { return nil }
            self = .search(request)
        case .searchResults(let wire):
            let results = SearchResults(
                number: wire.number, found: FoundSongs(wire), refused: RejectionReason(wire.refused))
            guard results.isWithinLimits else { return nil }
            self = .searchResults(results)
        case .coverRequest(let wire):
            let request = CoverRequest(songID: wire.song, version: wire.version, from: Int(wire.from))
            guard request.isWithinLimits else { return nil }
            self = .coverRequest(request)
        case .cover(let wire):
            let piece = CoverPiece(
                songID: wire.song, version: wire.version, from: Int(wire.from), total: Int(wire.total),
                bytes: Array(wire.data))
            guard piece.isWithinLimits else { return nil }
            self = .coverPiece(piece)
        case nil: return nil
        }
    }
}

extension HostSnapshot {
    /// This state, or as much of it as fits a message. Only a full queue with the longest titles, or with very many
    /// votes, reaches that limit. People miss the end of the queue least.
    var fitted: HostSnapshot {
        var snapshot = self
        snapshot.nameFewer()
        guard snapshot.roughBytes > DJLimits.messageBytes, snapshot.mostBytes > DJLimits.messageBytes else {
            return snapshot
        }
        while MeshMessage.stateUpdate(snapshot).bytes.count > DJLimits.messageBytes {
            if !snapshot.queue.isEmpty {
                snapshot.queue.removeLast((snapshot.queue.count + 3) / 4)
            } else if !snapshot.connectedPeers.isEmpty {
                let unnamed = (snapshot.connectedPeers.count + 3) / 4
                snapshot.connectedPeers.removeLast(unnamed)
                snapshot.unnamedGuests += unnamed
            } else {
                break
            }
        }
        return snapshot
    }

    /// Names fewer guests of a crowd: the co-hosts, the guests that have asked for a song, and the earliest others.
    private mutating func nameFewer() {
        guard connectedPeers.count > DJLimits.namedGuests else { return }
        let meant = Set(drivers).union(items.map(\.addedBy))
        var others = DJLimits.namedGuests - connectedPeers.count { meant.contains($0.id) }
        let all = guestCount
        connectedPeers = connectedPeers.filter { guest in
            if meant.contains(guest.id) { return true }
            others -= 1
            return others >= 0
        }
        unnamedGuests = all - connectedPeers.count
    }
}

extension HostSnapshot {
    /// A faster upper bound of the encoded size. It counts every vote as if each came from a different peer.
    private var roughBytes: Int {
        let guests = connectedPeers.reduce(64) { $0 + $1.name.utf8.count + 12 + Self.mentionBytes($1.id) }
        let skips = (skipVoters + drivers).reduce(0) { $0 + Self.mentionBytes($1) }
        return items.reduce(guests + skips) { bytes, item in
            let song = 32 + item.song.textBytes + Self.mentionBytes(item.addedBy)
            return item.voters.reduce(bytes + song) { $0 + Self.mentionBytes($1) }
        }
    }

    /// Size of a peer in the table, plus its number.
    private static func mentionBytes(_ peer: Peer.ID) -> Int { tableBytes(peer) + 5 }

    private static func tableBytes(_ peer: Peer.ID) -> Int {
        peer.utf8.count == 32 ? 17 : peer.utf8.count + 3
    }

    /// Upper bound of the encoded size. It is counted, since encoding the votes of a bus takes long: 2 bytes for each
    /// vote's number, 17 for each peer once, 32 for the fields around a song's texts.
    var mostBytes: Int {
        var named = Set(connectedPeers.map(\.id)).union(skipVoters).union(drivers)
        for item in items {
            named.formUnion(item.voters)
            named.insert(item.addedBy)
        }
        let number = named.count < 1 << 14 ? 2 : 5
        let peers = named.reduce(0) { $0 + Self.tableBytes($1) }
        let guests = connectedPeers.reduce(0) { $0 + $1.name.utf8.count + 12 }
        return 64 + peers + guests + number * (skipVoters.count + drivers.count)
            + items.reduce(0) { $0 + 32 + $1.song.textBytes + number * $1.voters.count }
    }

    /// Lower bound of the encoded size.
    var leastBytes: Int { items.reduce(0) { $0 + $1.song.textBytes + $1.voters.count } }
}

extension Song {
    fileprivate var textBytes: Int {
        id.utf8.count + title.utf8.count + artist.utf8.count + (albumArtURL?.utf8.count ?? 0)
    }
}

extension WireEnvelope {
    fileprivate init(_ message: MeshMessage) {
        self.init()
        switch message {
        case .intent(let intent): self.intent = WireIntent(intent)
        case .stateUpdate(let snapshot): self.snapshot = WireSnapshot(snapshot)
        case .stateChange(let change): self.change = WireChange(change)
        case .rejection(let intent, let reason):
            rejection.intent = WireIntent(intent)
            rejection.reason = WireReason(reason)
        case .stateHeartbeat(let epoch, let revision, let elapsed):
            heartbeat.epoch = epoch
            heartbeat.revision = revision
            if let elapsed { heartbeat.elapsed = DJLimits.milliseconds(elapsed) }
        case .stateRequest: snapshotRequest = WireSnapshotRequest()
        case .search(let request):
            search.number = request.number
            search.words = request.query.words
            search.shelf = WireShelf(request.query.shelf)
            search.from = UInt32(clamping: request.query.from)
            search.snapshot = request.asksForState
        case .searchResults(let results):
            searchResults.number = results.number
            searchResults.take(results.found)
            if let refused = results.refused { searchResults.refused = WireReason(refused) }
        case .coverRequest(let request):
            coverRequest.song = request.songID
            coverRequest.version = request.version
            coverRequest.from = UInt32(clamping: request.from)
        case .coverPiece(let piece):
            cover.song = piece.songID
            cover.version = piece.version
            cover.from = UInt32(clamping: piece.from)
            cover.total = UInt32(clamping: piece.total)
            cover.data = Data(piece.bytes)
        }
    }
}

extension WireReason {
    fileprivate init(_ reason: RejectionReason) {
        self =
            switch reason {
            case .unknownSong: .unknownSong
            case .notQueued: .notQueued
            case .alreadyPlayed: .alreadyPlayed
            case .alreadyVoted: .alreadyVoted
            case .notVoted: .notVoted
            case .queueFull: .queueFull
            case .tooManySuggestions: .tooManySuggestions
            case .notPlaying: .notPlaying
            case .skippingNotAllowed: .skippingNotAllowed
            case .cannotBePlayed: .cannotBePlayed
            case .tooFast: .tooFast
            case .votingOnly: .votingOnly
            case .driverOnly: .driverOnly
            case .notHere: .notHere
            }
    }
}

extension RejectionReason {
    fileprivate init?(_ wire: WireReason) {
        switch wire {
        case .unknownSong: self = .unknownSong
        case .notQueued: self = .notQueued
        case .alreadyPlayed: self = .alreadyPlayed
        case .alreadyVoted: self = .alreadyVoted
        case .notVoted: self = .notVoted
        case .queueFull: self = .queueFull
        case .tooManySuggestions: self = .tooManySuggestions
        case .notPlaying: self = .notPlaying
        case .skippingNotAllowed: self = .skippingNotAllowed
        case .cannotBePlayed: self = .cannotBePlayed
        case .tooFast: self = .tooFast
        case .votingOnly: self = .votingOnly
        case .driverOnly: self = .driverOnly
        case .notHere: self = .notHere
        case .unspecified, .UNRECOGNIZED: return nil
        }
    }
}
