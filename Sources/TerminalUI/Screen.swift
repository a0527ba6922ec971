// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol
import MeshSession

/// Decides what a person sees of a node, and what is done about what the person types: an event or a line goes in, lines
/// and commands come out. Reads no clock and writes nothing; `now` is an argument.
struct Screen {
    /// What is to be done about a typed line.
    enum Action: Hashable {
        /// Show these lines.
        case say([String])
        /// Tell the node.
        case send(NodeInput)
    }

    let node: NodeDescription
    private var sentences: Sentences
    private(set) var choice: SongChoice
    private(set) var wishes = PendingWishes()
    private(set) var links: [Peer.ID: LinkReport] = [:]
    /// The host of a guest, linked or lost.
    private(set) var host: Peer?
    private(set) var connection = ConnectionState.connecting
    /// Since when the host is lost.
    private(set) var lostAt: MeshInstant?
    private(set) var isStale = false
    /// What stays until it is cured, the newest last.
    private(set) var notices: [Notice] = []

    /// A screen with nothing on it. `library` is what a host can add.
    init(_ node: NodeDescription, _ place: Sentences.Place, library: [Song] = []) {
        self.node = node
        sentences = Sentences(node, place)
        choice = SongChoice(library: library)
        wishes.isGuest = node.role == .guest
    }

    /// The names that were heard of.
    var names: ShownNames { sentences.names }

    /// Takes an event of the node. Returns what is said of it.
    mutating func show(_ event: NodeEvent, now: MeshInstant) -> [String] {
        switch event {
        case .peerConnected(let peer): if node.role == .guest { host = peer }
        case .peerDisconnected(let peer, _): links[peer.id] = nil
        case .connection(let state): take(state, now: now)
        case .snapshot(let snapshot, let isStale):
            choice.shown = snapshot
            self.isStale = isStale
        case .wish(let songID, let kind, let state): wishes.take(songID, kind, state)
        case .searchResults(let songs, _): choice.found = songs
        case .library(let library): choice.library = library.songs
        case .link(let peer, let report): links[peer.id] = report
        case .notice(let notice): take(notice)
        case .noticeCleared(let code): notices.removeAll { $0.code == code }
        case .ready, .peerDiscovered, .peerLost, .intent, .artwork, .playback, .contact, .radio, .mark, .bye:
            break
        }
        if case .intent(let intent, _, _) = event, let song = choice.library.first(where: { $0.id == intent.songID }) {
            sentences.learn([song])
        }
        return sentences.lines(event)
    }

    /// Takes a line that the person has typed.
    func take(_ line: String) -> [Action] {
        let reader = CommandReader(node)
        return switch reader.meaning(ofTyped: line, choice) {
        case nil: []
        case .help(let command)?: [.say(reader.help(command))]
        case .queue?: [.say(wholeQueue)]
        case .completions(let lines)?: [.say(lines.isEmpty ? ["Nothing begins so."] : lines.map { "  \($0)" })]
        case .input(let input)?: [.send(input)]
        }
    }

    /// The host's state in words, where there is one.
    var queue: QueueView? {
        choice.shown.map { QueueView($0, local: node.peer, names: names, wishes: wishes) }
    }

    private var wholeQueue: [String] {
        guard let queue else { return ["No queue is known yet."] }
        let rows = queue.rows
        return [queue.playing]
            + (rows.isEmpty ? ["The queue is empty."] : [])
            + rows.map { "  \($0.number). \($0.song)\($0.marks.isEmpty ? "" : "  \($0.marks)")" }
    }

    private mutating func take(_ state: ConnectionState, now: MeshInstant) {
        if state != .connected, connection == .connected {
            lostAt = now
            isStale = true
        }
        if state == .connected { lostAt = nil }
        connection = state
    }

    private mutating func take(_ notice: Notice) {
        notices.removeAll { $0.code == notice.code }
        if notice.critical { notices = (notices + [notice]).suffix(TerminalLimits.standingNotices) }
    }
}
