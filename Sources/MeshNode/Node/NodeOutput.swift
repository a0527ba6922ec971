// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NodeCore

/// Distributes a node's events to its listeners: a terminal, a program, the pages of a dashboard, a player.
final class NodeOutput: Sendable {
    private struct Listeners {
        var next = 0
        var byNumber: [Int: AsyncStream<NodeEvent>.Continuation] = [:]
        var isFinished = false
    }

    private let listeners = NIOLockedValueBox(Listeners())

    /// Returns the events from now on. A listener that falls behind loses the oldest events; the node does not wait for
    /// it.
    func listen() -> AsyncStream<NodeEvent> {
        let (events, continuation) = AsyncStream<NodeEvent>.makeStream(
            bufferingPolicy: .bufferingNewest(NodeLimits.outputEvents))
        let number = listeners.withLockedValue { listeners -> Int? in
            guard !listeners.isFinished else { return nil }
            listeners.next += 1
            listeners.byNumber[listeners.next] = continuation
            return listeners.next
        }
        guard let number else {
            continuation.finish()
            return events
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.listeners.withLockedValue { $0.byNumber.removeValue(forKey: number) }
        }
        return events
    }

    func yield(_ event: NodeEvent) {
        for listener in listeners.withLockedValue({ $0.byNumber.values.map(\.self) }) { listener.yield(event) }
    }

    func finish() {
        let all = listeners.withLockedValue { listeners in
            listeners.isFinished = true
            defer { listeners.byNumber = [:] }
            return listeners.byNumber.values.map(\.self)
        }
        for listener in all { listener.finish() }
    }
}
