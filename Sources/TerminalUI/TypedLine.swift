// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol

/// What a line means that a person has typed.
enum TypedLine: Hashable {
    /// The node is told.
    case input(NodeInput)
    /// The commands are explained.
    case help
    /// The whole queue is shown.
    case queue

    /// Reads a line. Nil for an empty one.
    init?(_ line: String, _ role: NodeDescription.Role, _ choice: SongChoice, isRecorded: Bool = false) {
        let spaced = String(line.map { $0.isWhitespace ? " " : $0 })
        guard let typed = CommandLine(UntrustedText.shown(spaced)) else { return nil }
        let vocabulary = Vocabulary(role, isRecorded: isRecorded)
        guard let command = vocabulary.command(typed.word) else {
            let meant = vocabulary.nearest(to: typed.word).map { "\($0.usage), or help" } ?? "help"
            self = .input(.notice(.badCommand(typed.line, expected: meant)))
            return
        }
        guard (command.argument == nil) == typed.rest.isEmpty else {
            self = .input(.notice(.badCommand(typed.line, expected: command.usage)))
            return
        }
        switch command.word {
        case "help": self = .help
        case "queue": self = .queue
        case "mark": self = .input(.mark(UntrustedText.shown(typed.rest, atMost: NodeLimits.markCharacters)))
        default: self = .input(Self.resolved(CommandLine(word: command.word, rest: typed.rest), role, choice))
        }
    }

    private static func resolved(
        _ command: CommandLine, _ role: NodeDescription.Role, _ choice: SongChoice
    ) -> NodeInput {
        let meaning: SongChoice.Meaning? =
            switch command.word {
            case "vote", "unvote", "remove": choice.song(command.rest, for: .queued)
            case "suggest": choice.song(command.rest, for: .suggested)
            case "add": choice.song(command.rest, for: .added)
            case "kick": choice.guest(command.rest)
            default: nil
            }
        switch meaning {
        case .id(let id)?: return input(CommandLine(word: command.word, rest: id), role)
        case .several(let names)?: return .notice(.severalMeant(command.rest, names))
        case .noSuchLine(let number, let count)?: return .notice(.noSuchLine(number, of: count))
        case .nothing?: return .notice(unknown(command))
        case nil: return input(command, role)
        }
    }

    private static func unknown(_ command: CommandLine) -> Notice {
        switch command.word {
        case "suggest": .notFound(command.rest)
        case "add": .cannotAdd(command.rest, .unknownSong)
        default: .notOnView(command.rest)
        }
    }

    private static func input(_ command: CommandLine, _ role: NodeDescription.Role) -> NodeInput {
        role == .host ? NodeInput(hostCommand: command) : NodeInput(guestCommand: command)
    }
}

extension Notice {
    /// What was typed is the beginning of several names.
    static func severalMeant(_ text: String, _ names: [String]) -> Notice {
        let named = names.prefix(TerminalLimits.namedChoices).map { "\"\($0)\"" }
        let others = names.count - named.count
        let list = named.joined(separator: ", ") + (others > 0 ? " and \(others) more" : "")
        return passing(
            "severalMeant", "\"\(text.prefix(40))\" may be \(list).", "Type more of the name, or the number.")
    }

    /// No song of the queue is called so.
    static func notOnView(_ text: String) -> Notice {
        passing(
            "notQueued", "\"\(text.prefix(40))\" is not in the queue.",
            "Use a number of the list, or the beginning of a title in it.")
    }

    /// No song that this guest knows of is called so.
    static func notFound(_ text: String) -> Notice {
        passing(
            "unknownSong", "\"\(text.prefix(40))\" was not found yet.", "Look for it first: search \(text.prefix(40))")
    }

    /// There is no such line in the list.
    static func noSuchLine(_ number: Int, of count: Int) -> Notice {
        passing(
            "noSuchLine", count == 0 ? "The list is empty." : "There is no line \(number).",
            count == 0 ? nil : "Use a number from 1 to \(count).")
    }
}
