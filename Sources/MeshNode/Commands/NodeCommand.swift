// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// What somebody can have a running node do: one row of the table below. The typed line, the line of a program, the
/// request of a page and the titles of its buttons, `help` and completion are made from it (`CommandReader`).
public struct NodeCommand: Sendable {
    /// Who has a command.
    public enum User: Hashable, Sendable {
        /// A person or a program at a host.
        case host
        /// A person or a program at a guest.
        case guest
        /// A host's own page.
        case driverPage
        /// A guest's own page.
        case guestPage
        /// The page of a passenger who has a browser only.
        case passenger
    }

    /// What follows the word.
    public enum Parameter: Hashable, Sendable {
        /// A song: people name it (`SongChoice`), programs and pages have its identifier.
        case song(SongChoice.Use)
        /// A guest: a name or an identifier.
        case guest
        /// Anything.
        case words
        /// A PIN.
        case digits
        /// The word of a command, or nothing.
        case command
    }

    /// What a command becomes.
    public enum Meaning: Hashable, Sendable {
        /// The node is told.
        case input(NodeInput)
        /// These lines are shown: what commands do.
        case lines([String])
        /// What shows the node shows all of it: a terminal the whole queue, a program its view (`NodeView`).
        case view
    }

    /// How it is typed.
    public let word: String
    /// Other words for it.
    public let aliases: [String]
    /// What follows the word; nil for nothing.
    public let parameter: Parameter?
    /// Who has it.
    public let users: Set<User>
    /// What it does, for `help`.
    public let does: String
    /// What stands on its button; nil where it has none, or where a button shows a number or a picture.
    public let title: String?
    /// Whether it is there only while the drive is recorded.
    public let isForRecording: Bool
    let meaning: @Sendable (String) -> Meaning

    private init(
        _ word: String, _ users: Set<User>, or aliases: [String] = [], of parameter: Parameter? = nil,
        title: String? = nil, isForRecording: Bool = false, _ does: String,
        _ meaning: @escaping @Sendable (String) -> Meaning
    ) {
        self.word = word
        self.aliases = aliases
        self.parameter = parameter
        self.users = users
        self.does = does
        self.title = title
        self.isForRecording = isForRecording
        self.meaning = meaning
    }

    private static let driver: Set<User> = [.host, .driverPage]
    private static let passengers: Set<User> = [.guest, .guestPage, .passenger]
    private static let people: Set<User> = [.host, .guest]

    /// Every command, in the order in which they are explained.
    public static let all: [NodeCommand] = [
        NodeCommand("play", driver, title: "Play", "goes on, or starts the next song where nothing plays") { _ in
            .input(.host(.play))
        },
        NodeCommand("pause", driver, title: "Pause", "pauses") { _ in .input(.host(.pause)) },
        NodeCommand("skip", driver, title: "Skip", "plays the next song") { _ in .input(.host(.skip)) },
        NodeCommand("search", [.host], of: .words, "looks for songs in the library") { .input(.host(.search($0))) },
        NodeCommand("add", driver, of: .song(.added), title: "Add", "puts a song of the library into the queue") {
            .input(.host(.add($0)))
        },
        NodeCommand("remove", driver, of: .song(.queued), "takes a song out of the queue") {
            .input(.host(.remove($0)))
        },
        NodeCommand(
            "kick", driver, or: ["ban"], of: .guest, title: "Kick", "sends a guest away until the session ends"
        ) { .input(.host(.kick($0))) },
        NodeCommand("vote", passengers, of: .song(.queued), "votes for a song in the queue; once is enough") {
            .input(.guest(.vote($0)))
        },
        NodeCommand("unvote", passengers, or: ["takeBack"], of: .song(.queued), "takes your vote back") {
            .input(.guest(.takeBackVote($0)))
        },
        NodeCommand("search", [.guest], of: .words, "looks for songs in the host's library") {
            .input(.guest(.search($0)))
        },
        NodeCommand(
            "suggest", passengers, of: .song(.suggested), title: "Suggest", "asks for a song that you have found"
        ) { .input(.guest(.suggest($0))) },
        NodeCommand(
            "skip", passengers, title: "Vote to skip", "asks for the next song, where the host counts that"
        ) { _ in .input(.guest(.skip)) },
        NodeCommand("retry", driver, "tries the radio again, now") { _ in .input(.retry) },
        NodeCommand("retry", passengers, "looks for a host again, now") { _ in .input(.retry) },
        NodeCommand("pin", [.guest], of: .digits, "types the PIN that the host shows, and joins it") { text in
            JoiningSecret(pin: text).map { .input(.pin($0)) } ?? .notice(.noPIN(text))
        },
        NodeCommand("leave", passengers, title: "Leave", "leaves the host and stays alone, until retry") { _ in
            .input(.leave)
        },
        NodeCommand("end", driver, title: "End", "ends the session for everybody; queue and votes go") { _ in
            .input(.end)
        },
        NodeCommand(
            "mark", people, of: .words, isForRecording: true,
            "marks this moment of the drive, to be found in its report"
        ) { .input(.mark(UntrustedText.shown($0, atMost: NodeLimits.markCharacters))) },
        NodeCommand("view", people, or: ["queue"], "shows what plays and the whole queue") { _ in .view },
        NodeCommand("help", people, or: ["?"], of: .command, "says what each command does, or one of them") { _ in
            .lines([])
        },
        NodeCommand("quit", people, or: ["exit"], "stops; the next start goes on with queue and votes") { _ in
            .input(.quit(.quit))
        },
    ]

    /// How it is typed, by a person or by a program.
    public func usage(forProgram isForProgram: Bool = false) -> String {
        switch parameter {
        case nil: word
        case .song: "\(word) \(isForProgram ? "ID" : "SONG")"
        case .guest: "\(word) NAME"
        case .words: "\(word) WORDS"
        case .digits: "\(word) DIGITS"
        case .command: "\(word) COMMAND"
        }
    }

    /// Whether programs have it: what commands do is explained to people.
    var isForPrograms: Bool { if case .lines = meaning("") { false } else { true } }
}

/// A command as a page sends it.
public struct PageRequest: Decodable, Hashable, Sendable {
    /// The word of the command.
    public var command: String
    /// The song that it is about.
    public var songID: Song.ID?
    /// The guest that it is about.
    public var peer: Peer.ID?

    /// What it has for a parameter; nil where that is missing, or cannot be.
    func argument(for parameter: NodeCommand.Parameter?) -> String? {
        switch parameter {
        case nil: ""
        case .song: songID.flatMap { (1...DJLimits.songIDBytes).contains($0.utf8.count) ? $0 : nil }
        case .guest: peer.flatMap { (1...Limits.peerIDBytes).contains($0.utf8.count) ? $0 : nil }
        case .words, .digits, .command: nil
        }
    }
}
