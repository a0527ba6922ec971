// SPDX-License-Identifier: Apache-2.0

/// Names a state of a host's, as its application does: two states of one name are the same (`docs/protocol.md`, "The state, once for each
/// link"). Who comes back says which ones it has, and is sent what has followed.
public struct StateName: Hashable, Sendable {
    /// Eight bytes.
    public let value: UInt64

    /// The state with this name.
    public init(value: UInt64) { self.value = value }

    /// Bytes on the wire.
    static let byteCount = 8
}

extension WireWriter {
    /// A `state` frame's body: one name after the other.
    mutating func stateNames(_ names: [StateName]) {
        for name in names { integer(name.value) }
    }
}

extension WireReader {
    /// Nil where it is cut off.
    mutating func stateName() -> StateName? { integer(UInt64.self).map { StateName(value: $0) } }

    /// Reads a `state` frame's body. Nil where there is no name; what is beyond the number that is named is not looked at.
    mutating func stateNames() -> [StateName]? {
        var names: [StateName] = []
        while names.count < Limits.namedStates, let name = stateName() { names.append(name) }
        return names.isEmpty ? nil : names
    }
}
