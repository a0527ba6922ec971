// SPDX-License-Identifier: Apache-2.0

import Logging
import MeshProtocol
import NIOConcurrencyHelpers

/// Combines Bluetooth with a local network, a broker, or both, into one radio. `BearerPolicy` decides which of them
/// carries a peer.
///
/// The failure of a bearer other than Bluetooth does not stop the node. A bearer that cannot be opened is retried.
/// These bearers are watched even when the node scans for nothing, so that a link can move to them.
public actor CombinedBearer: Bearer {
    /// The name of the Bluetooth radio, since the network comes and goes.
    public nonisolated let name: String
    /// The events of all radios, for one listener.
    public nonisolated let events: AsyncStream<BearerEvent>
    /// The value of the Bluetooth radio.
    public nonisolated var dialsWhileDialled: Bool? { get async { await air.dialsWhileDialled } }
    /// The flags of the Bluetooth radio.
    public nonisolated var advertisedFlags: AdvertisedFlags { air.advertisedFlags }

    /// A channel, and the endpoint that was dialled.
    private struct Channel: Sendable {
        var endpoint: BearerEndpoint
        var channel: any BearerChannel
    }

    private typealias Opened = Result<Channel, BearerError>

    /// A dial that has no result yet.
    private struct Dial {
        var endpoint: BearerEndpoint
        var sides: Set<BearerPolicy.Side> = []
        var tasks: [Task<Void, Never>] = []
        var alarm: Task<Void, Never>?
        var sink: AsyncStream<Opened>.Continuation
        /// Number of attempts that have not ended.
        var open = 0
    }

    private nonisolated let air: any Bearer
    private nonisolated let beside: [BearerPolicy.Side: any Bearer]
    private let logger: Logger
    private let eventSink: AsyncStream<BearerEvent>.Continuation
    private var account = BearerPolicy()
    /// The other radios that could be opened.
    private var opened: [BearerPolicy.Side] = []
    private var service: ServiceUUID?
    private var wanted: Advertisement?
    private var pace = AdvertisingPace.fast
    private let pause: Pause
    private var opening: [Task<Void, Never>] = []
    private var looking: Task<Void, Never>?
    private var isClosed = false
    private var listening: [Task<Void, Never>] = []
    private var dials: [Int: Dial] = [:]
    private var lastDial = 0
    private let origin = ContinuousClock.now

    /// Combines these radios.
    public init(
        air: any Bearer, network: (any Bearer)? = nil, broker: (any Bearer)? = nil,
        logger: Logger = Logger(label: "roadmesh.bearers")
    ) {
        let start = ContinuousClock.now
        self.init(
            air: air, network: network, broker: broker, logger: logger,
            pause: {
                let isEarly = ContinuousClock.now - start < BearerLimits.earlyLooks
                try await Task.sleep(for: isEarly ? BearerLimits.adapterLook : BearerLimits.lateLook)
            })
    }

    /// Suspends before the next attempt to open a bearer.
    typealias Pause = @Sendable () async throws -> Void

    init(
        air: any Bearer, network: (any Bearer)?, broker: (any Bearer)? = nil,
        logger: Logger = Logger(label: "roadmesh.bearers"), pause: @escaping Pause
    ) {
        (self.air, self.logger, self.pause) = (air, logger, pause)
        beside = [BearerPolicy.Side.network: network, .broker: broker].compactMapValues(\.self)
        name = air.name
        (events, eventSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(BearerLimits.radioEvents))
    }

    private var now: MeshInstant { ContinuousClock.now - origin }

    /// Opens Bluetooth, and the other radios if they are available.
    public func open() async throws(BearerError) {
        try await air.open()
        for (side, radio) in beside where await !opens(radio, side) {
            opening.append(Task { await self.openLater(radio, side) })
        }
        listen(to: air, as: .air)
    }

    private func opens(_ radio: any Bearer, _ side: BearerPolicy.Side) async -> Bool {
        do throws(BearerError) {
            try await radio.open()
        } catch {
            logger.info("the \(side) is not used: \(error)")
            return false
        }
        opened.append(side)
        listen(to: radio, as: side)
        return true
    }

    /// Opens a bearer as soon as possible, then starts the advertising and scanning that are wanted by then.
    private func openLater(_ radio: any Bearer, _ side: BearerPolicy.Side) async {
        repeat {
            guard (try? await pause()) != nil, !isClosed else { return }
        } while await !opens(radio, side)
        guard !isClosed else { return await radio.close() }
        if let advertisement = wanted { await advertise(advertisement, on: side) }
        if let service { try? await radio.scan(for: service) }
    }

    private func radio(_ side: BearerPolicy.Side) -> (any Bearer)? {
        side == .air ? air : opened.contains(side) ? beside[side] : nil
    }

    private func listen(to radio: any Bearer, as side: BearerPolicy.Side) {
        listening.append(Task { for await event in radio.events { self.received(event, side) } })
    }

    private func received(_ event: BearerEvent, _ side: BearerPolicy.Side) {
        if case .failed(let error) = event { logger.info("\(side): \(error)") }
        if let event = account.told(event, by: side, now: now) { eventSink.yield(event) }
    }

    // MARK: Advertising and scanning

    /// Advertises on all radios. Throws if Bluetooth fails.
    public func advertise(_ advertisement: Advertisement, pace: AdvertisingPace) async throws(BearerError) {
        account.advertised = advertisement
        (wanted, self.pace) = (advertisement, pace)
        for side in opened { await advertise(advertisement, on: side) }
        try await air.advertise(advertisement, pace: pace)
    }

    private func advertise(_ advertisement: Advertisement, on side: BearerPolicy.Side) async {
        // Nodes that reach the broker reach the host, and need no relay.
        if side == .broker, advertisement.flags.critical.contains(.circuitsOnly) { return }
        do throws(BearerError) {
            try await beside[side]?.advertise(advertisement, pace: pace)
        } catch {
            logger.info("advertising on the \(side) failed: \(error)")
        }
    }

    /// Stops advertising on all radios.
    public func stopAdvertising() async {
        wanted = nil
        for side in opened { await beside[side]?.stopAdvertising() }
        await air.stopAdvertising()
    }

    /// Scans on all radios.
    public func scan(for service: ServiceUUID) async throws(BearerError) {
        account.isScanning = true
        self.service = service
        for side in opened { try? await beside[side]?.scan(for: service) }
        try await air.scan(for: service)
    }

    /// Stops the Bluetooth scan.
    public func stopScanning() async {
        account.isScanning = false
        await air.stopScanning()
    }

    /// Scans from time to time for a peer that is linked only through the broker.
    private func lookNear() {
        guard looking == nil, account.isFar, !isClosed else { return }
        looking = Task {
            while account.isFar, !Task.isCancelled {
                try? await Task.sleep(for: BearerLimits.nearPause)
                guard let service, account.isFar, !account.isScanning, !Task.isCancelled else { continue }
                try? await air.scan(for: service)
                try? await Task.sleep(for: BearerLimits.nearScan)
                if !account.isScanning { await air.stopScanning() }
            }
            looking = nil
        }
    }

    // MARK: Dialling

    /// Dials the peer on every radio that hears it, and returns the channel that opens first.
    public func dial(_ endpoint: BearerEndpoint) async throws(BearerError) -> any BearerChannel {
        guard !isClosed else { throw BearerError(.closed) }
        lastDial += 1
        let number = lastDial
        let (results, sink) = AsyncStream<Opened>.makeStream()
        dials[number] = Dial(endpoint: endpoint, sink: sink)
        if account.isLinked(endpoint) {
            dials[number]?.alarm = Task {
                try? await Task.sleep(for: BearerLimits.betterDial)
                if !Task.isCancelled { self.giveUp(number) }
            }
        }
        attempt(number)
        let outcome = await withTaskCancellationHandler {
            await self.first(of: results, number)
        } onCancel: {
            Task { await self.cancel(number) }
        }
        end(number, results)
        if Task.isCancelled {
            if case .success(let opened) = outcome { opened.channel.close() }
            throw BearerError(.cancelled)
        }
        let opened = try outcome.get()
        account.opened(opened.endpoint)
        lookNear()
        return WatchedChannel(opened.channel) { isLost in
            Task { await self.closed(opened.endpoint, isLost: isLost) }
        }
    }

    /// Starts the attempts that have not started yet.
    private func attempt(_ number: Int) {
        guard let dial = dials[number] else { return }
        for attempt in account.attempts(for: dial.endpoint) where !dial.sides.contains(attempt.side) {
            guard let radio = radio(attempt.side) else { continue }
            dials[number]?.sides.insert(attempt.side)
            dials[number]?.open += 1
            dials[number]?.tasks.append(
                Task {
                    dial.sink.yield(await Self.open(attempt, by: radio))
                })
        }
        if dials[number]?.open == 0 { dial.sink.yield(.failure(BearerError(.dialFailed))) }
    }

    private static func open(_ attempt: BearerPolicy.Attempt, by radio: any Bearer) async -> Opened {
        do throws(BearerError) {
            if attempt.delay > .zero { try? await Task.sleep(for: attempt.delay) }
            guard !Task.isCancelled else { throw BearerError(.cancelled) }
            return .success(Channel(endpoint: attempt.endpoint, channel: try await radio.dial(attempt.endpoint)))
        } catch {
            return .failure(error)
        }
    }

    private func first(of results: AsyncStream<Opened>, _ number: Int) async -> Opened {
        var failure = BearerError(.cancelled)
        for await result in results {
            if case .success = result { return result }
            dials[number]?.open -= 1
            // A missing bond is a more useful error than a dial without an answer.
            if case .failure(let error) = result, failure.code != .bondRequired { failure = error }
            if dials[number]?.open ?? 0 <= 0 { break }
        }
        return .failure(failure)
    }

    /// Ends the open attempts. A channel that opens nevertheless is closed.
    private func end(_ number: Int, _ results: AsyncStream<Opened>) {
        guard let dial = dials.removeValue(forKey: number) else { return }
        dial.alarm?.cancel()
        for task in dial.tasks { task.cancel() }
        Task {
            for task in dial.tasks { await task.value }
            dial.sink.finish()
            for await result in results { if case .success(let late) = result { late.channel.close() } }
        }
    }

    private func cancel(_ number: Int) { for task in dials[number]?.tasks ?? [] { task.cancel() } }

    /// A dial for a better link has failed.
    private func giveUp(_ number: Int) {
        guard let dial = dials[number], account.isLinked(dial.endpoint) else { return }
        cancel(number)
    }

    /// A link has closed. A dial that wanted a better link to this peer now needs any link.
    private func closed(_ endpoint: BearerEndpoint, isLost: Bool) {
        account.closed(endpoint, isLost: isLost, now: now)
        for (number, dial) in dials where account.isSame(dial.endpoint, endpoint) { attempt(number) }
    }

    /// Closes all radios.
    public func close() async {
        isClosed = true
        looking?.cancel()
        for task in opening { task.cancel() }
        for number in dials.keys { cancel(number) }
        for side in opened { await beside[side]?.close() }
        await air.close()
        for task in listening { await task.value }
        eventSink.finish()
    }
}

