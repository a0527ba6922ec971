// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// A table that drops the entries that were set longest ago.
package struct RecentTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let limit: Int
    private var values: [Key: (value: Value, turn: Int)] = [:]
    private var turn = 0

    package init(limit: Int) {
        self.limit = limit
    }

    package var count: Int { values.count }

    /// A value. Setting nil removes it.
    package subscript(key: Key) -> Value? {
        get { values[key]?.value }
        set {
            turn += 1
            values[key] = newValue.map { ($0, turn) }
            // Drop a quarter at once, so that the search for the oldest entries is rare.
            guard values.count > limit else { return }
            let kept = values.sorted { $0.value.turn > $1.value.turn }.prefix(limit - limit / 4)
            values = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
        }
    }
}

/// The names of people and songs, including those that are no longer on view.
package struct KnownNames: Sendable {
    private var people = RecentTable<Peer.ID, String>(limit: NodeLimits.rememberedNames)
    private var titles = RecentTable<Song.ID, String>(limit: NodeLimits.rememberedNames)

    /// The name of a peer.
    package func name(_ id: Peer.ID) -> String? { people[id] }

    /// The title of a song.
    package func title(_ id: Song.ID) -> String? { titles[id] }

    /// A song's name in a sentence: its title in quotation marks, or its identifier in brackets.
    package func quoted(_ id: Song.ID) -> LocalizedText.Value {
        titles[id].map { .localized("\"\($0)\"") } ?? .text("[\(UntrustedText.shown(id))]")
    }

    package mutating func learn(_ peer: Peer) {
        if !peer.name.isEmpty { people[peer.id] = UntrustedText.shown(peer.name) }
    }

    package mutating func learn(_ songs: some Sequence<Song>) {
        for song in songs { titles[song.id] = UntrustedText.shown(song.title) }
    }
}
