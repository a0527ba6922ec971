// SPDX-License-Identifier: Apache-2.0

/// What a world promises. Each is checked at every step, and the last one when the faults have stopped.
public enum Invariant: String, Hashable, Sendable, CaseIterable {
    // Messages
    /// What a sender was told had arrived is not on the receiver's disk.
    case acknowledgedButLost
    /// A message has reached an application twice, or after a later one.
    case deliveredTwice
    /// A message has reached an application before one that was sent before it, or a write leaves a gap.
    case leftOut
    /// Somebody was given what nobody has sent to them, or not like that.
    case forged
    /// Something was sent, acknowledged or shown that is not on the disk.
    case toldTooEarly
    // Links
    /// A link is up with somebody who is not at its other end.
    case falsePeer
    /// A node is linked twice with one peer.
    case linkedTwice
    /// Something was told of a link before it was up or after its end.
    case outOfOrder
    /// Something has grown beyond its limit.
    case overLimit
    /// Two nodes that both follow the protocol have accused one another.
    case falselyAccused
    /// A link was given up, or a guest refused, without a reason.
    case givenUp
    // The host's state
    /// A state update has waited for a link, or came after a newer one.
    case staleUpdate
    /// A guest shows a state that the host has never shown.
    case wrongState
    /// A vote was lost, counted twice, or counted though nobody gave it.
    case wrongVote
    /// The queue, or what plays, is another one, and nobody has wanted it.
    case wrongQueue
    /// A run of the host has the epoch of an earlier one, or a numbering that of one whose disk is lost.
    case epochReused
    /// Somebody who was sent away is back in the session.
    case banForgotten
    /// A guest shows a cover that the host does not have.
    case wrongCover
    // People
    /// A guest was told what became of its wish, and the host's state says otherwise.
    case falseAnswer
    /// A notice is on view and its cause is over, or the other way round.
    case wrongNotice
    /// The faults have stopped, and something has still not arrived, or somebody is not connected.
    case notSettled

    /// What has happened where it is broken, for people.
    public var sentence: String {
        switch self {
        case .acknowledgedButLost: "a sender was told that a message had arrived, and it is not on the receiver's disk."
        case .deliveredTwice: "a message has reached an application twice, or after a later one."
        case .leftOut: "a message has reached an application before an earlier one of the same sender."
        case .forged: "an application was given what nobody has sent to it."
        case .toldTooEarly: "something was sent, acknowledged or shown before it was on the disk."
        case .falsePeer: "a link is up with somebody who is not at its other end."
        case .linkedTwice: "a node is linked twice with one peer."
        case .outOfOrder: "something was told of a link before it was up, or after its end."
        case .overLimit: "something has grown beyond its limit."
        case .falselyAccused: "a node has accused another of breaking the protocol, and both keep to it."
        case .givenUp: "a link was given up, or a guest refused, without a reason."
        case .staleUpdate: "a state update has waited for a later link, or came after a newer one."
        case .wrongState: "a guest shows a state that the host has never shown."
        case .wrongVote: "a vote was lost, counted twice, or counted though nobody gave it."
        case .wrongQueue: "the queue or what plays has changed, and nobody has wanted it."
        case .epochReused: "a run of the host, or a numbering of messages, has the epoch of an earlier one."
        case .banForgotten: "somebody who was sent away is back in the session."
        case .wrongCover: "a guest shows a cover that the host does not have."
        case .falseAnswer: "a guest was told what became of its wish, and the host's state says otherwise."
        case .wrongNotice: "a notice is on view and its cause is over, or the other way round."
        case .notSettled: "a minute after the last fault not everything has arrived, or somebody is not connected."
        }
    }
}
