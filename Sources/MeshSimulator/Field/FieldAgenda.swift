// SPDX-License-Identifier: Apache-2.0

/// An event of a field. An event is small and has no references, since a simulated hour has hundreds of millions of
/// events. It identifies a node by its number, since a killed node does not come back under the same number.
enum FieldEvent {
    /// A node's radio is ready.
    case starts(node: Int)
    /// A node's deadline may have come.
    case ticks(node: Int)
    case written(node: Int)
    /// A node that scans looks for the nodes that it may hear within the next second.
    case listens(node: Int, scan: Int)
    case hears(node: Int, other: Int, scan: Int)
    /// A pending dial may succeed.
    case reaches(node: Int, dial: Int)
    case dialEnds(node: Int, dial: Int)
    /// A channel opens on a link.
    case opens(link: Int)
    /// A connection event with data to send.
    case meets(link: Int)
    case arrives(link: Int, from: Int)
    /// The link layer has heard nothing for the supervision timeout.
    case fades(link: Int)
    case shuts(link: Int, end: Int)
    /// A link's interval changes, or the link may have been idle long enough for a change.
    case retunes(link: Int)
    /// The moving nodes take a step.
    case moves
    case votes(node: Int)
}

/// The coming events of a field, by time. Events of the same time are in the order of their insertion.
struct FieldAgenda {
    struct Entry: Timed {
        var at: Int
        var number: Int
        var event: FieldEvent

        func isBefore(_ other: Entry) -> Bool { at == other.at ? number < other.number : at < other.at }
    }

    private var heap = TimedHeap<Entry>()
    private var count = 0
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
        while let first = heap.first, first.at <= time, let entry = heap.pop() { window.append(entry) }
        return window
    }

    mutating func add(_ event: FieldEvent, at time: Int) {
        count += 1
        heap.add(Entry(at: time, number: count, event: event))
    }

    mutating func next() -> Entry? {
        guard !isWindowOver, heap.first.map({ window[passed].isBefore($0) }) != false else { return heap.pop() }
        defer { passed += 1 }
        return window[passed]
    }
}
