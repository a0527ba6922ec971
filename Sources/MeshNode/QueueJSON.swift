// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// Writes one object with a queue after the other as JSON, and encodes of each queue only what is new: a hundred songs
/// take 1.5 to 3 ms to encode, and a vote changes one or two of them.
package struct QueueJSON<Item: Encodable & Hashable & Identifiable & Sendable>: Sendable where Item.ID == Song.ID {
    /// The last line, without its end, as UTF-8.
    package private(set) var line: [UInt8] = []
    private var places: [Song.ID: (item: Item, bytes: Range<Int>)] = [:]

    /// Nothing was written yet.
    package init() {}

    /// Makes the next line of an object without its queue, and of that queue. Throws for a number that is none.
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

    /// Where the songs go. No name or title can look like that: JSON escapes quotation marks in texts.
    private static func insideQueue(of rest: [UInt8]) -> Int {
        let empty = Array(#""queue":[]"#.utf8)
        guard let place = rest.indices.first(where: { rest[$0...].starts(with: empty) }) else {
            preconditionFailure("an object without an empty queue")
        }
        return place + empty.count - 1
    }
}
