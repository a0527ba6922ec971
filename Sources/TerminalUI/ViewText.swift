// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// A node's view in words: the song that plays, the peers, and the queue with votes, suggesters and pending wishes.
struct ViewText {
    /// A line of the queue.
    struct Row: Hashable {
        var number: Int
        var id: String
        var song: SongText
        /// The votes and their voters; nil without votes.
        var votes: String?
        /// All marks of the song.
        var marks: String
    }

    /// A song in a line. Titles come from another device, or from the tags of music files.
    struct SongText: Hashable {
        var title: String
        var artist: String

        init(_ title: String, _ artist: String) {
            self.title = UntrustedText.shown(title)
            self.artist = UntrustedText.shown(artist)
        }

        var whole: String { artist.isEmpty ? title : "\(title) – \(artist)" }
    }

    let view: NodeView
    var language = Language.english

    private func say(_ text: LocalizedText) -> String { language.text(text) }

    /// The state of the playback, without the song: "Now playing: ".
    var state: String {
        let isMute = view.sound == false && view.nowPlaying != nil
        return say(isMute ? "No sound" : view.isPlaying ? "Now playing" : "Paused") + ": "
    }

    /// The song that plays.
    var song: SongText { view.nowPlaying.map { SongText($0.title, $0.artist) } ?? SongText(say("nothing"), "") }

    /// The state and the song.
    var playing: String { state + song.whole }

    /// The elapsed time, who suggested the song, and the votes to skip it; empty if there is nothing to show.
    var playingMarks: String {
        [time, volume, view.nowPlaying.flatMap(asked), skipping, view.nowPlaying?.wish.flatMap(pending)]
            .compactMap(\.self).joined(separator: " · ")
    }

    private var time: String? {
        view.nowPlaying.map { song in
            let elapsed = Self.clock(view.elapsed)
            return song.duration > 0 ? "\(elapsed) / \(Self.clock(song.duration))" : elapsed
        }
    }

    /// The volume, unless it is the maximum.
    private var volume: String? {
        view.volume.flatMap { $0 == DJLimits.loudest ? nil : say("volume \($0) %") }
    }

    private static func clock(_ seconds: Double) -> String {
        let (minutes, rest) = Int(seconds).quotientAndRemainder(dividingBy: 60)
        return "\(minutes):\(rest < 10 ? "0" : "")\(rest)"
    }

    private var skipping: String? {
        let skip = view.skip
        return skip.votes == 0
            ? nil : say("\(skip.votes) of \(skip.needed) votes to skip") + mine(skip.mine, of: skip.votes)
    }

    /// The answer to a guest's vote to skip. Nil if the node itself explains why the vote does not count.
    var votingToSkip: String? {
        let skip = view.skip
        guard view.connection == .connected, skip.allowed, view.nowPlaying != nil else { return nil }
        return skip.mine
            ? say("You have voted to skip \"\(song.title)\" already (\(skip.votes) of \(skip.needed)).")
            : say("Vote to skip \"\(song.title)\" sent (\(skip.votes + 1) of \(skip.needed)).")
    }

    /// The guests.
    var guests: String {
        let guests = view.guests.map(\.name).joined(separator: ", ")
        if guests.isEmpty { return say("No guests yet.") }
        return view.moreGuests == 0
            ? say("Guests: \(guests)") : say("Guests: \(guests) and \(view.moreGuests) more")
    }

    /// At a host with relays: the tree of guests, the signal of each, and what each relay forwards.
    var tree: [String] {
        guard view.role == .host, view.guests.contains(where: { $0.via != nil }) else { return [] }
        var depths: [String: Int] = [:]
        return [say("Guests:")]
            + view.guests.map { guest in
                // Each guest comes after its relay.
                let above = guest.via.map { depths[$0.id] } ?? 0
                let depth = min((above ?? 0) + 1, TerminalLimits.shownHops)
                depths[guest.id] = depth
                var link = LinkReport(rssi: guest.rssi, roundTrip: guest.roundTrip.map { .milliseconds($0) })
                link.relays = guest.hops ?? 0
                let words = LinkView.words(link, through: guest.via?.name, language)
                return String(repeating: "  ", count: depth)
                    + [guest.name, words, relay(guest)].filter { !$0.isEmpty }.joined(separator: "  ")
            }
    }

    /// What a relay forwards; empty for a guest that forwards nothing.
    func relay(_ guest: NodeView.Guest) -> String {
        guard let carries = guest.carries, carries > 0 else { return "" }
        return say("(relay for \(carries))")
    }

    /// The queue.
    var rows: [Row] { rows(atMost: .max) }

    /// The first songs of the queue.
    func rows(atMost limit: Int) -> [Row] {
        view.queue.prefix(limit).enumerated().map { index, item in
            let votes = votes(item)
            let marks = [votes, item.pinned ? say("pinned") : nil, asked(item), item.wish.flatMap(pending)].compactMap(
                \.self)
            return Row(
                number: index + 1, id: UntrustedText.shown(item.id), song: SongText(item.title, item.artist),
                votes: votes, marks: marks.joined(separator: " · "))
        }
    }

    /// The hint for an empty queue.
    var emptyQueue: String {
        say("The queue is empty. Type search WORD, then \(view.role == .host ? "add" : "suggest") 1.")
    }

    /// Wishes that are not in the queue yet: their titles and states.
    var others: [(title: String, marks: String)] {
        view.wishes.compactMap { wish in
            let title = wish.title.map { say("\"\($0)\"") } ?? "[\(UntrustedText.shown(wish.songID))]"
            return pending(wish.kind, wish.state).map { (title, $0) }
        }
    }

    private func votes(_ item: NodeView.Item) -> String? {
        item.votes == 0
            ? nil : say(item.votes == 1 ? "1 vote" : "\(item.votes) votes") + mine(item.mine, of: item.votes)
    }

    private func mine(_ isMine: Bool, of votes: Int) -> String {
        isMine ? " " + say(votes == 1 ? "(yours)" : "(yours too)") : ""
    }

    /// The suggester of a song; nil for the driver.
    private func asked(_ item: NodeView.Item) -> String? {
        if item.addedBy == view.me.id { return view.role == .guest ? say("suggested by you") : nil }
        return item.addedBy == view.host?.id ? nil : item.addedByName.map { say("suggested by \($0)") }
    }

    private func pending(_ wish: NodeView.WishMark) -> String? { pending(wish.kind, wish.state) }

    private func pending(_ kind: Wish.Kind, _ state: String) -> String? {
        switch (kind, state) {
        case (.vote, "queued"): say("your vote is waiting")
        case (.vote, "sent"): say("your vote is on its way")
        case (.takeBack, "queued"): say("your vote is taken back when connected")
        case (.takeBack, "sent"): say("your vote is being taken back")
        case (.suggest, "queued"): say("your suggestion is waiting")
        case (.suggest, "sent"): say("your suggestion is on its way")
        default: nil
        }
    }
}
