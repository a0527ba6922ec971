// SPDX-License-Identifier: Apache-2.0

/// The flags of an advertisement (`docs/protocol.md`, "Advertisement"). Any sender can change them on the air, so they
/// are a hint. A responder repeats them in its sealed answer.
public struct AdvertisedFlags: Hashable, Sendable {
    /// Flags that an initiator must know. An initiator must not dial if it does not know one of the flags.
    public var critical: Critical
    /// Flags that an initiator may ignore.
    public var ignorable: Ignorable

    /// Flags; by default none.
    public init(critical: Critical = [], ignorable: Ignorable = []) {
        self.critical = critical
        self.ignorable = ignorable
    }

    /// Flags that an initiator must know. An advertisement has room for four.
    public struct Critical: OptionSet, Hashable, Sendable {
        /// The flags as bits.
        public let rawValue: UInt8

        /// Flags from bits, known or not.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The responder accepts only bonded nodes.
        public static let bond = Self(rawValue: 1)
        /// The responder requires a proof, such as a PIN, and will send a challenge.
        public static let proof = Self(rawValue: 2)
        /// This node is not a host, but accepts circuits to one.
        public static let circuitsOnly = Self(rawValue: 4)
    }

    /// Flags that an initiator may ignore.
    public struct Ignorable: OptionSet, Hashable, Sendable {
        /// The flags as bits.
        public let rawValue: UInt8

        /// Flags from bits, known or not.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The node accepts circuits.
        public static let relays = Self(rawValue: 1)
        /// The node also accepts links through GATT.
        public static let gatt = Self(rawValue: 2)
        /// The node has no room at present.
        public static let noRoom = Self(rawValue: 4)
        /// The node reserves its last slots for relays. A node that is not a relay uses another route to the same host,
        /// if it finds one.
        public static let placesForRelays = Self(rawValue: 8)
    }

    /// These flags, and those of another set.
    package func union(_ more: Self) -> Self {
        Self(critical: critical.union(more.critical), ignorable: ignorable.union(more.ignorable))
    }

    /// Whether this version can dial a node with these flags.
    public var areKnown: Bool { critical.isSubset(of: .known) }

    /// Whether an attacker has removed critical flags of a node from its heard advertisement.
    func wereStripped(from heard: AdvertisedFlags) -> Bool { !critical.isSubset(of: heard.critical) }
}
