// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol
import MeshSession

/// Shows a node's events to a person: sentences, and the queue whenever it changes.
struct TerminalReporter: Reporter {
    private let role: NodeDescription.Role
    private let local: Peer
    private var titles: [Song.ID: String] = [:]
    private var last: HostSnapshot?
    private var isConnected = false

    init(_ node: NodeDescription) {
        role = node.role
        local = node.peer
    }

    mutating func show(_ event: NodeEvent) {
        switch event {
        case .ready(let node): StandardOutput.write(greeting(node))
        case .peerDiscovered(let peer, let rssi, _):
            StandardOutput.write("Heard \(quoted(peer))\(rssi.map { ", \($0) dBm" } ?? "").")
        case .peerLost(let peer): StandardOutput.write("\(quoted(peer)) is not heard any more.")
        case .peerConnected(let peer):
            StandardOutput.write(role == .host ? "\(peer.name) has joined." : "Joined \(quoted(peer)).")
        // A guest is told by a notice, which says what to do as well.
        case .peerDisconnected(let peer, let reason):
            if role == .host { StandardOutput.write(farewell(peer, reason)) }
        case .connection(let state): show(state)
        case .snapshot(let snapshot, let isStale):
            if isStale { StandardOutput.write("What you saw last:") }
            show(snapshot)
        // Linked, it is on its way in the same instant.
        case .wish(_, _, .queued) where isConnected: break
        case .wish(let songID, let kind, let state): StandardOutput.write(sentence(songID, kind, state))
        case .searchResults(let songs, let query): show(songs, foundFor: query)
        case .intent(let intent, let peer, let rejected): show(intent, peer, rejected)
        case .notice(let notice):
            StandardOutput.write("! \(notice.message)\(notice.suggestion.map { " " + $0 } ?? "")")
        case .noticeCleared, .link, .artwork: break
        case .bye: StandardOutput.write("Bye.")
        }
    }

    func remark(_ sentence: String) {
        StandardOutput.write(sentence)
    }

    private func greeting(_ node: NodeDescription) -> String {
        switch node.role {
        case .host:
            "\(quoted(node.peer)) is on the air (\(node.radio)). Guests join by themselves.\n"
                + "Commands: \(NodeInput.hostUsage). Ctrl-C stops."
        case .guest:
            "\(node.peer.name) is looking for a host (\(node.radio)).\nCommands: \(NodeInput.guestUsage)."
        case .scan: "Listening for hosts (\(node.radio))."
        }
    }

    private func farewell(_ peer: Peer, _ reason: DisconnectReason) -> String {
        switch reason {
        case .goodbye: "\(peer.name) has left."
        case .linkLost: "\(peer.name) is out of reach."
        case .refused: "\(peer.name) was sent away."
        case .replaced: "\(peer.name) came back by another link."
        }
    }

    private mutating func show(_ state: ConnectionState) {
        isConnected = state == .connected
        switch state {
        case .reconnecting(let attempt) where attempt > 1:
            StandardOutput.write("Trying again (attempt \(attempt))…")
        case .connecting where last != nil: StandardOutput.write("Looking for a host…")
        case .disconnected where last != nil:
            StandardOutput.write("Not connected.")
        case .disconnected, .connecting, .connected, .reconnecting, .failed: break
        }
    }

