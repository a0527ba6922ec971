// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// The titles and names that were heard of, for sentences about what is no longer on view.
struct ShownNames {
    private var titles: [Song.ID: String] = [:]
    /// What guests are called, also those who have left.
    private(set) var guests: [Peer.ID: String] = [:]

    /// Takes the names that a state has.
    mutating func learn(_ snapshot: HostSnapshot) {
        learn(snapshot.items.map(\.song))
        if guests.count > TerminalLimits.rememberedNames { guests = [:] }
        for peer in snapshot.connectedPeers { guests[peer.id] = UntrustedText.shown(peer.name) }
    }

    /// Takes the titles of songs.
    mutating func learn(_ songs: [Song]) {
        if titles.count > TerminalLimits.rememberedNames { titles = [:] }
        for song in songs { titles[song.id] = UntrustedText.shown(song.title) }
    }

    /// A song's title in quotation marks, or its identifier in brackets.
    func title(_ songID: Song.ID) -> String {
        titles[songID].map { "\"\($0)\"" } ?? "[\(UntrustedText.shown(songID))]"
    }
}
