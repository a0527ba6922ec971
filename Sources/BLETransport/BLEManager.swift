// SPDX-License-Identifier: Apache-2.0

import AsyncAlgorithms
import Logging
import MeshProtocol

/// What a manager reports.
public enum BLEManagerEvent: Sendable {
    /// A host is in range, or is heard again.
    case discovered(Peripheral)
    /// A host that was discovered is not heard any more.
    case lost(Peer)
    /// A link is there, without a channel on it yet; to this host, where it is still known.
    case reached(Peer?)
    /// Somebody has dialled this host.
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
}

/// Lets a host be seen and dialled, and a guest hear hosts, over one radio. `AdvertisingPolicy` decides how eagerly.
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

    /// The hosts that were heard, by the head of their identifier, and when each was heard last.
    private var scanResults: [String: (result: ScanResult, at: MeshInstant)] = [:]
    private var isOpen = false
    private var isStopped = false
    private var hosting: Hosting?
    private var radioEvents: Task<Void, Never>?
    /// The radio has said that it does not work; what fails meanwhile is not reported.
    private var hasRadioFailed = false
    /// The radio works, but the last try to advertise has failed.
    private var isUnseen = false

    /// What runs while this node hosts.
    private struct Hosting {
        var policy: AdvertisingPolicy
        /// Asks the advertiser to advertise again.
        var renew: AsyncStream<Void>.Continuation
        var advertiser: Task<Void, Never>
        var pacer: Task<Void, Never>
    }

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
    }

    private var now: MeshInstant { ContinuousClock.now - origin }

    private var advertisement: Advertisement { Advertisement(service: service.uuid, peer: local) }

    // MARK: What a node asks for

    /// Lets guests find this node and dial it. Throws a `RadioError` where the radio cannot.
    public func startHosting() async throws {
        try await open()
        guard hosting == nil else { return }
        let (renewals, renew) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        // The first registration is waited for: where it fails, the host must be told so, not be unseen.
        try await radio.advertise(advertisement, pace: .fast)
        // It may have been stopped meanwhile, or asked for twice.
        guard !isStopped else { return await radio.stopAdvertising() }
        guard hosting == nil else { return }
        hosting = Hosting(
            policy: AdvertisingPolicy(now: now), renew: renew,
            advertiser: Task { for await _ in renewals { await self.advertiseAnew() } },
            pacer: Task { await self.paceAdvertising() })
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

    /// A guest has come or gone. Legacy advertising stops when one links, so it is asked for again.
    public func linksChanged() {
        guard var policy = hosting?.policy else { return }
        _ = policy.linksChanged(now: now)
        hosting?.policy = policy
        hosting?.renew.yield()
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
        hosting?.renew.finish()
        hosting?.pacer.cancel()
        await radio.stopScanning()
        await radio.stopAdvertising()
    }

    /// Gives the radio back: channels that are still open close. A manager that was closed is not used again.
    public func close() async {
        await stop()
        await radio.close()
        await radioEvents?.value
        await hosting?.advertiser.value
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
        case .heard(let scanResult): await heard(scanResult)
        case .lost(let endpoint):
            guard let head = scanResults.first(where: { $0.value.result.endpoint == endpoint })?.key else { return }
            await lost(head)
        case .reached(let address):
            let heard = scanResults.values.first { $0.result.endpoint.address == address }
            await outlet.send(.reached(heard?.result.advertisement.peer))
        case .accepted(let channel):
            if isStopped || hosting == nil {
                channel.close()
            } else {
                await outlet.send(.accepted(BLETransport(accepted: channel, flags: radio.advertisedFlags)))
            }
        case .failed(let error):
            hasRadioFailed = true
            await outlet.send(.radio(.unavailable(error)))
        case .recovered:
            (hasRadioFailed, isUnseen) = (false, false)
            await outlet.send(.radio(.working))
            linksChanged()
        case .repaired(let repair): await outlet.send(.radio(.repaired(repair)))
        case .timing(let timing): await outlet.send(.radio(.timing(timing)))
        }
    }

    private func heard(_ scanResult: ScanResult) async {
        let peer = scanResult.advertisement.peer
        guard scanResult.advertisement.service == service.uuid, peer.id != Identity.head(of: local.id) else { return }
        let oldest = scanResults.min { ($0.value.at, $0.key) < ($1.value.at, $1.key) }
        scanResults[peer.id] = (scanResult, now)
        // A host in range is reported every ten seconds at the latest, so the one that was heard longest ago has most likely gone.
        if scanResults.count > RadioLimits.scanResults, let oldest { await lost(oldest.key) }
        await outlet.send(.discovered(Peripheral(scanResult: scanResult, radio: radio)))
    }

    private func lost(_ head: String) async {
        guard let gone = scanResults.removeValue(forKey: head) else { return }
        await outlet.send(.lost(gone.result.advertisement.peer))
    }

    // MARK: Advertising

    private func advertiseAnew() async {
        guard let pace = hosting?.policy.currentPace, !isStopped else { return }
        do throws(RadioError) {
            try await radio.advertise(advertisement, pace: pace)
            guard isUnseen else { return }
            isUnseen = false
            await outlet.send(.radio(.working))
        } catch {
            logger.warning("advertising failed: \(error)")
            guard !hasRadioFailed, !isUnseen else { return }
            isUnseen = true
            await outlet.send(.radio(.unavailable(error)))
        }
    }

    private func paceAdvertising() async {
        while !Task.isCancelled {
            guard let deadline = hosting?.policy.deadline ?? Optional(now + RadioLimits.eagerAdvertising) else {
                return
            }
            try? await Task.sleep(until: origin + deadline, clock: .continuous)
            guard !Task.isCancelled else { return }
            if hosting?.policy.tick(now: now) != nil { hosting?.renew.yield() }
        }
    }
}

/// Decides how eagerly a host advertises: fast while somebody may be looking for it, slow afterwards.
///
/// Legacy advertising stops by itself when a guest links (Core specification, Vol 4, Part E, 7.8.9), so every change of
/// links asks for advertising again even where the pace stays.
public struct AdvertisingPolicy: Sendable {
    private var eagerUntil: MeshInstant
    private var pace: AdvertisingPace = .fast

    /// A host that has just started: guests are looked for.
    public init(now: MeshInstant) {
        eagerUntil = now + RadioLimits.eagerAdvertising
    }

    /// The pace to advertise at.
    public var currentPace: AdvertisingPace { pace }

    /// When `tick` is due; nil while nothing will change by itself.
    public var deadline: MeshInstant? { pace == .fast ? eagerUntil : nil }

    /// A guest has come or gone: others may follow, or this one may come back. Advertise again, at this pace.
    public mutating func linksChanged(now: MeshInstant) -> AdvertisingPace {
        eagerUntil = now + RadioLimits.eagerAdvertising
        pace = .fast
        return pace
    }

    /// Time has passed. The new pace, where it changes.
    public mutating func tick(now: MeshInstant) -> AdvertisingPace? {
        guard pace == .fast, now >= eagerUntil else { return nil }
        pace = .slow
        return pace
    }
}
