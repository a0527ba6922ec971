// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides when a guest that is linked to another host than its own listens for its own. Listening takes time on the air.
struct OwnHostLook: Sendable {
    /// How long a look takes: two advertisements.
    static let length: Duration = .seconds(3)
    /// The first rest: a head unit that was still starting is found soon. It doubles with each look that finds nothing.
    static let firstRest: Duration = .seconds(10)
    /// The longest rest after such looks.
    static let longestRest: Duration = .seconds(60)
    /// The longest rest where the own host is heard again and again, and cannot be joined.
    static let longestStay: Duration = .seconds(960)

    /// Whether the guest listens.
    private(set) var isOn = false
    /// When a look begins or ends.
    private(set) var changesAt: MeshInstant = .zero
    private var rest = OwnHostLook.firstRest

    /// The guest is linked to a host, its own or another one.
    mutating func linked(isAway: Bool, now: MeshInstant) {
        if !isAway { rest = Self.firstRest }
        (isOn, changesAt) = (false, now + rest)
    }

    /// Begins or ends a look where one is due. Whether it has.
    mutating func tick(now: MeshInstant) -> Bool {
        guard changesAt <= now else { return false }
        isOn.toggle()
        changesAt = now + (isOn ? Self.length : rest)
        if !isOn, rest < Self.longestRest { rest = min(rest * 2, Self.longestRest) }
        return true
    }

    /// The own host is heard. Returns whether the guest leaves for it: not while it rests.
    mutating func heard(now: MeshInstant) -> Bool {
        guard isOn || changesAt <= now else { return false }
        rest = min(max(rest * 2, Self.longestRest), Self.longestStay)
        return true
    }
}
