// SPDX-License-Identifier: Apache-2.0

import MeshNode
import MeshProtocol

/// How much each of many may ask for in a time.
struct Rates: Sendable {
    private let perSecond: Int
    private let burst: Int
    private var table = RecentTable<String, RateLimit>(limit: DashboardLimits.rememberedRates)

    init(perSecond: Int, burst: Int) {
        self.perSecond = perSecond
        self.burst = burst
    }

    /// Whether one more may come from somebody.
    mutating func allows(_ who: String, now: MeshInstant) -> Bool {
        var limit = table[who] ?? RateLimit(perSecond: perSecond, burst: burst, now: now)
        defer { table[who] = limit }
        return limit.allows(now: now)
    }
}
