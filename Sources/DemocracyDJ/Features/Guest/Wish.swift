// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Something that a guest wants of a song and that no snapshot has shown yet.
public struct Wish: Hashable, Sendable {
    /// What is wanted.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// That a vote counts.
        case vote
        /// That a vote does not count any more.
        case takeBack
        /// That the song is queued.
        case suggest
    }

    /// Where it has got to.
    public enum Progress: String, Hashable, Sendable {
        /// No host is known yet, or the transport had no room: it waits here for the next link.
        case waiting
        /// The transport keeps it until there is a link.
        case handedOver
        /// The transport has it, and there is a link.
        case sent
    }

    /// The song.
    public var songID: Song.ID
    /// What is wanted of it.
    public var kind: Kind
    /// Where it has got to.
    public var progress: Progress
    /// Messages about it that the host does not have for good yet.
    public var undelivered = 0
    /// An earlier wish of the same song may still be on its way: only what comes after the delivery of this one counts, and
    /// no rejection that may be the earlier one's.
    public var needsDelivery = false
    /// A rejection has come that may have been an earlier wish's, or this one's.
    public var isPerhapsRejected = false
    /// States of the host that have come since everything was delivered.
    public var statesSinceDelivery = 0
    /// The host that it is meant for; nil where none was known, for the one that is joined next.
    public var host: Peer.ID?

    /// A wish.
    public init(_ kind: Kind, _ songID: Song.ID, progress: Progress = .waiting) {
        self.kind = kind
        self.songID = songID
        self.progress = progress
    }

    /// The message that tells the host.
    var intent: GuestIntent {
        switch kind {
        case .vote: .vote(songID: songID)
        case .takeBack: .takeBackVote(songID: songID)
        case .suggest: .suggestSong(songID: songID)
        }
    }

    /// All that is wanted of one song is about the same thing, of which the last counts: a suggestion of what is queued is a
    /// vote for it.
    func isAbout(_ intent: GuestIntent) -> Bool {
        switch intent {
        case .vote(songID), .takeBackVote(songID), .suggestSong(songID): true
        default: false
        }
    }

    /// Whether a state of the host shows what this guest wants.
    func isShown(by snapshot: HostSnapshot, to guest: Peer.ID) -> Bool {
        let item = snapshot.item(songID)
        return switch kind {
        case .vote: item?.voters.contains(guest) == true
        case .takeBack: item?.voters.contains(guest) != true
        case .suggest: item?.voters.contains(guest) == true || item?.addedBy == guest
        }
    }

    /// What is told of a wish that is fulfilled before it is sent: a vote that was never given cannot be taken back.
    var answerAtOnce: WishState { kind == .takeBack ? .rejected(.notVoted) : .confirmed }

    /// What the host shows now is what it has made of the wish: one state after the delivery may have been on its way
    /// before the host took it, the second one was not.
    var isSettled: Bool { undelivered == 0 && statesSinceDelivery >= 2 }
}

/// Messages about a song that nothing is wanted of any more, and that the host may not have for good yet.
public struct Overtaken: Hashable, Sendable {
    /// How many will be acknowledged. 0 where nobody will say when they have come: at the latest with the next message that
    /// is acknowledged.
    public var count = 0
    /// One of them is a vote or a suggestion.
    public var asks = false
    /// One of them takes a vote back.
    public var takesBack = false

    init(count: Int = 0, asks: Bool = false, takesBack: Bool = false) {
        (self.count, self.asks, self.takesBack) = (count, asks, takesBack)
    }

    /// What a wish leaves behind.
    init(_ wish: Wish) {
        self.init(
            count: wish.undelivered, asks: wish.needsDelivery || wish.kind != .takeBack,
            takesBack: wish.needsDelivery || wish.kind == .takeBack)
    }

    /// Whether one of them would undo a wish that is confirmed before they arrive.
    func undoes(_ kind: Wish.Kind) -> Bool { kind == .takeBack ? asks : takesBack }
}

/// Where a wish has got to, as a person is told.
public enum WishState: Hashable, Sendable {
    /// It waits for a link to the host.
    case queued
    /// It is on its way over a link.
    case sent
    /// A snapshot shows it.
    case confirmed
    /// The host does not follow it.
    case rejected(RejectionReason)
}
