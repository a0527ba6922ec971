// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// Writes a node's events for a program, one line of JSON after the other.
public struct EventLines: Sendable {
    private var states = QueueJSON<QueueItem>()

    /// Nothing was written yet.
    public init() {}

    /// The line of an event at a time, in seconds since 1970, without its end.
    public mutating func text(_ event: NodeEvent, at: Double) -> String {
        guard case .snapshot(var snapshot, let isStale) = event else { return JSONLine.text(TimedEvent(event, at: at)) }
        let queue = snapshot.queue
        snapshot.queue = []
        do {
            try states.write(TimedEvent(.snapshot(snapshot, isStale: isStale), at: at), queue: queue)
        } catch {
            preconditionFailure("a state of ours cannot be encoded: \(error)")
        }
        return String(decoding: states.line, as: UTF8.self)
    }
}
