// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The events that wait for a session's listeners. Messages are never dropped for the only listener: when it is
/// `SessionLimits.sessionEvents` behind, the link is not read.
struct SessionListeners {
    /// Reads one event, or nil at the end.
    typealias Reader = CheckedContinuation<MeshEvent?, Never>

    private struct Listener {
        var queue = EventBacklog()
        var reader: Reader?
        /// No further events follow those that wait.
        var hasEnded = false
    }

    private var listeners: [Int: Listener] = [:]
    private var last = 0
    /// Events that arrived before the first listener.
    private var unheard = EventBacklog()
    private var isOver = false

    /// Whether another message can wait. The fastest listener decides.
    var hasRoom: Bool {
        let open = listeners.values.filter { !$0.hasEnded }
        return isOver || (open.isEmpty ? unheard.hasRoom : open.contains { $0.queue.hasRoom })
    }

    /// Adds a listener. The first one gets the events that arrived before it.
    mutating func add() -> Int {
        last += 1
        var listener = Listener(hasEnded: isOver)
        (listener.queue, unheard) = (unheard, EventBacklog())
        listeners[last] = listener
        return last
    }

    /// Removes a listener. Events that the last listener has not read wait for the next one.
    mutating func remove(_ number: Int) {
        guard let gone = listeners.removeValue(forKey: number) else { return }
        gone.reader?.resume(returning: nil)
        if listeners.isEmpty, !gone.hasEnded { unheard = gone.queue }
    }

    /// Passes an event to all listeners. A listener that is too far behind gets no further events.
    mutating func deliver(_ event: MeshEvent) {
        let open = listeners.filter { !$0.value.hasEnded }.map(\.key)
        if open.isEmpty { return unheard.append(event) }
        for number in open {
            if let reader = listeners[number]?.reader {
                listeners[number]?.reader = nil
                reader.resume(returning: event)
            } else if !event.isMessage || listeners[number]?.queue.hasRoom == true {
                listeners[number]?.queue.append(event)
            } else {
                listeners[number]?.queue.append(.listenerTooSlow)
                listeners[number]?.hasEnded = true
            }
        }
    }

    /// The next event of a listener, if one waits.
    mutating func next(_ number: Int) -> MeshEvent? { listeners[number]?.queue.popFirst() }

    /// A listener waits for the next event. A listener that has ended gets nil.
    mutating func wait(_ number: Int, _ reader: Reader) {
        guard let listener = listeners[number], !listener.hasEnded, listener.reader == nil else {
            return reader.resume(returning: nil)
        }
        listeners[number]?.reader = reader
    }

    /// A listener's task was cancelled.
    mutating func stopWaiting(_ number: Int) {
        listeners[number]?.reader?.resume(returning: nil)
        listeners[number]?.reader = nil
    }

    /// The session has ended. Waiting events can still be read.
    mutating func finish() {
        isOver = true
        for number in listeners.keys {
            listeners[number]?.hasEnded = true
            stopWaiting(number)
        }
    }
}

/// Events that one listener has not read yet. A newer report or acknowledgement replaces a waiting one.
struct EventBacklog {
    private var events: [MeshEvent] = []
    private var messages = 0

    var hasRoom: Bool { messages < SessionLimits.sessionEvents }

    mutating func append(_ event: MeshEvent) {
        switch event {
        case .messageReceived: messages += 1
        case .acknowledged: events.removeAll { if case .acknowledged = $0 { true } else { false } }
        case .linkReport: events.removeAll { if case .linkReport = $0 { true } else { false } }
        case .connectionStateChanged, .listenerTooSlow: break
        }
        events.append(event)
    }

    mutating func popFirst() -> MeshEvent? {
        guard !events.isEmpty else { return nil }
        let event = events.removeFirst()
        if event.isMessage { messages -= 1 }
        return event
    }
}

extension MeshEvent {
    var isMessage: Bool { if case .messageReceived = self { true } else { false } }
}

/// Reports when the stream that owns this object is released, so that an abandoned listener does not delay the session.
final class ReleasedStream: Sendable {
    let number: Int
    private let released: @Sendable (Int) -> Void

    init(_ number: Int, released: @escaping @Sendable (Int) -> Void) {
        self.number = number
        self.released = released
    }

    deinit { released(number) }
}
