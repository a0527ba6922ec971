// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import Glibc
import MeshProtocol

/// A channel between two virtual radios. While one of the radios is in a dead zone nothing passes, and sent data wait.
final class VirtualChannel: BearerChannel {
    let endpoint: BearerEndpoint
    let sendMTU = Limits.sduBytes

    private let socket: PacketSocket
    private let gate = Gate()

    init(socket: PacketSocket, endpoint: BearerEndpoint) {
        self.socket = socket
        self.endpoint = endpoint
    }

    func send(_ sdu: [UInt8]) async throws(BearerError) {
        guard sdu.count <= sendMTU else { throw BearerError(.tooLarge, "\(sdu.count) bytes") }
        try await gate.pass()
        let result: Int
        do throws(BearerError) {
            result = try await socket.perform(.writable) { descriptor in
                let sent = Glibc.send(descriptor, sdu, sdu.count, Int32(MSG_NOSIGNAL))
                return sent < 0 ? -Int(errno) : sent
            }
        } catch {
            throw gate.reason(for: error)
        }
        guard result >= 0 else { throw SystemError.channelError(Int32(-result)) }
    }

    func sendAtOnce(_ sdu: [UInt8]) throws(BearerError) -> Bool {
        guard sdu.count <= sendMTU else { throw BearerError(.tooLarge, "\(sdu.count) bytes") }
        guard try gate.isOpen() else { return false }
        let result: Int
        do throws(BearerError) {
            result = try socket.attempt { descriptor in
                let sent = Glibc.send(descriptor, sdu, sdu.count, Int32(MSG_NOSIGNAL))
                return sent < 0 ? -Int(errno) : sent
            }
        } catch {
            throw gate.reason(for: error)
        }
        if result == -Int(EAGAIN) || result == -Int(EINTR) { return false }
        guard result >= 0 else { throw SystemError.channelError(Int32(-result)) }
        return true
    }

    func receive() async throws(BearerError) -> [UInt8]? {
        do throws(BearerError) {
            let (result, sdu) = try await socket.receive(atMost: Limits.sduBytes)
            // The gate comes after the socket: data that arrive in a dead zone are held back.
            try await gate.pass()
            guard result >= 0 else { throw SystemError.channelError(Int32(-result)) }
            // A kernel also ends an L2CAP channel for an SDU that is too large.
            guard result <= Limits.sduBytes else { throw SystemError.channelError(EPROTO) }
            return sdu.isEmpty ? nil : sdu
        } catch {
            throw gate.reason(for: error)
        }
    }

    func signalStrength() async -> Int? { nil }

    func close() {
        gate.end(with: BearerError(.closed))
        socket.close()
    }

    /// A dead zone has begun or ended.
    func setCut(_ isCut: Bool) {
        gate.setShut(isCut)
    }

    /// The supervision timeout has passed in a dead zone.
    func lose() {
        gate.end(with: BearerError(.channelLost, SystemError.text(ETIMEDOUT)))
        socket.close()
    }

    /// Suspends its callers while it is shut.
    private final class Gate: Sendable {
        private struct State {
            var isShut = false
            var end: BearerError?
            var waiting: [CheckedContinuation<Void, Never>] = []
        }

        private let state = NIOLockedValueBox(State())

        func pass() async throws(BearerError) {
            while true {
                await withCheckedContinuation { waiter in
                    let passes = state.withLockedValue { state in
                        guard state.isShut, state.end == nil else { return true }
                        state.waiting.append(waiter)
                        return false
                    }
                    if passes { waiter.resume() }
                }
                let (isShut, end) = state.withLockedValue { ($0.isShut, $0.end) }
                if let end { throw end }
                if !isShut { return }
            }
        }

        /// Whether data may pass at once.
        func isOpen() throws(BearerError) -> Bool {
            let (isShut, end) = state.withLockedValue { ($0.isShut, $0.end) }
            if let end { throw end }
            return !isShut
        }

        /// The reason for the channel's end, if it is more specific than the socket's error.
        func reason(for error: BearerError) -> BearerError {
            state.withLockedValue { $0.end } ?? error
        }

        func setShut(_ isShut: Bool) {
            release { $0.isShut = isShut }
        }

        func end(with reason: BearerError) {
            release { $0.end = $0.end ?? reason }
        }

        private func release(_ change: (inout State) -> Void) {
            let waiting = state.withLockedValue { state in
                change(&state)
                defer { state.waiting = [] }
                return state.waiting
            }
            for waiter in waiting { waiter.resume() }
        }
    }
}
