// SPDX-License-Identifier: Apache-2.0

import AsyncAlgorithms
import Logging
import MeshProtocol

/// An event of a manager.
public enum BearerManagerEvent: Sendable {
    /// A host or relay is in range, or is heard again.
    case discovered(Peripheral)
    /// A peer that this node is linked to is heard on a better bearer than the link's.
    case better(Peripheral)
    /// A discovered peer is not heard any more.
    case lost(Peer)
    /// A link is up, without a channel yet. Carries the host if it is still known.
    case reached(Peer?)
    /// A peer has dialled this host or relay.
    case accepted(BearerTransport)
    /// The radio has failed or recovered.
    case radio(BearerCondition)
}

/// Whether the radio works.
public enum BearerCondition: Hashable, Sendable {
    /// The radio works, or works again.
    case working
    /// The radio does not work, for this reason. The event repeats when the reason changes.
    case unavailable(BearerError)
    /// The radio works, after this automatic repair.
    case repaired(RadioRepair)
    /// The timing that the adapter uses unless a link sets its own.
    case timing(AdapterTiming)
    /// The condition of the broker.
    case broker(BrokerCondition)
}

/// Advertises and accepts dials for a host, and discovers hosts for a guest, over one radio. A relay does both.
/// `AdvertisingPolicy` decides how often to advertise.
public actor BearerManager {
    /// All events, for one listener. The stream ends with `stop`.
    public nonisolated let events: AsyncStream<BearerManagerEvent>

    private let radio: any Bearer
    private let local: Peer
    private let service: ServiceType
    private let logger: Logger
    /// Events wait here for their listener, one per sender. Until the listener reads, the radio's events stay unread.
    private let outlet: AsyncChannel<BearerManagerEvent>
    private let origin = ContinuousClock.now

    /// The hosts and relays that were heard, by the head of their identifier, each with the time of its last scan
    /// result.
    private var scanResults: [String: (result: ScanResult, at: MeshInstant)] = [:]
    private var isOpen = false
    private var isStopped = false
    private var radioEvents: Task<Void, Never>?
    /// The radio has reported that it does not work. Failures in that state are not reported again.
    private var hasRadioFailed = false
    /// The radio works, but the last attempt to advertise has failed.
    private var isUnseen = false

    /// The service that this node offers to others. Without an offer, it accepts no dials.
    private enum Offer: Hashable {
        case host
        case relay(RelayNotice)
    }

    private var offer: Offer?
    /// Whether a host reserves its last slots for relays.
    private var placesForRelays = false
    private var policy = AdvertisingPolicy(now: .zero)
    /// Renews the advertisement. Waiting requests count as one.
    private let renew: AsyncStream<Void>.Continuation
    private let renewals: AsyncStream<Void>
    private var advertiser: Task<Void, Never>?
    private var pacer: Task<Void, Never>?
    /// Callers that wait for the result of the next attempt to advertise.
    private var waiting: [CheckedContinuation<Void, any Error>] = []

    /// A manager of one radio. `local` is the node that it advertises.
    public init(
        radio: any Bearer, local: Peer, service: ServiceType = .democracyDJ,
        logger: Logger = Logger(label: "roadmesh.manager")
    ) {
        self.radio = radio
        self.local = local
        self.service = service
        self.logger = logger
        let outlet = AsyncChannel<BearerManagerEvent>()
        self.outlet = outlet
        let iterator = PulledEvents(outlet)
        events = AsyncStream { await iterator.next() }
        (renewals, renew) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    private var now: MeshInstant { ContinuousClock.now - origin }

    // MARK: Requests of the node

    /// Lets guests find this node and dial it. Throws a `BearerError` if the radio cannot.
    public func startHosting() async throws { try await start(.host) }

    /// Lets guests outside the host's range find this node and dial it. Throws a `BearerError` if the radio cannot.
    public func startRelaying(_ notice: RelayNotice) async throws { try await start(.relay(notice)) }

    /// Replaces what this relay advertises, at once. With nil it stops advertising and refuses channels until the next
    /// notice. `events` reports failures of the radio.
    public func relay(_ notice: RelayNotice?) {
        let new = notice.map { Offer.relay($0) }
        guard isOpen, !isStopped, offer != .host, offer != new else { return }
        if let new, offer == nil { begin(new) }
        offer = new
        renew.yield()
    }

    /// Sets whether this host reserves its last slots for relays.
    public func keepPlaces(forRelays areKept: Bool) {
        guard placesForRelays != areKept else { return }
        placesForRelays = areKept
        if offer == .host { renew.yield() }
    }

    /// Waits for the first registration, so that a host gets the error if it fails.
    private func start(_ new: Offer) async throws {
        try await open()
        guard offer == nil else {
            if case .relay(let notice) = new { relay(notice) }
            return
        }
        guard !isStopped else { throw BearerError(.closed) }
        begin(new)
        do {
            try await withCheckedThrowingContinuation { waiter in
                waiting.append(waiter)
                renew.yield()
            }
        } catch {
            if offer == new { offer = nil }
            throw error
        }
    }

    /// Starts to scan for hosts. Throws a `BearerError` if the radio cannot.
    public func startBrowsing() async throws {
        try await open()
        try await radio.scan(for: service.uuid)
    }

    /// Stops scanning for hosts. Links stay.
    public func stopBrowsing() async {
        await radio.stopScanning()
    }

    /// Call it when a link opens or closes. Legacy advertising stops when a guest links, so this requests it again.
    public func linksChanged() {
        guard offer != nil else { return }
        _ = policy.linksChanged(now: now)
        renew.yield()
    }

    /// Advertises again. `events` reports when the radio works again. A guest calls `startBrowsing` again instead.
    public func tryAgain() {
        linksChanged()
    }

    /// Stops advertising and browsing, and ends `events`. Links stay until `close`. You can call it again.
    public func stop() async {
        guard !isStopped else { return }
        isStopped = true
        // The stream ends first, so that nothing below waits for a listener that is gone.
        outlet.finish()
        renew.finish()
        pacer?.cancel()
        await radio.stopScanning()
        await radio.stopAdvertising()
    }

    /// Releases the radio and closes its open channels. A closed manager cannot be used again.
    public func close() async {
        await stop()
        await radio.close()
        await radioEvents?.value
        await advertiser?.value
    }

    private func open() async throws {
        guard !isStopped else { throw BearerError(.closed, "this manager was stopped; make a new one") }
        guard !isOpen else { return }
        try await radio.open()
        isOpen = true
        radioEvents = Task {
            for await event in radio.events { await self.received(event) }
        }
    }

    // MARK: Events of the radio

    private func received(_ event: BearerEvent) async {
        switch event {
        case .heard(let scanResult):
            if let peripheral = await heard(scanResult) { await outlet.send(.discovered(peripheral)) }
        case .better(let scanResult):
            if let peripheral = await heard(scanResult) { await outlet.send(.better(peripheral)) }
        case .lost(let endpoint):
            guard let head = scanResults.first(where: { $0.value.result.endpoint == endpoint })?.key else { return }
            await lost(head)
        case .reached(let address):
            let heard = scanResults.values.first { $0.result.endpoint.address == address }
            await outlet.send(.reached(heard?.result.advertisement.peer))
        case .accepted(let channel):
            guard !isStopped, let offer else { return channel.close() }
            let flags = advertisement(of: offer).flags.union(radio.advertisedFlags)
            await outlet.send(.accepted(BearerTransport(accepted: channel, flags: flags)))
        case .failed(let error):
            hasRadioFailed = true
            await outlet.send(.radio(.unavailable(error)))
        case .recovered:
            (hasRadioFailed, isUnseen) = (false, false)
            await outlet.send(.radio(.working))
            linksChanged()
        case .repaired(let repair): await outlet.send(.radio(.repaired(repair)))
        case .timing(let timing): await outlet.send(.radio(.timing(timing)))
        case .broker(let condition): await outlet.send(.radio(.broker(condition)))
        }
    }

    private func heard(_ scanResult: ScanResult) async -> Peripheral? {
        let peer = scanResult.advertisement.peer
        guard scanResult.advertisement.service == service.uuid, peer.id != Identity.head(of: local.id) else {
            return nil
        }
        let oldest = scanResults.min { ($0.value.at, $0.key) < ($1.value.at, $1.key) }
        scanResults[peer.id] = (scanResult, now)
        // A host in range is reported at least every ten seconds. The host with the oldest report has most likely gone.
        if scanResults.count > BearerLimits.scanResults, let oldest { await lost(oldest.key) }
        return Peripheral(scanResult: scanResult, radio: radio)
    }

    private func lost(_ head: String) async {
        guard let gone = scanResults.removeValue(forKey: head) else { return }
        await outlet.send(.lost(gone.result.advertisement.peer))
    }

    // MARK: Advertising

    private func begin(_ new: Offer) {
        (offer, policy) = (new, AdvertisingPolicy(now: now))
        guard advertiser == nil else { return }
        advertiser = Task {
            for await _ in renewals { await self.advertiseAnew() }
            self.answer(.failure(BearerError(.closed)))
        }
        pacer = Task { await self.paceAdvertising() }
    }

    private func advertisement(of offer: Offer) -> Advertisement {
        switch offer {
        case .host:
            var advertisement = Advertisement(service: service.uuid, peer: local)
            if placesForRelays { advertisement.flags.ignorable.insert(.placesForRelays) }
            return advertisement
        case .relay(let notice):
            var advertisement = Advertisement(
                service: service.uuid, relay: local, to: notice.host, hops: notice.hops, hasRoom: notice.hasRoom,
                asksForPIN: notice.asksForPIN)
            if notice.placesForRelays { advertisement.flags.ignorable.insert(.placesForRelays) }
            return advertisement
        }
    }

    /// This is the only caller of the radio's `advertise`, so the latest request is on the air.
    private func advertiseAnew() async {
        guard !isStopped else { return }
        guard let offer else {
            isUnseen = false
            answer(.failure(BearerError(.cancelled)))
            return await radio.stopAdvertising()
        }
        do throws(BearerError) {
            try await radio.advertise(advertisement(of: offer), pace: policy.currentPace)
            if isStopped { await radio.stopAdvertising() }
            answer(.success(()))
            guard isUnseen else { return }
            isUnseen = false
            await outlet.send(.radio(.working))
        } catch {
            logger.warning("advertising failed: \(error)")
            // The waiting caller reports the error.
            guard waiting.isEmpty else { return answer(.failure(error)) }
            guard !hasRadioFailed, !isUnseen else { return }
            isUnseen = true
            await outlet.send(.radio(.unavailable(error)))
        }
    }

    private func answer(_ result: Result<Void, any Error>) {
        for waiter in waiting { waiter.resume(with: result) }
        waiting = []
    }

    private func paceAdvertising() async {
        while !Task.isCancelled {
            let deadline = policy.deadline ?? now + BearerLimits.eagerAdvertising
            try? await Task.sleep(until: origin + deadline, clock: .continuous)
            guard !Task.isCancelled else { return }
            if policy.tick(now: now) != nil, offer != nil { renew.yield() }
        }
    }
}
