// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// A command for a running node: one row of the table below. The reader for typed lines, program lines and page
/// requests, the button titles, `help` and completion all use this table (`CommandReader`).
public struct NodeCommand: Sendable {
    /// The kinds of users that a command can have.
    public enum User: Hashable, Sendable {
        /// A person or a program at a host.
        case host
        /// A person or a program at a guest.
        case guest
        /// A host's own page.
        case driverPage
        /// A guest's own page.
        case guestPage
        /// The page of a passenger who only has a browser.
        case passenger
    }

    /// The parameter after the word.
    public enum Parameter: Hashable, Sendable {
        /// A song. People name it (`SongChoice`); programs and pages use its identifier.
        case song(SongChoice.Use)
        /// A song of the queue and its new position, counted from one.
        case placedSong
        /// A number from 0 to 100.
        case percent
        /// A number of decibels, `off`, or nothing.
        case decibels
        /// A position in a song: seconds, or minutes and seconds.
        case place
        /// `on` or `off`.
        case choice
        /// The name of a playlist, or nothing.
        case playlist
        /// An artist or album that was found.
        case group
        /// A guest: a name or an identifier.
        case guest
        /// Any text.
        case words
        /// A PIN, or `off`.
        case digits
        /// How long an invitation is valid, or nothing.
        case span
        /// A guest, and how long to ban it, or nothing.
        case guestAndSpan
        /// A banned peer.
        case outcast
        /// The guest to appoint as a co-host, or nothing.
        case appointee
        /// A co-host.
        case driver
        /// A host: a name, an identifier, or an invitation.
        case host
        /// The word of a command, or nothing.
        case command
    }

    /// The result of reading a command.
    public enum Meaning: Hashable, Sendable {
        /// An input for the node.
        case input(NodeInput)
        /// Lines to show: the explanation of commands.
        case lines([String])
        /// The display shows everything: a terminal shows the full queue, a program its view (`NodeView`).
        case view
    }

    /// The word that users type.
    public let word: String
    /// Other words for it.
    public let aliases: [String]
    /// The parameter after the word; nil without a parameter.
    public let parameter: Parameter?
    /// The users that have this command.
    public let users: Set<User>
    /// The explanation in `help`.
    public let does: String
    /// The title of the command's button. Nil without a button, and if a button shows a number or a picture.
    public let title: String?
    /// Whether the command exists only while the drive is recorded.
    public let isForRecording: Bool
    /// The command that mentions this one in its line of `help`; nil if it has a line of its own. All of `help` fits on
    /// a screen without scrolling.
    public let explainedBy: String?
    let meaning: @Sendable (String) -> Meaning

    private init(
        _ word: String, _ users: Set<User>, or aliases: [String] = [], of parameter: Parameter? = nil,
        title: String? = nil, isForRecording: Bool = false, explainedBy: String? = nil, _ does: String,
        _ meaning: @escaping @Sendable (String) -> Meaning
    ) {
        self.word = word
        self.aliases = aliases
        self.parameter = parameter
        self.users = users
        self.does = does
        self.title = title
        self.isForRecording = isForRecording
        self.explainedBy = explainedBy
        self.meaning = meaning
    }

    private static let driver: Set<User> = [.host, .driverPage]
    private static let passengers: Set<User> = [.guest, .guestPage, .passenger]
    private static let people: Set<User> = [.host, .guest]

