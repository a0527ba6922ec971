// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode

/// A command as it is typed: a word, and what follows it.
struct CommandLine {
    let word: String
    let rest: String

    init?(_ line: String) {
        let parts = line.split(maxSplits: 1, whereSeparator: \.isWhitespace)
        guard let first = parts.first else { return nil }
        word = String(first)
        var rest = (parts.dropFirst().first ?? "").drop(while: \.isWhitespace)
        while rest.last?.isWhitespace == true { rest.removeLast() }
        self.rest = String(rest)
    }
}

extension HostInput {
    /// The commands a host understands.
    static let usage = "play, pause, skip, add ID, remove ID, kick NAME, end"

    /// Reads a line. Nil for an empty one.
    init?(line: String) {
        guard let command = CommandLine(line) else { return nil }
        switch (command.word, command.rest.isEmpty) {
        case ("play", true): self = .command(.play)
        case ("pause", true): self = .command(.pause)
        case ("skip", true): self = .command(.skip)
        case ("add", false): self = .command(.add(command.rest))
        case ("remove", false): self = .command(.remove(command.rest))
        case ("kick", false): self = .command(.kick(command.rest))
        case ("end", true), ("quit", true): self = .quit(.quit)
        default: self = .notice(.badCommand(line, expected: Self.usage))
        }
    }
}

extension GuestInput {
    /// The commands a guest understands.
    static let usage = "vote ID, suggest ID, retry, leave, quit"

    /// Reads a line. Nil for an empty one.
    init?(line: String) {
        guard let command = CommandLine(line) else { return nil }
        switch (command.word, command.rest.isEmpty) {
        case ("vote", false): self = .vote(command.rest)
        case ("suggest", false): self = .suggest(command.rest)
        case ("retry", true): self = .retry
        case ("leave", true): self = .leave
        case ("quit", true): self = .quit(.quit)
        default: self = .notice(.badCommand(line, expected: Self.usage))
        }
    }
}