    private mutating func show(_ snapshot: HostSnapshot) {
        for song in ([snapshot.nowPlaying].compactMap(\.self) + snapshot.queue).map(\.song) {
            titles[song.id] = UntrustedText.shown(song.title)
        }
        defer { last = snapshot }
        // Who has come and gone was said already.
        if let last, last.queue == snapshot.queue, last.nowPlaying == snapshot.nowPlaying,
            last.isPlaying == snapshot.isPlaying
        {
            return
        }
        let guests = snapshot.connectedPeers.map { UntrustedText.shown($0.name) }.joined(separator: ", ")
        StandardOutput.write("")
        let playing = snapshot.nowPlaying.map { Self.line($0.song) } ?? "nothing"
        StandardOutput.write("\(snapshot.isPlaying ? "Now playing" : "Paused"): \(playing)")
        StandardOutput.write(guests.isEmpty ? "No guests yet." : "Guests: \(guests)")
        if snapshot.queue.isEmpty { StandardOutput.write("The queue is empty.") }
        for (index, item) in snapshot.queue.enumerated().prefix(Self.shownSongs) {
            let votes = item.votes == 0 ? "" : item.votes == 1 ? "  1 vote" : "  \(item.votes) votes"
            let mine = item.voters.contains(local.id) ? item.votes == 1 ? " (yours)" : " (yours too)" : ""
            StandardOutput.write(
                "  \(index + 1). [\(UntrustedText.shown(item.id))] \(Self.line(item.song))\(votes)\(mine)")
        }
        let hidden = snapshot.queue.count - Self.shownSongs
        if hidden > 0 { StandardOutput.write("  … and \(hidden) more") }
        StandardOutput.write("")
    }

    /// Titles come from another box, and whoever tagged its music.
    private static func line(_ song: Song) -> String {
        UntrustedText.shown("\(song.title) – \(song.artist)")
    }

    /// Songs of the queue that are shown: what fits a small terminal.
    private static let shownSongs = 10

    private func show(_ intent: GuestIntent, _ peer: Peer, _ rejected: RejectionReason?) {
        let title = title(intent.songID)
        switch (intent, rejected) {
        case (.vote, nil): StandardOutput.write("\(peer.name) votes for \(title).")
        case (.takeBackVote, nil): StandardOutput.write("\(peer.name) takes the vote for \(title) back.")
        case (.suggestSong, nil): StandardOutput.write("\(peer.name) suggests \(title).")
        case (.skip, nil): StandardOutput.write("\(peer.name) wants to skip \(title).")
        // It is the same vote, sent again after a gap.
        case (_, .alreadyVoted), (_, .notVoted): break
        case (_, .some(let reason)):
            StandardOutput.write("\(peer.name) asked for \(title), but \(Self.because(reason)).")
        }
    }

    private func sentence(_ songID: Song.ID, _ kind: Wish.Kind, _ state: WishState) -> String {
        let title = title(songID)
        return switch (kind, state) {
        case (.vote, .queued): "Your vote for \(title) is kept."
        case (.vote, .sent): "Your vote for \(title) is on its way."
        case (.vote, .confirmed): "Your vote for \(title) counts."
        case (.vote, .rejected(let reason)): "Your vote for \(title) does not count: \(Self.because(reason))."
        case (.takeBack, .confirmed): "Your vote for \(title) is taken back."
        case (.takeBack, _): "Your vote for \(title) is being taken back."
        case (.suggest, .queued): "Your suggestion of \(title) is kept."
        case (.suggest, .sent): "Your suggestion of \(title) is on its way."
        case (.suggest, .confirmed): "Your suggestion of \(title) is in the queue."
        case (.suggest, .rejected(let reason)): "\(title) is not queued: \(Self.because(reason))."
        }
    }

    private mutating func show(_ songs: [Song], foundFor query: String) {
        for song in songs { titles[song.id] = UntrustedText.shown(song.title) }
        StandardOutput.write(songs.isEmpty ? "Nothing found for \"\(query)\"." : "Found for \"\(query)\":")
        for song in songs { StandardOutput.write("  [\(UntrustedText.shown(song.id))] \(Self.line(song))") }
    }

    private func title(_ songID: Song.ID) -> String {
        titles[songID].map { "\"\($0)\"" } ?? "[\(UntrustedText.shown(songID))]"
    }

    private func quoted(_ peer: Peer) -> String { "\"\(peer.name)\"" }

    private static func because(_ reason: RejectionReason) -> String {
        switch reason {
        case .unknownSong: "there is no such song"
        case .notQueued: "it is not in the queue any more"
        case .alreadyPlayed: "it has been played"
        case .alreadyVoted: "it was counted before"
        case .notVoted: "there is no vote"
        case .queueFull: "the queue is full"
        case .tooManySuggestions: "enough suggestions of one guest wait already"
        case .notPlaying: "it does not play any more"
        case .skippingNotAllowed: "only the driver skips songs here"
        }
    }
}
