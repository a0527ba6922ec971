// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides when a guest that is linked to another host scans for its own. Scanning costs airtime.
struct OwnHostLook: Sendable {
    /// Length of a scan: two advertisements.
    static let length: Duration = .seconds(3)
    /// The first pause: a head unit that was still starting is found soon. It doubles after each scan without a result.
    static let firstRest: Duration = .seconds(10)
    /// The longest pause after scans without a result.
    static let longestRest: Duration = .seconds(60)
    /// The longest pause if the own host is heard repeatedly, but cannot be joined.
    static let longestStay: Duration = .seconds(960)

    /// Whether the guest scans.
    private(set) var isOn = false
    /// When a scan begins or ends.
    private(set) var changesAt: MeshInstant = .zero
    private var rest = OwnHostLook.firstRest

    /// The guest is linked to its own host or another one.
    mutating func linked(isAway: Bool, now: MeshInstant) {
        if !isAway { rest = Self.firstRest }
        (isOn, changesAt) = (false, now + rest)
    }

    /// Begins or ends a scan if one is due. Returns whether it did.
    mutating func tick(now: MeshInstant) -> Bool {
        guard changesAt <= now else { return false }
        isOn.toggle()
        changesAt = now + (isOn ? Self.length : rest)
        if !isOn, rest < Self.longestRest { rest = min(rest * 2, Self.longestRest) }
        return true
    }

    /// The own host is heard. Returns whether the guest leaves its present host for it. It does not leave during a
    /// pause.
    mutating func heard(now: MeshInstant) -> Bool {
        guard isOn || changesAt <= now else { return false }
        rest = min(max(rest * 2, Self.longestRest), Self.longestStay)
        return true
    }
}
