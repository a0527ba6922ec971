// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides how eagerly a host, or a relay, advertises: fast while somebody may be looking for it, slow afterwards.
///
/// Legacy advertising stops by itself when a guest links (Core specification, Vol 4, Part E, 7.8.9), so every change of
/// links asks for advertising again even where the pace stays.
public struct AdvertisingPolicy: Sendable {
    private var eagerUntil: MeshInstant
    private var pace: AdvertisingPace = .fast

    /// A host that has just started: guests are looked for.
    public init(now: MeshInstant) {
        eagerUntil = now + RadioLimits.eagerAdvertising
    }

    /// The pace to advertise at.
    public var currentPace: AdvertisingPace { pace }

    /// When `tick` is due; nil while nothing will change by itself.
    public var deadline: MeshInstant? { pace == .fast ? eagerUntil : nil }

    /// A guest has come or gone: others may follow, or this one may come back. Advertise again, at this pace.
    public mutating func linksChanged(now: MeshInstant) -> AdvertisingPace {
        eagerUntil = now + RadioLimits.eagerAdvertising
        pace = .fast
        return pace
    }

    /// Time has passed. The new pace, where it changes.
    public mutating func tick(now: MeshInstant) -> AdvertisingPace? {
        guard pace == .fast, now >= eagerUntil else { return nil }
        pace = .slow
        return pace
    }
}
