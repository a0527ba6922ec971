// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol

/// The data that bluetoothd has reported of a device. It reports only changes.
struct KnownDevice {
    var address: BearerEndpoint?
    var rssi: Int?
    /// Time of its last reported advertisement, of any kind.
    var lastHeard: MeshInstant?
    var name = ""
    var payload: [UInt8] = []
    var services: [String] = []
    /// The services in the device's last advertisement, with the names from before bluetoothd resolved its GATT
    /// services. Nil if they were never named.
    private var advertisedServices: [String]?
    var isConnected = false
    var isPaired = false
    /// Nil if bluetoothd does not report it; it does since 5.65.
    var isBonded: Bool?
    var alias = ""
    /// The kind of device, as desktops name their icons.
    var icon = ""
    /// The endpoint that was reported last. It is needed to report its loss.
    var reported: BearerEndpoint?

    mutating func merge(_ change: DeviceChange) {
        address = change.address ?? address
        rssi = change.isOutOfRange ? nil : change.rssi ?? rssi
        name = change.name ?? name
        payload = change.payload ?? payload
        services = change.services ?? services
        if !areServicesHidden { advertisedServices = services }
        isConnected = change.isConnected ?? isConnected
        isPaired = change.isPaired ?? isPaired
        isBonded = change.isBonded ?? isBonded
        alias = change.alias ?? alias
        icon = change.icon ?? icon
    }

    /// Whether the device is bonded with this adapter.
    var hasBond: Bool { isBonded ?? isPaired }

    /// Whether bluetoothd hides the services that the device advertises. After the first link, as long as bluetoothd
    /// knows the device, it names the resolved GATT services instead, or none if the link broke while it resolved them.
    /// Generic Access and Generic Attribute are in every GATT server, and in no advertisement of ours.
    private var areServicesHidden: Bool {
        services.isEmpty || services.contains { $0.hasPrefix("00001800-") || $0.hasPrefix("00001801-") }
    }

    /// Whether the device advertises the service. Discovery has no filter (`docs/bluez.md`), so this is the only check.
    ///
    /// If bluetoothd hides the services, an earlier advertisement decides, or the resolved services. A node with GATT
    /// has its own service there, and its scan response shows that it has GATT. A bonded device may have been resolved
    /// while it was pairing. Only a device that is pairing has a scan response without an identifier.
    private func advertises(_ service: ServiceUUID, _ advertisement: Advertisement) -> Bool {
        if services.contains(service.description) { return true }
        guard areServicesHidden else { return false }
        if let advertisedServices, advertisedServices.contains(service.description) { return true }
        guard advertisement.version == ProtocolVersion.major else { return false }
        let pairing = ServiceType.pairing.uuid
        if service == pairing { return advertisement.idRest.isEmpty }
        return !services.contains { Self.isNamed($0) && $0 != pairing.description }
    }

    /// Whether a UUID is derived from a name (version 5 of RFC 4122), as those of our services are.
    private static func isNamed(_ uuid: String) -> Bool { uuid.dropFirst(14).first == "5" }

    /// Whether the device can be forgotten without loss: it is not linked or bonded, and is not a RoadMesh node.
    var isStranger: Bool { payload.isEmpty && !isConnected && !hasBond && reported == nil }

    /// The device's scan result, if it is heard and advertises the service.
    func scanResult(of service: ServiceUUID) -> ScanResult? {
        guard let address, let rssi, let psm = Advertisement.psm(inPayload: payload),
            let advertisement = Advertisement(service: service, payload: payload, localName: name),
            advertises(service, advertisement)
        else { return nil }
        let endpoint = BearerEndpoint(
            address: address.address, addressKind: address.addressKind, psm: psm,
            requiresBond: advertisement.flags.critical.contains(.bond))
        return ScanResult(endpoint: endpoint, advertisement: advertisement, rssi: rssi)
    }
}

extension [String: KnownDevice] {
    /// Makes room for one more device: at the limit, forgets a stranger. False if no device can be forgotten.
    mutating func makeRoom(limit: Int = BearerLimits.scanResults) -> Bool {
        guard count >= limit else { return true }
        guard let stranger = first(where: \.value.isStranger)?.key else { return false }
        self[stranger] = nil
        return true
    }
}

