// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol

/// A command as it is typed: a word, and what follows it.
struct CommandLine {
    let word: String
    let rest: String

    /// The whole, with one space between its parts.
    var line: String { rest.isEmpty ? word : "\(word) \(rest)" }

    init(word: String, rest: String) {
        self.word = word
        self.rest = rest
    }

    init?(_ line: String) {
        let parts = line.split(maxSplits: 1, whereSeparator: \.isWhitespace)
        guard let first = parts.first else { return nil }
        word = String(first)
        var rest = (parts.dropFirst().first ?? "").drop(while: \.isWhitespace)
        while rest.last?.isWhitespace == true { rest.removeLast() }
        self.rest = String(rest)
    }
}

extension NodeInput {
    /// The commands a host understands.
    static let hostUsage = "play, pause, skip, add ID, remove ID, kick NAME, end, quit"

    /// The commands a guest understands.
    static let guestUsage = "vote ID, unvote ID, suggest ID, search WORDS, skip, retry, leave, quit"

    /// Reads a line of a node whose drive is recorded: a mark, or what its role understands. Nil for an empty one.
    package init?(recordedLine line: String, _ role: NodeDescription.Role) {
        if let command = CommandLine(line), command.word == "mark", !command.rest.isEmpty {
            self = .mark(UntrustedText.shown(command.rest, atMost: NodeLimits.markCharacters))
        } else if role == .host {
            self.init(hostLine: line)
        } else {
            self.init(guestLine: line)
        }
    }

    /// Reads a host's line. Nil for an empty one.
    package init?(hostLine line: String) {
        guard let command = CommandLine(line) else { return nil }
        self.init(hostCommand: command)
    }

    /// Takes a host's command.
    init(hostCommand command: CommandLine) {
        switch (command.word, command.rest.isEmpty) {
        case ("play", true): self = .host(.play)
        case ("pause", true): self = .host(.pause)
        case ("skip", true): self = .host(.skip)
        case ("add", false): self = .host(.add(command.rest))
        case ("remove", false): self = .host(.remove(command.rest))
        case ("kick", false): self = .host(.kick(command.rest))
        case ("retry", true): self = .retry
        case ("end", true): self = .end
        case ("quit", true): self = .quit(.quit)
        default: self = .notice(.badCommand(command.line, expected: Self.hostUsage))
        }
    }

    /// Reads a guest's line. Nil for an empty one.
    package init?(guestLine line: String) {
        guard let command = CommandLine(line) else { return nil }
        self.init(guestCommand: command)
    }

    /// Takes a guest's command.
    init(guestCommand command: CommandLine) {
        switch (command.word, command.rest.isEmpty) {
        case ("vote", false): self = .guest(.vote(command.rest))
        case ("unvote", false): self = .guest(.takeBackVote(command.rest))
        case ("suggest", false): self = .guest(.suggest(command.rest))
        case ("search", false): self = .guest(.search(command.rest))
        case ("skip", true): self = .guest(.skip)
        case ("retry", true): self = .retry
        case ("leave", true): self = .leave
        case ("quit", true): self = .quit(.quit)
        default: self = .notice(.badCommand(command.line, expected: Self.guestUsage))
        }
    }
}
