// SPDX-License-Identifier: Apache-2.0

/// The promises of a simulation. Worlds check each at every step, and the last one after the faults have stopped. The raw
/// value is a sentence for people about a violation.
public enum Invariant: String, Hashable, Sendable, CaseIterable {
    // Messages
    case acknowledgedButLost = "a sender was told that a message had arrived, and it is not on the receiver's disk."
    case deliveredTwice = "a message has reached an application twice, or after a later one."
    case leftOut = "a message has reached an application before an earlier one of the same sender."
    case forged = "an application got a message that no node has sent to it."
    case toldTooEarly = "something was sent, acknowledged or shown before it was on the disk."
    // Links
    case falsePeer = "a link is up with a node that is not at its other end."
    case linkedTwice = "a node is linked twice with one peer."
    case outOfOrder = "something was told of a link before it was up, or after its end."
    case overLimit = "something has grown beyond its limit."
    case falselyAccused = "a node has accused another of breaking the protocol, and both keep to it."
    case givenUp = "a link was given up, or a guest refused, without a reason."
    // The host's state
    case staleUpdate = "a state update has waited for a later link, or came after a newer one."
    case wrongState = "a guest shows a state that the host has never shown."
    case wrongVote = "a vote was lost, counted twice, or counted without having been cast."
    case wrongQueue = "the queue or the current song has changed without a request."
    case epochReused = "a run of the host, or a numbering of messages, has the epoch of an earlier one."
    case banForgotten = "a removed guest is back in the session."
    case wrongCover = "a guest shows a cover that the host does not have."
    // People
    case falseAnswer = "a guest was told what became of its wish, and the host's state says otherwise."
    case wrongNotice = "a notice is on view and its cause is over, or the other way round."
    case notSettled = "a minute after the last fault not everything has arrived, or a node is not connected."
}

/// A violated invariant, and what has happened.
typealias Finding = (Invariant, String)
