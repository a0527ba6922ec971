// SPDX-License-Identifier: Apache-2.0

import MeshNode

/// The words that a person at a host's or a guest's prompt can type.
struct Vocabulary {
    /// A command, with what is typed after it and what it does.
    struct Command: Hashable {
        var word: String
        var argument: String?
        var does: String

        /// How it is typed.
        var usage: String { argument.map { "\(word) \($0)" } ?? word }
    }

    /// The commands, in the order in which they are explained.
    let commands: [Command]

    init(_ role: NodeDescription.Role, isRecorded: Bool = false) {
        commands = (role == .host ? Self.host : Self.guest) + (isRecorded ? Self.recorded : []) + Self.both
    }

    private static let recorded = [
        Command(word: "mark", argument: "WORDS", does: "marks this moment of the drive, to be found in its report")
    ]

    private static let host = [
        Command(word: "play", does: "goes on, or starts the next song where nothing plays"),
        Command(word: "pause", does: "pauses"),
        Command(word: "skip", does: "plays the next song"),
        Command(word: "add", argument: "SONG", does: "puts a song of the library into the queue"),
        Command(word: "remove", argument: "SONG", does: "takes a song out of the queue"),
        Command(word: "kick", argument: "NAME", does: "sends a guest away until the session ends"),
        Command(word: "retry", does: "tries the radio again, now"),
        Command(word: "end", does: "ends the session and stops; the next start begins anew"),
    ]

    private static let guest = [
        Command(word: "vote", argument: "SONG", does: "votes for a song in the queue; once is enough"),
        Command(word: "unvote", argument: "SONG", does: "takes your vote back"),
        Command(word: "search", argument: "WORDS", does: "looks for songs in the host's library"),
        Command(word: "suggest", argument: "SONG", does: "asks for a song that you have found"),
        Command(word: "skip", does: "asks for the next song, where the host counts that"),
        Command(word: "retry", does: "looks for a host again, now"),
        Command(word: "leave", does: "leaves the host and stays alone, until retry"),
    ]

    private static let both = [
        Command(word: "queue", does: "shows the whole queue"),
        Command(word: "help", does: "shows this; so does ?"),
        Command(word: "quit", does: "stops; the next start goes on with the queue and the votes"),
    ]

    /// What each command does, a line each.
    var help: [String] {
        let column = (commands.map(\.usage.count).max() ?? 0) + 2
        let lines = commands.map { command in
            "  " + command.usage + String(repeating: " ", count: column - command.usage.count) + command.does
        }
        return lines + ["SONG is a number of the list, the beginning of a title, or an id."]
    }

    /// The command of a word, in small or capital letters.
    func command(_ word: String) -> Command? {
        let word = word.lowercased() == "?" ? "help" : word.lowercased()
        return commands.first { $0.word == word }
    }

    /// The command that somebody meant who typed a word that is none; nil where it is like none.
    func nearest(to word: String) -> Command? {
        let word = Array(word.lowercased().prefix(20))
        let measured = commands.map { (command: $0, slips: Self.slips(word, Array($0.word))) }
        // Of a short word, two wrong letters leave nothing to go by.
        return measured.filter { $0.slips <= ($0.command.word.count > 4 ? 2 : 1) }.min { $0.slips < $1.slips }?.command
    }

    /// Letters to add, drop, change or swap with the next, until one word is the other: the optimal string alignment
    /// distance.
    static func slips(_ one: [Character], _ other: [Character]) -> Int {
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
}
