// SPDX-License-Identifier: Apache-2.0

/// Decides about one stream of a pipe: both directions, each with its window and its end.
///
/// A direction is complete when its receiver has written every byte to its destination and has said so. The stream is
/// complete when both directions are. Any other end is a failure, so a part is never accepted as complete.
struct PipeStream {
    /// An action for the owner.
    enum Action: Hashable, Sendable {
        case send(PipeFrame)
        /// Write these bytes to the destination, then call `wrote`.
        case write([UInt8])
        /// No further bytes follow for the destination. Close it for writing, then call `closedOutput`.
        case closeOutput
        /// There is room for more input.
        case read
        /// Both directions are complete.
        case complete
        /// The stream is broken. The destination must not treat the received part as complete.
        case broken
    }

    private enum Sending: Hashable {
        case open
        /// All bytes are sent, but the other side has not written all of them yet.
        case ended
        case confirmed
    }

    private enum Receiving: Hashable {
        case open
        /// All bytes have arrived, but not all of them are written.
        case ended
        /// All bytes are written, and the destination is closed next.
        case closing
        case confirmed
    }

    private enum State: Hashable {
        case running(Sending, Receiving)
        case complete
        case broken
    }

    private let number: UInt32
    private let window: Int
    private var state = State.running(.open, .open)
    /// Bytes that this side may send.
    private var credit: Int
    /// Bytes that the other side may send.
    private var granted: Int
    /// Written bytes that are not granted again yet.
    private var owed = 0

    /// Bytes sent, received and written so far.
    private(set) var sent: UInt64 = 0
    private(set) var received: UInt64 = 0
    private(set) var written: UInt64 = 0

    init(_ number: UInt32, window: Int) {
        (self.number, self.window, credit, granted) = (number, window, window, window)
    }

    /// How many bytes may be read from the source now.
    var readable: Int {
        guard case .running(.open, _) = state else { return 0 }
        return min(credit, PipeLimits.chunk)
    }

    /// Whether both directions are complete.
    var isComplete: Bool { state == .complete }

    /// Whether the stream is broken.
    var isBroken: Bool { state == .broken }

    /// Whether everything of the other side has arrived.
    var hasInputOfOther: Bool {
        if case .running(_, .open) = state { false } else { state != .broken }
    }

    // MARK: This side

    /// Bytes were read from the source, at most `readable`.
    mutating func read(_ bytes: [UInt8]) -> [Action] {
        guard case .running(.open, _) = state, !bytes.isEmpty else { return [] }
        precondition(bytes.count <= credit, "more was read than there is room for")
        credit -= bytes.count
        sent += UInt64(bytes.count)
        return [.send(.data(number, bytes))]
    }

    /// The source has ended.
    mutating func endInput() -> [Action] {
        guard case .running(.open, let receiving) = state else { return [] }
        state = .running(.ended, receiving)
        return [.send(.end(number, count: sent))]
    }

    /// Bytes are written to the destination.
    mutating func wrote(_ count: Int) -> [Action] {
        guard case .running(let sending, let receiving) = state else { return [] }
        written += UInt64(count)
        assert(written <= received, "only received bytes are written")
        owed += count
        if receiving == .ended { return settle(sending) }
        // A frame for each write would cost as much airtime as a short piece of data.
        guard owed * 2 >= window else { return [] }
        defer { owed = 0 }
        granted += owed
        return [.send(.credit(number, UInt32(owed)))]
    }

    /// The destination is closed for writing, and has everything.
    mutating func closedOutput() -> [Action] {
        guard case .running(let sending, .closing) = state else { return [] }
        state = .running(sending, .confirmed)
        return [.send(.done(number))] + finish()
    }

    /// The source or the destination has failed here.
    mutating func fail() -> [Action] {
        guard case .running = state else { return [] }
        state = .broken
        return [.send(.reset(number)), .broken]
    }

    // MARK: The other side

    /// A frame of this stream has arrived.
    mutating func received(_ frame: PipeFrame) -> [Action] {
        guard case .running(let sending, let receiving) = state else { return [] }
        switch (frame, sending, receiving) {
        case (.data(_, let bytes), _, .open) where bytes.count <= granted:
            granted -= bytes.count
            received += UInt64(bytes.count)
            return [.write(bytes)]
        case (.end(_, let count), _, .open) where count == received:
            state = .running(sending, .ended)
            return settle(sending)
        case (.credit(_, let more), .open, _) where Int(more) <= window - credit:
            credit += Int(more)
            return [.read]
        // The other side had sent this credit before it got the end of the source.
        case (.credit, .ended, _): return []
        case (.done, .ended, _):
            state = .running(.confirmed, receiving)
            return finish()
        case (.reset, _, _):
            state = .broken
            return [.broken]
        // A side that breaks these rules may lose bytes, too.
        default: return fail()
        }
    }

    private mutating func settle(_ sending: Sending) -> [Action] {
        guard written == received else { return [] }
        state = .running(sending, .closing)
        return [.closeOutput]
    }

    private mutating func finish() -> [Action] {
        guard case .running(.confirmed, .confirmed) = state else { return [] }
        state = .complete
        return [.complete]
    }
}
