// SPDX-License-Identifier: Apache-2.0

/// The promises of a world. Each is checked at every step, and the last one after the faults have stopped.
public enum Invariant: String, Hashable, Sendable, CaseIterable {
    // Messages
    /// A message that was acknowledged to its sender is not on the receiver's disk.
    case acknowledgedButLost
    /// A message has reached an application twice, or after a later one.
    case deliveredTwice
    /// A message has reached an application before an earlier one, or a write leaves a gap.
    case leftOut
    /// A node got a message that no node sent to it, or a message that differs from what was sent.
    case forged
    /// Something was sent, acknowledged or shown before it was on the disk.
    case toldTooEarly
    // Links
    /// A link is up with a peer that is not at its other end.
    case falsePeer
    /// A node is linked twice with one peer.
    case linkedTwice
    /// An event of a link was reported before the link was up, or after its end.
    case outOfOrder
    /// A quantity exceeds its limit.
    case overLimit
    /// Two nodes that both follow the protocol have accused each other.
    case falselyAccused
    /// A link was closed, or a guest refused, without a reason.
    case givenUp
    // The host's state
    /// A state update has waited for a link, or came after a newer one.
    case staleUpdate
    /// A guest shows a state that the host has never shown.
    case wrongState
    /// A vote was lost, counted twice, or counted without a guest that cast it.
    case wrongVote
    /// The queue or the current song has changed without a request.
    case wrongQueue
    /// A run of the host has the epoch of an earlier one, or a numbering has the epoch of one that was lost with its
    /// disk.
    case epochReused
    /// A banned guest is back in the session.
    case banForgotten
    /// A guest shows a cover that the host does not have.
    case wrongCover
    // People
    /// A guest was shown a result of its wish that contradicts the host's state.
    case falseAnswer
    /// A notice is shown although its cause has ended, or is missing although its cause exists.
    case wrongNotice
    /// The faults have stopped, but a message has still not arrived, or a node is not connected.
    case notSettled

    /// A sentence for people about a violation.
    public var sentence: String {
        switch self {
        case .acknowledgedButLost: "a sender was told that a message had arrived, and it is not on the receiver's disk."
        case .deliveredTwice: "a message has reached an application twice, or after a later one."
        case .leftOut: "a message has reached an application before an earlier one of the same sender."
        case .forged: "an application got a message that no node has sent to it."
        case .toldTooEarly: "something was sent, acknowledged or shown before it was on the disk."
        case .falsePeer: "a link is up with a node that is not at its other end."
        case .linkedTwice: "a node is linked twice with one peer."
        case .outOfOrder: "something was told of a link before it was up, or after its end."
        case .overLimit: "something has grown beyond its limit."
        case .falselyAccused: "a node has accused another of breaking the protocol, and both keep to it."
        case .givenUp: "a link was given up, or a guest refused, without a reason."
        case .staleUpdate: "a state update has waited for a later link, or came after a newer one."
        case .wrongState: "a guest shows a state that the host has never shown."
        case .wrongVote: "a vote was lost, counted twice, or counted without having been cast."
        case .wrongQueue: "the queue or the current song has changed without a request."
        case .epochReused: "a run of the host, or a numbering of messages, has the epoch of an earlier one."
        case .banForgotten: "a removed guest is back in the session."
        case .wrongCover: "a guest shows a cover that the host does not have."
        case .falseAnswer: "a guest was told what became of its wish, and the host's state says otherwise."
        case .wrongNotice: "a notice is on view and its cause is over, or the other way round."
        case .notSettled: "a minute after the last fault not everything has arrived, or a node is not connected."
        }
    }
}
