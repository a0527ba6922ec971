// SPDX-License-Identifier: Apache-2.0

/// A token bucket: how much may come, and when more.
public struct RateLimit: Hashable, Sendable {
    private let pause: Duration
    private let burst: Int
    /// When everything that has come would have come at the even rate.
    private var paidUntil: MeshInstant

    /// A bucket that is full.
    public init(perSecond: Int, burst: Int, now: MeshInstant) {
        pause = .seconds(1) / perSecond
        self.burst = burst
        paidUntil = now
    }

    /// Takes one where it fits. What does not fit is not counted: a flood does not keep the next ones out for longer.
    public mutating func allows(now: MeshInstant) -> Bool {
        var after = self
        guard after.take(1, now: now) == nil else { return false }
        self = after
        return true
    }

    /// Gives one back that has cost nothing.
    mutating func giveBack() { paidUntil -= pause }

    /// When the next one fits: at once where it does already.
    public func opens(now: MeshInstant) -> MeshInstant {
        let fits = paidUntil + pause - pause * burst
        return max(fits, now)
    }

    /// Something has come this often. The time until which no more may come, where it was too much.
    mutating func take(_ count: Int, now: MeshInstant) -> MeshInstant? {
        paidUntil = max(paidUntil, now) + pause * count
        let allowed = now + pause * burst
        return paidUntil > allowed ? now + (paidUntil - allowed) : nil
    }
}
