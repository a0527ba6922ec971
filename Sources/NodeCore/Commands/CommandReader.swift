// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Reads what one kind of user types, sends or taps, using the command table (`NodeCommand.all`).
public struct CommandReader: Sendable {
    /// The commands of this user, in the order of `help`.
    public let commands: [NodeCommand]

    /// Creates a reader for one kind of user.
    public init(_ user: NodeCommand.User, isRecorded: Bool = false) {
        commands = NodeCommand.all.filter { $0.users.contains(user) && (isRecorded || !$0.isForRecording) }
    }

    /// Creates a reader for a person or a program that types at a node.
    public init(_ node: NodeDescription) {
        self.init(node.role == .host ? .host : .guest, isRecorded: node.isRecorded)
    }

    // MARK: Programs and pages

    /// Reads a line of a program. A number can be an index into the last list of songs. Nil for an empty line.
    public func meaning(ofProgram line: String, _ choice: SongChoice = SongChoice()) -> NodeCommand.Meaning? {
        guard let (word, rest) = Self.split(line) else { return nil }
        if let command = commands.first(where: { $0.isNamed(word) && $0.isForPrograms }),
            command.takesNothing || (command.parameter == nil) == rest.isEmpty
        {
            return command.meaning(command.counted(rest, choice) ?? rest)
        }
        let expected = commands.filter(\.isForPrograms).map { $0.usage(forProgram: true) }.joined(separator: ", ")
        return .notice(
            .badCommand([word, rest].filter { !$0.isEmpty }.joined(separator: " "), expected: "\(expected)"))
    }

    /// Reads the request of a page. Nil for a command that this page does not have.
    public func input(of request: PageRequest) -> NodeInput? {
        guard let command = commands.first(where: { $0.isNamed(request.command) }) else { return nil }
        guard let argument = request.argument(for: command.parameter),
            case .input(let input) = command.meaning(argument)
        else { return nil }
        // The page shows the notice on its own screen.
        guard case .notice(var notice) = input else { return input }
        notice.isTyped = false
        return .notice(notice)
    }

    /// The button titles of a page, by the word of the command.
    public var titles: [String: String] {
        Dictionary(commands.compactMap { command in command.title.map { (command.word, $0) } }) { first, _ in first }
    }

    // MARK: People

    /// Reads a line that a person has typed, using the lists on view. Nil for an empty line.
    public func meaning(ofTyped line: String, _ choice: SongChoice) -> NodeCommand.Meaning? {
        let spaced = UntrustedText.shown(String(line.map { $0.isWhitespace ? " " : $0 }))
        guard let (word, rest) = Self.split(spaced) else { return nil }
        guard let command = commands.first(where: { $0.isNamed(word.lowercased()) }) else {
            let expected: LocalizedText = nearest(to: word).map { "\($0.usage()), or help" } ?? "help"
            return .notice(.badCommand(rest.isEmpty ? word : "\(word) \(rest)", expected: expected))
        }
        switch command.parameter {
        case nil where !rest.isEmpty: return .notice(.badCommand("\(word) \(rest)", expected: "\(command.usage())"))
        case .command: return help(rest)
        case .span, .playlist, .decibels: return command.meaning(rest)
        case .appointee where rest.isEmpty: return command.meaning(rest)
        case .song, .placedSong, .percent, .place, .choice, .group, .guest, .guestAndSpan, .outcast, .appointee,
            .driver, .host, .words,
            .digits:
            guard rest.isEmpty else { return command.complete(rest, choice) }
            if let problem = choice.emptyList(for: command.parameter) { return .notice(problem) }
            return .notice(command.incomplete)
        case nil: return command.meaning("")
        }
    }

    private func help(_ word: String) -> NodeCommand.Meaning {
        guard !word.isEmpty else { return .lines(help()) }
        guard let command = commands.first(where: { $0.isNamed(word.lowercased()) }) else {
            return .notice(.badCommand(word, expected: nearest(to: word).map { "help \($0.word)" } ?? "help"))
        }
        return .lines(help(command))
    }

    /// Explains each command in one line, or only `command` and those that its line mentions. `isComplete` adds the
    /// commands that another command's line mentions.
    public func help(_ command: NodeCommand? = nil, isComplete: Bool = false) -> [String] {
        // A reader of this text already knows `help`.
        let explained =
            command.map { one in [one] + commands.filter { $0.explainedBy == one.word } }
            ?? commands.filter { $0.word != "help" && (isComplete || $0.explainedBy == nil) }
        let column = (explained.map { $0.usage().count }.max() ?? 0) + 2
        let lines = explained.map { command in
            let usage = command.usage()
            return "  " + usage + String(repeating: " ", count: column - usage.count) + command.does
        }
        guard let command else {
            return lines + ["SONG is a number, the beginning of a title, or an id; help COMMAND tells more."]
        }
        let others = command.aliases.isEmpty ? [] : ["The same: \(command.aliases.joined(separator: ", "))."]
        switch command.parameter {
        case .song, .placedSong: break
        default: return lines + others
        }
        return lines + others + ["SONG is a number of the list, the beginning of a title, or an id."]
    }

