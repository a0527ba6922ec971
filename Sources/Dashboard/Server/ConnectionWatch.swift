// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides when a connection has had its time: a browser asks, reads and is gone; a client that does not is cut.
struct ConnectionWatch: Sendable {
    /// What happens on a connection.
    enum Event: Hashable, Sendable {
        case requestBegan
        case bodyArrived(bytes: Int)
        case requestEnded
        case answerBegan(isStream: Bool)
        case answerEnded
        /// Something waits to be read by the client.
        case writeBegan
        case writeEnded
        /// The client sends nothing any more.
        case inputClosed
        /// Time has passed: see `deadline`.
        case tick
    }

    /// What changed for others, or that it is over.
    enum Action: Hashable, Sendable {
        /// It does something: it is not closed to make room.
        case busy
        /// It does nothing.
        case idle
        case close
    }

    private enum Reading: Hashable, Sendable {
        case nothing(since: MeshInstant, isFirst: Bool)
        case request(since: MeshInstant)
        case done
    }

    private var reading: Reading
    /// Requests that have begun and whose answer has not left.
    private var open = 0
    private var answering: MeshInstant?
    private var isStream = false
    private var bodyBytes = 0
    private var writes = 0
    private var unreadSince: MeshInstant?

    /// A connection that has just been made.
    init(now: MeshInstant) {
        reading = .nothing(since: now, isFirst: true)
    }

    /// When `tick` is due.
    var deadline: MeshInstant? {
        let read: MeshInstant? =
            switch reading {
            case .nothing(let since, let isFirst):
                since + (isFirst ? DashboardLimits.requestTime : DashboardLimits.keptOpen)
            case .request(let since): since + DashboardLimits.requestTime
            case .done: nil
            }
        return [
            read, isStream ? nil : answering.map { $0 + DashboardLimits.answerTime },
            unreadSince.map { $0 + DashboardLimits.writeTime },
        ].compactMap(\.self).min()
    }

    /// Takes an event.
    mutating func handle(_ event: Event, now: MeshInstant) -> Action? {
        switch event {
        case .requestBegan:
            reading = .request(since: now)
            bodyBytes = 0
            open += 1
        case .bodyArrived(let bytes):
            bodyBytes += bytes
            if bodyBytes > DashboardLimits.swallowedBodyBytes { return .close }
        case .requestEnded: return requestEnded(now: now)
        case .answerBegan(let isStream):
            self.isStream = isStream
        case .answerEnded: return ended(now: now)
        case .writeBegan:
            writes += 1
            unreadSince = unreadSince ?? now
        case .writeEnded:
            writes -= 1
            unreadSince = writes > 0 ? now : nil
        // Nobody is left to see a stream; any other answer is still worth sending.
        case .inputClosed: return isStream ? .close : nil
        case .tick: if let deadline, deadline <= now { return .close }
        }
        return nil
    }

    private mutating func requestEnded(now: MeshInstant) -> Action? {
        // One that is refused by its head has its answer already.
        guard open > 0 else {
            reading = .nothing(since: now, isFirst: false)
            return .idle
        }
        reading = .done
        answering = answering ?? now
        return .busy
    }

    private mutating func ended(now: MeshInstant) -> Action? {
        isStream = false
        open = max(open - 1, 0)
        answering = open > 0 ? now : nil
        guard open == 0 else { return nil }
        if case .request = reading { return nil }
        reading = .nothing(since: now, isFirst: false)
        return .idle
    }
}
