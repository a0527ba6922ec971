// SPDX-License-Identifier: Apache-2.0

/// A message that has arrived.
public struct ReceivedMessage: Hashable, Sendable {
    /// The conversation of the message.
    public var conversation: ConversationKey
    /// The sender.
    public var peer: Peer.ID { conversation.peer }
    /// The class of the message.
    public var messageClass: MessageClass
    /// The number of the message in its class, from 1. Reliable messages are counted in the sender's epoch.
    public var number: UInt64
    /// The sender's epoch. A sender that has lost its store begins another numbering with another epoch.
    public var epoch: UInt32
    /// The application's bytes.
    public var body: [UInt8]
}