/// Whether bluetoothd's discovery is on for us. Attempts to start it may overlap: an attempt from a time when the
/// adapter was off fails after the next one has begun, and does not show whether that one succeeds.
struct Discovery: Sendable {
    private(set) var isOn = false
    private var attempts = 0

    /// Begins an attempt to start discovery. Returns its number.
    mutating func begin() -> Int {
        (isOn, attempts) = (true, attempts + 1)
        return attempts
    }

    /// Reports a failed attempt. Returns whether discovery is off because of this failure.
    mutating func fail(_ attempt: Int) -> Bool {
        guard isOn, attempt == attempts else { return false }
        isOn = false
        return true
    }

    /// Discovery should end, or bluetoothd has lost it.
    mutating func end() {
        isOn = false
    }
}

extension BlueZBearer {
    /// Scans for advertisements of a service, through bluetoothd's discovery.
    public func scan(for service: ServiceUUID) async throws(BearerError) {
        scanned = service
        supervise(.scanWanted)
        try await discover()
    }

    /// Stops scanning.
    public func stopScanning() async {
        scanned = nil
        await pauseDiscovery()
        supervise(.scanPaused)
    }

    /// Starts a wanted discovery, unless a dial is under way. Discovery keeps the kernel from connecting.
    func discover() async throws(BearerError) {
        guard scanned != nil, let bus, !dialQueue.isBusy else { return }
        let attempt = discovery.isOn ? nil : discovery.begin()
        do throws(BusFailure) {
            if attempt != nil {
                try await bus.startDiscovery(on: adapter.path)
                supervise(.scanStarted)
            }
            // If another program's discovery is on, bluetoothd may have no change to report. So this lists all devices.
            try await bus.listObjects()
        } catch {
            if let attempt, discovery.fail(attempt) { supervise(.scanFailed) }
            throw explained(error)
        }
    }

    /// Restarts discovery. The kernel drops reports from the first milliseconds of a scan, before it counts discovery
    /// as running. The controller filters duplicates, so it does not report the device again until bluetoothd restarts
    /// the scan, ten seconds later. Of the joins in the lab, one in fifteen hung for this reason. A scan can also end
    /// without a message, or not have begun.
    func discoverAnew() async {
        guard scanned != nil else { return }
        await pauseDiscovery()
        try? await discover()
    }

    func pauseDiscovery() async {
        guard discovery.isOn else { return }
        discovery.end()
        supervise(.scanPaused)
        try? await bus?.stopDiscovery(on: adapter.path)
    }

    func deviceChanged(_ path: String, _ change: DeviceChange) {
        guard path.hasPrefix(adapter.path + "/") else { return }
        // Legacy advertising ends when a link comes up, even if the link is not used.
        if change.isConnected != nil { renewAdvertisement() }
        // Discovery reports every device in range. The controller limits the number of connected devices, and
        // bluetoothd the time that it remembers the others.
        let isExpected = devices[path] != nil || change.isConnected == true
        guard isExpected || devices.makeRoom() else { return }
        var device = devices[path] ?? KnownDevice()
        device.merge(change)
        if device.rssi != nil, change.rssi != nil { device.lastHeard = now }
        if let isConnected = change.isConnected, let address = device.address?.address {
            linkChanged(address, isConnected: isConnected)
            if isConnected {
                dialClock?.linked(address, now: now)
                eventSink.yield(.reached(address: address))
            }
        }
        let isNew = change.rssi != nil || change.payload != nil || change.name != nil || change.services != nil
        if isNew, discovery.isOn, let scanned, let scanResult = device.scanResult(of: scanned) {
            device.reported = scanResult.endpoint
            supervise(.heard)
            eventSink.yield(.heard(scanResult))
        }
        devices[path] = device
    }

    func deviceRemoved(_ path: String) {
        guard let device = devices.removeValue(forKey: path) else { return }
        if let address = device.address?.address { linkChanged(address, isConnected: false) }
        if let endpoint = device.reported { eventSink.yield(.lost(endpoint)) }
    }
}