    /// The possible completions of a partial line. A completed command ends in a space if a parameter follows.
    public func completions(of line: String, _ choice: SongChoice) -> [String] {
        let (first, rest) = Self.split(line) ?? ("", "")
        let word = first.lowercased()
        guard line.last?.isWhitespace == true || !rest.isEmpty, !first.isEmpty,
            let command = commands.first(where: { $0.isNamed(word) })
        else {
            return commands.filter { $0.word.hasPrefix(word) }.map { $0.parameter == nil ? $0.word : $0.word + " " }
        }
        let names = command.parameter == .command ? commands.map(\.word) : choice.names(for: command.parameter)
        let typed = TypedName.folded(rest)
        return names.filter { TypedName.folded($0).hasPrefix(typed) }.map { "\(first) \($0)" }
    }

    /// The command with the word closest to a mistyped word. Nil if no command is close.
    private func nearest(to word: String) -> NodeCommand? {
        let meant = Self.nearest(to: word, among: commands.map(\.word))
        return commands.first { $0.word == meant }
    }

    /// The word in `words` that is closest to a mistyped word. Nil if no word is close.
    package static func nearest(to word: String, among words: [String]) -> String? {
        let word = Array(word.lowercased().prefix(20))
        let measured = words.map { (word: $0, slips: slips(word, Array($0))) }
        // Two wrong letters in a short word leave too few to match.
        return measured.filter { $0.slips <= ($0.word.count > 4 ? 2 : 1) }.min { $0.slips < $1.slips }?.word
    }

    /// The number of letters to add, drop, change or swap with the next until the words are equal: the optimal string
    /// alignment distance.
    package static func slips<Letter: Equatable>(_ one: [Letter], _ other: [Letter]) -> Int {
        var before: [Int] = []
        var last = Array(0...other.count)
        for i in one.indices {
            var next = [i + 1]
            for j in other.indices {
                var least = min(last[j] + (one[i] == other[j] ? 0 : 1), last[j + 1] + 1, next[j] + 1)
                if i > 0, j > 0, one[i] == other[j - 1], one[i - 1] == other[j] {
                    least = min(least, before[j - 1] + 1)
                }
                next.append(least)
            }
            (before, last) = (last, next)
        }
        return last[other.count]
    }

    /// Splits a line into its first word and the rest.
    private static func split(_ line: String) -> (word: String, rest: String)? {
        let parts = line.split(maxSplits: 1, whereSeparator: \.isWhitespace)
        return parts.first.map { (String($0), (parts.dropFirst().first ?? "").trimmingSpaces) }
    }
}

extension NodeCommand {
    /// Whether the command works both with and without an argument.
    fileprivate var takesNothing: Bool { [.span, .appointee, .playlist, .decibels].contains(parameter) }

    fileprivate func isNamed(_ word: String) -> Bool { self.word == word || aliases.contains(word) }

    /// The problem to show when a person typed the word without its argument.
    fileprivate var incomplete: CommandProblem {
        switch parameter {
        case .song: .incomplete(word, needs: "a song", type: "a number of the list, or the beginning of a title")
        case .guest, .guestAndSpan, .appointee:
            .incomplete(word, needs: "a guest", type: "the guest's name")
        case .outcast: .incomplete(word, needs: "a guest", type: "a name or an id of the list that bans shows")
        case .driver: .incomplete(word, needs: "a guest", type: "a name or an id of the list that driver shows")
        case .placedSong:
            .incomplete(word, needs: "a song and a place", type: "two numbers of the list: the song, and its new place")
        case .group: .incomplete(word, needs: "an artist or album", type: "its number, or the beginning of its name")
        case .percent: .incomplete(word, needs: "a number", type: "a number from 0 to 100")
        case .place: .incomplete(word, needs: "a time", type: "a time such as 1:30")
        case .choice: .incomplete(word, needs: "on or off", type: "on or off")
        case .host: .incomplete(word, needs: "a host", type: "a name or an id of the list that hosts shows")
        case .digits: .incomplete(word, needs: "six digits", type: "the digits on the host's screen")
        case .words, .command, .span, .playlist, .decibels, nil:
            .incomplete(word, needs: "a word or two", type: "the words")
        }
    }

