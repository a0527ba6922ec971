// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Why something that a person has typed or tapped has no effect. Each case is one row of the table below, as in
/// `NetworkError`. `docs/reference.md`, "Notices", has the same rows.
public enum CommandProblem: Hashable, Sendable {
    /// The line is not a valid command. `expected` names the valid ones.
    case badCommand(String, expected: LocalizedText)
    /// The command lacks its argument. `needs` names the argument, and `type` is the text to type.
    case incomplete(String, needs: LocalizedText, type: LocalizedText)
    /// The text is the beginning of several names.
    case severalMeant(String, [String])
    /// The text is not a guest's full name, but the beginning of one or more names.
    case guestsMeant(String, [String])
    /// No song of the queue has this name.
    case notOnView(String)
    /// This node knows no song of this name.
    case notFound(String)
    /// A number beyond the end of a list, and the list's length. With a length of 0 the list is that of the search
    /// results.
    case noSuchLine(Int, of: Int)
    /// No queue has arrived yet, so the song is unknown.
    case noQueueYet
    /// The queue is empty.
    case emptyQueue
    /// A number refers to search results, but there has been no search.
    case nothingFoundYet
    /// No artists or albums have been listed.
    case nothingListedYet
    /// No guest is linked.
    case nobodyHere
    /// The guest to remove is not linked.
    case noSuchGuest(String)
    /// Several guests have this name.
    case severalGuests([Peer])
    /// The song to remove is not in the queue.
    case notInQueue(String)
    /// The song of this title is not pinned.
    case notPinned(String)
    /// A song cannot be added to the queue. `waiting` counts the queued songs of the same guest.
    case cannotAdd(String, RejectionReason, waiting: Int = 0)
    /// No song plays that could be skipped.
    case nothingPlays
    /// No song is available to play.
    case nothingToPlay
    /// No step can still be undone.
    case nothingToUndo
    /// No song was played before the present one.
    case nothingBefore
    /// This host has no player with a volume.
    case noVolume
    /// The music folder has no playlist with this name. The list has the names of its playlists.
    case noSuchPlaylist(String, [String])
    /// This playlist plays while the queue is empty; an empty name means all songs.
    case playlistChosen(String)
    /// A retry could repair nothing.
    case nothingToRetry
    /// The wish cannot be stored, because the disk does not work. Another notice reports the disk.
    case notKept
    /// The search is longer than any title and artist.
    case searchTooLong
    /// The host has refused the search for these words.
    case searchRefused(String, RejectionReason)
    /// No banned guest has this name.
    case notKeptOut(String)
    /// No co-host has that name.
    case noDriver(String)
    /// The host has as many co-hosts as it allows.
    case tooManyDrivers
    /// No host of this name was joined.
    case noSuchHost(String)
    /// Several joined hosts have this name.
    case severalHosts([Peer])
    /// This guest is linked to that host already.
    case joinedAlready(String)
    /// The text is not an invitation, is incomplete, or belongs to another application.
    case noInvitation
    /// The text is not a PIN of six digits.
    case noPIN(String)
    /// The text is not a valid lifetime for an invitation.
    case noSpan(String)
    /// As many invitations are open as the host allows.
    case tooManyInvitations
    /// This many open invitations were revoked.
    case invitationsTakenBack(Int)
    /// The person has ended the session of this host.
    case sessionEnded
    /// An answer to a pairing question that was not asked.
    case nothingAsked

    /// Whether only a typed line can cause it: buttons identify guests and hosts by their identifiers.
    var isTyped: Bool {
        switch self {
        case .badCommand, .incomplete, .severalMeant, .guestsMeant, .notOnView, .notFound, .noSuchLine, .noQueueYet,
            .nothingFoundYet, .nothingListedYet, .nobodyHere, .noSuchGuest, .severalGuests, .notKeptOut, .noDriver,
            .noSuchHost, .severalHosts, .nothingAsked:
            true
        default: false
        }
    }

    /// Whether the command had no effect. The other cases report its effect.
    var isRefusal: Bool {
        switch self {
        case .invitationsTakenBack, .nothingToRetry, .playlistChosen, .sessionEnded: false
        default: true
        }
    }

