// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NodeCore

/// Distributes a node's events to its listeners: a terminal, a program, the pages of a dashboard, a player.
final class NodeOutput: Sendable {
    /// A receiver of events.
    private struct Listener: Sendable {
        var tell: @Sendable (NodeEvent) -> Void
        var finish: @Sendable () -> Void
    }

    private struct Listeners {
        var next = 0
        var byNumber: [Int: Listener] = [:]
        var isFinished = false
    }

    private let listeners = NIOLockedValueBox(Listeners())

    /// Returns the events from now on. A listener that falls behind loses the oldest events; the node does not wait for
    /// it.
    func listen() -> AsyncStream<NodeEvent> {
        let (events, continuation) = AsyncStream<NodeEvent>.makeStream(
            bufferingPolicy: .bufferingNewest(NodeLimits.outputEvents))
        let number = add(Listener(tell: { continuation.yield($0) }, finish: { continuation.finish() }))
        continuation.onTermination = { [weak self] _ in self?.remove(number) }
        return events
    }

    /// Returns the events from now on, with marks between them.
    func listenWithMarks() -> MarkedEvents {
        let (items, continuation) = AsyncStream<MarkedEvents.Item>.makeStream(
            bufferingPolicy: .bufferingNewest(NodeLimits.outputEvents))
        let number = add(Listener(tell: { continuation.yield(.event($0)) }, finish: { continuation.finish() }))
        continuation.onTermination = { [weak self] _ in self?.remove(number) }
        return MarkedEvents(items, continuation)
    }

    /// Adds a listener, or finishes it if the node has ended.
    private func add(_ listener: Listener) -> Int? {
        let number = listeners.withLockedValue { listeners -> Int? in
            guard !listeners.isFinished else { return nil }
            listeners.next += 1
            listeners.byNumber[listeners.next] = listener
            return listeners.next
        }
        if number == nil { listener.finish() }
        return number
    }

    /// Ends the first listener, `Node.output`. Without a reader it would buffer events.
    func endFirst() { listeners.withLockedValue { $0.byNumber.removeValue(forKey: 1) }?.finish() }

    private func remove(_ number: Int?) {
        guard let number else { return }
        _ = listeners.withLockedValue { $0.byNumber.removeValue(forKey: number) }
    }

    func yield(_ event: NodeEvent) {
        for listener in listeners.withLockedValue({ $0.byNumber.values.map(\.self) }) { listener.tell(event) }
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
