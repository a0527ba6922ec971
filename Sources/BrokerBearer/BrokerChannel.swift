// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol
import NIOConcurrencyHelpers

/// A channel for values over a pair of topics. `carryingChunks` combines values into SDUs.
final class BrokerChannel: BearerChannel {
    let endpoint: BearerEndpoint
    let sendMTU = BrokerLimits.valueBytes

    private struct State {
        var arrived: [[UInt8]] = []
        /// Set when the channel has ended. The inner value is nil if the peer has closed the channel, otherwise it is
        /// the error.
        var end: BearerError??
        /// Bytes that have not been sent yet.
        var underWay = 0
    }

    private let connection: MQTTConnection
    /// The topic that the peer reads.
    private let topic: String
    private let state = NIOLockedValueBox(State())
    private let arrival = Doorbell()
    private let room = Doorbell()
    private let closed: @Sendable () -> Void

    init(
        _ connection: MQTTConnection, topic: String, endpoint: BearerEndpoint, closed: @escaping @Sendable () -> Void
    ) {
        (self.connection, self.topic, self.endpoint, self.closed) = (connection, topic, endpoint, closed)
    }

    deinit { close() }

    // MARK: Sending

    func send(_ value: [UInt8]) async throws(BearerError) {
        while try !sendAtOnce(value) { try await room.wait() }
    }

    func sendAtOnce(_ value: [UInt8]) throws(BearerError) -> Bool {
        guard value.count <= sendMTU else { throw BearerError(.tooLarge, "\(value.count) bytes") }
        let (hasRoom, end) = state.withLockedValue { state -> (Bool, BearerError??) in
            guard state.end == nil, state.underWay < BrokerLimits.channelBytes else { return (false, state.end) }
            state.underWay += value.count
            return (true, nil)
        }
        if case .some(let error) = end { throw error ?? BearerError(.channelLost, "the other side has closed") }
        guard hasRoom else { return false }
        let (state, room) = (state, room)
        let leaves = connection.publish(topic, value) {
            state.withLockedValue { $0.underWay -= value.count }
            room.ring()
        }
        guard leaves else {
            let lost = BearerError(.channelLost, "the connection to the broker is gone")
            finish(with: lost)
            throw lost
        }
        return true
    }

    // MARK: Receiving

    func receive() async throws(BearerError) -> [UInt8]? {
        while true {
            let (value, end) = state.withLockedValue { state -> ([UInt8]?, BearerError??) in
                state.arrived.isEmpty ? (nil, state.end) : (state.arrived.removeFirst(), nil)
            }
            if let value { return value }
            if case .some(let error) = end {
                if let error { throw error }
                return nil
            }
            try await arrival.wait()
        }
    }

    /// Stores a value that has arrived. Returns whether it fits. `ChunkWindow` limits how much the peer may send.
    func take(_ value: [UInt8]) -> Bool {
        let fits = state.withLockedValue { state in
            guard state.end == nil, state.arrived.count < BrokerLimits.valuesWaiting else { return false }
            state.arrived.append(value)
            return true
        }
        if fits { arrival.ring() }
        return fits
    }

    /// Ends the channel. `error` is nil if the peer has closed it. Values that have arrived can still be read.
    func finish(with error: BearerError?) {
        state.withLockedValue { state in
            // A channel that this side has closed delivers no more values.
            if error?.code == .closed { state.arrived = [] }
            if state.end == nil { state.end = .some(error) }
        }
        arrival.ring()
        room.ring()
    }

    func close() {
        finish(with: BearerError(.closed))
        closed()
    }

    func signalStrength() async -> Int? { nil }
}