    /// The row of this problem.
    public var problem: Problem {
        switch self {
        case .badCommand(let line, let expected):
            row("badCommand", "\"\(shown(line))\" is not a command.", "Try: \(expected).")
        case .incomplete(let word, let need, let type):
            row("incompleteCommand", "\"\(word)\" needs \(need).", "Type \(word) and \(type).")
        case .severalMeant(let text, let names):
            row(
                "severalMeant", "\"\(shown(text))\" may be \(list(names)).",
                "Type more of the name, or a song's number.")
        case .guestsMeant(let text, let names):
            row(
                "severalMeant", "\"\(shown(text))\" may be \(list(names)).",
                "Type the full name, or the first digits of the id.")
        case .notOnView(let text):
            row(
                "notQueued", "\"\(shown(text))\" is not in the queue.",
                "Use a number of the list, or the beginning of a title in it.")
        case .notFound(let text):
            row(
                "unknownSong", "\"\(shown(text))\" was not found yet.",
                "Search for it first: type search \(shown(text))")
        case .noSuchLine(let number, of: 0):
            row("noSuchLine", "There is no result \(number).", "Find a song: type search and a word of its title.")
        case .noSuchLine(let number, let count):
            row("noSuchLine", "There is no line \(number).", "Use a number from 1 to \(count).")
        case .noQueueYet:
            row("noQueueYet", "The queue has not arrived yet.", "You can vote after you join a host.")
        case .emptyQueue:
            row("emptyList", "The queue is empty.", "Find a song first: type search and a word of its title.")
        case .nothingFoundYet:
            row(
                "emptyList", "You have not searched for songs yet.",
                "Find a song first: type search and a word of its title.")
        case .nothingListedYet:
            row("emptyList", "No artists or albums are listed yet.", "List them first: type artists or albums.")
        case .nobodyHere: row("emptyList", "There are no guests.", nil)
        case .noSuchGuest(let name):
            row("noSuchGuest", "No guest is called \"\(shown(name))\".", "Use a guest's name or id.")
        case .severalGuests(let guests):
            row(
                "severalGuests",
                "\(guests.count) guests are called \"\(guests.first?.name ?? "")\": \(heads(guests)).",
                "Use these digits of the id of the one you mean.")
        case .notPinned(let title):
            row("notPinned", "\"\(shown(title))\" is not pinned.", "Votes decide its place already.")
        case .notInQueue(let song):
            row(
                "notQueued", "\"\(song)\" is not in the queue.",
                "Name a song that waits; skip ends the one that plays.")
        case .cannotAdd(let song, let reason, let waiting): refusal(of: song, reason, waiting)
        case .nothingPlays: row("nothingPlays", "Nothing plays now.", "To start the music, type play.")
        case .nothingToPlay:
            row("nothingToPlay", "There is no song to play.", "Find one: type search and a word of its title.")
        case .nothingToUndo:
            row(
                "nothingToUndo", "There is nothing to undo.",
                "Removed or moved songs, a cleared queue, kicks and bans can be undone for two minutes.")
        case .nothingBefore: row("nothingBefore", "No other song was played before this one.", nil)
        case .noVolume:
            row(
                "noVolume", "This host plays no sound, so it has no volume.",
                "To play music, start the host with --library and a folder.")
        case .noSuchPlaylist(let name, let known):
            row(
                "noSuchPlaylist", "No playlist of the music folder is called \"\(shown(name))\".",
                known.isEmpty
                    ? "Copy an M3U or PLS file into the music folder." : "Type playlist and one of: \(list(known)).")
        case .playlistChosen(""): row("playlistChosen", "All songs play while the queue is empty.", nil)
        case .playlistChosen(let name):
            row("playlistChosen", "The playlist \(shown(name)) plays while the queue is empty.", nil)
        case .nothingToRetry: row("nothingToRetry", "Everything works; there is nothing to retry.", nil)
        case .notKept: row("notKept", "This was not saved: the disk does not work.", "Try again when the disk works.")
        case .searchTooLong:
            row("searchTooLong", "That is too long to search for.", "Use at most \(DJLimits.searchBytes) letters.")
        case .searchRefused(let words, .tooFast):
            row(
                "searchRefused",
                "The host did not search for \"\(shown(words))\": you search too often.",
                "Search again in a second.")
        case .searchRefused(let words, _):
            row("searchRefused", "The host did not search for \"\(shown(words))\".", "Search again in a moment.")
        case .notKeptOut(let name):
            row("notKeptOut", "No banned guest is called \"\(shown(name))\".", "Type bans to list the banned guests.")
        case .noDriver(let name):
            row("noDriver", "No co-host is called \"\(shown(name))\".", "Type driver to see the co-hosts.")
        case .tooManyDrivers:
            row(
                "tooManyDrivers", "No more co-hosts are possible.",
                "To end the role of one, type passenger and its name.")
        case .noSuchHost(let name):
            row(
                "noSuchHost", "No host that you have joined is called \"\(shown(name))\".",
                "Type hosts to list the hosts that you have joined.")
        case .severalHosts(let hosts):
            row(
                "severalHosts", "\(hosts.count) hosts are called \"\(hosts.first?.name ?? "")\": \(heads(hosts)).",
                "Use these digits of the id of the one you mean.")
        case .joinedAlready(let name): row("joinedAlready", "You have joined \(name) already.", nil)
        case .noInvitation:
            row(
                "noInvitation", "This is not a complete invitation to this application.",
                "Copy all text that invite shows at the host.")
        case .noPIN(let text):
            row("noPIN", "\"\(shown(text))\" is not a PIN.", "Type pin and the six digits on the host's screen.")
        case .noSpan(let text):
            row(
                "noSpan", "\"\(shown(text))\" is not a valid time for an invitation.",
                "Type invite 30m, invite 2h, invite 3d, or invite alone.")
        case .tooManyInvitations:
            row(
                "tooManyInvitations", "\(Limits.invitations) invitations are open already; no more are possible.",
                "Revoke them first: type invite none.")
        case .invitationsTakenBack(0): row("invitationsTakenBack", "There were no invitations to revoke.", nil)
        case .invitationsTakenBack(1):
            row("invitationsTakenBack", "The open invitation was revoked.", nil)
        case .invitationsTakenBack(let count):
            row("invitationsTakenBack", "\(count) open invitations were revoked.", nil)
        case .sessionEnded: row("sessionEnded", "The session has ended, and a new one has begun.", nil)
        case .nothingAsked: row("nothingAsked", "There are no digits to compare yet.", "Wait for them.")
        }
    }

