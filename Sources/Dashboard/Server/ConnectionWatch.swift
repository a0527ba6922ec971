// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides when to close a connection. A browser sends a request, reads the answer and closes. The connection of a
/// client that stalls is closed.
struct ConnectionWatch: Sendable {
    /// An event of a connection.
    enum Event: Hashable, Sendable {
        case requestBegan
        case bodyArrived(bytes: Int)
        case requestEnded
        case answerBegan(isStream: Bool)
        case answerEnded
        /// Bytes wait until the client reads them.
        case writeBegan
        case writeEnded
        /// The client has closed its sending side.
        case inputClosed
        /// `deadline` has passed.
        case tick
    }

    /// A change that the connection table needs, or the end of the connection.
    enum Action: Hashable, Sendable {
        /// The connection serves a request, so it must not be closed to make room.
        case busy
        /// The connection is idle.
        case idle
        case close
    }

    private enum Reading: Hashable, Sendable {
        case nothing(since: MeshInstant, isFirst: Bool)
        case request(since: MeshInstant)
        case done
    }

    private var reading: Reading
    /// Requests that have begun and have no complete answer yet.
    private var open = 0
    private var answering: MeshInstant?
    private var isStream = false
    private var bodyBytes = 0
    private var writes = 0
    private var unreadSince: MeshInstant?

    /// Creates the watch of a new connection.
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

    /// Handles an event.
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
        // A stream is useless without a reader, so it is closed. Other answers are still sent.
        case .inputClosed: return isStream ? .close : nil
        case .tick: if let deadline, deadline <= now { return .close }
        }
        return nil
    }

    private mutating func requestEnded(now: MeshInstant) -> Action? {
        // A request that was refused after its head has its answer already.
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