    /// The meaning of the command with this text. A text of another form is answered with what the command needs.
    fileprivate func complete(_ text: String, _ choice: SongChoice) -> Meaning {
        let meaning = meaning(of: text, choice)
        let hasForm = [.placedSong, .percent, .place, .choice].contains(parameter)
        let bad = Notice(.badCommand("", expected: "")).code
        guard hasForm, case .input(.notice(let notice)) = meaning, notice.code == bad else { return meaning }
        return .notice(incomplete)
    }

    /// A program's argument with a list number replaced by the song's identifier. Nil if the number is not in the list.
    fileprivate func counted(_ text: String, _ choice: SongChoice) -> String? {
        switch parameter {
        case .song(let use): return choice.line(text, for: use)
        case .placedSong:
            guard let (song, place) = Self.placed(text) else { return nil }
            return choice.line(song, for: .queued).map { "\($0) \(place)" }
        case .group:
            guard Int(text) != nil, case .id(let id) = choice.group(text) else { return nil }
            return id
        default: return nil
        }
    }

    /// Whether the parameter is a guest.
    private var isOfGuest: Bool { [.guest, .guestAndSpan, .appointee].contains(parameter) }

    /// Whether the parameter is a song of the queue.
    private var isOfQueue: Bool { parameter == .song(.queued) || parameter == .placedSong }

    /// The meaning of the command with the text that a person has typed after its word.
    fileprivate func meaning(of text: String, _ choice: SongChoice) -> Meaning {
        let chosen: SongChoice.Meaning? =
            switch parameter {
            case .song(let use): choice.song(text, for: use)
            case .placedSong: Self.placed(text).map { choice.song($0.song, for: .queued) }
            case .group: choice.group(text)
            case .guest, .appointee: choice.guest(text)
            case .guestAndSpan: choice.guest(BanSpan.split(text).name)
            case .outcast, .driver, .host, .words, .percent, .decibels, .place, .choice, .playlist, .digits, .span,
                .command,
                nil:
                nil
            }
        switch chosen {
        case nil: return meaning(text)
        case .id(let id) where parameter == .guestAndSpan:
            return meaning(
                BanSpan.split(text).seconds == nil ? id : id + text[(text.lastIndex(of: " ") ?? text.endIndex)...])
        case .id(let id):
            return meaning(Self.placed(text).map { parameter == .placedSong ? "\(id) \($0.place)" : id } ?? id)
        case .several(let names):
            return .notice(isOfGuest ? .guestsMeant(text, names) : .severalMeant(text, names))
        case .noSuchLine(let number, let count):
            return .notice(count == 0 && isOfQueue ? .emptyQueue : .noSuchLine(number, of: count))
        case .nothing where isOfQueue: return .notice(choice.shown == nil ? .noQueueYet : .notOnView(text))
        case .nothing: return .notice(.notFound(text))
        }
    }
}

extension NodeCommand.Meaning {
    static func notice(_ problem: CommandProblem) -> NodeCommand.Meaning {
        var notice = Notice(problem)
        notice.isTyped = true
        return .input(.notice(notice))
    }
}

extension SongChoice {
    /// The problem to show if there is nothing to choose from; otherwise nil.
    fileprivate func emptyList(for parameter: NodeCommand.Parameter?) -> CommandProblem? {
        switch parameter {
        case .song(.queued), .placedSong: shown?.queue.isEmpty == true ? .emptyQueue : nil
        case .song: found.isEmpty ? .nothingFoundYet : nil
        case .guest, .guestAndSpan, .appointee: shown?.connectedPeers.isEmpty == true ? .nobodyHere : nil
        case .group: groups.isEmpty ? .nothingListedYet : nil
        case .outcast, .driver, .host, .percent, .decibels, .place, .choice, .playlist, .words, .digits, .span,
            .command,
            nil:
            nil
        }
    }

    /// The names that a person can type for a parameter.
    fileprivate func names(for parameter: NodeCommand.Parameter?) -> [String] {
        switch parameter {
        case .song(let use): known(for: use).map { UntrustedText.shown($0.title) }
        case .placedSong: known(for: .queued).map { UntrustedText.shown($0.title) }
        case .group: groups.map { UntrustedText.shown($0.name) }
        case .guest, .guestAndSpan, .appointee: (shown?.connectedPeers ?? []).map { UntrustedText.shown($0.name) }
        case .choice: ["on", "off"]
        case .decibels, .digits: ["off"]
        case .outcast, .driver, .host, .percent, .place, .playlist, .words, .span, .command, nil: []
        }
    }
}

extension StringProtocol {
    fileprivate var trimmingSpaces: String {
        var rest = self.drop(while: \.isWhitespace)
        while rest.last?.isWhitespace == true { rest = rest.dropLast() }
        return String(rest)
    }
}