    private func refusal(of song: String, _ reason: RejectionReason, _ waiting: Int) -> Problem {
        switch reason {
        case .unknownSong:
            row(
                "unknownSong", "There is no song \"\(shown(song))\".",
                "Find a song: type search and a word of its title.")
        case .alreadyVoted: row("alreadyVoted", "\"\(song)\" is playing or queued, and has this vote already.", nil)
        // Hosts of this version do not give these reasons for a suggestion.
        case .notQueued, .alreadyPlayed, .notVoted:
            row("notTaken", "The host did not accept \"\(song)\": \(reason.why).", nil)
        case .queueFull: row("queueFull", "The queue is full.", "Try again after the next song.")
        case .tooManySuggestions where waiting == 1:
            row("tooManySuggestions", "You already have 1 song waiting.", "Suggest again when it has played.")
        case .tooManySuggestions:
            row(
                "tooManySuggestions",
                waiting == 0 ? "You already have enough songs waiting." : "You already have \(waiting) songs waiting.",
                "Suggest again when one of them has played.")
        case .cannotBePlayed:
            row(
                "cannotBePlayed", "\"\(song)\" cannot be played: its file is damaged or of an unknown kind.",
                "Choose another song.")
        case .tooFast: row("tooFast", "You tap faster than the host counts.", "Wait a few seconds, then tap again.")
        case .votingOnly:
            row(
                "votingOnly", "On this host guests vote, and the driver chooses the songs.",
                "Vote for a song in the queue.")
        case .driverOnly: row("driverOnly", "On this host only the driver can do that.", "Ask the driver.")
        case .notHere: row("notHere", "The guest that you wanted to kick is not there.", nil)
        case .notPlaying: row("notPlaying", "The song that you wanted to skip does not play any more.", nil)
        case .skippingNotAllowed:
            row("skippingNotAllowed", "On this host only the driver can skip songs.", "Ask the driver.")
        }
    }

    private func row(_ code: String, _ text: LocalizedText, _ advice: LocalizedText?) -> Problem {
        .passes(code, text, advice, raisedBy: .person)
    }

    private func heads(_ guests: [Peer]) -> String {
        guests.prefix(3).map { Identity.head(of: $0.id) }.joined(separator: ", ")
    }

    /// The beginning of the text, as much as fits a line, without control characters.
    private func shown(_ text: String) -> String { UntrustedText.shown(String(text.prefix(40))) }

    /// The first names in a language's own quotation marks, and the number of the others.
    private func list(_ names: [String]) -> LocalizedText {
        let named = names.prefix(DJLimits.namedChoices).map { "\"\($0)\"" as LocalizedText }
        let list = LocalizedText(
            key: named.indices.map { "{\($0 + 1)}" }.joined(separator: ", "), values: named.map { .localized($0) })
        let others = names.count - named.count
        return others > 0 ? "\(list) and \(others) more" : list
    }
}
