// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import CBlueZ
import Glibc
import MeshProtocol

/// Waits for file descriptors on one thread of its own, so that no task's thread ever does (epoll(7), one shot).
///
/// A wait is one continuation; each descriptor has at most one reader and one writer at a time. Whoever owns a
/// descriptor calls `forget` before it closes it.
final class Poller: Sendable {
    /// What is waited for.
    enum Interest: Sendable {
        case readable
        case writable
    }

    /// Why a wait ended without the descriptor being ready.
    enum Interruption: Error, Hashable, Sendable {
        case cancelled
        case forgotten
        case failed(errno: Int32)
    }

    typealias Waiter = CheckedContinuation<Result<Void, Interruption>, Never>

    private struct Entry {
        var reader: Waiter?
        var writer: Waiter?
        var isAdded = false

        var events: UInt32 {
            var events: UInt32 = EPOLLONESHOT.rawValue
            if reader != nil { events |= EPOLLIN.rawValue | EPOLLRDHUP.rawValue }
            if writer != nil { events |= EPOLLOUT.rawValue }
            return events
        }
    }

    private struct State {
        var entries: [Int32: Entry] = [:]
        var isClosed = false
    }

    private let epoll: Int32
    private let wake: Int32
    private let state = NIOLockedValueBox(State())

    /// Starts the thread. Fails only where the process has no descriptors left.
    init() throws(RadioError) {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        wake = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard epoll >= 0, wake >= 0 else { throw RadioError(.failed, SystemError.text(errno)) }
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(fd: wake))
        epoll_ctl(epoll, EPOLL_CTL_ADD, wake, &event)
        // The thread keeps the poller alive; `close` ends the thread, which then gives the descriptors back.
        let box = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Poller>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, box.toOpaque())
        guard failure == 0 else {
            box.release()
            throw RadioError(.failed, SystemError.text(failure))
        }
        pthread_detach(thread)
    }

    /// Registers a wait: the waiter is resumed when the descriptor is ready, or broken, which the following call on it
    /// will tell. The caller's own lock keeps the descriptor from being closed, and its number from being reused,
    /// meanwhile.
    func add(_ waiter: Waiter, for interest: Interest, on descriptor: Int32) {
        let refused: Interruption? = state.withLockedValue { state in
            // Cancelled before it began: `cancel` has run already and found nothing.
            if Task.isCancelled { return .cancelled }
            if state.isClosed { return .forgotten }
            var entry = state.entries[descriptor] ?? Entry()
            switch interest {
            case .readable:
                precondition(entry.reader == nil, "one reader at a time")
                entry.reader = waiter
            case .writable:
                precondition(entry.writer == nil, "one writer at a time")
                entry.writer = waiter
            }
            if let failure = arm(&entry, descriptor) { return .failed(errno: failure) }
            state.entries[descriptor] = entry
            return nil
        }
        if let refused { waiter.resume(returning: .failure(refused)) }
    }

    /// Ends one wait early, since its task was cancelled.
    func cancel(_ interest: Interest, on descriptor: Int32) {
        let waiter: Waiter? = state.withLockedValue { state in
            guard var entry = state.entries[descriptor] else { return nil }
            defer { state.entries[descriptor] = entry }
            switch interest {
            case .readable:
                defer { entry.reader = nil }
                return entry.reader
            case .writable:
                defer { entry.writer = nil }
                return entry.writer
            }
        }
        waiter?.resume(returning: .failure(.cancelled))
    }

    /// Ends every wait on a descriptor that is about to be closed.
    func forget(_ descriptor: Int32) {
        let entry = state.withLockedValue { state in
            let entry = state.entries.removeValue(forKey: descriptor)
            if entry?.isAdded == true { epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, nil) }
            return entry
        }
        entry?.reader?.resume(returning: .failure(.forgotten))
        entry?.writer?.resume(returning: .failure(.forgotten))
    }

    /// Ends every wait, and the thread.
    func close() {
        let entries = state.withLockedValue { state in
            state.isClosed = true
            defer { state.entries = [:] }
            // Under the lock: the thread closes the descriptor once it has seen that all is over, not before.
            var one: UInt64 = 1
            write(wake, &one, 8)
            return state.entries.values
        }
        for entry in entries {
            entry.reader?.resume(returning: .failure(.forgotten))
            entry.writer?.resume(returning: .failure(.forgotten))
        }
    }

    /// Tells epoll what the entry waits for now. Returns an errno where it cannot.
    private func arm(_ entry: inout Entry, _ descriptor: Int32) -> Int32? {
        var event = epoll_event(events: entry.events, data: epoll_data_t(fd: descriptor))
        let operation = entry.isAdded ? EPOLL_CTL_MOD : EPOLL_CTL_ADD
        guard epoll_ctl(epoll, operation, descriptor, &event) == 0 else { return errno }
        entry.isAdded = true
        return nil
    }

    private func run() {
        var events = [epoll_event](repeating: epoll_event(), count: 64)
        while !state.withLockedValue({ $0.isClosed }) {
            let count = epoll_wait(epoll, &events, Int32(events.count), -1)
            for event in events.prefix(Int(max(count, 0))) where event.data.fd != wake {
                ready(event.data.fd, event.events)
            }
        }
        Glibc.close(epoll)
        Glibc.close(wake)
    }

    private func ready(_ descriptor: Int32, _ events: UInt32) {
        let broken = events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
        let readable = broken || events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0
        let writable = broken || events & EPOLLOUT.rawValue != 0
        let (reader, writer, outcome) = state.withLockedValue {
            state -> (Waiter?, Waiter?, Result<Void, Interruption>) in
            guard var entry = state.entries[descriptor] else { return (nil, nil, .success(())) }
            defer { state.entries[descriptor] = entry }
            let reader = readable ? entry.reader : nil
            let writer = writable ? entry.writer : nil
            if reader != nil { entry.reader = nil }
            if writer != nil { entry.writer = nil }
            guard entry.reader != nil || entry.writer != nil else { return (reader, writer, .success(())) }
            // One shot has disarmed the descriptor for both: whoever still waits is armed again.
            guard let failure = arm(&entry, descriptor) else { return (reader, writer, .success(())) }
            defer { (entry.reader, entry.writer) = (nil, nil) }
            return (reader ?? entry.reader, writer ?? entry.writer, .failure(.failed(errno: failure)))
        }
        reader?.resume(returning: outcome)
        writer?.resume(returning: outcome)
    }
}
