// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NIOConcurrencyHelpers

/// A channel of chunks that limits the unacknowledged chunks to the window of the other side (`ChunkWindow`).
///
/// It reads all the time, since acknowledgements arrive between chunks. Chunks that no caller has requested wait here,
/// up to the window.
package final class WindowedChannel: BearerChannel {
    private struct State: Sendable {
        var window = ChunkWindow()
        var arrived: [[UInt8]] = []
        /// An acknowledgement that has not been sent yet.
        var owed: [UInt8]?
        /// A task is trying to send `owed` again.
        var isOwing = false
        /// The end of the channel below, with an error or without.
        var end: BearerError??
    }

    private let below: any BearerChannel
    private let state: NIOLockedValueBox<State>
    private let arrival = Doorbell()
    private let room = Doorbell()

    /// Takes ownership of a channel. Its packets must be chunks.
    package init(_ below: any BearerChannel) {
        self.below = below
        let state = NIOLockedValueBox(State())
        self.state = state
        let bells = [arrival, room]
        // The task ends with the channel below, which `close` closes.
        Task {
            let end = await Self.read(below, state, bells)
            state.withLockedValue { $0.end = .some(end) }
            for bell in bells { bell.ring() }
        }
    }

    deinit { close() }

    private static func read(
        _ below: any BearerChannel, _ state: NIOLockedValueBox<State>, _ bells: [Doorbell]
    ) async -> BearerError? {
        do throws(BearerError) {
            while let value = try await below.receive() {
                let arrival = state.withLockedValue { state in
                    let arrival = state.window.arrived(value)
                    if arrival == .chunk { state.arrived.append(value) }
                    return arrival
                }
                guard arrival != .broken else {
                    _ = try? below.sendAtOnce(ChunkWriter().end)
                    below.close()
                    return BearerError(.channelLost, "chunks beyond the window")
                }
                for bell in bells { bell.ring() }
            }
            return nil
        } catch {
            return error
        }
    }

    // MARK: Sending

    package func send(_ value: [UInt8]) async throws(BearerError) {
        while try !takeRoom(for: value) { try await room.wait() }
        try await below.send(value)
        sendOwed()
    }

    package func sendAtOnce(_ value: [UInt8]) throws(BearerError) -> Bool {
        guard try takeRoom(for: value) else { return false }
        // Count the chunk before it is sent: the acknowledgement could otherwise arrive before the count.
        if try below.sendAtOnce(value) { return true }
        if value.count > 1 { state.withLockedValue { $0.window.unsent() } }
        return false
    }

    /// Whether a chunk may be sent. If so, it is counted. The end needs no room.
    private func takeRoom(for value: [UInt8]) throws(BearerError) -> Bool {
        guard value.count <= sendMTU else { throw BearerError(.tooLarge, "\(value.count) bytes") }
        guard value.count > 1 else { return true }
        let (hasRoom, end) = state.withLockedValue { state in
            guard state.end == nil, state.window.hasRoom else { return (false, state.end) }
            state.window.sent()
            return (true, state.end)
        }
        if case .some(let error) = end { throw error ?? BearerError(.channelLost) }
        return hasRoom
    }

    /// Sends an owed acknowledgement. If the channel is full, try again: the other side may be waiting for this
    /// acknowledgement.
    private func sendOwed() {
        guard !leaves() else { return }
        let isFirst = state.withLockedValue { state in
            defer { state.isOwing = true }
            return !state.isOwing
        }
        guard isFirst else { return }
        // The channel below has one writer, which may be waiting for room. So this task polls instead.
        Task { [weak self] in
            while self?.leaves() == false { try? await Task.sleep(for: BearerLimits.acknowledgementPause) }
            self?.state.withLockedValue { $0.isOwing = false }
        }
    }

    /// Sends the owed acknowledgement. Returns whether none is owed any more. It holds the lock, so that an older
    /// acknowledgement is never sent after a newer one.
    private func leaves() -> Bool {
        state.withLockedValue { state in
            guard let owed = state.owed, state.end == nil else { return true }
            // A channel that throws has ended.
            guard (try? below.sendAtOnce(owed)) != false else { return false }
            state.owed = nil
            return true
        }
    }

    // MARK: Receiving

    package func receive() async throws(BearerError) -> [UInt8]? {
        while true {
            let (value, end) = state.withLockedValue { state -> ([UInt8]?, BearerError??) in
                guard !state.arrived.isEmpty else { return (nil, state.end) }
                let value = state.arrived.removeFirst()
                if let acknowledgement = state.window.taken(value) { state.owed = acknowledgement }
                return (value, nil)
            }
            if let value {
                sendOwed()
                return value
            }
            if case .some(let error) = end {
                if let error { throw error }
                return nil
            }
            try await arrival.wait()
        }
    }

    // MARK: The channel below

    package var endpoint: BearerEndpoint { below.endpoint }
    package var sendMTU: Int { below.sendMTU }
    package var refusal: RefusalReason? { below.refusal }
    package func signalStrength() async -> Int? { await below.signalStrength() }
    package func linkCondition() async -> LinkCondition? { await below.linkCondition() }
    package func heed(_ note: AirNote) async { await below.heed(note) }
    package func close() { below.close() }
}

extension BearerChannel {
    /// Reads this channel as the SDUs of its chunks.
    package var carryingChunks: any BearerChannel { FramedChannel(WindowedChannel(self), framing: ChunkPieces()) }
}

/// Wakes one waiting task. If no task waits, the next wait returns at once.
package final class Doorbell: Sendable {
    private struct State: Sendable {
        var hasRung = false
        var waiter: CheckedContinuation<Bool, Never>?
    }

    private let state = NIOLockedValueBox(State())

    /// Creates a doorbell that has not rung.
    package init() {}

    package func ring() {
        let waiter = state.withLockedValue { state in
            state.hasRung = state.waiter == nil
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: true)
    }

    package func wait() async throws(BearerError) {
        let hasRung = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let answer: Bool? = state.withLockedValue { state in
                    if Task.isCancelled { return false }
                    if state.hasRung {
                        state.hasRung = false
                        return true
                    }
                    state.waiter = waiter
                    return nil
                }
                if let answer { waiter.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLockedValue { state in
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume(returning: false)
        }
        if !hasRung { throw BearerError(.cancelled) }
    }
}
