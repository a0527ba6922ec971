// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A guest's wish for a song, which no snapshot has shown yet.
public struct Wish: Hashable, Sendable {
    /// What the guest wants.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// Vote for the song.
        case vote
        /// Take the vote back.
        case takeBack
        /// Add the song to the queue.
        case suggest
    }

    /// The progress of a wish.
    public enum Progress: String, Hashable, Sendable {
        /// The wish waits here for the next link, because no host is known yet or the transport had no room.
        case waiting
        /// The transport keeps the wish until a link is up.
        case handedOver
        /// The transport has the wish, and a link is up.
        case sent
    }

    /// The song.
    public var songID: Song.ID
    /// What the guest wants for the song.
    public var kind: Kind
    /// The progress of the wish.
    public var progress: Progress
    /// Number of messages about the wish that the host has not acknowledged.
    public var undelivered = 0
    /// An earlier wish for the same song may still be under way. So only states that arrive after the delivery of this
    /// wish count. A rejection that may belong to the earlier wish does not count.
    public var needsDelivery = false
    /// A rejection has arrived that belongs to an earlier wish or to this one.
    public var isPerhapsRejected = false
    /// Number of states that have arrived from the host since everything was delivered.
    public var statesSinceDelivery = 0
    /// The host that the wish is for. Nil if no host was known: the wish is for the next host that the guest joins.
    public var host: Peer.ID?

    /// A wish.
    public init(_ kind: Kind, _ songID: Song.ID, progress: Progress = .waiting) {
        self.kind = kind
        self.songID = songID
        self.progress = progress
    }

    /// The message to the host.
    var intent: GuestIntent {
        switch kind {
        case .vote: .vote(songID: songID)
        case .takeBack: .takeBackVote(songID: songID)
        case .suggest: .suggestSong(songID: songID)
        }
    }

    /// Whether an intent is about the same song. All wishes for one song compete, and the last one counts: the host
    /// treats a suggestion of a queued song as a vote.
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

    /// The answer to a wish that is fulfilled before it is sent. A vote that was never cast cannot be taken back.
    var answerAtOnce: WishState { kind == .takeBack ? .rejected(.notVoted) : .confirmed }

    /// Whether the host's state includes its decision on the wish. The first state after the delivery may have left
    /// before the host handled the wish, the second one has not.
    var isSettled: Bool { undelivered == 0 && statesSinceDelivery >= 2 }
}

/// Messages about a song for which the guest wants nothing any more, and which the host may not have acknowledged.
public struct Overtaken: Hashable, Sendable {
    /// Number of acknowledgements to expect. With 0, no acknowledgement will come. The messages have then arrived at
    /// the latest when the next message is acknowledged.
    public var count = 0
    /// At least one of the messages is a vote or a suggestion.
    public var asks = false
    /// At least one of the messages takes a vote back.
    public var takesBack = false

    init(count: Int = 0, asks: Bool = false, takesBack: Bool = false) {
        (self.count, self.asks, self.takesBack) = (count, asks, takesBack)
    }

    /// The messages that a finished wish leaves behind.
    init(_ wish: Wish) {
        self.init(
            count: wish.undelivered, asks: wish.needsDelivery || wish.kind != .takeBack,
            takesBack: wish.needsDelivery || wish.kind == .takeBack)
    }

    /// Whether one of these wishes would undo a wish that is confirmed before they arrive.
    func undoes(_ kind: Wish.Kind) -> Bool { kind == .takeBack ? asks : takesBack }
}

/// The progress of a wish, as a person sees it.
public enum WishState: Hashable, Sendable {
    /// The wish waits for a link to the host.
    case queued
    /// The wish was sent over a link.
    case sent
    /// A snapshot of the host shows the result of the wish.
    case confirmed
    /// The host has rejected the wish.
    case rejected(RejectionReason)
}
