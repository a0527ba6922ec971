// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Virtual time in microseconds, the coming events, and the random numbers of a run.
struct Timeline<Event> {
    var random: SeededGenerator
    private(set) var now = 0
    /// The time in the form that nodes get.
    private(set) var instant: MeshInstant = .zero
    private var agenda = Agenda<Event>()
    private var count: UInt64 = 0
    /// Whether the seed draws the order of events at the same time. Otherwise they keep the order of their insertion.
    private let drawsOrder: Bool

    init(seed: UInt64, drawsOrder: Bool) {
        random = SeededGenerator(seed: seed)
        self.drawsOrder = drawsOrder
    }

    /// Time of the next event.
    var first: Int? { agenda.first }
    /// Whether all events of the last window have passed.
    var isWindowOver: Bool { agenda.isWindowOver }

    mutating func schedule(_ event: Event, at time: Int) {
        count += 1
        agenda.add(Agenda.Entry(at: max(time, now), number: drawsOrder ? random.next() : count, event: event))
    }

    /// Goes to the next event.
    mutating func next() -> Agenda<Event>.Entry? {
        let entry = agenda.next()
        if let entry { advance(to: entry.at) }
        return entry
    }

    mutating func advance(to time: Int) {
        guard time > now else { return }
        (now, instant) = (time, .microseconds(time))
    }

    mutating func openWindow(until time: Int) -> [Agenda<Event>.Entry] { agenda.openWindow(until: time) }
}

/// Coming events, the earliest first: a binary heap, and a window of events that are known in advance. Events of the
/// same time are in the order of their numbers.
struct Agenda<Event> {
    struct Entry {
        var at: Int
        var number: UInt64
        var event: Event

        func isBefore(_ other: Entry) -> Bool { at == other.at ? number < other.number : at < other.at }
    }

    private var heap: [Entry] = []
    /// The events of the window that were known when it opened. `passed` counts those that are over.
    private var window: [Entry] = []
    private var passed = 0

    /// Time of the next event.
    var first: Int? {
        guard !isWindowOver else { return heap.first?.at }
        return min(window[passed].at, heap.first?.at ?? .max)
    }

    /// Whether all events of the window have passed.
    var isWindowOver: Bool { passed == window.count }

    /// Opens a window if none is open. Returns the events up to a time, in order. Events that are added later are
    /// inserted in between.
    mutating func openWindow(until time: Int) -> [Entry] {
        window.removeAll(keepingCapacity: true)
        passed = 0
        while let first = heap.first, first.at <= time, let entry = pop() { window.append(entry) }
        return window
    }

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

extension SeededGenerator {
    /// A time in a range of milliseconds, in microseconds.
    mutating func microseconds(_ milliseconds: ClosedRange<Int>) -> Int {
        pick(milliseconds.lowerBound * 1_000...milliseconds.upperBound * 1_000)
    }
}

extension Duration {
    /// In microseconds, rounded up, so that no check runs before its time.
    var microseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1_000_000 + Int((attoseconds + 999_999_999_999) / 1_000_000_000_000)
    }
}
