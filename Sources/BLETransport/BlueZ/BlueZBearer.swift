// SPDX-License-Identifier: Apache-2.0

import Bearers
import CBlueZ
import Glibc
import Logging
import MeshProtocol

/// The Bluetooth radio. bluetoothd advertises and discovers over D-Bus, and the kernel's LE L2CAP channels carry the
/// data. `docs/bluez.md` describes what Linux really does, and why this code does what it does.
public actor BlueZBearer: Bearer {
    /// `bluez hci0`
    public nonisolated let name: String
    /// The events on the air, for one listener.
    public nonisolated let events: AsyncStream<BearerEvent>

    let poller: Poller
    let eventSink: AsyncStream<BearerEvent>.Continuation
    let logger: Logger
    private var listening: Task<Void, Never>?
    private var ready: [CheckedContinuation<Bool, Never>] = []
    private var isServiceThere: Bool?
    private(set) var isClosed = false

    /// The advertised demands on a device that dials.
    let demands: AdvertisedFlags.Critical
    /// Whether channels are accepted only over a link that is encrypted with a bond's key.
    nonisolated var requiresBond: Bool { demands.contains(.bond) }
    var adapter: Adapter { didSet { packets?.use(adapter) } }
    /// Keeps the last packets of the adapter, for a recording.
    let packets: PacketCapture?
    /// The adapter that the user has named, if any.
    let named: String?
    var bus: BlueZBus?

    // The state of the adapter: decisions and running tasks.
    var supervisor: AdapterSupervisor
    var supervising: Task<Void, Never>?
    var asking: Task<Void, Never>?
    let origin = ContinuousClock.now
    var now: MeshInstant { ContinuousClock.now - origin }

    // The kernel's settings of the adapter, and whether bluetoothd passes on an advertisement's own interval.
    var passesIntervalsOn: Bool?
    var lookingAtService: Task<Void, Never>?
    let settingsPolicy: AdapterSettingsPolicy
    var held = HeldSettings()
    /// The times that guests needed to find this adapter, as they report them, and the record that `doctor` reads.
    var found = DialTimes()
    var foundRecord: FoundRecord?

    // The requests for links.
    let permissions = RadioPermissions.ofThisProcess()
    var linkWatch = LinkWatch()

    // Advertising: the wanted and the registered advertisement, and the task that registers it.
    var wantedAdvertisement: (Advertisement, AdvertisingPace)?
    /// The registered object and its adapter. It is removed before the next registration.
    var registered: (path: String, adapter: String)?
    /// Whether bluetoothd or the kernel is asked to advertise, and the number of this process's advertisement in the
    /// kernel.
    var advertisingRoute = AdvertisingRoute()
    var advertisingNumber: AdvertisingNumber?
    var advertisements = 0
    var advertising: Task<Result<Void, BearerError>, Never>?
    var needsRenewal = false
    var wasAdvertisementLost = false
    var listeners: [Listener] = []
    /// The PSM that nodes dial, and the PSM for phones, which use streams. 0 if no channels are accepted.
    var psm: UInt8 { listeners.first { !$0.isForStreams }?.psm ?? 0 }
    var streamPSM: UInt8 { listeners.first(where: \.isForStreams)?.psm ?? 0 }

    /// This radio's GATT service, and the peers that are linked through it.
    var gatt = GattState()

    /// The intervals of the accepted links, by handle.
    var intervalPlan = IntervalPlan()

    // Scanning.
    var scanned: ServiceUUID?
    var discovery = Discovery()
    var devices: [String: KnownDevice] = [:]

    // Dialling: one at a time.
    var dialQueue = DialQueue()
    var dialling: PacketSocket?
    var dialClock: DialClock?
    /// Sockets of the current dial that got no answer, since the answer went to another channel. They keep their
    /// channel numbers until the dial ends.
    var unansweredDials: [PacketSocket] = []
    /// How long the dials of the existing links took, by handle.
    var dialTimes: [UInt16: DialTime] = [:]
    /// A question to the controller waits for the end of a dial (`commandsThatWaited`).
    var questionWaits = false

    // Channels, and links that no channel uses any more.
    var channels: [WeakChannel] = []
    var unusedLinks = UnusedLinks()
    var lettingGo: Task<Void, Never>?
    var endedLinks: [(address: String, waiter: CheckedContinuation<Void, Never>)] = []

    /// A radio on an adapter (`hci0`), or with nil on the first that is up. Throws without an adapter. A radio that
    /// demands a bond accepts channels from bonded devices only. `packets` keeps the last packets of its adapter.
    public init(
        adapter: String? = nil, demands: AdvertisedFlags.Critical = [], settings: AdapterSettingsPolicy = .leave,
        packets: PacketCapture? = nil, logger: Logger = Logger(label: "roadmesh.bluez")
    ) throws(BearerError) {
        let found = try Adapter.find(adapter)
        (self.adapter, named, self.demands, settingsPolicy) = (found, adapter, demands, settings)
        self.packets = packets
        packets?.use(found)
        name = "bluez \(found.name)"
        supervisor = AdapterSupervisor(adapter: found.name, mayMove: adapter == nil, now: .zero)
        poller = try Poller()
        self.logger = logger
        (events, eventSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(BearerLimits.radioEvents))
    }

    // MARK: Radio

    /// The kernel's value for the current adapter. The adapter may change later.
    public var dialsWhileDialled: Bool? { adapter.hasBothRoles }

    /// Connects to bluetoothd, and checks that it runs and the adapter is on.
    public func open() async throws(BearerError) {
        let bus = try BlueZBus(poller: poller)
        self.bus = bus
        lookAtService()
        listening = Task { for await event in bus.events { await self.received(event) } }
        await bus.start()
        guard await isServiceRunning() else {
            throw BearerError(.serviceNotRunning, "bluetoothd is not running")
        }
        do {
            try await bus.listObjects()
        } catch {
            throw error.radioError
        }
        // The objects came as events, and the last events may not have been handled yet.
        guard adapter.isUp else { throw adapter.whyOff }
        applySettings()
        watchSupervisor()
        watchLinks()
    }

    /// Releases the adapter, the bus and all channels.
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
        // The radio registers no agent.
        case .objectsListed, .agentQuestion, .agentCancelled, .agentReleased: break
        case .advertisementReleased:
            // bluetoothd has dropped the advertisement. Without an adapter, another registration is useless.
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

    /// The meaning of a failed call to bluetoothd. For an adapter that is off, bluetoothd reports only "Failed" or
    /// "NotReady". The radio's known state and rfkill give the real cause.
    func explained(_ busFailure: BusFailure) -> BearerError {
        explained(busFailure.radioError)
    }

    func explained(_ error: BearerError) -> BearerError {
        supervisor.failure ?? (error.code == .radioOff ? adapter.whyOff : error)
    }
}
