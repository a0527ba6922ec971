// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// A small car: a host with five songs, and three guests, two of them with one name.
enum Example {
    static let host = Peer(id: "host", name: "Dad's Car")
    static let ana = Peer(id: "ana", name: "Ana")
    static let bob = Peer(id: "bob", name: "Bob")
    static let otherBob = Peer(id: "bob2", name: "Bob")

    static let songs = (1...5).map {
        Song(id: "s\($0)", title: "Song \($0)", artist: "Artist", duration: Double(100 + $0))
    }
    static let library = SongLibrary(songs)

    /// A host that plays s1, with s2 to s5 in its queue.
    static func hostFeature(_ fairness: Fairness = Fairness()) -> HostFeature {
        HostFeature(local: host, library: library, fairness: fairness, epoch: 7, now: .zero)
    }

    static func intent(_ intent: GuestIntent, from peer: Peer) -> HostFeature.Event {
        .multipeerEvent(.messageReceived(.intent(intent), from: peer))
    }

    /// A state of the example's host: s1 plays, and the others wait.
    static func snapshot(_ revision: UInt64, epoch: UInt32 = 1, voters: [Song.ID: [Peer.ID]] = [:]) -> HostSnapshot {
        HostSnapshot(
            epoch: epoch, revision: revision,
            nowPlaying: QueueItem(song: songs[0], addedBy: host.id, voters: voters[songs[0].id] ?? []), isPlaying: true,
            queue: songs.dropFirst().map { QueueItem(song: $0, addedBy: host.id, voters: voters[$0.id] ?? []) },
            connectedPeers: [])
    }
}
