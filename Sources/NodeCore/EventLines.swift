// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// Writes a node's events for a program, one line of JSON each.
public struct EventLines: Sendable {
    private var states = QueueJSON<QueueItem>()

    /// Creates a writer that has written nothing yet.
    public init() {}

    /// Returns the line of an event without its line end. `at` is the time in seconds since 1970.
    public mutating func text(_ event: NodeEvent, at: Double) -> String {
        guard case .snapshot(var snapshot, let isStale) = event else { return JSONLine.text(TimedEvent(event, at: at)) }
        let queue = snapshot.queue
        snapshot.queue = []
        do {
            try states.write(TimedEvent(.snapshot(snapshot, isStale: isStale), at: at), queue: queue)
        } catch {
            preconditionFailure("a state cannot be encoded: \(error)")
        }
        return String(decoding: states.line, as: UTF8.self)
    }
}
