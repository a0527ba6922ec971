// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol
import MeshSession

/// Puts a node's events into sentences for a person.
struct Sentences {
    /// Where they are read.
    enum Place {
        /// In a stream of lines: the queue is told whenever it changes.
        case lines
        /// Above a panel that shows the present state by itself.
        case abovePanel
        /// On a terminal that a shell has meanwhile.
        case background
    }

    let place: Place
    /// What the node is like.
    private(set) var watch: NodeWatch
    private var last: HostSnapshot?

    init(_ node: NodeDescription, _ place: Place) {
        watch = NodeWatch(node)
        self.place = place
    }

    private var role: NodeDescription.Role { watch.node.role }

    /// Takes the title of a song that is told of next.
    mutating func learn(_ song: Song?) { if let song { watch.learn([song]) } }

    /// What is said of an event: no line, or several.
    mutating func lines(_ event: NodeEvent, now: MeshInstant) -> [String] {
        let before = watch.hosts
        _ = watch.handle(event, now: now)
        return switch event {
        case .ready(let node): greeting(node)
        // To a guest a host is one, however many ways lead to it.
        case .peerDiscovered(let peer, _, _, _) where role == .guest && before.contains { $0.id == peer.id }: []
        case .peerLost(let peer, _) where role == .guest && watch.hosts.contains { $0.id == peer.id }: []
        case .peerDiscovered(let peer, let rssi, let hops, let relay):
            [
                "Heard \(quoted(peer))"
                    + (hops > 0 ? ", through a relay (\(Self.way(hops, hasRoom: relay?.hasRoom ?? true)))" : "")
                    + "\(Self.strength(rssi))."
            ]
        case .peerLost(let peer, let relay):
            ["\(quoted(peer)) is not heard \(relay == nil ? "" : "through a relay ")any more."]
        case .peerConnected(let peer): joined(peer)
        // A guest is told by a notice, which says what to do as well.
        case .peerDisconnected(let peer, let reason): role == .host ? [farewell(peer, reason)] : []
        case .connection(let state): lines(state)
        case .snapshot(let snapshot, let isStale): lines(snapshot, isStale: isStale, now: now)
        // Linked, it is on its way in the same instant.
        case .wish(_, _, .queued) where watch.own.connection == .connected: []
        // A panel marks it in the queue.
        case .wish(_, _, .sent) where place == .abovePanel: []
        // A notice says why, and what to do.
        case .wish(_, .suggest, .rejected): []
        case .wish(let songID, let kind, let state): [kind.sentence(state, title: watch.names.quoted(songID))]
        case .searchResults(let songs, let query): lines(songs, foundFor: query)
        case .intent(let intent, let peer, let rejected): lines(intent, peer, rejected)
        case .notice(let notice): [Self.sentence(notice)]
        case .mark(let text): ["Marked: \(text)"]
        // A notice says it.
        case .pinGuessed: []
        case .noticeCleared, .link, .linkEnded, .artwork, .playback, .library, .contact, .radio: []
        case .bye where role == .scan: Self.tree(watch.hosts)
        case .bye(.ended): ["The session has ended. The next start begins a new one. Bye."]
        case .bye: ["Bye."]
        }
    }

    /// A notice, with the command that its button stands for. It may name a song, whose title comes from another device.
    static func sentence(_ notice: Notice) -> String {
        let suggestion = notice.suggestion.map { " " + UntrustedText.shown($0) } ?? ""
        return "! \(UntrustedText.shown(notice.message))\(suggestion)\(notice.button == nil ? "" : " [retry]")"
    }

    // MARK: Who is in range

    /// The hosts, each with the relays that lead to it.
    private static func tree(_ hosts: [NodeView.HeardHost]) -> [String] {
        let count = hosts.count == 1 ? "1 host is in range" : "\(hosts.count) hosts are in range"
        guard hosts.contains(where: { !$0.relays.isEmpty }) else { return [count + "."] }
        return [count + ":"]
            + hosts.flatMap { host in
                ["  \"\(host.name)\"" + (host.hops > 0 ? ", through relays only" : strength(host.rssi))]
                    + host.relays.map {
                        "    through relay \($0.id) (\(way($0.hops, hasRoom: $0.room)))\(strength($0.rssi))"
                    }
            }
    }

    private static func way(_ hops: Int, hasRoom: Bool) -> String {
        (hops == 1 ? "1 hop" : "\(hops) hops") + (hasRoom ? "" : ", no room")
    }