/// A channel that reports when it ends.
final class WatchedChannel: BearerChannel {
    private let below: any BearerChannel
    private let ended: @Sendable (_ isLost: Bool) -> Void
    private let hasEnded = NIOLockedValueBox(false)

    init(_ below: any BearerChannel, ended: @escaping @Sendable (_ isLost: Bool) -> Void) {
        (self.below, self.ended) = (below, ended)
    }

    deinit { end(isLost: false) }

    var endpoint: BearerEndpoint { below.endpoint }
    var sendMTU: Int { below.sendMTU }
    var refusal: RefusalReason? { below.refusal }
    var framesPerSecond: Int { below.framesPerSecond }

    func send(_ sdu: [UInt8]) async throws(BearerError) {
        do throws(BearerError) {
            try await below.send(sdu)
        } catch {
            throw told(error)
        }
    }

    func sendAtOnce(_ sdu: [UInt8]) throws(BearerError) -> Bool {
        do throws(BearerError) {
            return try below.sendAtOnce(sdu)
        } catch {
            throw told(error)
        }
    }

    func receive() async throws(BearerError) -> [UInt8]? {
        do throws(BearerError) {
            let sdu = try await below.receive()
            // If nothing reads at that time, a lost network and a host that left look the same.
            if sdu == nil { end(isLost: true) }
            return sdu
        } catch {
            throw told(error)
        }
    }

    func signalStrength() async -> Int? { await below.signalStrength() }
    func linkCondition() async -> LinkCondition? { await below.linkCondition() }
    func heed(_ note: AirNote) async { await below.heed(note) }

    func close() {
        end(isLost: false)
        below.close()
    }

    private func told(_ error: BearerError) -> BearerError {
        if error.code == .channelLost { end(isLost: true) }
        return error
    }

    private func end(isLost: Bool) {
        let isFirst = hasEnded.withLockedValue { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
        if isFirst { ended(isLost) }
    }
}
