// SPDX-License-Identifier: Apache-2.0

/// The way in which a message waits for its link.
public enum MessageClass: UInt8, Hashable, Sendable, Codable {
    /// Every message counts, once and in order: a vote.
    case reliable = 0
    /// Only the newest message counts: a state update. It replaces an earlier one that was not sent yet.
    case latest = 1
}

/// An update for all guests: its kind, and the resulting state.
public struct SharedState: Hashable, Sendable {
    /// The relation to earlier updates.
    public var sharing: MessageUnit.Sharing
    /// The resulting state.
    public var name: StateName

    /// An update that results in the state with this name.
    public init(_ sharing: MessageUnit.Sharing, to name: StateName) { (self.sharing, self.name) = (sharing, name) }
}

/// A message in transit: its class, its number and the application's bytes (`docs/protocol.md`, "Messages").
public struct MessageUnit: Hashable, Sendable {
    /// The class of the message, which decides how it waits and whether it is sent again.
    public var messageClass: MessageClass
    /// The number of the message in its class, from 1, in the sender's epoch.
    public var number: UInt64
    /// The application's bytes.
    public var body: ArraySlice<UInt8>

    /// The kind of a signed update for all guests. Nil for other messages. Only in class latest.
    public var sharing: Sharing?

    /// The kind of a signed update, for relays (`docs/protocol.md`, "The state, once for each link").
    public enum Sharing: UInt8, Hashable, Sendable, CaseIterable {
        /// The update builds on the update before it.
        case change = 0b0010
        /// The update needs no earlier update.
        case whole = 0b0110
        /// The update needs no earlier update, and is useless for a node that has all earlier updates.
        case checkpoint = 0b1110
    }

    private static let latestBit: UInt8 = 1
    private static let sharingBits: UInt8 = 0b1110
    private static let sharedBit: UInt8 = 0b0010
    private static let wholeBit: UInt8 = 0b0100

    /// A message between the two ends of a link.
    public init(
        _ messageClass: MessageClass, number: UInt64, body: ArraySlice<UInt8>, sharing: Sharing? = nil
    ) {
        self.messageClass = messageClass
        self.number = number
        self.body = body
        self.sharing = sharing
    }

    /// The flags of a message of this class on the wire.
    static func flags(_ messageClass: MessageClass, _ sharing: Sharing?) -> UInt8 {
        (messageClass == .latest ? latestBit : 0) | (sharing?.rawValue ?? 0)
    }

    private static func sharing(_ flags: UInt8) -> Sharing? {
        guard flags & latestBit != 0, flags & sharedBit != 0 else { return nil }
        return Sharing(rawValue: flags & sharingBits) ?? (flags & wholeBit == 0 ? .change : .whole)
    }

    /// A unit's bytes.
    public var bytes: [UInt8] {
        var writer = WireWriter(reserving: body.count + Limits.unitHeaderBytes)
        writer.byte(Self.flags(messageClass, sharing))
        writer.varint(number)
        writer.append(body)
        return writer.bytes
    }

    /// Reads a unit. Nil if it is cut off.
    public init?(_ bytes: ArraySlice<UInt8>) {
        var reader = WireReader(bytes)
        guard let flags = reader.byte(), let number = reader.varint(),
            (1...Limits.largestNumber).contains(number)
        else { return nil }
        guard reader.rest.count <= Limits.messageBytes else { return nil }
        self.init(
            flags & Self.latestBit == 0 ? .reliable : .latest, number: number, body: reader.rest,
            sharing: Self.sharing(flags))
    }
}
