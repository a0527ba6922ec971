// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides how often a host or relay advertises: fast while a guest may be looking for it, slow afterwards.
///
/// Legacy advertising stops when a guest links (Core specification, Vol 4, Part E, 7.8.9). So every change of links
/// requests advertising again, even if the pace stays.
public struct AdvertisingPolicy: Sendable {
    private var eagerUntil: MeshInstant
    private var pace: AdvertisingPace = .fast

    /// The policy of a host that has just started and expects guests.
    public init(now: MeshInstant) {
        eagerUntil = now + BearerLimits.eagerAdvertising
    }

    /// The pace to advertise at.
    public var currentPace: AdvertisingPace { pace }

    /// When `tick` is due. Nil if no change is due.
    public var deadline: MeshInstant? { pace == .fast ? eagerUntil : nil }

    /// A guest has joined or left. Other guests may join, or this guest may come back. Returns the pace to advertise at
    /// again.
    public mutating func linksChanged(now: MeshInstant) -> AdvertisingPace {
        eagerUntil = now + BearerLimits.eagerAdvertising
        pace = .fast
        return pace
    }

    /// Time has passed. Returns the new pace if it changes.
    public mutating func tick(now: MeshInstant) -> AdvertisingPace? {
        guard pace == .fast, now >= eagerUntil else { return nil }
        pace = .slow
        return pace
    }
}
