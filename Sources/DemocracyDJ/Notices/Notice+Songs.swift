// SPDX-License-Identifier: Apache-2.0

extension Notice {
    /// A song cannot be put into the queue.
    public static func cannotAdd(_ songID: Song.ID, _ reason: RejectionReason) -> Notice {
        switch reason {
        case .unknownSong: passing("unknownSong", "There is no song \"\(songID)\".", "Check the song's id.")
        case .notQueued: passing("notQueued", "\"\(songID)\" is not in the queue.", "Suggest it first.")
        case .alreadyPlayed:
            passing("alreadyPlayed", "\"\(songID)\" has been played.", "Suggest it to hear it again.")
        case .alreadyVoted: passing("alreadyVoted", "\"\(songID)\" plays or is queued, and has that vote already.")
        case .notVoted: passing("notVoted", "\"\(songID)\" has no vote of yours.")
        case .queueFull: passing("queueFull", "The queue is full.", "Try again after the next song.")
        case .tooManySuggestions:
            passing(
                "tooManySuggestions", "As many of your suggestions wait as the host allows.",
                "Suggest again when one of them has played.")
        case .cannotBePlayed:
            passing(
                "cannotBePlayed", "\"\(songID)\" cannot be played: its file is damaged or of an unknown kind.",
                "Choose another song.")
        case .notPlaying, .skippingNotAllowed: cannotSkip(reason)
        }
    }

    /// The song that plays is not skipped.
    public static func cannotSkip(_ reason: RejectionReason) -> Notice {
        switch reason {
        case .skippingNotAllowed:
            passing("skippingNotAllowed", "On this host only the driver skips songs.", "Ask the driver.")
        default: passing("notPlaying", "The song that you wanted to skip does not play any more.")
        }
    }

    /// The head unit has failed on a song, whoever asked for it. `title` is nil where its name is not known any more.
    public static func cannotBePlayed(title: String?) -> Notice {
        passing(
            "cannotBePlayed", "\(title.map { "\"\($0)\"" } ?? "A song that you voted for") cannot be played.",
            "It was skipped, and the next one plays.")
    }

    /// The library is another one than that of the session that goes on.
    public static func songsMissing(_ count: Int) -> Notice {
        passing(
            "songsMissing",
            "\(count) \(count == 1 ? "song" : "songs") of the last queue \(count == 1 ? "is" : "are") not in this library.",
            "They and their votes are gone from the queue.")
    }

    /// There is no song to skip.
    public static let nothingPlays = passing("nothingPlays", "Nothing plays, so there is nothing to skip.")

    /// More words than any song has.
    public static let searchTooLong = passing(
        "searchTooLong", "That is too long to look for.", "Use at most \(DJLimits.searchBytes) letters.")
}
