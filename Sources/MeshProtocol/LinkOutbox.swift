// SPDX-License-Identifier: Apache-2.0

import DequeModule

/// How a message waits for its link.
public enum MessageClass: Hashable, Sendable {
    /// Every one counts, in order: a vote.
    case reliable
    /// Only the newest counts: a state update. It replaces one that has not left yet.
    case latest
}

/// What waits to leave on one link, in the order in which it should: the link's own frames, then reliable messages,
/// then the latest state. It is bounded, and says so instead of growing.
public struct LinkOutbox: Sendable {
    private var control: Deque<Frame> = []
    private var pong: Frame?
    private var reliable: Deque<[UInt8]> = []
    private var latest: [UInt8]?
    private var bytes = 0

    /// What became of a message.
    public enum Admission: Hashable, Sendable {
        /// It waits for its turn.
        case queued
        /// It waits in the place of an older one of class `latest`.
        case replacedOlder
        /// `Limits.outboxMessages` or `Limits.outboxBytes` is reached, or the message fits no frame: it is not taken.
        case full
    }

    /// An empty outbox.
    public init() {}

    /// Whether nothing waits.
    public var isEmpty: Bool { count == 0 }

    /// How many frames wait.
    public var count: Int {
        control.count + (pong == nil ? 0 : 1) + reliable.count + (latest == nil ? 0 : 1)
    }

    /// Puts in one of the link's own frames. A peer can provoke pongs without end, so only the newest is kept; of the
    /// others there are a handful in a link's life.
    public mutating func enqueue(_ frame: Frame) {
        if case .pong = frame {
            pong = frame
        } else {
            control.append(frame)
        }
    }

    /// Puts in a message.
    public mutating func enqueue(_ body: [UInt8], as messageClass: MessageClass) -> Admission {
        let replaced = messageClass == .latest ? latest : nil
        let bytesAfter = bytes - (replaced?.count ?? 0) + body.count
        guard body.count <= Limits.frameBodyBytes, bytesAfter <= Limits.outboxBytes else { return .full }
        switch messageClass {
        case .reliable:
            guard reliable.count < Limits.outboxMessages else { return .full }
            reliable.append(body)
        case .latest: latest = body
        }
        bytes = bytesAfter
        return replaced == nil ? .queued : .replacedOlder
    }

    /// Takes out what leaves next.
    public mutating func next() -> Frame? {
        if let frame = control.popFirst() { return frame }
        if let frame = pong {
            pong = nil
            return frame
        }
        guard let body = reliable.popFirst() ?? takeLatest() else { return nil }
        bytes -= body.count
        return .message(body)
    }

    /// Takes out what leaves next if it has at most this many bytes.
    public mutating func next(fitting limit: Int) -> Frame? {
        var rest = self
        guard let frame = rest.next(), frame.bytes.count <= limit else { return nil }
        self = rest
        return frame
    }

    private mutating func takeLatest() -> [UInt8]? {
        defer { latest = nil }
        return latest
    }
}
