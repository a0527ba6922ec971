// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// Decides what a person sees of a node, and what typed lines do. An event or a line goes in, and lines and commands
/// come out. It reads no clock and writes nothing; `now` is an argument.
struct Screen {
    /// An action for a typed line.
    enum Action: Hashable {
        /// Show these lines.
        case say([String])
        /// Send this to the node.
        case send(NodeInput)
    }

    private var sentences: Sentences
    private(set) var choice: SongChoice
    /// The last output explained what `end` does.
    private var isEndExplained = false

    /// An empty screen. `library` has the songs that a host can add.
    init(
        _ node: NodeDescription, _ place: Sentences.Place, library: [Song] = [], language: Language = .english,
        secrets: SecretsPlace = .output, picture: (@Sendable (String) -> [String]?)? = nil
    ) {
        sentences = Sentences(node, place, language, secrets: secrets, picture: picture)
        choice = SongChoice(library: library)
    }

    /// The node's state.
    var watch: NodeWatch { sentences.watch }

    /// The person's language.
    var language: Language { sentences.language }

    /// The same screen in another language.
    func speaking(_ language: Language) -> Screen {
        var other = self
        other.sentences = sentences.speaking(language)
        return other
    }

    /// Whether the screen shows the answers to single commands of another program.
    var isAnswer: Bool { sentences.place == .answer }

    /// Returns a text in that language.
    func say(_ text: LocalizedText) -> String { language.text(text) }

    /// Handles an event of the node. Returns the lines to show.
    mutating func show(_ event: NodeEvent, now: MeshInstant) -> [String] {
        switch event {
        case .snapshot(let snapshot, _):
            let news = steeringNews(snapshot)
            choice.shown = snapshot
            return sentences.lines(event, now: now) + news
        case .searchResults(let found, let query): choice.take(found, for: query)
        case .library(let library): choice.library = library.songs
        // A suggested song is not in the queue yet.
        case .intent(let intent, _, _) where intent.songID.map { watch.names.title($0) == nil } == true:
            sentences.learn(choice.library.first { $0.id == intent.songID })
        default: break
        }
        return sentences.lines(event, now: now)
    }

    /// The time at which lines become due without an event (`overdue`).
    var deadline: MeshInstant? { sentences.deadline }

    /// Returns the lines that are due now.
    mutating func overdue(now: MeshInstant) -> [String] { sentences.overdue(now: now) }

    /// The line for a guest that becomes a co-host, or stops being one.
    private func steeringNews(_ snapshot: HostSnapshot) -> [String] {
        let me = watch.node.peer.id
        let (did, does) = (choice.shown?.drivers.contains(me) == true, snapshot.drivers.contains(me))
        guard did != does else { return [] }
        return [
            does
                ? say("You are a co-host now: skip, remove, move and kick work for you as at the host.")
                : say("You are no longer a co-host.")
        ]
    }

    /// Handles a typed line.
    mutating func take(_ line: String, now: MeshInstant = .zero) -> [Action] {
        let isConfirmed = isEndExplained
        isEndExplained = false
        return switch CommandReader(watch.node).meaning(ofTyped: line, choice) {
        case nil: []
        case .lines(let lines)?: [.say(lines)]
        case .view?: [.say(wholeQueue(now))]
        // The screen must answer it, because other votes also change the next state.
        case .input(.guest(.skip))?:
            [text(now)?.votingToSkip].compactMap { $0.map { .say([$0]) } } + [.send(.guest(.skip))]
        case .input(.end)? where sentences.place == .abovePanel && !isConfirmed: [.say([explainEnd()])]
        case .input(let input)?: [.send(input)]
        }
    }

    private mutating func explainEnd() -> String {
        isEndExplained = true
        return say(
            "This ends the session for everybody and deletes the queue and its votes. Type end again to do it, or quit to stop and keep them."
        )
    }

    /// Returns the completions of a partial line.
    func completions(of line: String) -> [String] { CommandReader(watch.node).completions(of: line, choice) }

    /// The host's state in words, if there is one.
    func text(_ now: MeshInstant) -> ViewText? {
        watch.snapshot == nil ? nil : ViewText(view: watch.view(now: now), language: language)
    }

    private func wholeQueue(_ now: MeshInstant) -> [String] {
        guard let text = text(now) else { return [say("No queue is known yet.")] }
        let rows = text.rows
        return [text.playing] + (rows.isEmpty ? [text.emptyQueue] : [])
            + rows.map { "  \($0.number). \($0.song.whole)\($0.marks.isEmpty ? "" : "  \($0.marks)")" } + text.tree
    }
}
