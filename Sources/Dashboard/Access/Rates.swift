// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NodeCore

/// A rate limit for each of many senders.
struct Rates: Sendable {
    private let perSecond: Int
    private let burst: Int
    private var table = RecentTable<String, RateLimit>(limit: DashboardLimits.rememberedRates)

    init(perSecond: Int, burst: Int) {
        self.perSecond = perSecond
        self.burst = burst
    }

    /// Whether this sender may send one more request now.
    mutating func allows(_ who: String, now: MeshInstant) -> Bool {
        var limit = table[who] ?? RateLimit(perSecond: perSecond, burst: burst, now: now)
        defer { table[who] = limit }
        return limit.allows(now: now)
    }
}
