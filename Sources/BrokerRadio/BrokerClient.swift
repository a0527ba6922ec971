// SPDX-License-Identifier: Apache-2.0

import BLETransport
import MeshProtocol

/// A connection to a broker for what is no link, such as recordings: made again for as long as nobody closes it.
///
/// Sessions are clean, and nothing is carried over into the next connection: who uses it begins again at `connected`.
public actor BrokerClient {
    /// What happens.
    public enum Event: Sendable {
        /// There is a connection.
        case connected
        /// The broker sends what this filter fits.
        case granted(String)
        /// The broker has sent this.
        case arrived(topic: String, [UInt8])
        /// The connection is over, or there was none. It is tried again.
        case ended(BrokerFault)
    }

    /// What happens, for one listener.
    public nonisolated let events: AsyncStream<Event>

    private let options: MQTTConnection.Options
    private let sink: AsyncStream<Event>.Continuation
    private var connection: MQTTConnection?
    private var isClosed = false
    private var running: Task<Void, Never>?
    private var account = BrokerAccount(now: .zero)
    private let origin = ContinuousClock.now
    /// Has rung when this is closed: a pause is over.
    private let closing = Doorbell()

    /// A client of this name, which no other may have: a broker throws out the first of two. Messages that are longer than
    /// `messageBytes` are dropped. `lastWill` is a retained topic that is emptied when the connection is gone.
    public init(
        _ broker: BrokerAddress, files: BrokerFiles, name: String, messageBytes: Int, lastWill: String? = nil
    ) {
        options = MQTTConnection.Options(
            broker: broker, files: files, client: name, lastWill: lastWill, messageBytes: messageBytes)
        // What a connection holds is bounded there; this hands it on.
        (events, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(BrokerLimits.events))
    }

    /// Begins to connect, and goes on with that until `close`.
    public func open() {
        guard running == nil, !isClosed else { return }
        running = Task { await self.run() }
    }

    /// Asks for what a filter fits, with QoS 1; it is told when the broker grants it.
    public func subscribe(_ filter: String) { connection?.subscribe(filter) }

    /// Publishes with QoS 1. Without a connection, or where it breaks, nothing is: what matters has to be confirmed by who it is for.
    public func publish(_ topic: String, _ payload: [UInt8], isRetained: Bool = false) {
        connection?.publish(topic, payload, isRetained: isRetained)
    }

    /// Ends it, after what was published.
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
            // Where there is no room for it, who reads this begins again at the next `connected`.
            if !isClosed { sink.yield(.ended(fault)) }
        }
    }

    /// What nobody reads in time ends the connection: nothing is left out in the middle of one.
    private func tell(_ event: Event, _ connection: MQTTConnection) {
        if case .dropped = sink.yield(event) { connection.close() }
    }
}
