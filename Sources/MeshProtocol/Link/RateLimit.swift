// SPDX-License-Identifier: Apache-2.0

/// A token bucket: how many events are allowed, and when the next one is.
public struct RateLimit: Hashable, Sendable {
    private let pause: Duration
    private let burst: Int
    /// The time at which all accepted events would have arrived at an even rate.
    private var paidUntil: MeshInstant

    /// A full bucket.
    public init(perSecond: Int, burst: Int, now: MeshInstant) {
        pause = .seconds(1) / perSecond
        self.burst = burst
        paidUntil = now
    }

    /// Takes a token if there is one. A refused event does not count, so a flood does not delay later events further.
    public mutating func allows(now: MeshInstant) -> Bool {
        var after = self
        guard after.take(1, now: now) == nil else { return false }
        self = after
        return true
    }

    /// Returns a token whose event had no cost.
    mutating func giveBack() { paidUntil -= pause }

    /// When the next token is available. `now` if there is one.
    public func opens(now: MeshInstant) -> MeshInstant {
        let fits = paidUntil + pause - pause * burst
        return max(fits, now)
    }

    /// Counts `count` events. If the rate is exceeded, returns the time until which no further events are allowed.
    mutating func take(_ count: Int, now: MeshInstant) -> MeshInstant? {
        paidUntil = max(paidUntil, now) + pause * count
        let allowed = now + pause * burst
        return paidUntil > allowed ? now + (paidUntil - allowed) : nil
    }
}
