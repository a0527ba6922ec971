// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NodeCore

/// A node's clock, and the alarms for the deadlines of its structs.
package struct NodeClock {
    /// The instant at which the node's time is zero.
    package let origin = ContinuousClock.now
    /// The alarms that are set, latest first. Each was set because those before it fire too late.
    private var alarms: [(deadline: MeshInstant, task: Task<Void, Never>)] = []
    private let sink: AsyncStream<Void>.Continuation
    /// Ticks when a deadline is reached.
    package let ticks: AsyncStream<Void>

    package init() {
        (ticks, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The node's time.
    package var now: MeshInstant { ContinuousClock.now - origin }

    /// Sets the alarm, or stops all alarms for nil. If the deadline moves later, its alarm stays. An earlier deadline
    /// gets an alarm of its own and leaves the later one. A tick that comes too early sets the next alarm, which costs
    /// less than a new alarm for each SDU.
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
