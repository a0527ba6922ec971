// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// Writes a node's events for a program, one line of JSON after the other.
///
/// Of a state that follows another only what is new is encoded: a queue of a hundred songs costs 1.5 ms to encode, and a
/// vote changes one or two of them.
public struct EventLines: Sendable {
    private var items: [Song.ID: (item: QueueItem, text: String)] = [:]

    /// Nothing was written yet.
    public init() {}

    /// The line of an event at a time, in seconds since 1970, without its end.
    public mutating func text(_ event: NodeEvent, at: Double) -> String {
        guard case .snapshot(var snapshot, let isStale) = event, !snapshot.queue.isEmpty else {
            return JSONLine.text(TimedEvent(event, at: at))
        }
        var written: [Song.ID: (item: QueueItem, text: String)] = [:]
        let queue = snapshot.queue.map { item in
            let known = items[item.id].flatMap { $0.item == item ? $0.text : nil }
            let text = known ?? JSONLine.text(item)
            written[item.id] = (item, text)
            return text
        }
        items = written
        snapshot.queue = []
        return Self.fill(JSONLine.text(TimedEvent(.snapshot(snapshot, isStale: isStale), at: at)), queue)
    }

    private static let emptyQueue = Array(#""queue":[]"#.utf8)

    /// Puts the songs where the queue is empty. No name or title can look like that: JSON escapes quotation marks in texts.
    private static func fill(_ line: String, _ queue: [String]) -> String {
        let bytes = Array(line.utf8)
        guard let place = bytes.indices.first(where: { bytes[$0...].starts(with: emptyQueue) }) else {
            preconditionFailure("a state without a queue")
        }
        let inside = place + emptyQueue.count - 1
        return String(decoding: bytes[..<inside], as: UTF8.self) + queue.joined(separator: ",")
            + String(decoding: bytes[inside...], as: UTF8.self)
    }
}
