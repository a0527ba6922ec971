// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// Writes successive objects with a queue as JSON, and encodes only the queue items that are new. A hundred songs take
/// 1.5 to 3 ms to encode, and a vote changes one or two of them.
package struct QueueJSON<Item: Encodable & Hashable & Identifiable & Sendable>: Sendable where Item.ID == Song.ID {
    /// The last line as UTF-8, without its line end.
    package private(set) var line: [UInt8] = []
    private var places: [Song.ID: (item: Item, bytes: Range<Int>)] = [:]

    /// Creates a writer that has written nothing yet.
    package init() {}

    /// Makes the next line from an object with an empty queue and from its queue. Throws for a number that JSON cannot
    /// represent.
    package mutating func write(_ object: some Encodable, queue: [Item]) throws {
        let rest = try JSONLine.bytes(object)
        let inside = Self.insideQueue(of: rest)
        var next: [UInt8] = []
        next.reserveCapacity(max(line.count, rest.count))
        var nextPlaces: [Song.ID: (item: Item, bytes: Range<Int>)] = [:]
        nextPlaces.reserveCapacity(queue.count)
        next += rest[..<inside]
        for item in queue {
            if next.count > inside { next.append(UInt8(ascii: ",")) }
            let start = next.count
            if let known = places[item.id], known.item == item {
                next += line[known.bytes]
            } else {
                next += try JSONLine.bytes(item)
            }
            nextPlaces[item.id] = (item, start..<next.count)
        }
        next += rest[inside...]
        (line, places) = (next, nextPlaces)
    }

    /// Returns the index at which the songs belong. A name or title cannot match the pattern, since JSON escapes
    /// quotation marks.
    private static func insideQueue(of rest: [UInt8]) -> Int {
        let empty = Array(#""queue":[]"#.utf8)
        guard let place = rest.indices.first(where: { rest[$0...].starts(with: empty) }) else {
            preconditionFailure("an object without an empty queue")
        }
        return place + empty.count - 1
    }
}
