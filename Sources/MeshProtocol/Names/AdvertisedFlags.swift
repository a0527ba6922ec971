// SPDX-License-Identifier: Apache-2.0

/// The flags of an advertisement (`docs/protocol.md`, "Advertisement"). On the air they are a hint that anybody can
/// change; a responder repeats them under the seal of its answer.
public struct AdvertisedFlags: Hashable, Sendable {
    /// What somebody who dials has to know: who does not, does not dial.
    public var critical: Critical
    /// What somebody may know.
    public var ignorable: Ignorable

    /// Flags; none where nothing is said.
    public init(critical: Critical = [], ignorable: Ignorable = []) {
        self.critical = critical
        self.ignorable = ignorable
    }

    /// What somebody who dials has to know. An advertisement has room for four.
    public struct Critical: OptionSet, Hashable, Sendable {
        /// The flags as bits.
        public let rawValue: UInt8

        /// Flags of bits, known or not.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The responder takes only nodes that it is bonded with.
        public static let bond = Self(rawValue: 1)
        /// Something has to be proved, such as a PIN: a challenge will come.
        public static let proof = Self(rawValue: 2)
        /// No host is here: this node takes circuits to one.
        public static let circuitsOnly = Self(rawValue: 4)
    }

    /// What somebody may know.
    public struct Ignorable: OptionSet, Hashable, Sendable {
        /// The flags as bits.
        public let rawValue: UInt8

        /// Flags of bits, known or not.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// It takes circuits.
        public static let relays = Self(rawValue: 1)
        /// It can be linked through GATT as well.
        public static let gatt = Self(rawValue: 2)
        /// It has no room at present.
        public static let noRoom = Self(rawValue: 4)
        /// Its last places are for nodes that relay. Who relays nothing, and hears another way to the same host, takes that.
        public static let placesForRelays = Self(rawValue: 8)
    }

    /// These, and those that somebody else adds.
    package func union(_ more: Self) -> Self {
        Self(critical: critical.union(more.critical), ignorable: ignorable.union(more.ignorable))
    }

    /// Whether this version can dial who advertises them.
    public var areKnown: Bool { critical.isSubset(of: .known) }

    /// Whether somebody has taken critical flags out of what was heard, on the way from who has these.
    func wereStripped(from heard: AdvertisedFlags) -> Bool { !critical.isSubset(of: heard.critical) }
}
