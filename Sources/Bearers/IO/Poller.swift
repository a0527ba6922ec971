// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import CLinux
import Dispatch
import Glibc

/// Waits for file descriptors on its own thread, so that no task's thread blocks (epoll(7), one shot).
///
/// A wait is one continuation. Each descriptor has at most one reader and one writer at a time. The owner of a
/// descriptor calls `forget` before closing it.
package final class Poller: Sendable {
    /// The event to wait for.
    package enum Interest: Sendable {
        case readable
        case writable

        fileprivate var events: UInt32 {
            self == .readable ? EPOLLIN.rawValue | EPOLLRDHUP.rawValue : EPOLLOUT.rawValue
        }
    }

    /// Why a wait ended without the descriptor being ready.
    package enum Interruption: Error, Hashable, Sendable {
        case cancelled
        case forgotten
        case failed(errno: Int32)
    }

    package typealias Waiter = CheckedContinuation<Result<Void, Interruption>, Never>

    private struct Entry {
        var waiters = Waiters()
        var isAdded = false
        /// Distinguishes this owner of the descriptor's number from earlier ones.
        let owner: UInt32
    }

    /// The waiters of a descriptor, or those to resume after the lock is released.
    private struct Waiters {
        var reader: Waiter?
        var writer: Waiter?

        var isEmpty: Bool { reader == nil && writer == nil }

        var events: UInt32 {
            EPOLLONESHOT.rawValue | (reader == nil ? 0 : Interest.readable.events)
                | (writer == nil ? 0 : Interest.writable.events)
        }

        subscript(interest: Interest) -> Waiter? {
            get { interest == .readable ? reader : writer }
            set { if interest == .readable { reader = newValue } else { writer = newValue } }
        }

        /// Removes and returns the waiters for these events.
        mutating func take(_ events: UInt32) -> Waiters {
            var taken = Waiters()
            if events & Interest.readable.events != 0 { swap(&taken.reader, &reader) }
            if events & Interest.writable.events != 0 { swap(&taken.writer, &writer) }
            return taken
        }

        func resume(_ outcome: Result<Void, Interruption>) {
            reader?.resume(returning: outcome)
            writer?.resume(returning: outcome)
        }
    }

    private struct State {
        var entries: [Int32: Entry] = [:]
        var owners: UInt32 = 0
        var isClosed = false

        /// The entry of a descriptor, created if needed.
        mutating func entry(_ descriptor: Int32) -> Entry {
            if let entry = entries[descriptor] { return entry }
            owners &+= 1
            return Entry(owner: owners)
        }
    }

    /// The value that epoll returns with an event. A round may contain events of a descriptor that was closed since,
    /// and its number may belong to another.
    package static func token(_ descriptor: Int32, _ owner: UInt32) -> UInt64 {
        UInt64(owner) << 32 | UInt64(UInt32(bitPattern: descriptor))
    }

    private let epoll: Int32
    private let wake: Int32
    private let state = NIOLockedValueBox(State())

    /// Starts the thread. Fails only if the process has no descriptors left.
    package init() throws(BearerError) {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        wake = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard epoll >= 0, wake >= 0 else { throw BearerError(.failed, SystemError.text(errno)) }
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: Self.token(wake, 0)))
        epoll_ctl(epoll, EPOLL_CTL_ADD, wake, &event)
        // The thread keeps the poller alive. `close` ends the thread, which then closes the descriptors.
        DispatchQueue(label: "roadmesh.poller").async { self.run() }
    }

    /// Registers a wait. The waiter resumes when the descriptor is ready or broken; the next call on the descriptor
    /// shows which. The caller's own lock keeps the descriptor open, so its number cannot be reused during this call.
    package func add(_ waiter: Waiter, for interest: Interest, on descriptor: Int32) {
        let refused: Interruption? = state.withLockedValue { state in
            // Cancelled before the wait began: `cancel` has already run and found nothing.
            if Task.isCancelled { return .cancelled }
            if state.isClosed { return .forgotten }
            var entry = state.entry(descriptor)
            precondition(entry.waiters[interest] == nil, "one reader and one writer at a time")
            entry.waiters[interest] = waiter
            if let failure = arm(&entry, descriptor) { return .failed(errno: failure) }
            state.entries[descriptor] = entry
            return nil
        }
        if let refused { waiter.resume(returning: .failure(refused)) }
    }

    /// Ends one wait early because its task was cancelled.
    package func cancel(_ interest: Interest, on descriptor: Int32) {
        let waiters = state.withLockedValue { $0.entries[descriptor]?.waiters.take(interest.events) }
        waiters?.resume(.failure(.cancelled))
    }

    /// Ends all waits on a descriptor that is about to be closed.
    package func forget(_ descriptor: Int32) {
        let waiters = state.withLockedValue { state in
            let entry = state.entries.removeValue(forKey: descriptor)
            if entry?.isAdded == true { epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, nil) }
            return entry?.waiters
        }
        waiters?.resume(.failure(.forgotten))
    }

    /// Ends all waits, and the thread.
    package func close() {
        let waiters = state.withLockedValue { state -> [Waiters] in
            // Close only once: afterwards the descriptor's number may belong to another file.
            guard !state.isClosed else { return [] }
            state.isClosed = true
            defer { state.entries = [:] }
            // This runs under the lock, and the thread closes the descriptor only after it has seen the end.
            var one: UInt64 = 1
            write(wake, &one, 8)
            return state.entries.values.map(\.waiters)
        }
        for waiter in waiters { waiter.resume(.failure(.forgotten)) }
    }

    /// Sets the events that epoll reports for the entry. Returns an errno on failure.
    private func arm(_ entry: inout Entry, _ descriptor: Int32) -> Int32? {
        var event = epoll_event(
            events: entry.waiters.events, data: epoll_data_t(u64: Self.token(descriptor, entry.owner)))
        let operation = entry.isAdded ? EPOLL_CTL_MOD : EPOLL_CTL_ADD
        guard epoll_ctl(epoll, operation, descriptor, &event) == 0 else { return errno }
        entry.isAdded = true
        return nil
    }

    private func run() {
        var events = [epoll_event](repeating: epoll_event(), count: 64)
        while !state.withLockedValue({ $0.isClosed }) {
            let count = epoll_wait(epoll, &events, Int32(events.count), -1)
            for event in events.prefix(Int(max(count, 0))) { ready(event.data.u64, event.events) }
        }
        Glibc.close(epoll)
        Glibc.close(wake)
    }

    /// The owner of a descriptor's number. Nil if nothing has waited for the descriptor yet.
    package func owner(of descriptor: Int32) -> UInt32? { state.withLockedValue { $0.entries[descriptor]?.owner } }

    /// Whether a task waits to read from a descriptor.
    package func isWaiting(for descriptor: Int32) -> Bool {
        state.withLockedValue { $0.entries[descriptor]?.waiters.reader != nil }
    }

    /// Handles an event of epoll for the owner of a descriptor (`token`).
    package func ready(_ token: UInt64, _ events: UInt32) {
        let descriptor = Int32(truncatingIfNeeded: token)
        // On a broken descriptor all waiters resume, and their next call returns the error.
        let happened = events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 ? .max : events
        let (ready, outcome) = state.withLockedValue { state -> (Waiters, Result<Void, Interruption>) in
            let place = state.entries.index(forKey: descriptor)
            guard let place, Self.token(descriptor, state.entries.values[place].owner) == token else {
                return (Waiters(), .success(()))
            }
            let both = state.entries.values[place].waiters
            let ready = state.entries.values[place].waiters.take(happened)
            // One shot has disarmed the descriptor for both waiters. This arms the descriptor again for the waiter that
            // still waits.
            guard !state.entries.values[place].waiters.isEmpty,
                let failure = arm(&state.entries.values[place], descriptor)
            else { return (ready, .success(())) }
            state.entries.values[place].waiters = Waiters()
            return (both, .failure(.failed(errno: failure)))
        }
        ready.resume(outcome)
    }
}
