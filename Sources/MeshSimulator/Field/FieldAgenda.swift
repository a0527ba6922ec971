// SPDX-License-Identifier: Apache-2.0

/// What can happen in a field. Small and without references, since there are hundreds of millions of them in an hour. A node
/// that was killed does not come back under its number, so numbers are enough.
enum FieldEvent {
    /// A node's radio is ready.
    case starts(node: Int)
    /// A node's deadline may have come.
    case ticks(node: Int)
    case written(node: Int)
    /// A node that scans looks for who may be heard within the next second.
    case listens(node: Int, scan: Int)
    case hears(node: Int, other: Int, scan: Int)
    /// A pending dial may get through.
    case reaches(node: Int, dial: Int)
    case dialEnds(node: Int, dial: Int)
    /// A channel opens on a link.
    case opens(link: Int)
    /// A connection event in which something is to be sent.
    case meets(link: Int)
    case arrives(link: Int, from: Int)
    /// The link layer has heard nothing for the supervision timeout.
    case fades(link: Int)
    case shuts(link: Int, end: Int)
    /// A link's interval changes, or its silence may be long enough for it.
    case retunes(link: Int)
    /// Whoever moves is somewhere else.
    case moves
    case votes(node: Int)
}

/// What is going to happen, by its time, and in the order in which it was noted where that is the same: a binary heap.
struct FieldAgenda {
    struct Entry {
        var at: Int
        var number: Int
        var event: FieldEvent

        func isBefore(_ other: Entry) -> Bool { at == other.at ? number < other.number : at < other.at }
    }

    private var heap: [Entry] = []
    private var count = 0
    /// What was to happen up to some time when that was asked for, and how much of it has.
    private var window: [Entry] = []
    private var passed = 0

    /// When something happens next.
    var first: Int? {
        guard !isWindowOver else { return heap.first?.at }
        return min(window[passed].at, heap.first?.at ?? .max)
    }

    /// Everything that was to happen in the window has.
    var isWindowOver: Bool { passed == window.count }

    /// Opens a window, where none is: what is to happen up to a time, in order. What is noted later comes in between.
    mutating func openWindow(until time: Int) -> [Entry] {
        window.removeAll(keepingCapacity: true)
        passed = 0
        while let first = heap.first, first.at <= time, let entry = pop() { window.append(entry) }
        return window
    }

    mutating func add(_ event: FieldEvent, at time: Int) {
        count += 1
        let entry = Entry(at: time, number: count, event: event)
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

    mutating func next() -> Entry? {
        guard !isWindowOver, heap.first.map({ window[passed].isBefore($0) }) != false else { return pop() }
        defer { passed += 1 }
        return window[passed]
    }

    private mutating func pop() -> Entry? {
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
