// SPDX-License-Identifier: Apache-2.0

/// What a world promises. Each is looked after at every step, and the last one when the faults have stopped.
public enum Promise: String, Hashable, Sendable, CaseIterable {
    /// What a sender was told had arrived is not on the receiver's disk.
    case acknowledgedButLost
    /// A message has reached an application twice, or after a later one.
    case deliveredTwice
    /// A message has reached an application before one that was cast before it.
    case leftOut
    /// Somebody was given what nobody has sent to them, or not like that.
    case forged
    /// A link is up with somebody who is not at its other end.
    case falsePeer
    /// A node is linked twice with one peer.
    case linkedTwice
    /// A link was told to be up twice, or something was told of it before it was up or after its end.
    case outOfOrder
    /// A state update has waited for a link, or came after a newer one.
    case staleUpdate
    /// Something has grown beyond its limit.
    case overLimit
    /// Two nodes that both follow the protocol have accused one another.
    case falselyAccused
    /// A link was given up, or a guest refused, without a reason.
    case givenUp
    /// The faults have stopped, and something has still not arrived, or somebody is not connected.
    case notSettled

    /// What has happened where it is broken, for people.
    public var sentence: String {
        switch self {
        case .acknowledgedButLost: "a sender was told that a message had arrived, and it is not on the receiver's disk."
        case .deliveredTwice: "a message has reached an application twice, or after a later one."
        case .leftOut: "a message has reached an application before an earlier one of the same sender."
        case .forged: "an application was given what nobody has sent to it."
        case .falsePeer: "a link is up with somebody who is not at its other end."
        case .linkedTwice: "a node is linked twice with one peer."
        case .outOfOrder: "something was told of a link before it was up, or after its end."
        case .staleUpdate: "a state update has waited for a later link, or came after a newer one."
        case .overLimit: "something has grown beyond its limit."
        case .falselyAccused: "a node has accused another of breaking the protocol, and both keep to it."
        case .givenUp: "a link was given up, or a guest refused, without a reason."
        case .notSettled: "a minute after the last fault not everything has arrived, or somebody is not connected."
        }
    }
}
