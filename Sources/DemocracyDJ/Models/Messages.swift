// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What hosts and guests say to one another.
public enum MeshMessage: Hashable, Sendable {
    /// A guest wants something.
    case intent(GuestIntent)
    /// The host's state, whole.
    case stateUpdate(HostSnapshot)
    /// What has become of the host's state since an earlier one.
    case stateChange(HostChange)
    /// The host's answer to an intent that it does not follow.
    case rejection(GuestIntent, RejectionReason)
    /// Which state is the host's present one, for a guest that has missed a change without knowing it; and for how many seconds
    /// what plays has played, where something does.
    case stateHeartbeat(epoch: UInt32, revision: UInt64, elapsed: Double? = nil)
    /// A guest has missed a change, and asks for the host's whole state.
    case stateRequest
    /// A guest looks for songs in the host's library.
    case search(SearchRequest)
    /// The host's answer to a search.
    case searchResults(SearchResults)
    /// A guest that shows pictures asks for a piece of a song's cover.
    case coverRequest(CoverRequest)
    /// That piece.
    case coverPiece(CoverPiece)
}

/// A guest's search in the host's library.
public struct SearchRequest: Hashable, Sendable {
    /// Tells the answers of a guest's searches apart.
    public var number: UInt32
    /// What to look for.
    public var query: SongQuery
    /// The guest waits for the host's whole state as well: one request takes the place of another that has not left.
    public var asksForState: Bool

    /// A request.
    public init(number: UInt32, query: SongQuery, asksForState: Bool = false) {
        self.number = number
        self.query = query
        self.asksForState = asksForState
    }

    /// A request for songs that have these words.
    public init(number: UInt32, words: String, asksForState: Bool = false) {
        self.init(number: number, query: SongQuery(words), asksForState: asksForState)
    }
}

/// What a host has found.
public struct SearchResults: Hashable, Sendable {
    /// The request's number.
    public var number: UInt32
    /// What it is.
    public var found: FoundSongs

    /// Why the host has not looked; nil where it has.
    public var refused: RejectionReason?

    /// Results.
    public init(number: UInt32, found: FoundSongs, refused: RejectionReason? = nil) {
        self.number = number
        self.found = found
        self.refused = refused
    }

    /// The songs of it.
    public var songs: [Song] { found.songs }

    /// Songs, and no more.
    public init(number: UInt32, songs: [Song], refused: RejectionReason? = nil) {
        self.init(number: number, found: FoundSongs(songs), refused: refused)
    }
}

/// Why a host does not follow an intent.
public enum RejectionReason: String, Hashable, Sendable, Codable, CaseIterable {
    /// No song of this identifier.
    case unknownSong
    /// The song is in the library, but not in the queue.
    case notQueued
    /// The song was in the queue, and has been played.
    case alreadyPlayed
    /// This guest's vote for the song is counted already.
    case alreadyVoted
    /// This guest has no vote for the song to take back.
    case notVoted
    /// The queue holds `DJLimits.queuedSongs`, or the song `DJLimits.votes`.
    case queueFull
    /// As many of this guest's suggestions wait as the host allows (`Fairness.openSuggestions`).
    case tooManySuggestions
    /// The song to skip does not play any more.
    case notPlaying
    /// The head unit has tried to play the song, and could not.
    case cannotBePlayed
    /// The host does not let guests skip (`Fairness.majoritySkip`).
    case skippingNotAllowed
    /// The guest wants more than a person taps (`DJLimits.wishesPerSecond`).
    case tooFast
    /// Guests vote for what is queued, and ask for no other song (`Fairness.voteOnly`).
    case votingOnly
    /// Only the driver and the driver's devices do that.
    case driverOnly
    /// The guest that it is about is not there.
    case notHere
}
