// SPDX-License-Identifier: Apache-2.0

extension MeshCore {
    /// An action for the owner.
    public enum Action: Hashable, Sendable {
        /// A link has data to send: call `nextSDU` until it returns nothing.
        case wake(LinkID)
        /// Report this event of a link.
        case tell(LinkID, LinkEvent)
        /// A note of the other end's radio about a link, for the owner's radio.
        case heed(LinkID, AirNote)
        /// Read nothing from a link before this time.
        case holdReading(LinkID, until: MeshInstant)
        /// Close a link's channel. If it has a final frame, close it when `nextSDU` returns nothing. No further data
        /// follow.
        case close(LinkID, afterFinalFrame: Bool)
        /// A conversation was forgotten to make room for another. Its stored data can be deleted.
        case forgot(ConversationKey)
        /// A peer requests a circuit that ends here: answer with `opened`, as its responder and with this place.
        case circuitOffered(CircuitPlace)
        /// A link in a circuit has ended and is removed.
        case circuitEnded(LinkID)
    }
}
