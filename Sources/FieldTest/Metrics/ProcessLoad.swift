// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The load of a process. Each wake-up ends a sleep of the processor. Wake-ups and processor time empty a battery.
public struct ProcessLoad: Codable, Hashable, Sendable {
    /// How often a thread of the process was woken after it had waited: the kernel's voluntary context switches.
    public var wakeUps: Int
    /// Processor time in seconds.
    public var processor: Double

    /// A load.
    public init(wakeUps: Int, processor: Double) { (self.wakeUps, self.processor) = (wakeUps, processor) }

    /// The load of this process since its start, from getrusage(2).
    public static var now: Self {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let time = [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
        return Self(wakeUps: usage.ru_nvcsw, processor: time)
    }

    /// The load since an earlier time.
    public func since(_ earlier: Self) -> Self {
        Self(wakeUps: wakeUps - earlier.wakeUps, processor: processor - earlier.processor)
    }

    /// The average load of this process from now on for this time. Ends early if the task is cancelled.
    public static func measured(for time: Duration) async -> LoadRate {
        let (before, began) = (now, ContinuousClock.now)
        try? await Task.sleep(for: time)
        return now.since(before).rate(over: (.now - began) / .seconds(1))
    }

    /// This load over a time in seconds.
    public func rate(over seconds: Double) -> LoadRate {
        LoadRate(wakeUps: Double(wakeUps) / seconds, processor: processor / seconds)
    }
}

/// The load of a process per second.
public struct LoadRate: Codable, Hashable, Sendable {
    /// Wake-ups per second.
    public var wakeUps: Double
    /// The share of one processor core, from 0 to 1. A process with several threads can exceed it.
    public var processor: Double

    /// A rate.
    public init(wakeUps: Double, processor: Double) { (self.wakeUps, self.processor) = (wakeUps, processor) }

    /// The rate for a person: `14.6 wake-ups a second, 0.06 % of a core`.
    var text: String { "\(wakeUpsText) wake-ups a second, \(processorText)" }

    var wakeUpsText: String { Format.number(wakeUps, digits: 1) }

    var processorText: String { "\(Format.number(processor * 100, digits: 2)) % of a core" }
}
