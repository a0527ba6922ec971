// SPDX-License-Identifier: Apache-2.0

/// An event with a time.
protocol Timed {
    func isBefore(_ other: Self) -> Bool
}

/// Coming events, the earliest first: a binary heap.
struct TimedHeap<Entry: Timed> {
    private var heap: [Entry] = []

    var first: Entry? { heap.first }

    mutating func add(_ entry: Entry) {
        var child = heap.count
        heap.append(entry)
        while child > 0 {
            let parent = (child - 1) / 2
            guard entry.isBefore(heap[parent]) else { break }
            heap[child] = heap[parent]
            child = parent
        }
        heap[child] = entry
    }

    mutating func pop() -> Entry? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return first }
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].isBefore(heap[child]) { child += 1 }
            guard heap[child].isBefore(last) else { break }
            heap[parent] = heap[child]
            parent = child
        }
        heap[parent] = last
        return first
    }
}
