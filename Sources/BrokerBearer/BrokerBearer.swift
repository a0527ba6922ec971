// SPDX-License-Identifier: Apache-2.0

import Bearers
import Logging
import MeshProtocol
import NIOConcurrencyHelpers

/// An MQTT broker as a radio: all nodes that use the same broker are in range (`docs/protocol.md`, "Broker").
///
/// The node also works without the broker. The radio reports the broker's condition as `BearerEvent.broker`. Until
/// `close`, it retries a failed connection.
public actor BrokerBearer: Bearer {
    /// Always `broker`.
    public nonisolated let name = "broker"
    /// All events, for one listener.
    public nonisolated let events: AsyncStream<BearerEvent>
    /// Always true, because channels are independent of one another.
    public nonisolated let dialsWhileDialled: Bool? = true
    /// The flags in every advertisement of this radio.
    public nonisolated let advertisedFlags: AdvertisedFlags

    private let options: MQTTConnection.Options
    private let logger: Logger
    private let eventSink: AsyncStream<BearerEvent>.Continuation
    private var machine: BrokerMachine
    private var connection: MQTTConnection?
    private var channels: [BrokerID: Open] = [:]
    private var dials: [Int: CheckedContinuation<(any BearerChannel)?, Never>] = [:]
    private var lastDial = 0
    private var isClosed = false
    private var running: Task<Void, Never>?
    private var telling: Task<Void, Never>?
    private var account: BrokerPolicy
    private let origin = ContinuousClock.now
    /// Ends a pause when the radio closes.
    private let closing = Doorbell()

    private struct Open {
        weak var channel: BrokerChannel?
    }

    /// Creates the radio of a node at a broker. `demands` is what this node requires of dialling peers; `service` is
    /// its service type.
    public init(
        _ broker: BrokerAddress, files: BrokerFiles = BrokerFiles(), peer: Peer, service: ServiceUUID,
        demands: AdvertisedFlags.Critical = [], logger: Logger = Logger(label: "roadmesh.broker")
    ) {
        guard let own = BrokerID(of: peer) else { preconditionFailure("an identifier has 32 digits") }
        let topics = BrokerTopics(prefix: broker.prefix)
        options = MQTTConnection.Options(
            broker: broker, files: files, client: "rm" + own.text, lastWill: topics.presence(service, own),
            quality: .unacknowledged)
        self.logger = logger
        advertisedFlags = AdvertisedFlags(critical: demands)
        machine = BrokerMachine(own: own, topics: topics, isCluster: broker.servers.count > 1)
        account = BrokerPolicy(now: .zero)
        (events, eventSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(BearerLimits.radioEvents))
    }

    private var now: MeshInstant { ContinuousClock.now - origin }

    /// Connects, and reconnects until `close`.
    public func open() async throws(BearerError) {
        guard running == nil, !isClosed else { return }
        running = Task { await self.run() }
        telling = Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: BearerLimits.scanResultRepeat)
                self.tick()
            }
        }
    }

    /// Closes the connection after sending what was queued.
    public func close() async {
        guard !isClosed else { return }
        await stopAdvertising()
        isClosed = true
        telling?.cancel()
        for (_, open) in channels {
            _ = try? open.channel?.sendAtOnce(BrokerValue.end)
            open.channel?.finish(with: BearerError(.channelLost, "the radio is closed"))
        }
        for number in dials.keys { finish(number, nil) }
        connection?.close()
        closing.ring()
        await running?.value
        eventSink.finish()
    }

    /// Bytes sent and received over the network since `open`, with all headers.
    package var carried: UInt64 {
        let traffic = account.all(with: connection?.traffic ?? BrokerTraffic())
        return traffic.sent + traffic.received
    }

    // MARK: The connection

    private func run() async {
        while !isClosed {
            let connection = MQTTConnection(
                account.begin(options, chance: .random(in: 0..<BrokerLimits.servers), now: now))
            self.connection = connection
            for await event in connection.events { received(event, connection) }
            account.carried(connection.traffic)
            self.connection = nil
            guard !isClosed else { continue }
            await closing.wait(atMost: account.pause(jitter: .random(in: 0...1)))
        }
    }

    private func received(_ event: MQTTEvent, _ connection: MQTTConnection) {
        switch event {
        case .connected: handle(.connected(run: (0..<BrokerPresence.runBytes).map { _ in .random(in: 0...255) }))
        case .granted(let filter): handle(.granted(filter))
        case .arrived(let topic, let payload): handle(.arrived(topic: topic, payload))
        case .ended(let fault):
            if !isClosed { logger.info("broker: \(fault.cause)") }
            handle(.ended)
            tell(account.ended(fault, now: now))
        }
    }

    private func tick() {
        handle(.tick)
        let traffic = connection?.traffic ?? BrokerTraffic()
        tell(account.tick(traffic, now: now))
    }

    private func tell(_ conditions: [BrokerCondition]) {
        guard !isClosed else { return }
        for condition in conditions { eventSink.yield(.broker(condition)) }
    }

    private func handle(_ event: BrokerMachine.Event) {
        let actions = machine.handle(event, random: .random(in: .min ... .max), now: now)
        for action in actions { perform(action) }
    }

    private func perform(_ action: BrokerMachine.Action) {
        switch action {
        case .subscribe(let filter): connection?.subscribe(filter)
        case .publish(let topic, let payload, let isRetained):
            connection?.publish(topic, payload, isRetained: isRetained)
        case .heard(let address, let advertisement):
            eventSink.yield(
                .heard(ScanResult(endpoint: endpoint(address), advertisement: advertisement, rssi: nil)))
        case .lost(let address): eventSink.yield(.lost(endpoint(address)))
        case .ready: tell(account.connected(now: now))
        case .accept(let id, let other):
            guard let channel = open(id, to: other) else { return }
            eventSink.yield(.accepted(channel))
        case .opened(let number, let id, let other): finish(number, open(id, to: other))
        case .deliver(let value, let id):
            guard let channel = channels[id]?.channel, !channel.take(value) else { return }
            _ = try? channel.sendAtOnce(BrokerValue.end)
            channel.finish(with: BearerError(.channelLost, "values beyond the window"))
            handle(.closed(id))
        case .silent(let topic): tell(account.silent(topic))
        case .reconnect(let silent):
            let fault = silent.map { BrokerFault(.silent, $0) }
            connection?.fail(fault ?? BrokerFault(.unreachable, "it sends nothing any more"))
        case .end(let id): channels.removeValue(forKey: id)?.channel?.finish(with: nil)
        }
    }

    private func endpoint(_ address: BrokerID) -> BearerEndpoint {
        BearerEndpoint(address: address.text, psm: BrokerPresence.psm, bearer: .broker)
    }

    private func open(_ id: BrokerID, to other: BrokerID) -> (any BearerChannel)? {
        guard let connection, !isClosed else { return nil }
        let topic = machine.topics.value(other, id)
        let channel = BrokerChannel(connection, topic: topic, endpoint: endpoint(other)) {
            Task { await self.closed(id) }
        }
        channels[id] = Open(channel: channel)
        return channel.carryingChunks
    }

    private func closed(_ id: BrokerID) {
        guard channels.removeValue(forKey: id) != nil else { return }
        handle(.closed(id))
    }

    // MARK: Advertising and scanning

    /// Advertises to all nodes at the broker while a connection is up, and accepts callers.
    public func advertise(_ advertisement: Advertisement, pace: AdvertisingPace) async throws(BearerError) {
        guard !isClosed else { throw BearerError(.closed) }
        var advertisement = advertisement
        advertisement.flags = advertisement.flags.union(advertisedFlags)
        handle(.advertise(advertisement))
    }

    /// Withdraws the advertisement. Links stay.
    public func stopAdvertising() async { handle(.advertise(nil)) }

    /// Reports other nodes at the broker.
    public func scan(for service: ServiceUUID) async throws(BearerError) {
        guard !isClosed else { throw BearerError(.closed) }
        handle(.scan(service))
    }

    /// Stops reporting nodes. The presence of known nodes stays watched.
    public func stopScanning() async { handle(.scan(nil)) }

    // MARK: Dialling

    /// Calls a found node repeatedly until it answers, for at most `BearerLimits.dialLimit`.
    public func dial(_ endpoint: BearerEndpoint) async throws(BearerError) -> any BearerChannel {
        guard !isClosed else { throw BearerError(.closed) }
        guard let other = BrokerID(endpoint.address) else {
            throw BearerError(.dialFailed, "not an address of a broker")
        }
        lastDial += 1
        let number = lastDial
        let limit = Task {
            try? await Task.sleep(for: BearerLimits.dialLimit)
            if !Task.isCancelled { self.giveUp(number) }
        }
        defer { limit.cancel() }
        let channel: (any BearerChannel)? = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                guard !Task.isCancelled, !isClosed else { return waiter.resume(returning: nil) }
                dials[number] = waiter
                handle(.dial(number, other))
            }
        } onCancel: {
            Task { await self.giveUp(number) }
        }
        guard let channel else {
            if Task.isCancelled { throw BearerError(.cancelled) }
            throw isClosed ? BearerError(.closed) : BearerError(.dialFailed, "no answer")
        }
        guard !Task.isCancelled else {
            channel.close()
            throw BearerError(.cancelled)
        }
        return channel
    }

    private func giveUp(_ number: Int) {
        handle(.giveUp(number))
        finish(number, nil)
    }

    private func finish(_ number: Int, _ channel: (any BearerChannel)?) {
        guard let waiter = dials.removeValue(forKey: number) else {
            channel?.close()
            return
        }
        waiter.resume(returning: channel)
    }
}