    /// Every command, in the order of `help`.
    public static let all: [NodeCommand] = [
        NodeCommand(
            "play", driver, or: ["resume"], title: "Play", "continues, or starts the next song; also shuffle, playlist"
        ) { _ in
            .input(.host(.play))
        },
        NodeCommand("pause", driver, title: "Pause", "pauses; also volume 40, duck, unduck, seek 1:30") {
            _ in
            .input(.host(.pause))
        },
        NodeCommand("skip", driver, title: "Skip", "plays the next song; also previous") { _ in
            .input(.host(.skip))
        },
        NodeCommand(
            "search", [.host], of: .words, "finds songs; also artists, albums, newest, history, open, more"
        ) {
            .input(.host(.search(SongQuery($0))))
        },
        NodeCommand(
            "add", driver, of: .song(.added), title: "Add", "adds a song to the queue; also next, move, unpin"
        ) {
            .input(.host(.add($0)))
        },
        NodeCommand(
            "remove", driver, of: .song(.queued), "removes a song; also clear, undo"
        ) {
            .input(.host(.remove($0)))
        },
        NodeCommand(
            "next", driver, or: ["playNext"], of: .song(.queued), explainedBy: "add", "plays a song of the queue next"
        ) {
            .input(.host(.playNext($0)))
        },
        NodeCommand(
            "move", driver, of: .placedSong, explainedBy: "add", "moves a song of the queue to a fixed position",
            moved),
        NodeCommand(
            "unpin", driver, of: .song(.queued), explainedBy: "add",
            "lets votes decide a song's position again"
        ) {
            .input(.host(.unpin($0)))
        },
        NodeCommand("clear", driver, explainedBy: "remove", "removes all songs from the queue") { _ in
            .input(.host(.clear))
        },
        NodeCommand(
            "undo", driver, explainedBy: "remove",
            "undoes the last remove, clear, next, move, kick or ban, for two minutes"
        ) {
            _ in
            .input(.host(.undo))
        },
        NodeCommand("previous", driver, or: ["back"], explainedBy: "skip", "plays the previous song again") { _ in
            .input(.host(.previous))
        },
        NodeCommand("volume", driver, of: .percent, explainedBy: "pause", "sets the volume", volume),
        NodeCommand(
            "duck", [.host], of: .decibels, explainedBy: "pause",
            "lowers the music by \(DJLimits.duck) dB, or by a number of dB; duck off ends it", ducked),
        NodeCommand("unduck", [.host], explainedBy: "pause", "is duck off: the volume is as before") { _ in
            .input(.host(.duck(0)))
        },
        NodeCommand(
            "seek", driver, of: .place, explainedBy: "pause", "continues at a position of the song, such as 1:30",
            sought),
        NodeCommand(
            "shuffle", driver, of: .choice, explainedBy: "play",
            "on or off: a random order while the queue is empty", shuffled),
        NodeCommand(
            "playlist", driver, of: .playlist, explainedBy: "play",
            "plays this playlist while the queue is empty; without a name, all songs"
        ) { .input(.host(.choosePlaylist($0))) },
        NodeCommand(
            "kick", driver, of: .guest, title: "Kick",
            "kicks a guest; also ban, unban, bans, invite, driver, passenger"
        ) { .input(.host(.kick($0))) },
        NodeCommand(
            "ban", driver, of: .guestAndSpan, explainedBy: "kick",
            "bans a guest, for a time like 2h or until unban"
        ) { text in
            let (name, seconds) = BanSpan.split(text)
            return .input(.ban(name, seconds: seconds))
        },
        NodeCommand("unban", driver, of: .outcast, explainedBy: "kick", "unbans a guest, by name or id") {
            .input(.unban($0))
        },
        NodeCommand("bans", [.host], explainedBy: "kick", "lists the banned guests, and for how long") { _ in
            .input(.bans)
        },
        NodeCommand(
            "driver", driver, of: .appointee, explainedBy: "kick",
            "makes a guest a co-host; alone, lists the co-hosts"
        ) { .input($0.isEmpty ? .drivers : .appoint($0)) },
        NodeCommand(
            "passenger", driver, of: .driver, explainedBy: "kick", "ends a guest's role as co-host"
        ) { .input(.dismiss($0)) },
        NodeCommand("vote", passengers, of: .song(.queued), "votes for a song in the queue; once is enough") {
            .input(.guest(.vote($0)))
        },
        NodeCommand("unvote", passengers, or: ["takeBack"], of: .song(.queued), "takes your vote back") {
            .input(.guest(.takeBackVote($0)))
        },
        NodeCommand(
            "search", [.guest], of: .words, "finds songs; also artists, albums, newest, history, open, more"
        ) {
            .input(.guest(.search(SongQuery($0))))
        },
        NodeCommand(
            "suggest", passengers, of: .song(.suggested), title: "Suggest", "suggests a song that you have found"
        ) { .input(.guest(.suggest($0))) },
        NodeCommand(
            "skip", passengers, title: "Vote to skip", "votes to skip the song; for a co-host also remove, move, kick"
        ) { _ in .input(.guest(.skip)) },
        NodeCommand(
            "remove", passengers, of: .song(.queued), explainedBy: "skip",
            "removes a song, if you are a co-host"
        ) { .input(.guest(.steer(.remove(songID: $0)))) },
        NodeCommand(
            "move", passengers, of: .placedSong, explainedBy: "skip",
            "moves a song of the queue, if you are a co-host"
        ) { text in
            placed(text).map { .input(.guest(.steer(.move(songID: $0.song, to: $0.place - 1)))) }
                ?? .notice(unplaced(text))
        },
        NodeCommand(
            "kick", passengers, of: .guest, explainedBy: "skip", "kicks a guest, if you are a co-host"
        ) { .input(.guest(.steer(.kick($0)))) },
        NodeCommand("artists", [.host], explainedBy: "search", "lists the artists") { _ in shelf(.artists) },
        NodeCommand("albums", [.host], explainedBy: "search", "lists the albums") { _ in shelf(.albums) },
        NodeCommand("newest", [.host], explainedBy: "search", "lists the newest songs") { _ in shelf(.newest) },
        NodeCommand(
            "history", [.host], or: ["played"], explainedBy: "search", "lists the played songs; add plays one again"
        ) { _ in
            shelf(.heard)
        },
        NodeCommand(
            "open", [.host], of: .group, explainedBy: "search", "shows the songs of an artist or album that was found"
        ) { opened($0) },
        NodeCommand("more", [.host], explainedBy: "search", "shows more of what was found") { _ in .input(.host(.more))
        },
        NodeCommand("artists", [.guest], explainedBy: "search", "lists the host's artists") { _ in
            shelf(.artists, isGuest: true)
        },
        NodeCommand("albums", [.guest], explainedBy: "search", "lists the host's albums") { _ in
            shelf(.albums, isGuest: true)
        },
        NodeCommand("newest", [.guest], explainedBy: "search", "lists the host's newest songs") { _ in
            shelf(.newest, isGuest: true)
        },
        NodeCommand(
            "history", [.guest], or: ["played"], explainedBy: "search",
            "lists what the host has played; suggest suggests it again"
        ) { _ in shelf(.heard, isGuest: true) },
        NodeCommand(
            "open", [.guest], of: .group, explainedBy: "search", "shows the songs of an artist or album that was found"
        ) {
            opened($0, isGuest: true)
        },
        NodeCommand("more", [.guest], explainedBy: "search", "shows more of what was found") { _ in
            .input(.guest(.more))
        },
        NodeCommand("retry", driver, or: ["ok"], "tries the radio again, now") { _ in .input(.retry) },
        NodeCommand("retry", passengers, or: ["ok"], "looks for a host again; also join, hosts, forget") { _ in
            .input(.retry)
        },
        NodeCommand("hosts", [.guest], explainedBy: "retry", "lists the hosts that you have joined, and those in range")
        { _ in
            .input(.hosts)
        },
        NodeCommand(
            "join", [.guest, .guestPage], of: .host, explainedBy: "retry", "joins a host, by name, id or invitation"
        ) { text in
            if let invitation = Invitation(text: text) { return .input(.joinInvited(invitation)) }
            return Invitation.isMeant(by: text) ? .notice(.noInvitation) : .input(.join(text))
        },
        NodeCommand(
            "forget", [.guest, .guestPage], of: .host, explainedBy: "retry",
            "forgets a host that you have joined, and its key"
        ) {
            .input(.forgetHost($0))
        },
        NodeCommand(
            "pin", [.guest, .guestPage], of: .digits,
            "joins the host with its PIN; pin off withdraws the PIN"
        ) { text in
            if text.lowercased() == "off" { return .input(.pin(nil)) }
            return JoiningSecret(pin: text).map { .input(.pin($0)) } ?? .notice(.noPIN(text))
        },
        NodeCommand("leave", passengers, title: "Leave", "leaves the host and joins none until retry") { _ in
            .input(.leave)
        },
        NodeCommand(
            "invite", driver, of: .span, explainedBy: "kick",
            "invites one guest, or all for a time like 2h; none revokes"
        ) { text in InvitationWish(parsing: text).map { .input(.invite($0)) } ?? .notice(.noSpan(text)) },
        NodeCommand("end", driver, title: "End", "ends the session for everybody; deletes queue and votes") { _ in
            .input(.end)
        },
        NodeCommand(
            "mark", people, of: .words, isForRecording: true,
            "marks this moment of the drive for its report"
        ) { .input(.mark(UntrustedText.shown($0, atMost: NodeLimits.markCharacters))) },
        NodeCommand("view", people, or: ["queue"], "shows the current song and the full queue") { _ in .view },
        NodeCommand("help", people, or: ["?"], of: .command, "explains all commands, or one") { _ in
            .lines([])
        },
        NodeCommand("quit", people, or: ["exit"], "stops, and saves queue and votes for the next start") { _ in
            .input(.quit(.quit))
        },
    ]

