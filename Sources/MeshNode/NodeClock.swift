// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A node's clock, and the one alarm that its structs' deadlines set.
package struct NodeClock {
    /// When its time was zero.
    package let origin = ContinuousClock.now
    private var alarm: Task<Void, Never>?
    private var deadline: MeshInstant?
    private let sink: AsyncStream<Void>.Continuation
    /// Ticks when a deadline is reached.
    package let ticks: AsyncStream<Void>

    package init() {
        (ticks, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The node's time.
    package var now: MeshInstant { ContinuousClock.now - origin }

    /// Sets the alarm, or with nil stops it. A deadline that has moved away keeps its alarm: a tick that comes early sets
    /// the next one, which costs less than a new alarm for each SDU.
    package mutating func wake(at deadline: MeshInstant?) {
        if let deadline, let pending = self.deadline, pending <= deadline, pending > now { return }
        self.deadline = deadline
        alarm?.cancel()
        alarm = deadline.map { deadline in
            Task { [origin, sink] in
                try? await Task.sleep(until: origin + deadline, clock: .continuous)
                if !Task.isCancelled { sink.yield() }
            }
        }
    }
}
