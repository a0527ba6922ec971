// SPDX-License-Identifier: Apache-2.0

/// The application's name of a host's state. Two states with the same name are equal (`docs/protocol.md`, "The state,
/// once for each link"). A guest that comes back reports the states that it has, and gets the later changes.
public struct StateName: Hashable, Sendable {
    /// Eight bytes.
    public let value: UInt64

    /// The state with this name.
    public init(value: UInt64) { self.value = value }

    /// Bytes on the wire.
    static let byteCount = 8
}

extension WireWriter {
    /// A `state` frame's body: one name after another.
    mutating func stateNames(_ names: [StateName]) {
        for name in names { integer(name.value) }
    }
}

extension WireReader {
    /// Nil if it is cut off.
    mutating func stateName() -> StateName? { integer(UInt64.self).map { StateName(value: $0) } }

    /// Reads a `state` frame's body. Nil if it has no name. Names beyond the maximum are ignored.
    mutating func stateNames() -> [StateName]? {
        var names: [StateName] = []
        while names.count < Limits.namedStates, let name = stateName() { names.append(name) }
        return names.isEmpty ? nil : names
    }
}
