// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The messages between hosts and guests.
public enum MeshMessage: Hashable, Sendable {
    /// A guest's wish.
    case intent(GuestIntent)
    /// The host's full state.
    case stateUpdate(HostSnapshot)
    /// The difference between the host's state and an earlier one.
    case stateChange(HostChange)
    /// The host has rejected an intent.
    case rejection(GuestIntent, RejectionReason)
    /// The host's current revision, for a guest that has missed a change without knowing it. `elapsed` is how many
    /// seconds the present song has played, if there is one.
    case stateHeartbeat(epoch: UInt32, revision: UInt64, elapsed: Double? = nil)
    /// A guest has missed a change and asks for the host's full state.
    case stateRequest
    /// A guest looks for songs in the host's library.
    case search(SearchRequest)
    /// The host's answer to a search.
    case searchResults(SearchResults)
    /// A guest that shows pictures asks for a piece of a song's cover.
    case coverRequest(CoverRequest)
    /// The requested piece of a cover.
    case coverPiece(CoverPiece)
}

/// A guest's search in the host's library.
public struct SearchRequest: Hashable, Sendable {
    /// Matches an answer to one of the guest's searches.
    public var number: UInt32
    /// The query.
    public var query: SongQuery
    /// The guest also waits for the host's full state. A new request replaces an unsent one, so one message asks for
    /// both.
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

/// The host's answer to a search.
public struct SearchResults: Hashable, Sendable {
    /// The number of the request.
    public var number: UInt32
    /// The results.
    public var found: FoundSongs

    /// Why the host has not searched; nil if it has.
    public var refused: RejectionReason?

    /// Results.
    public init(number: UInt32, found: FoundSongs, refused: RejectionReason? = nil) {
        self.number = number
        self.found = found
        self.refused = refused
    }

    /// The songs of the results.
    public var songs: [Song] { found.songs }

    /// Results that are only songs.
    public init(number: UInt32, songs: [Song], refused: RejectionReason? = nil) {
        self.init(number: number, found: FoundSongs(songs), refused: refused)
    }
}

/// Why a host rejects an intent.
public enum RejectionReason: String, Hashable, Sendable, Codable, CaseIterable {
    /// No song has this identifier.
    case unknownSong
    /// The song is in the library, but not in the queue.
    case notQueued
    /// The song was in the queue and has been played.
    case alreadyPlayed
    /// The guest has already voted for the song.
    case alreadyVoted
    /// The guest has no vote for the song that it could take back.
    case notVoted
    /// The queue holds `DJLimits.queuedSongs` songs, or the song has `DJLimits.votes` votes.
    case queueFull
    /// The guest has as many waiting suggestions as the host allows (`Fairness.openSuggestions`).
    case tooManySuggestions
    /// The song to skip is not playing any more.
    case notPlaying
    /// The head unit has tried to play the song and failed.
    case cannotBePlayed
    /// The host does not let guests skip (`Fairness.majoritySkip`).
    case skippingNotAllowed
    /// The guest sends wishes faster than a person taps (`DJLimits.wishesPerSecond`).
    case tooFast
    /// Guests can only vote for queued songs (`Fairness.voteOnly`).
    case votingOnly
    /// Only the driver and co-hosts can do that.
    case driverOnly
    /// The guest that the wish names is not linked.
    case notHere
}
