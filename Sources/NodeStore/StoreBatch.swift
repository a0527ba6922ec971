// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What is to be written at once: all of it is on disk when `NodeStore.write` returns, or nothing.
///
/// It is applied in the order of its fields, whatever the order in which they were filled; `forget` sees to the one
/// case in which that matters.
public struct StoreBatch: Hashable, Sendable {
    /// A conversation with a peer whose key is known now.
    public struct Met: Hashable, Sendable {
        /// Which conversation.
        public var conversation: ConversationKey
        /// What the core remembers of it (`MeshCore.remembered`).
        public var remembered: MeshCore.Remembered

        /// A peer that was met.
        public init(conversation: ConversationKey, remembered: MeshCore.Remembered) {
            self.conversation = conversation
            self.remembered = remembered
        }
    }

    /// Everything of a peer's up to a number is safe with what else is in this batch, and may be acknowledged after it.
    public struct Receipt: Hashable, Sendable {
        /// The conversation that they were said in.
        public var conversation: ConversationKey
        /// Which numbering of the peer's it is (`ReceivedMessage.epoch`).
        public var epoch: UInt32
        /// The last of them.
        public var number: UInt64
        /// What the core remembers of it, for the case that nothing is stored of it yet.
        public var remembered: MeshCore.Remembered

        /// What a peer has said.
        public init(conversation: ConversationKey, epoch: UInt32, number: UInt64, remembered: MeshCore.Remembered) {
            self.conversation = conversation
            self.epoch = epoch
            self.number = number
            self.remembered = remembered
        }
    }

    /// A reliable message that may leave when this is written (`MeshCore.stored`).
    public struct Outgoing: Hashable, Sendable {
        /// The conversation that it is said in.
        public var conversation: ConversationKey
        /// Its number, as `send` has told.
        public var number: UInt64
        /// The application's bytes.
        public var body: [UInt8]
        /// What the core remembers of it, for the case that nothing is stored of it yet.
        public var remembered: MeshCore.Remembered

        /// A message for a peer.
        public init(conversation: ConversationKey, number: UInt64, body: [UInt8], remembered: MeshCore.Remembered) {
            self.conversation = conversation
            self.number = number
            self.body = body
            self.remembered = remembered
        }
    }

    /// A peer has everything up to a number: it need not be kept.
    public struct Acknowledged: Hashable, Sendable {
        /// The conversation that it was said in.
        public var conversation: ConversationKey
        /// The last that it has.
        public var upTo: UInt64

        /// What a peer has acknowledged.
        public init(conversation: ConversationKey, upTo: UInt64) {
            self.conversation = conversation
            self.upTo = upTo
        }
    }

    /// Conversations that the core does not remember any more. Nothing of them is kept.
    public private(set) var forgotten: [ConversationKey] = []
    /// Conversations that the core remembers since now, or with another epoch of ours.
    public var met: [Met] = []
    /// What was received.
    public var receipts: [Receipt] = []
    /// What is to be said, in the order of its numbers for each conversation.
    public var outgoing: [Outgoing] = []
    /// What was said and has arrived.
    public var acknowledged: [Acknowledged] = []
    /// The host's state. Nil: as before.
    public var host: HostRecord?
    /// The guest's state. Nil: as before.
    public var guest: GuestRecord?
    /// The host's invitations, the oldest first. Nil: as before.
    public var invitations: [GivenInvitation]?
    /// Whom the host keeps out beyond a session, the oldest first. Nil: as before.
    public var bans: [BanRecord]?
    /// Whose devices steer the host, the oldest first. Nil: as before.
    public var drivers: [Peer]?
    /// Those of them whose keys a browser has sent. Nil: as before.
    public var browserDrivers: [Peer]?
    /// The hosts that the guest has joined, the longest ago first. Nil: as before.
    public var knownHosts: [Peer]?
    /// How often hosts could check a guess of the guest's PINs. Nil: as before.
    public var unanswered: [UnansweredProof]?

    /// A batch with nothing in it.
    public init() {}

    /// Whether there is nothing to write.
    public var isEmpty: Bool { self == StoreBatch() }

    /// The core has forgotten a conversation, after everything that is in this batch already.
    public mutating func forget(_ key: ConversationKey) {
        met.removeAll { $0.conversation == key }
        receipts.removeAll { $0.conversation == key }
        outgoing.removeAll { $0.conversation == key }
        acknowledged.removeAll { $0.conversation == key }
        if !forgotten.contains(key) { forgotten.append(key) }
    }
}
