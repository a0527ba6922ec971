// SPDX-License-Identifier: Apache-2.0

import CBlueZ
import Glibc
import Logging
import MeshProtocol

/// The real radio: bluetoothd advertises and discovers for it over D-Bus, and the kernel's LE L2CAP channels carry its
/// data. What Linux really does, and why this file does what it does, is in `docs/bluez.md`.
public actor BlueZRadio: Radio {
    /// `bluez hci0`
    public nonisolated let name: String
    /// What happens on the air, for one listener.
    public nonisolated let events: AsyncStream<RadioEvent>

    let poller: Poller
    let eventSink: AsyncStream<RadioEvent>.Continuation
    let logger: Logger
    private var listening: Task<Void, Never>?
    private var ready: [CheckedContinuation<Bool, Never>] = []
    private var isServiceThere: Bool?
    private(set) var isClosed = false

    /// What a device that dials has to meet, as it is advertised.
    let demands: AdvertisedFlags.Critical
    /// Channels are accepted only over a link that a bond's key encrypts.
    nonisolated var requiresBond: Bool { demands.contains(.bond) }
    var adapter: Adapter
    /// The adapter that a person has named, if one has.
    let named: String?
    var bus: BlueZBus?

    // Its health: what is decided about it, and what is under way.
    var supervisor: AdapterSupervisor
    var supervising: Task<Void, Never>?
    var asking: Task<Void, Never>?
    let origin = ContinuousClock.now
    var now: MeshInstant { ContinuousClock.now - origin }

    // What the kernel uses on the adapter, and whether bluetoothd passes on what an advertisement asks for instead.
    var passesIntervalsOn: Bool?
    var lookingAtService: Task<Void, Never>?
    let settingsPolicy: AdapterSettingsPolicy
    var held = HeldSettings()
    /// How soon others find this adapter, as they say, and where `doctor` reads it.
    var found = DialTimes()
    var foundRecord: FoundRecord?

    // What the links are asked for.
    let permissions = RadioPermissions.ofThisProcess()
    var linkWatch = LinkWatch()

    // Advertising: what is wanted, what is registered, and who is busy making them one.
    var wantedAdvertisement: (Advertisement, AdvertisingPace)?
    /// Its object, and the adapter that it is on: to be taken back before the next one.
    var registered: (path: String, adapter: String)?
    /// Who is asked to advertise, and the number of what the kernel advertises for this process.
    var advertisingRoute = AdvertisingRoute()
    var advertisingNumber: AdvertisingNumber?
    var advertisements = 0
    var advertising: Task<Result<Void, RadioError>, Never>?
    var needsRenewal = false
    var wasAdvertisementLost = false
    var listeners: [Listener] = []
    /// What nodes dial, and what phones do, whose channels are streams; 0 where nobody is accepted.
    var psm: UInt8 { listeners.first { !$0.isForStreams }?.psm ?? 0 }
    var streamPSM: UInt8 { listeners.first(where: \.isForStreams)?.psm ?? 0 }

    /// Its GATT service, and who is linked through it.
    var gatt = GattState()

    /// The intervals of the links that others have made, by handle.
    var intervalPlan = IntervalPlan()

    // Scanning.
    var scanned: ServiceUUID?
    var discovery = Discovery()
    var devices: [String: KnownDevice] = [:]

    // Dialling: one at a time.
    var dialQueue = DialQueue()
    var dialling: PacketSocket?
    var dialClock: DialClock?
    /// Of the current dial, those whose answer has gone to another channel: they keep their numbers until it is over.
    var unansweredDials: [PacketSocket] = []
    /// What the dials of the links have taken that are there, by handle.
    var dialTimes: [UInt16: DialTime] = [:]
    /// A question to the controller waits for the end of a dial: `commandsThatWaited`.
    var questionWaits = false

    // Channels, and the links below them that nobody uses any more.
    var channels: [WeakChannel] = []
    var unusedLinks = UnusedLinks()
    var lettingGo: Task<Void, Never>?
    var endedLinks: [(address: String, waiter: CheckedContinuation<Void, Never>)] = []

    /// A radio on an adapter (`hci0`), or on the first that is up where `adapter` is nil. Throws where there is none. One
    /// that demands a bond accepts channels from bonded devices only.
    public init(
        adapter: String? = nil, demands: AdvertisedFlags.Critical = [], settings: AdapterSettingsPolicy = .leave,
        logger: Logger = Logger(label: "roadmesh.bluez")
    ) throws(RadioError) {
        let found = try Adapter.find(adapter)
        (self.adapter, named, self.demands, settingsPolicy) = (found, adapter, demands, settings)
        name = "bluez \(found.name)"
        supervisor = AdapterSupervisor(adapter: found.name, mayMove: adapter == nil, now: .zero)
        poller = try Poller()
        self.logger = logger
        (events, eventSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(RadioLimits.radioEvents))
    }

    // MARK: Radio

    /// What the kernel says of the adapter in use, which may be another one later.
    public var dialsWhileDialled: Bool? { adapter.hasBothRoles }

    /// Connects to bluetoothd, and checks that it runs and the adapter is on.
    public func open() async throws(RadioError) {
        let bus = try BlueZBus(poller: poller)
        self.bus = bus
        lookAtService()
        listening = Task { for await event in bus.events { await self.received(event) } }
        await bus.start()
        guard await isServiceRunning() else {
            throw RadioError(.serviceNotRunning, "bluetoothd is not running")
        }
        do {
            try await bus.listObjects()
        } catch {
            throw error.radioError
        }
        // The objects came as events of their own; the last of them may still be on its way here.
        guard adapter.isUp else { throw adapter.whyOff }
        applySettings()
        watchSupervisor()
        watchLinks()
    }

    /// Gives everything back.
    public func close() async {
        await stopScanning()
        await stopAdvertising()
        closeChannels()
        await stopServingGatt()
        isClosed = true
        returnSettings()
        foundRecord = nil
        supervising?.cancel()
        asking?.cancel()
        lookingAtService?.cancel()
        forgetEndingLinks()
        forgetLinks()
        await bus?.close()
        await listening?.value
        eventSink.finish()
        poller.close()
    }

    // MARK: bluetoothd

    private func isServiceRunning() async -> Bool {
        if let isServiceThere { return isServiceThere }
        let timeout = Task {
            try await Task.sleep(for: RadioLimits.busCall)
            answerWhetherServiceRuns(false)
        }
        defer { timeout.cancel() }
        return await withCheckedContinuation { ready.append($0) }
    }

    private func answerWhetherServiceRuns(_ isRunning: Bool) {
        for waiter in ready { waiter.resume(returning: isRunning) }
        ready = []
    }

    private func received(_ event: BusEvent) async {
        switch event {
        case .ready: break
        case .serviceAppeared:
            if isServiceThere == false { lookAtService() }
            isServiceThere = true
            answerWhetherServiceRuns(true)
            supervise(.serviceAppeared)
        case .serviceVanished, .closed:
            let wasThere = isServiceThere
            isServiceThere = false
            gatt.isServed = false
            advertisingRoute.forget()
            answerWhetherServiceRuns(false)
            if wasThere == true { supervise(.serviceVanished) }
        case .adapter(let path, let change):
            if path == adapter.path, change.isPowered == false { await giveUpRegistering() }
            adapterChanged(path, change)
        case .adapterRemoved(let path):
            guard path == adapter.path else { return }
            gatt.isServed = false
            supervise(.adapterRemoved)
        case .device(let path, let change): deviceChanged(path, change)
        case .deviceRemoved(let path): deviceRemoved(path)
        case .gattQuestion(let question): await answer(question)
        // A radio has no agent.
        case .objectsListed, .agentQuestion, .agentCancelled, .agentReleased: break
        case .advertisementReleased:
            // bluetoothd says it where it drops the advertisement by itself; without an adapter there is no use in
            // another one.
            guard supervisor.failure == nil else { return }
            wasAdvertisementLost = true
            renewAdvertisement()
        }
    }

    private func adapterChanged(_ path: String, _ change: AdapterProperties) {
        guard path == adapter.path else {
            if change.isPowered == true { supervise(.otherAdapterOn) }
            return
        }
        if let isPowered = change.isPowered { supervise(isPowered ? .poweredOn : .poweredOff(adapter.whyOff)) }
        if let isDiscovering = change.isDiscovering { supervise(.discovering(isDiscovering)) }
    }

    /// What a failed call to bluetoothd means. Of an adapter that is off it says only "Failed" or "NotReady"; what has
    /// been told of the radio, and rfkill, know more.
    func explained(_ busFailure: BusFailure) -> RadioError {
        explained(busFailure.radioError)
    }

    func explained(_ error: RadioError) -> RadioError {
        supervisor.failure ?? (error.code == .radioOff ? adapter.whyOff : error)
    }
}
