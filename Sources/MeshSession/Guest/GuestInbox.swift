// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The messages that wait for a guest's listener.
struct GuestInbox {
    private var messages: [ReceivedMessage] = []
    private var last: ReceivedMessage?
    private var reader: CheckedContinuation<Void, Never>?
    private var writer: CheckedContinuation<Void, Never>?
    private var hasListener = false
    /// The end of the stream: nil, or an error.
    private(set) var end: Result<ReceivedMessage?, MeshCoreError>?
    /// Why no further message can be sent. Nil while sending is possible.
    var reason: MeshCoreError? {
        switch end {
        case .failure(let error): error
        case .success: .sessionOver
        case nil: nil
        }
    }

    /// Registers the listener. Returns whether it is the first.
    mutating func begin() -> Bool {
        defer { hasListener = true }
        return !hasListener
    }

    /// Whether another message fits. Always true after the end, so that no sender waits.
    var hasRoom: Bool { messages.count < SessionLimits.guestMessages || end != nil }

    mutating func append(_ message: ReceivedMessage) {
        messages.append(message)
        wakeReader()
    }

    mutating func next() -> ReceivedMessage? {
        guard !messages.isEmpty else { return nil }
        last = messages.removeFirst()
        wakeWriter()
        return last
    }

    /// The message that the listener has processed.
    mutating func processed() -> ReceivedMessage? {
        defer { last = nil }
        return last
    }

    mutating func wait(_ reader: CheckedContinuation<Void, Never>) {
        guard messages.isEmpty, end == nil, self.reader == nil else { return reader.resume() }
        self.reader = reader
    }

    mutating func waitForRoom(_ writer: CheckedContinuation<Void, Never>) { self.writer = writer }

    /// No further messages follow those that wait.
    mutating func finish(_ error: MeshCoreError?) {
        end = error.map { .failure($0) } ?? .success(nil)
        wakeReader()
        wakeWriter()
    }

    mutating func wakeReader() {
        reader?.resume()
        reader = nil
    }

    private mutating func wakeWriter() {
        writer?.resume()
        writer = nil
    }
}

/// A connection's state, for any number of listeners.
struct ConnectionStates {
    private var state = ConnectionState.disconnected
    private var listeners: [AsyncStream<ConnectionState>.Continuation] = []
    private var isOver = false

    mutating func stream() -> AsyncStream<ConnectionState> {
        let (stream, listener) = AsyncStream<ConnectionState>.makeStream(
            bufferingPolicy: .bufferingNewest(SessionLimits.sessionStates))
        listener.yield(state)
        if isOver { listener.finish() } else { listeners.append(listener) }
        return stream
    }

    mutating func show(_ state: ConnectionState) {
        guard state != self.state else { return }
        self.state = state
        listeners.removeAll { if case .terminated = $0.yield(state) { true } else { false } }
    }

    mutating func finish() {
        isOver = true
        for listener in listeners { listener.finish() }
        listeners = []
    }
}
