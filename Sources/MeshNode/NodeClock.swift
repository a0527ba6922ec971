// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A node's clock, and the alarms that its structs' deadlines set.
package struct NodeClock {
    /// When its time was zero.
    package let origin = ContinuousClock.now
    /// The alarms that are set, the last one first: each was set since those before it are too late.
    private var alarms: [(deadline: MeshInstant, task: Task<Void, Never>)] = []
    private let sink: AsyncStream<Void>.Continuation
    /// Ticks when a deadline is reached.
    package let ticks: AsyncStream<Void>

    package init() {
        (ticks, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The node's time.
    package var now: MeshInstant { ContinuousClock.now - origin }

    /// Sets the alarm, or with nil stops it. A deadline that has moved away keeps its alarm, and an earlier one leaves the later:
    /// a tick that comes early sets the next alarm, which costs less than a new one for each SDU.
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

/// The earlier of two times, where there are two. It is asked for at each event, which is why it makes no array.
func earliest(_ one: MeshInstant?, _ other: MeshInstant?) -> MeshInstant? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
}
