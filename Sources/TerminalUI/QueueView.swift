// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// A host's state in words: what plays, who is there, and the queue with its votes, who asked, and what is pending.
struct QueueView {
    /// A line of the queue.
    struct Row: Hashable {
        var number: Int
        var id: String
        var song: String
        /// Votes and whose; nil where there are none.
        var votes: String?
        /// Who asked for it; nil for the driver.
        var asked: String?
        /// What this guest wants of it and the host has not confirmed.
        var pending: String?

        /// The votes, as they stand behind a song in a stream of lines.
        var plainMarks: String { votes.map { "  \($0)" } ?? "" }

        /// Everything that is to be said of it.
        var marks: String { [votes, asked, pending].compactMap(\.self).joined(separator: " · ") }
    }

    private let snapshot: HostSnapshot
    private let local: Peer
    private let names: ShownNames
    private let wishes: PendingWishes

    init(_ snapshot: HostSnapshot, local: Peer, names: ShownNames, wishes: PendingWishes = PendingWishes()) {
        self.snapshot = snapshot
        self.local = local
        self.names = names
        self.wishes = wishes
    }

    /// A song in a line. Titles come from another box, and whoever tagged its music.
    static func line(_ song: Song) -> String {
        UntrustedText.shown("\(song.title) – \(song.artist)")
    }

    /// What plays.
    var playing: String {
        "\(snapshot.isPlaying ? "Now playing" : "Paused"): \(snapshot.nowPlaying.map { Self.line($0.song) } ?? "nothing")"
    }

    /// Who asked for what plays, and who wants it skipped; empty where there is nothing to say.
    var playingMarks: String {
        [snapshot.nowPlaying.flatMap(asked), skipping].compactMap(\.self).joined(separator: " · ")
    }

    private var skipping: String? {
        let isMine = snapshot.skipVoters.contains(local.id)
        return switch snapshot.skipVoters.count {
        case 0: nil
        case 1: isMine ? "you want to skip it" : "1 wants to skip it"
        case let count: "\(count) want to skip it\(isMine ? ", you too" : "")"
        }
    }

    /// Who is there.
    var guests: String {
        let guests = snapshot.connectedPeers.map { UntrustedText.shown($0.name) }.joined(separator: ", ")
        return guests.isEmpty ? "No guests yet." : "Guests: \(guests)"
    }

    /// The queue.
    var rows: [Row] {
        snapshot.queue.enumerated().map { index, item in
            Row(
                number: index + 1, id: UntrustedText.shown(item.id), song: Self.line(item.song), votes: votes(item),
                asked: asked(item), pending: wishes.mark(item.id))
        }
    }

    private func votes(_ item: QueueItem) -> String? {
        let mine = item.voters.contains(local.id) ? item.votes == 1 ? " (yours)" : " (yours too)" : ""
        return item.votes == 0 ? nil : (item.votes == 1 ? "1 vote" : "\(item.votes) votes") + mine
    }

    private func asked(_ item: QueueItem) -> String? {
        if item.addedBy == local.id { return wishes.isGuest ? "you asked" : nil }
        return names.guests[item.addedBy].map { "\($0) asked" }
    }
}
