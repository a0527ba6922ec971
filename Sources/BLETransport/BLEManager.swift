// SPDX-License-Identifier: Apache-2.0

import AsyncAlgorithms
import Logging
import MeshProtocol

/// What a manager reports.
public enum BLEManagerEvent: Sendable {
    /// A host, or a relay, is in range, or is heard again.
    case discovered(Peripheral)
    /// One that this node is linked to is heard on a better bearer than the link's.
    case better(Peripheral)
    /// One that was discovered is not heard any more.
    case lost(Peer)
    /// A link is there, without a channel on it yet; to this host, where it is still known.
    case reached(Peer?)
    /// Somebody has dialled this host, or this relay.
    case accepted(BLETransport)
    /// The radio has failed or recovered.
    case radio(RadioCondition)
}

/// Whether the radio works.
public enum RadioCondition: Hashable, Sendable {
    /// It works (again).
    case working
    /// It does not, and this is why. It comes again where the cause becomes another.
    case unavailable(RadioError)
    /// It works, and has repaired this by itself.
    case repaired(RadioRepair)
    /// What its adapter uses where nothing else is named.
    case timing(AdapterTiming)
    /// How a broker beside it is.
    case broker(BrokerCondition)
}

/// Lets a host be seen and dialled, and a guest hear hosts, over one radio; a relay does both. `AdvertisingPolicy` decides how
/// eagerly.
public actor BLEManager {
    /// Everything that happens, for one listener. It ends with `stop`.
    public nonisolated let events: AsyncStream<BLEManagerEvent>

    private let radio: any Radio
    private let local: Peer
    private let service: ServiceType
    private let logger: Logger
    /// Events wait here for their listener, one a sender: what the radio says is not read meanwhile.
    private let outlet: AsyncChannel<BLEManagerEvent>
    private let origin = ContinuousClock.now

    /// The hosts and relays that were heard, by the head of their identifier, and when each was heard last.
    private var scanResults: [String: (result: ScanResult, at: MeshInstant)] = [:]
    private var isOpen = false
    private var isStopped = false
    private var radioEvents: Task<Void, Never>?
    /// The radio has said that it does not work; what fails meanwhile is not reported.
    private var hasRadioFailed = false
    /// The radio works, but the last try to advertise has failed.
    private var isUnseen = false

    /// What others can find here. Nobody who dials is accepted where that is nothing.
    private enum Offer: Hashable {
        case host
        case relay(RelayNotice)
    }

    private var offer: Offer?
    /// What a host says of its last places.
    private var placesForRelays = false
    private var policy = AdvertisingPolicy(now: .zero)
    /// Has what is offered advertised again: requests that wait are one request.
    private let renew: AsyncStream<Void>.Continuation
    private let renewals: AsyncStream<Void>
    private var advertiser: Task<Void, Never>?
    private var pacer: Task<Void, Never>?
    /// Those who wait to be told whether the next try to advertise succeeds.
    private var waiting: [CheckedContinuation<Void, any Error>] = []

    /// A manager of one radio. `local` is what it advertises.
    public init(
        radio: any Radio, local: Peer, service: ServiceType = .democracyDJ,
        logger: Logger = Logger(label: "roadmesh.manager")
    ) {
        self.radio = radio
        self.local = local
        self.service = service
        self.logger = logger
        let outlet = AsyncChannel<BLEManagerEvent>()
        self.outlet = outlet
        let iterator = PulledEvents(outlet)
        events = AsyncStream { await iterator.next() }
        (renewals, renew) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    private var now: MeshInstant { ContinuousClock.now - origin }

    // MARK: What a node asks for

    /// Lets guests find this node and dial it. Throws a `RadioError` where the radio cannot.
    public func startHosting() async throws { try await start(.host) }

    /// Lets guests that are out of the host's reach find this node, and dial it. Throws a `RadioError` where the radio cannot.
    public func startRelaying(_ notice: RelayNotice) async throws { try await start(.relay(notice)) }

    /// Replaces what this relay advertises, at once. With nil it advertises no more, and channels are refused, until there is
    /// another notice. `events` tells where the radio cannot.
    public func relay(_ notice: RelayNotice?) {
        let new = notice.map { Offer.relay($0) }
        guard isOpen, !isStopped, offer != .host, offer != new else { return }
        if let new, offer == nil { begin(new) }
        offer = new
        renew.yield()
    }

    /// Says, where this node hosts, that its last places are for nodes that relay; or no longer.
    public func keepPlaces(forRelays areKept: Bool) {
        guard placesForRelays != areKept else { return }
        placesForRelays = areKept
        if offer == .host { renew.yield() }
    }

    /// The first registration is waited for: where it fails, a host must be told so, not be unseen.
    private func start(_ new: Offer) async throws {
        try await open()
        guard offer == nil else {
            if case .relay(let notice) = new { relay(notice) }
            return
        }
        guard !isStopped else { throw RadioError(.closed) }
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

    /// Looks for hosts. Throws a `RadioError` where the radio cannot.
    public func startBrowsing() async throws {
        try await open()
        try await radio.scan(for: service.uuid)
    }

    /// Stops looking for hosts. Links stay.
    public func stopBrowsing() async {
        await radio.stopScanning()
    }

    /// A link has come or gone. Legacy advertising stops when somebody links, so it is asked for again.
    public func linksChanged() {
        guard offer != nil else { return }
        _ = policy.linksChanged(now: now)
        renew.yield()
    }

    /// Asks the radio again to let guests find this node. `events` tells where it works again. A guest browses again
    /// instead.
    public func tryAgain() {
        linksChanged()
    }

    /// Stops advertising and browsing and ends `events`. Links live on until `close`. Safe to call again.
    public func stop() async {
        guard !isStopped else { return }
        isStopped = true
        // First, so that nothing below waits for a listener that has gone.
        outlet.finish()
        renew.finish()
        pacer?.cancel()
        await radio.stopScanning()
        await radio.stopAdvertising()
    }

    /// Gives the radio back: channels that are still open close. A manager that was closed is not used again.
    public func close() async {
        await stop()
        await radio.close()
        await radioEvents?.value
        await advertiser?.value
    }

    private func open() async throws {
        guard !isStopped else { throw RadioError(.closed, "this manager was stopped; make a new one") }
        guard !isOpen else { return }
        try await radio.open()
        isOpen = true
        radioEvents = Task {
            for await event in radio.events { await self.received(event) }
        }
    }

    // MARK: What the radio says

    private func received(_ event: RadioEvent) async {
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
            await outlet.send(.accepted(BLETransport(accepted: channel, flags: flags)))
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
        // A host in range is reported every ten seconds at the latest, so the one that was heard longest ago has most likely gone.
        if scanResults.count > RadioLimits.scanResults, let oldest { await lost(oldest.key) }
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
            self.answer(.failure(RadioError(.closed)))
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

    /// The only one who asks the radio to advertise, so that what was asked for last is what is on the air.
    private func advertiseAnew() async {
        guard !isStopped else { return }
        guard let offer else {
            isUnseen = false
            answer(.failure(RadioError(.cancelled)))
            return await radio.stopAdvertising()
        }
        do throws(RadioError) {
            try await radio.advertise(advertisement(of: offer), pace: policy.currentPace)
            if isStopped { await radio.stopAdvertising() }
            answer(.success(()))
            guard isUnseen else { return }
            isUnseen = false
            await outlet.send(.radio(.working))
        } catch {
            logger.warning("advertising failed: \(error)")
            // Who waits for it tells it.
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
            let deadline = policy.deadline ?? now + RadioLimits.eagerAdvertising
            try? await Task.sleep(until: origin + deadline, clock: .continuous)
            guard !Task.isCancelled else { return }
            if policy.tick(now: now) != nil, offer != nil { renew.yield() }
        }
    }
}
