// SPDX-License-Identifier: Apache-2.0

/// How a message waits for its link.
public enum MessageClass: UInt8, Hashable, Sendable, Codable {
    /// Every one counts, once and in order: a vote.
    case reliable = 0
    /// Only the newest counts: a state update. It replaces one that has not begun to leave.
    case latest = 1
}

/// A message as it travels: which one, and the application's bytes (`docs/protocol.md`, "Messages").
public struct MessageUnit: Hashable, Sendable {
    /// How it waits and whether it is sent again.
    public var messageClass: MessageClass
    /// Its number in its class, from 1, in the sender's epoch.
    public var number: UInt64
    /// The application's bytes.
    public var body: ArraySlice<UInt8>

    private static let latestBit: UInt8 = 1

    /// A message between the two ends of a link.
    public init(_ messageClass: MessageClass, number: UInt64, body: ArraySlice<UInt8>) {
        self.messageClass = messageClass
        self.number = number
        self.body = body
    }

    /// A unit's bytes.
    public var bytes: [UInt8] {
        var writer = WireWriter(reserving: body.count + Limits.unitHeaderBytes)
        writer.byte(messageClass == .latest ? Self.latestBit : 0)
        writer.varint(number)
        writer.append(body)
        return writer.bytes
    }

    /// Reads a unit. Nil where it is cut off.
    public init?(_ bytes: ArraySlice<UInt8>) {
        var reader = WireReader(bytes)
        guard let flags = reader.byte(), let number = reader.varint(),
            (1...Limits.largestNumber).contains(number)
        else { return nil }
        guard reader.rest.count <= Limits.messageBytes else { return nil }
        self.init(flags & Self.latestBit == 0 ? .reliable : .latest, number: number, body: reader.rest)
    }
}
