// SPDX-License-Identifier: Apache-2.0

/// The peers that a node has met, and the conversations with them.
struct PeerBook: Sendable {
    struct Entry: Sendable {
        var publicKey: [UInt8]
        /// Whether the peer has proved its identity (`MeshCore.Remembered.isProved`).
        var isProved = false
        var conversation: Conversation
        /// Grows with each use of any peer, to find the longest unused.
        fileprivate var lastUse: UInt64 = 0
    }

    private let holdsUntilStored: Bool
    private var entries: [ConversationKey: Entry] = [:]
    private var uses: UInt64 = 0

    /// An empty book, or one with the valid peers of an earlier run, at most `Limits.conversations`. Peers of another
    /// service are ignored.
    init(_ remembered: [ConversationKey: MeshCore.Remembered], of service: ServiceType, holdsUntilStored: Bool) {
        self.holdsUntilStored = holdsUntilStored
        for (key, known) in remembered.sorted(by: { $0.key < $1.key })
        where key.service == service && key.peer == Identity.peerID(publicKey: known.publicKey)
            && entries.count < Limits.conversations
        {
            let restored = Conversation(restoring: known.conversation, holdsUntilStored: holdsUntilStored)
            guard let conversation = restored else { continue }
            entries[key] = Entry(publicKey: known.publicKey, isProved: known.isProved, conversation: conversation)
        }
    }

    /// A peer in one role. A write changes the entry in place. `meet` adds peers.
    subscript(key: ConversationKey) -> Entry? {
        _read { yield entries[key] }
        _modify { yield &entries[key] }
    }

    var count: Int { entries.count }

    var conversations: some Collection<Conversation> { entries.values.lazy.map(\.conversation) }

    /// Bytes that wait for all peers together.
    var unacknowledgedBytes: Int { entries.values.reduce(0) { $0 + $1.conversation.unacknowledgedBytes } }

    /// Adds the memory use of all peers.
    func measure(_ footprint: inout Footprint) {
        footprint.conversations = count
        for conversation in conversations {
            footprint.outboxMessages = max(footprint.outboxMessages, conversation.unacknowledged)
            footprint.outboxBytes = max(footprint.outboxBytes, conversation.unacknowledgedBytes)
            footprint.allOutboxBytes += conversation.unacknowledgedBytes
        }
    }

    /// Whether this reliable message or an earlier one was declined.
    func hasDeclined(_ message: ReceivedMessage) -> Bool {
        message.messageClass == .reliable
            && entries[message.conversation]?.conversation.hasDeclined(message.number, of: message.epoch) == true
    }

    /// A message that has arrived in a conversation.
    func message(_ unit: MessageUnit, in key: ConversationKey, _ body: [UInt8]) -> ReceivedMessage {
        ReceivedMessage(
            conversation: key, messageClass: unit.messageClass, number: unit.number,
            epoch: entries[key]?.conversation.peerEpoch ?? 0, body: body)
    }

    /// The conversations with declined messages.
    var declining: [ConversationKey] { entries.filter(\.value.conversation.isDeclining).map(\.key) }

    /// The state that must survive the process.
    var remembered: [ConversationKey: MeshCore.Remembered] { entries.mapValues(\.remembered) }

    /// The conversation with a peer that was used last, in either role.
    func lastConversation(with peer: Peer.ID) -> ConversationKey? {
        entries.filter { $0.key.peer == peer }.max { ($0.value.lastUse, $0.key) < ($1.value.lastUse, $1.key) }?.key
    }

    /// The peers that this node has joined with this head of an identifier, in order. A peer that was only admitted is
    /// not a known responder: its key must not be used instead of the right one.
    func joined(withHead head: String) -> [Peer.ID] {
        entries.keys.lazy.filter { $0.role == .initiator && $0.peer.hasPrefix(head) }.map(\.peer).sorted()
    }

    /// A conversation with a peer that was not met before.
    func newConversation(epoch: UInt32) -> Conversation {
        Conversation(epoch: epoch, holdsUntilStored: holdsUntilStored)
    }

    /// A peer has proved its key. Returns the conversation that was forgotten to make room: one without a link.
    mutating func meet(
        _ key: ConversationKey, publicKey: [UInt8], epoch: UInt32, isLinked: (Peer.ID) -> Bool
    ) -> ConversationKey? {
        defer { touch(key) }
        guard entries[key] == nil else { return nil }
        let forgotten = entries.count >= Limits.conversations ? forgetLongestUnused(isLinked) : nil
        entries[key] = Entry(publicKey: publicKey, conversation: newConversation(epoch: epoch))
        return forgotten
    }

    /// A peer's entry is used.
    mutating func touch(_ key: ConversationKey) {
        uses += 1
        entries[key]?.lastUse = uses
    }

    mutating func forget(_ key: ConversationKey) { entries[key] = nil }

    /// Peers that never exchanged a message are removed first: identities cost nothing, and an attacker that creates
    /// many must not displace a friend.
    private mutating func forgetLongestUnused(_ isLinked: (Peer.ID) -> Bool) -> ConversationKey? {
        func rank(_ known: (key: ConversationKey, value: Entry)) -> (Int, UInt64, ConversationKey) {
            (known.value.conversation.isBlank ? 0 : 1, known.value.lastUse, known.key)
        }
        let unlinked = entries.filter { !isLinked($0.key.peer) }
        guard let leastMissed = unlinked.min(by: { rank($0) < rank($1) })?.key else { return nil }
        forget(leastMissed)
        return leastMissed
    }
}

extension PeerBook.Entry {
    /// The part of the entry that must survive the process (`Conversation.durable` defines when).
    var remembered: MeshCore.Remembered {
        MeshCore.Remembered(publicKey: publicKey, conversation: conversation.durable, isProved: isProved)
    }
}
