// SPDX-License-Identifier: Apache-2.0

extension Wish.Kind {
    /// The progress of a wish, as a sentence for the person. `title` is the song's title as it appears in a sentence.
    public func text(_ state: WishState, title: LocalizedText.Value) -> LocalizedText {
        switch (self, state) {
        case (.vote, .queued): "Your vote for \(title) is waiting to be sent."
        case (.vote, .sent): "Your vote for \(title) is on its way."
        case (.vote, .confirmed): "Your vote for \(title) counts."
        case (.vote, .rejected(let reason)): "Your vote for \(title) does not count: \(reason.why)."
        case (.takeBack, .confirmed): "Your vote for \(title) is taken back."
        case (.takeBack, .rejected): "\(title) has no vote of yours."
        case (.takeBack, _): "Your vote for \(title) is being taken back."
        case (.suggest, .queued): "Your suggestion of \(title) is waiting to be sent."
        case (.suggest, .sent): "Your suggestion of \(title) is on its way."
        case (.suggest, .confirmed): "Your suggestion of \(title) was accepted."
        case (.suggest, .rejected(let reason)): "\(title) is not queued: \(reason.why)."
        }
    }
}

extension RejectionReason {
    /// The reason as a part of a sentence, such as "it has been played".
    public var why: LocalizedText {
        switch self {
        case .unknownSong: "there is no such song"
        case .notQueued: "it is not in the queue any more"
        case .alreadyPlayed: "it has been played"
        case .alreadyVoted: "it was counted before"
        case .notVoted: "there is no vote"
        case .queueFull: "the queue is full"
        case .tooManySuggestions: "enough suggestions of one guest wait already"
        case .notPlaying: "it does not play any more"
        case .skippingNotAllowed: "only the driver can skip songs here"
        case .cannotBePlayed: "it cannot be played"
        case .tooFast: "you tap faster than the host counts"
        case .votingOnly: "only the driver chooses songs here"
        case .driverOnly: "only the driver can do that here"
        case .notHere: "there is no such guest"
        }
    }
}
