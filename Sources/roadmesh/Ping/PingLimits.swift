// SPDX-License-Identifier: Apache-2.0

/// Limits of `roadmesh ping` and `roadmesh trace`, each with its reason.
enum PingLimits {
    /// Pings that the line of bars shows: it fits a narrow terminal with a name and the figures.
    static let shownPings = 24
    /// Least seconds between two pings. A link reads 500 frames a second, and each ping needs a record.
    static let leastInterval = 0.02
    /// Maximum number of seconds between two pings: an hour.
    static let longestInterval = 3_600.0
    /// Pings to each node of a trace: enough for a jitter, and a person waits two seconds.
    static let traceCount = 10
    /// Seconds between two rounds of a trace.
    static let traceInterval = 0.2
    /// Seconds to look for the host, unless `--wait` gives another number: a slow advertiser and a relay fit.
    static let wait = 15.0
}
