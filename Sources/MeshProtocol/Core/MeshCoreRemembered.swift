// SPDX-License-Identifier: Apache-2.0

extension MeshCore {
    /// The state of a peer that is kept from one run to the next.
    public struct Remembered: Hashable, Sendable, Codable {
        /// The peer's public key. With it an initiator joins again in one round trip.
        public var publicKey: [UInt8]
        /// Unacknowledged messages, and what was received.
        public var conversation: Conversation.Durable
        /// Both have proved that they know the same PIN or invitation, so neither asks again.
        public var isProved: Bool

        /// A peer as a store has read it.
        public init(publicKey: [UInt8], conversation: Conversation.Durable, isProved: Bool = false) {
            self.publicKey = publicKey
            self.conversation = conversation
            self.isProved = isProved
        }
    }
}