    /// The syntax for a person or a program.
    public func usage(forProgram isForProgram: Bool = false) -> String {
        switch parameter {
        case nil: word
        case .song: "\(word) \(isForProgram ? "ID" : "SONG")"
        case .placedSong: "\(word) \(isForProgram ? "ID" : "SONG") PLACE"
        case .percent: "\(word) PERCENT"
        case .decibels: "\(word) [DB|off]"
        case .place: "\(word) TIME"
        case .choice: "\(word) on|off"
        case .playlist: "\(word) [NAME]"
        case .group: isForProgram ? "\(word) artist|album ID" : "\(word) NUMBER"
        case .guest, .outcast, .driver: "\(word) NAME"
        case .appointee: "\(word) [NAME]"
        case .host: "\(word) HOST"
        case .guestAndSpan: "\(word) NAME [TIME]"
        case .words: "\(word) WORDS"
        case .digits: "\(word) DIGITS"
        case .span: "\(word) [TIME]"
        case .command: "\(word) COMMAND"
        }
    }

    /// Splits a typed song and its position. Nil if the position is missing.
    static func placed(_ text: String) -> (song: String, place: Int)? {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count > 1, let place = words.last.flatMap({ Int($0) }), (1...DJLimits.queuedSongs).contains(place)
        else { return nil }
        return (words.dropLast().joined(separator: " "), place)
    }

