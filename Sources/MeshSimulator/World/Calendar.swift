// SPDX-License-Identifier: Apache-2.0

/// The coming events, by time: a binary heap.
///
/// The seed determines the order of events at the same time. Events that need an order, such as the SDUs of one
/// channel, keep it themselves.
struct Calendar {
    struct Entry {
        var at: Duration
        var tie: UInt64
        var event: Event
    }

    /// The position of an event. Entries of the heap are small and need no reference counting.
    private struct Place {
        var at: Duration
        var tie: UInt64
        var slot: Int

        func isBefore(_ other: Place) -> Bool {
            at == other.at ? tie < other.tie : at < other.at
        }
    }

    private var heap: [Place] = []
    private var events: [Event?] = []
    private var freeSlots: [Int] = []

    mutating func add(_ entry: Entry) {
        let slot = freeSlots.popLast() ?? events.count
        if slot == events.count { events.append(entry.event) } else { events[slot] = entry.event }
        heap.append(Place(at: entry.at, tie: entry.tie, slot: slot))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].isBefore(heap[parent]) else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func next() -> Entry? {
        guard let first = takeFirst(), let event = events[first.slot].take() else { return nil }
        freeSlots.append(first.slot)
        return Entry(at: first.at, tie: first.tie, event: event)
    }

    private mutating func takeFirst() -> Place? {
        guard let first = heap.first else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].isBefore(heap[least]) { least = child }
            }
            guard least != parent else { return first }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
