// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NodeCore

/// A node's clock, and the alarms for the deadlines of its structs.
package struct NodeClock {
    /// The instant at which the node's time is zero.
    package let origin = ContinuousClock.now
    /// The pending alarms, latest first. Each was set because the earlier ones fire too late.
    private var alarms: [(deadline: MeshInstant, task: Task<Void, Never>)] = []
    private let sink: AsyncStream<Void>.Continuation
    /// Ticks when a deadline is reached.
    package let ticks: AsyncStream<Void>

    package init() {
        (ticks, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The node's time.
    package var now: MeshInstant { ContinuousClock.now - origin }

    /// Sets the alarm for a deadline; nil stops all alarms. If the deadline moves later, the existing alarm stays. If
    /// it moves earlier, a second alarm is set and the later one stays. An alarm that ticks too early is followed by
    /// the next one. This costs less than a new alarm for each SDU.
    package mutating func wake(at deadline: MeshInstant?) {
        guard let deadline else {
            for alarm in alarms { alarm.task.cancel() }
            alarms = []
            return
        }
        let now = now
        while let next = alarms.last, next.deadline <= now { alarms.removeLast() }
        if let next = alarms.last, next.deadline <= deadline { return }
        if alarms.count == NodeLimits.alarms { alarms.removeFirst().task.cancel() }
        let alarm = Task { [origin, sink] in
            try? await Task.sleep(until: origin + deadline, clock: .continuous)
            if !Task.isCancelled { sink.yield() }
        }
        alarms.append((deadline, alarm))
    }
}