    private static func unplaced(_ text: String) -> CommandProblem {
        .badCommand("move \(text)", expected: "move SONG PLACE")
    }

    private static func moved(_ text: String) -> Meaning {
        guard let (song, place) = placed(text) else {
            return .notice(unplaced(text))
        }
        return .input(.host(.move(song, to: place - 1)))
    }

    private static func shelf(_ shelf: SongQuery.Shelf, of song: Song.ID = "", isGuest: Bool = false) -> Meaning {
        let query = SongQuery(song, on: shelf)
        return .input(isGuest ? .guest(.search(query)) : .host(.search(query)))
    }

    /// `artist` or `album`, and the identifier of one of its songs.
    private static func opened(_ text: String, isGuest: Bool = false) -> Meaning {
        let parts = text.split(maxSplits: 1, whereSeparator: \.isWhitespace)
        guard parts.count == 2, let shelf = SongQuery.Shelf(rawValue: String(parts[0])),
            [.artist, .album].contains(shelf)
        else { return .notice(.badCommand("open \(text)", expected: "open artist ID")) }
        return self.shelf(shelf, of: String(parts[1]), isGuest: isGuest)
    }

    /// Seconds such as `90`, or minutes and seconds such as `1:30`.
    private static func sought(_ text: String) -> Meaning {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { UInt16($0) }
        guard (1...3).contains(parts.count), numbers.count == parts.count, numbers.dropFirst().allSatisfy({ $0 < 60 })
        else { return .notice(.badCommand("seek \(text)", expected: "seek 1:30")) }
        return .input(.host(.seek(numbers.reduce(0) { $0 * 60 + Double($1) })))
    }

