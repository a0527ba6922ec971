// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Changes that are written together: when `NodeStore.write` returns, all of them are on disk, or none.
///
/// They are applied in the order of the fields, whatever the order in which they were filled. `forget` handles the one
/// case in which the order matters.
public struct StoreBatch: Hashable, Sendable {
    /// A conversation with a peer that has a known key.
    public struct Met: Hashable, Sendable {
        /// Which conversation.
        public var conversation: ConversationKey
        /// What the core remembers of it (`MeshCore.remembered`).
        public var remembered: MeshCore.Remembered

        /// Makes an entry for a peer.
        public init(conversation: ConversationKey, remembered: MeshCore.Remembered) {
            self.conversation = conversation
            self.remembered = remembered
        }
    }

    /// All messages of a peer up to a number are stored with this batch, and may be acknowledged after it.
    public struct Receipt: Hashable, Sendable {
        /// The conversation of the received messages.
        public var conversation: ConversationKey
        /// The epoch of the peer's numbers (`ReceivedMessage.epoch`).
        public var epoch: UInt32
        /// The last number.
        public var number: UInt64
        /// What the core remembers of the conversation, in case it is not stored yet.
        public var remembered: MeshCore.Remembered

        /// Makes a receipt.
        public init(conversation: ConversationKey, epoch: UInt32, number: UInt64, remembered: MeshCore.Remembered) {
            self.conversation = conversation
            self.epoch = epoch
            self.number = number
            self.remembered = remembered
        }
    }

    /// A reliable message that may be sent when this batch is written (`MeshCore.stored`).
    public struct Outgoing: Hashable, Sendable {
        /// The conversation of the message.
        public var conversation: ConversationKey
        /// The number that `send` has returned.
        public var number: UInt64
        /// The application's bytes.
        public var body: [UInt8]
        /// What the core remembers of the conversation, in case it is not stored yet.
        public var remembered: MeshCore.Remembered

        /// Makes an outgoing message.
        public init(conversation: ConversationKey, number: UInt64, body: [UInt8], remembered: MeshCore.Remembered) {
            self.conversation = conversation
            self.number = number
            self.body = body
            self.remembered = remembered
        }
    }

    /// A peer has all messages up to a number, so they need not be kept.
    public struct Acknowledged: Hashable, Sendable {
        /// The conversation of the acknowledged messages.
        public var conversation: ConversationKey
        /// The last number that the peer has.
        public var upTo: UInt64

        /// Makes an acknowledgement.
        public init(conversation: ConversationKey, upTo: UInt64) {
            self.conversation = conversation
            self.upTo = upTo
        }
    }

    /// Conversations that the core has forgotten. Their rows are deleted.
    public private(set) var forgotten: [ConversationKey] = []
    /// Conversations that are new, or have a new epoch of this node.
    public var met: [Met] = []
    /// Received messages.
    public var receipts: [Receipt] = []
    /// Messages to send, for each conversation in the order of their numbers.
    public var outgoing: [Outgoing] = []
    /// Acknowledged messages.
    public var acknowledged: [Acknowledged] = []
    /// The host's state. Nil: unchanged.
    public var host: HostRecord?
    /// The guest's state. Nil: unchanged.
    public var guest: GuestRecord?
    /// The host's invitations, the oldest first. Nil: unchanged.
    public var invitations: [GivenInvitation]?
    /// Bans that outlive the session, oldest first. Nil: unchanged.
    public var bans: [BanRecord]?
    /// The co-hosts, the oldest first. Nil: unchanged.
    public var drivers: [Peer]?
    /// The co-hosts that have joined with a browser. Nil: unchanged.
    public var browserDrivers: [Peer]?
    /// The hosts that the guest has joined, the longest ago first. Nil: as before.
    public var knownHosts: [Peer]?
    /// How often hosts could check a guess of the guest's PINs. Nil: unchanged.
    public var unanswered: [UnansweredProof]?

    /// Makes an empty batch.
    public init() {}

    /// Whether there is nothing to write.
    public var isEmpty: Bool { self == StoreBatch() }

    /// The core has forgotten a conversation, after all entries that are in this batch already.
    public mutating func forget(_ key: ConversationKey) {
        met.removeAll { $0.conversation == key }
        receipts.removeAll { $0.conversation == key }
        outgoing.removeAll { $0.conversation == key }
        acknowledged.removeAll { $0.conversation == key }
        if !forgotten.contains(key) { forgotten.append(key) }
    }
}
