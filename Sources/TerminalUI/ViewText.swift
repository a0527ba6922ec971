// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol

/// A node's view in words: what plays, who is there, and the queue with its votes, who asked, and what is pending.
struct ViewText {
    /// A line of the queue.
    struct Row: Hashable {
        var number: Int
        var id: String
        var song: String
        /// Votes and whose; nil where there are none.
        var votes: String?
        /// Everything that is to be said of it.
        var marks: String
    }

    let view: NodeView

    /// A song in a line. Titles come from another box, and whoever tagged its music.
    static func line(_ title: String, _ artist: String) -> String { UntrustedText.shown("\(title) – \(artist)") }

    /// What plays.
    var playing: String {
        let song = view.nowPlaying.map { Self.line($0.title, $0.artist) } ?? "nothing"
        return "\(view.isPlaying ? "Now playing" : "Paused"): \(song)"
    }

    /// How far it is, who asked for what plays, and who wants it skipped; empty where there is nothing to say.
    var playingMarks: String {
        [time, view.nowPlaying.flatMap(asked), skipping, view.nowPlaying?.wish.flatMap(Self.pending)]
            .compactMap(\.self).joined(separator: " · ")
    }

    private var time: String? {
        view.nowPlaying.map { song in
            let elapsed = Self.clock(view.elapsed)
            return song.duration > 0 ? "\(elapsed) / \(Self.clock(song.duration))" : elapsed
        }
    }

    private static func clock(_ seconds: Double) -> String {
        let (minutes, rest) = Int(seconds).quotientAndRemainder(dividingBy: 60)
        return "\(minutes):\(rest < 10 ? "0" : "")\(rest)"
    }

    private var skipping: String? {
        switch view.skip.votes {
        case 0: nil
        case 1: view.skip.mine ? "you want to skip it" : "1 wants to skip it"
        case let count: "\(count) want to skip it\(view.skip.mine ? ", you too" : "")"
        }
    }

    /// Who is there.
    var guests: String {
        let guests = view.guests.map(\.name).joined(separator: ", ")
        return guests.isEmpty ? "No guests yet." : "Guests: \(guests)"
    }

    /// The queue.
    var rows: [Row] {
        view.queue.enumerated().map { index, item in
            let votes = votes(item)
            let marks = [votes, asked(item), item.wish.flatMap(Self.pending)].compactMap(\.self)
            return Row(
                number: index + 1, id: UntrustedText.shown(item.id), song: Self.line(item.title, item.artist),
                votes: votes, marks: marks.joined(separator: " · "))
        }
    }

    /// What to type where nothing is queued.
    var emptyQueue: String {
        "The queue is empty. Type search and a word of a title, then \(view.role == .host ? "add" : "suggest") 1."
    }

    /// What is wanted and not in the queue yet: titles, and where the wishes have got to.
    var others: [(title: String, marks: String)] {
        view.wishes.compactMap { wish in
            let title = wish.title.map { "\"\($0)\"" } ?? "[\(UntrustedText.shown(wish.songID))]"
            return Self.pending(wish.kind, wish.state).map { (title, $0) }
        }
    }

    private func votes(_ item: NodeView.Item) -> String? {
        let mine = item.mine ? item.votes == 1 ? " (yours)" : " (yours too)" : ""
        return item.votes == 0 ? nil : (item.votes == 1 ? "1 vote" : "\(item.votes) votes") + mine
    }

    /// Who asked for a song; nil for the driver.
    private func asked(_ item: NodeView.Item) -> String? {
        if item.addedBy == view.me.id { return view.role == .guest ? "you asked" : nil }
        return item.addedBy == view.host?.id ? nil : item.addedByName.map { "\($0) asked" }
    }

    private static func pending(_ wish: NodeView.WishMark) -> String? { pending(wish.kind, wish.state) }

    private static func pending(_ kind: Wish.Kind, _ state: String) -> String? {
        switch (kind, state) {
        case (.vote, "queued"): "your vote is kept"
        case (.vote, "sent"): "your vote is on its way"
        case (.takeBack, "queued"): "your vote is taken back when connected"
        case (.takeBack, "sent"): "your vote is being taken back"
        case (.suggest, "queued"): "your suggestion is kept"
        case (.suggest, "sent"): "your suggestion is on its way"
        default: nil
        }
    }
}
