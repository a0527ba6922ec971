// SPDX-License-Identifier: Apache-2.0

/// How a message waits for its link.
public enum MessageClass: UInt8, Hashable, Sendable, Codable {
    /// Every one counts, once and in order: a vote.
    case reliable = 0
    /// Only the newest counts: a state update. It replaces one that has not begun to leave.
    case latest = 1
}

/// An update that is for everybody: what it is to who keeps it, and the state that it leads to.
public struct SharedState: Hashable, Sendable {
    /// How it stands to what was before.
    public var sharing: MessageUnit.Sharing
    /// What it leads to.
    public var name: StateName

    /// An update that leads to the state of this name.
    public init(_ sharing: MessageUnit.Sharing, to name: StateName) { (self.sharing, self.name) = (sharing, name) }
}

/// A message as it travels: which one, and the application's bytes (`docs/protocol.md`, "Messages").
public struct MessageUnit: Hashable, Sendable {
    /// How it waits and whether it is sent again.
    public var messageClass: MessageClass
    /// Its number in its class, from 1, in the sender's epoch.
    public var number: UInt64
    /// The application's bytes.
    public var body: ArraySlice<UInt8>

    /// Where it is for everybody, signed by the host: what it is to who keeps it. Only of class latest.
    public var sharing: Sharing?

    /// What a signed update is to who passes it on (`docs/protocol.md`, "The state, once for each link").
    public enum Sharing: UInt8, Hashable, Sendable, CaseIterable {
        /// It builds on what came before it.
        case change = 0b0010
        /// It stands by itself.
        case whole = 0b0110
        /// It stands by itself, and says nothing new to who has everything before it.
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

    /// The flags of a message of this class, as they travel.
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

    /// Reads a unit. Nil where it is cut off.
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