    private static func shuffled(_ text: String) -> Meaning {
        switch text.lowercased() {
        case "on": .input(.host(.shuffle(true)))
        case "off": .input(.host(.shuffle(false)))
        default: .notice(.badCommand("shuffle \(text)", expected: "shuffle on"))
        }
    }

    private static func volume(_ text: String) -> Meaning {
        guard let percent = Int(text.hasSuffix("%") ? text.dropLast() : text[...]),
            (0...DJLimits.loudest).contains(percent)
        else { return .notice(.badCommand("volume \(text)", expected: "volume 40")) }
        return .input(.host(.volume(percent)))
    }

    /// A number of decibels such as `12` or `12 dB`, `off`, or nothing.
    private static func ducked(_ text: String) -> Meaning {
        let text = text.lowercased()
        if text.isEmpty { return .input(.host(.duck(DJLimits.duck))) }
        if text == "off" { return .input(.host(.duck(0))) }
        let digits = (text.hasSuffix("db") ? text.dropLast(2) : text[...]).filter { !$0.isWhitespace }
        guard let decibels = Int(digits), (1...DJLimits.deepestDuck).contains(decibels) else {
            return .notice(.badCommand("duck \(text)", expected: "duck \(DJLimits.duck), or duck off"))
        }
        return .input(.host(.duck(decibels)))
    }

    /// Whether programs have the command. They do not have those that only explain commands.
    package var isForPrograms: Bool { if case .lines = meaning("") { false } else { true } }
}

/// A command as a page sends it.
public struct PageRequest: Decodable, Hashable, Sendable {
    /// The command's word.
    public var command: String
    /// The song that the command applies to.
    public var songID: Song.ID?
    /// The guest that the command applies to.
    public var peer: Peer.ID?
    /// The song's new position, counted from 0.
    public var position: Int?
    /// The volume in percent.
    public var percent: Int?
    /// The position in the song, in seconds.
    public var seconds: Int?
    /// Whether to switch something on.
    public var isOn: Bool?
    /// The name of a playlist; empty for all songs.
    public var playlist: String?
    /// How long the invitation is valid.
    public var span: String?
    /// A PIN.
    public var digits: String?
    /// A host: a name, an identifier, or an invitation.
    public var host: String?

    /// The argument for a parameter; nil if it is missing or invalid.
    func argument(for parameter: NodeCommand.Parameter?) -> String? {
        switch parameter {
        case nil: ""
        case .song: songID.flatMap { (1...DJLimits.songIDBytes).contains($0.utf8.count) ? $0 : nil }
        case .placedSong: songID.flatMap { song in position.map { "\(song) \($0 &+ 1)" } }
        case .percent: percent.map(String.init)
        case .place: seconds.map(String.init)
        case .choice: isOn.map { $0 ? "on" : "off" }
        case .playlist: playlist.flatMap { $0.utf8.count <= NodeLimits.playlistBytes ? $0 : nil }
        case .guestAndSpan:
            peer.flatMap {
                (1...Limits.peerIDBytes).contains($0.utf8.count) ? "\($0) \(span ?? "")".trimmingEnd : nil
            }
        case .guest, .outcast, .appointee, .driver:
            peer.flatMap { (1...Limits.peerIDBytes).contains($0.utf8.count) ? $0 : nil }
        case .span: span ?? ""
        case .digits: digits.flatMap { (1...NodeLimits.pinBytes).contains($0.utf8.count) ? $0 : nil }
        case .host: host.flatMap { (1...NodeLimits.hostBytes).contains($0.utf8.count) ? $0 : nil }
        case .group, .words, .command, .decibels: nil
        }
    }
}

extension String {
    fileprivate var trimmingEnd: String { String(self.reversed().drop { $0 == " " }.reversed()) }
}
