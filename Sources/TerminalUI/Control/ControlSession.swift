// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol
import NodeCore

/// Runs the commands of other programs at a running host, and answers each.
package actor ControlSession {
    /// A command whose answer is due.
    private struct Question {
        var events: [NodeEvent] = []
        /// An event that comes later is the answer.
        var awaits: Answer?
        /// The node has handled the command.
        var isHandled = false
        /// Waits for the answer.
        var continuation: CheckedContinuation<[NodeEvent]?, Never>?

        var isAnswered: Bool {
            isHandled && (awaits == nil || events.contains { $0.isRefusal || $0.answer == awaits })
        }
    }

    /// Answers of the library. The library looks for songs and playlists on the disk, and the node does not wait for
    /// it.
    fileprivate enum Answer { case songs, playlist }

    private let node: Node
    private let told: MarkedEvents
    private let key: String
    private let start = ContinuousClock.now
    private var screen: Screen
    private var questions: [Int: Question] = [:]
    private var lastNumber = 0
    private var hasEnded = false

    /// A session of a host that does not run yet. Every request must contain `key`.
    package init(_ node: Node, _ description: NodeDescription, library: [Song], key: String) {
        self.node = node
        self.key = key
        told = node.markedEvents()
        screen = Screen(description, .answer, library: library)
    }

    /// Follows the node to its end.
    func run() async {
        for await item in told.stream {
            switch item {
            case .event(let event):
                _ = screen.show(event, now: now)
                for number in questions.keys { questions[number]?.events.append(event) }
            case .mark(let number): questions[number]?.isHandled = true
            }
            for (number, question) in questions where question.isAnswered { settle(number, question.events) }
        }
        hasEnded = true
        for (number, question) in questions { settle(number, question.events) }
    }

    private var now: Duration { ContinuousClock.now - start }

    /// Runs a command, and returns what it did.
    func answer(_ request: ControlRequest) async -> ControlAnswer {
        let command = UntrustedText.shown(request.command)
        let language = Language(rawValue: request.language) ?? .english
        guard request.key == key else {
            return ControlAnswer(
                command, exitCode: SetupProblem.ExitCode.notPermitted.rawValue, code: nil,
                message: "This program cannot read the state folder of the host.")
        }
        // Wait for the effects of earlier commands.
        guard await handled(nil) != nil else { return silent(command) }
        var speaking = screen.speaking(language)
        var lines: [String] = []
        var refusal: Notice?
        for action in speaking.take(request.command, now: now) {
            switch action {
            case .say(let said): lines += said
            // A typing error of a script is not shown on the car's screens.
            case .send(.notice(let notice)): refusal = notice
            case .send(let input):
                let confirmation = Confirmation(input, speaking)
                guard let events = await handled(input) else { return silent(command) }
                refusal = events.lazy.compactMap(\.refusal).first
                for event in events where event.isAnswer { lines += speaking.show(event, now: now) }
                speaking = screen.speaking(language)
                lines += confirmation.lines(events, speaking, now: now)
            }
        }
        if let refusal { lines = [Sentences.sentence(refusal, language, isBare: true)] }
        if lines.isEmpty, request.command.allSatisfy(\.isWhitespace) {
            let notice = Notice(.badCommand("", expected: "help"))
            (refusal, lines) = (notice, [Sentences.sentence(notice, language, isBare: true)])
        }
        var answer = ControlAnswer(
            command, exitCode: refusal?.controlExitCode ?? 0, code: refusal?.code,
            message: lines.joined(separator: "\n"))
        describe(&answer)
        return answer
    }

    private func describe(_ answer: inout ControlAnswer) {
        let view = screen.watch.view(songs: 0, now: now)
        answer.songID = view.nowPlaying?.id
        (answer.title, answer.artist) = (view.nowPlaying?.title, view.nowPlaying?.artist)
        (answer.isPlaying, answer.elapsed) = (view.isPlaying, view.elapsed)
        (answer.volume, answer.duck) = (screen.watch.steering?.volume, screen.watch.steering?.ducked)
    }

    private func silent(_ command: String) -> ControlAnswer {
        ControlAnswer(
            command, exitCode: SetupProblem.ExitCode.unavailable.rawValue, code: nil,
            message: "The host does not answer; see its log.")
    }

    /// Sends an input, and returns the events until the node has handled it. Without an input it waits for the events
    /// before this call. Nil if that takes too long.
    private func handled(_ input: NodeInput?) async -> [NodeEvent]? {
        guard !hasEnded else { return [] }
        lastNumber += 1
        let number = lastNumber
        questions[number] = Question(awaits: input?.awaits)
        let asking = Task { [node, told] in
            if let input { await node.send(input) }
            _ = await node.answers()
            told.mark(number)
        }
        let alarm = Task {
            guard (try? await Task.sleep(for: ControlLimits.answerTime)) != nil else { return }
            settle(number, nil)
        }
        defer {
            asking.cancel()
            alarm.cancel()
        }
        return await withCheckedContinuation { continuation in
            if let question = questions[number], !question.isAnswered {
                questions[number]?.continuation = continuation
            } else {
                continuation.resume(returning: questions.removeValue(forKey: number)?.events ?? [])
            }
        }
    }

    private func settle(_ number: Int, _ events: [NodeEvent]?) {
        guard let continuation = questions[number]?.continuation else { return }
        questions[number] = nil
        continuation.resume(returning: events)
    }
}

extension NodeInput {
    /// The answer that comes later.
    fileprivate var awaits: ControlSession.Answer? {
        switch self {
        case .host(.search), .host(.more): .songs
        case .host(.choosePlaylist): .playlist
        default: nil
        }
    }
}

extension NodeEvent {
    fileprivate var answer: ControlSession.Answer? {
        switch self {
        case .searchResults: .songs
        case .notice(let notice) where notice.code == CommandProblem.playlistChosen("").problem.code: .playlist
        default: nil
        }
    }

    fileprivate var isRefusal: Bool { refusal != nil }

    /// The notice that a command had no effect.
    fileprivate var refusal: Notice? { if case .notice(let notice) = self, notice.isRefusal { notice } else { nil } }

    /// Whether the event belongs to the answer to a command. Other events come at the same time by chance.
    fileprivate var isAnswer: Bool {
        switch self {
        case .notice(let notice): notice.isOfPerson
        case .steering, .searchResults, .invitation, .bans, .drivers, .mark: true
        default: false
        }
    }
}

extension Notice {
    /// The exit code of a command that was not carried out.
    fileprivate var controlExitCode: Int32 {
        let isTyped = ["badCommand", "incompleteCommand"].contains(code)
        return (isTyped ? SetupProblem.ExitCode.usage : .data).rawValue
    }
}