    private static func strength(_ rssi: Int?) -> String { rssi.map { ", \($0) dBm" } ?? "" }

    // MARK: Coming and going

    private func greeting(_ node: NodeDescription) -> [String] {
        let page = node.http.map { ["Its page for a browser: \($0)"] } ?? []
        return switch node.role {
        case .host:
            [
                "\(quoted(node.peer)) is on the air (\(node.radio)). "
                    + (node.pin.map { "Guests join with the PIN \($0)." } ?? "Guests join by themselves.")
            ] + page + [commands(node)]
        case .guest: ["\(node.peer.name) is looking for a host (\(node.radio))."] + page + [commands(node)]
        case .scan: ["Listening for hosts (\(node.radio))."]
        }
    }

    private func commands(_ node: NodeDescription) -> String {
        switch place {
        case .lines: "Commands: \(CommandReader(node).commands.map { $0.usage() }.joined(separator: ", "))."
        case .abovePanel: "Type help for the commands; Ctrl-C stops."
        case .background: "It runs in the background; fg brings it back, and its commands."
        }
    }

    private func joined(_ peer: Peer) -> [String] {
        [role == .host ? "\(peer.name) has joined." : "Joined \(quoted(peer))."]
    }

    private func farewell(_ peer: Peer, _ reason: DisconnectReason) -> String {
        switch reason {
        case .goodbye: "\(peer.name) has left."
        case .linkLost: "\(peer.name) is out of reach."
        case .refused: "\(peer.name) was sent away."
        case .replaced: "\(peer.name) came back by another link."
        }
    }

    private func lines(_ state: ConnectionState) -> [String] {
        switch state {
        case .reconnecting(let attempt) where attempt > 1: ["Trying again (attempt \(attempt))…"]
        case .connecting where last != nil: ["Looking for a host…"]
        case .disconnected where last != nil: ["Not connected."]
        case .disconnected, .connecting, .connected, .reconnecting, .failed: []
        }
    }

    // MARK: The host's state

    private mutating func lines(_ snapshot: HostSnapshot, isStale: Bool, now: MeshInstant) -> [String] {
        defer { last = snapshot }
        guard place == .lines else { return [] }
        // Who has come and gone was said already.
        if let last, last.queue == snapshot.queue, last.nowPlaying == snapshot.nowPlaying,
            last.isPlaying == snapshot.isPlaying
        {
            return []
        }
        let text = ViewText(view: watch.view(songs: TerminalLimits.shownSongs, now: now))
        let hidden = snapshot.queue.count - TerminalLimits.shownSongs
        return (isStale ? ["What you saw last:"] : []) + ["", text.playing, text.guests]
            + (snapshot.queue.isEmpty ? [text.emptyQueue] : [])
            + text.rows(atMost: TerminalLimits.shownSongs).map {
                "  \($0.number). [\($0.id)] \($0.song.whole)\($0.votes.map { "  \($0)" } ?? "")"
            }
            + (hidden > 0 ? ["  … and \(hidden) more"] : []) + [""]
    }

    private func lines(_ songs: [Song], foundFor query: String) -> [String] {
        guard !songs.isEmpty else { return ["Nothing found for \"\(query)\"."] }
        return ["Found for \"\(query)\":"]
            + songs.enumerated().map { index, song in
                let id = place == .lines ? "[\(UntrustedText.shown(song.id))] " : ""
                return "  \(index + 1). \(id)\(ViewText.SongText(song.title, song.artist).whole)"
            }
    }

    // MARK: Wishes

    private func lines(_ intent: GuestIntent, _ peer: Peer, _ rejected: RejectionReason?) -> [String] {
        let title = watch.names.quoted(intent.songID)
        return switch (intent, rejected) {
        case (.vote, nil): ["\(peer.name) votes for \(title)."]
        case (.takeBackVote, nil): ["\(peer.name) takes the vote for \(title) back."]
        case (.suggestSong, nil): ["\(peer.name) suggests \(title)."]
        case (.skip, nil): ["\(peer.name) wants to skip \(title)."]
        // It is the same vote, sent again after a gap.
        case (_, .alreadyVoted), (_, .notVoted): []
        case (.skip, .some(let reason)): ["\(peer.name) wants to skip \(title), but \(reason.clause)."]
        case (_, .some(let reason)): ["\(peer.name) asked for \(title), but \(reason.clause)."]
        }
    }

    private func quoted(_ peer: Peer) -> String { "\"\(peer.name)\"" }
}
