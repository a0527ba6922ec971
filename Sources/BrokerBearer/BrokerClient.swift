// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol

/// A connection to a broker for data other than links, such as recordings. It reconnects until it is closed.
///
/// The MQTT sessions are clean: no state is carried over to the next connection. The user must subscribe again after
/// each `connected`.
public actor BrokerClient {
    /// The events of a client.
    public enum Event: Sendable {
        /// The client is connected.
        case connected
        /// The broker delivers the messages that match this filter.
        case granted(String)
        /// A message has arrived.
        case arrived(topic: String, [UInt8])
        /// The connection has ended, or the attempt failed. The client tries again.
        case ended(BrokerFault)
    }

    /// All events, for one listener.
    public nonisolated let events: AsyncStream<Event>

    private let options: MQTTConnection.Options
    private let sink: AsyncStream<Event>.Continuation
    private var connection: MQTTConnection?
    private var isClosed = false
    private var running: Task<Void, Never>?
    private var account = BrokerPolicy(now: .zero)
    private let origin = ContinuousClock.now
    /// Ends a pause when the client closes.
    private let closing = Doorbell()

    /// Creates a client. Its name must be unique, since a broker disconnects the earlier of two clients with one name.
    /// The client drops messages longer than `messageBytes`. `lastWill` is a retained topic that the broker empties
    /// when the connection is lost.
    public init(
        _ broker: BrokerAddress, files: BrokerFiles, name: String, messageBytes: Int, lastWill: String? = nil
    ) {
        options = MQTTConnection.Options(
            broker: broker, files: files, client: name, lastWill: lastWill, messageBytes: messageBytes)
        // This stream forwards the events of the connection, which bounds them already.
        (events, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(BrokerLimits.events))
    }

    /// Connects, and reconnects until `close`.
    public func open() {
        guard running == nil, !isClosed else { return }
        running = Task { await self.run() }
    }

    /// Subscribes to a filter with QoS 1. An event reports when the broker grants it.
    public func subscribe(_ filter: String) { connection?.subscribe(filter) }

    /// Publishes with QoS 1. Without a connection, or if it breaks, the message is lost. The receiver must confirm
    /// messages that matter.
    public func publish(_ topic: String, _ payload: [UInt8], isRetained: Bool = false) {
        connection?.publish(topic, payload, isRetained: isRetained)
    }

    /// Closes the client after sending what was published.
    public func close() async {
        guard !isClosed else { return }
        isClosed = true
        connection?.close()
        closing.ring()
        await running?.value
        sink.finish()
    }

    private func run() async {
        while !isClosed {
            let connection = MQTTConnection(
                account.begin(options, chance: .random(in: 0..<BrokerLimits.servers), now: now))
            self.connection = connection
            for await event in connection.events { received(event, connection) }
            self.connection = nil
            guard !isClosed else { return }
            await closing.wait(atMost: account.pause(jitter: .random(in: 0...1)))
        }
    }

    private var now: MeshInstant { ContinuousClock.now - origin }

    private func received(_ event: MQTTEvent, _ connection: MQTTConnection) {
        switch event {
        case .connected:
            _ = account.connected(now: now)
            tell(.connected, connection)
        case .granted(let filter): tell(.granted(filter), connection)
        case .arrived(let topic, let payload): tell(.arrived(topic: topic, payload), connection)
        case .ended(let fault):
            _ = account.ended(fault, now: now)
            // If the stream is full and drops this event, the reader still starts again at the next `connected`.
            if !isClosed { sink.yield(.ended(fault)) }
        }
    }

    /// Sends an event. If the reader is too slow, the connection ends, so that no event of a connection is missing.
    private func tell(_ event: Event, _ connection: MQTTConnection) {
        if case .dropped = sink.yield(event) { connection.close() }
    }
}
