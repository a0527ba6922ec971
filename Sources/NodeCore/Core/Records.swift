// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

// Conversions between the features' state and stored records.

extension HostRecord {
    /// Encodes a session.
    init(_ session: SavedSession, epoch: UInt32) {
        self.init(
            epoch: epoch, nowPlaying: session.nowPlaying?.songID, isPlaying: session.isPlaying,
            elapsedMilliseconds: session.elapsed.wholeMilliseconds, queue: session.items.map { QueuedRecord($0) },
            played: session.played, lastAskers: session.lastAskers, banned: session.banned,
            volume: Int64(session.volume))
    }

    /// Encodes a session that has ended. The epoch is kept, so that the next one is higher, and so is the device's
    /// volume.
    static func ended(epoch: UInt32, volume: Int64 = Int64(DJLimits.loudest)) -> HostRecord {
        HostRecord(epoch: epoch, volume: volume)
    }

    /// A stored value may be corrupt, so the position is limited to the longest song.
    private static let longestMilliseconds = Int64(DJLimits.songSeconds * 1_000)

    /// The session; nil if it has ended.
    package var session: SavedSession? {
        if self == .ended(epoch: epoch, volume: volume) { return nil }
        let items = queue.map { SavedSession.Item($0) }
        return SavedSession(
            nowPlaying: items.first { $0.songID == nowPlaying }, isPlaying: isPlaying,
            elapsed: .milliseconds(min(max(elapsedMilliseconds, 0), Self.longestMilliseconds)),
            queue: items.filter { $0.songID != nowPlaying },
            played: played, lastAskers: lastAskers, banned: banned, volume: Int(clamping: volume))
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}

extension QueuedRecord {
    fileprivate init(_ item: SavedSession.Item) {
        self.init(
            songID: item.songID, addedBy: item.addedBy, added: Int64(item.added), voters: item.voters,
            isHeld: item.isHeld)
    }
}

extension SavedSession.Item {
    fileprivate init(_ record: QueuedRecord) {
        self.init(
            songID: record.songID, addedBy: record.addedBy, added: Int(record.added), voters: record.voters,
            isHeld: record.isHeld)
    }
}

extension GuestRecord {
    /// Encodes a guest's state. `view` is its encoded state on view.
    init(_ saved: SavedGuest, view: [UInt8]?) {
        self.init(
            host: saved.known?.id, hostEpoch: saved.known?.epoch,
            wishes: saved.wishes.map {
                WishRecord(
                    songID: $0.songID, kind: $0.kind.rawValue, handedTo: $0.handedTo, meantFor: $0.meantFor)
            },
            snapshot: view)
    }

    /// The guest's state. A wish of an unknown kind is skipped.
    var saved: SavedGuest {
        var hostSnapshot: HostSnapshot?
        if case .stateUpdate(let snapshot)? = snapshot.flatMap({ MeshMessage(encoded: $0) }) { hostSnapshot = snapshot }
        return SavedGuest(
            known: host.map { GuestFeature.KnownHost(id: $0, epoch: hostEpoch) },
            wishes: wishes.compactMap { wish in
                Wish.Kind(rawValue: wish.kind).map {
                    SavedGuest.Item(
                        songID: wish.songID, kind: $0, handedTo: wish.handedTo, meantFor: wish.meantFor)
                }
            },
            hostSnapshot: hostSnapshot)
    }
}

extension SavedGuest {
    /// The encoded state on view.
    var view: [UInt8]? { hostSnapshot.map { MeshMessage.stateUpdate($0).encoded } }
}

extension NetworkError {
    /// The error that people see when the store cannot write.
    package init(_ error: NodeStoreError) {
        self =
            switch error.code {
            case .diskFull: .storageFull
            case .readOnly: .storageReadOnly
            case .busy: .storageBusy
            case .vanished: .storageVanished
            case .newer, .failed: .storageFailed(cause: error.cause)
            }
    }
}
