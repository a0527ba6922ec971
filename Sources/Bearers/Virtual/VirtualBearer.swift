// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Logging
import MeshProtocol

/// A radio for machines without Bluetooth. Unix sockets in a shared folder represent the air, so a host and its guests
/// run as separate processes. Advertisements arrive at the real intervals, a dead zone ends links after the real
/// supervision timeout, and a process that dies falls silent.
public actor VirtualBearer: Bearer {
    /// `virtual ADDRESS`
    public nonisolated let name: String
    /// The events on the air, for one listener.
    public nonisolated let events: AsyncStream<BearerEvent>
    /// The configured demands on devices that dial.
    public nonisolated let advertisedFlags: AdvertisedFlags
    /// True: a virtual radio has no roles.
    public nonisolated let dialsWhileDialled: Bool? = true

    nonisolated let air: VirtualAir
    let address: String
    let logger: Logger
    let poller: Poller
    let eventSink: AsyncStream<BearerEvent>.Continuation

    var receiver: PacketSocket?
    /// Whether the receiver has the name to which no radio sends.
    private var isDeaf = false
    var listener: PacketSocket?
    private var hearing: Task<Void, Never>?
    private var watching: Task<Void, Never>?
    /// The regular work, and the pause between two turns of it.
    private var chores: (pause: Duration, task: Task<Void, Never>)?
    private var advertising: Task<Void, Never>?
    private var accepting: Task<Void, Never>?
    private var scanned: ServiceUUID?
    private var scanResults: [BearerEndpoint: Heard] = [:]
    var channels: [ObjectIdentifier: Tracked] = [:]
    private var dials: [Int: AsyncStream<BearerEndpoint>.Continuation] = [:]
    private var lastDial = 0

    // The folder (`VirtualBearer+Air.swift`).
    var watch: PacketSocket?
    var lostAirAt: ContinuousClock.Instant?
    /// Notifies the advertiser that a radio may listen now.
    var airChanged: AsyncStream<Void>.Continuation?

    private struct Heard {
        var scanResult: ScanResult
        var lastHeard: ContinuousClock.Instant
        var lastTold: ContinuousClock.Instant
    }

    struct Tracked {
        weak var channel: VirtualChannel?
        var peer: String
        var supervision: Task<Void, Never>?
    }

    /// The PSM that virtual radios advertise: the first dynamic one. Each radio has one listener.
    private static let psm: UInt8 = 0x80

    /// A radio on the air of a folder. Two radios on it need two addresses of letters, digits, `-` and `_`.
    public init(
        air: VirtualAir, address: String, demands: AdvertisedFlags.Critical = [],
        logger: Logger = Logger(label: "roadmesh.virtual")
    ) throws(BearerError) {
        let allowed = address.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        guard allowed, (1...VirtualAir.addressBytes).contains(address.utf8.count), address != "everyone" else {
            throw BearerError(
                .failed,
                "\"\(address)\" is not an address for the virtual radio; use up to 32 letters, digits, - and _")
        }
        self.air = air
        self.address = address
        self.logger = logger
        self.name = "virtual \(address)"
        advertisedFlags = AdvertisedFlags(critical: demands)
        self.poller = try Poller()
        (events, eventSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(BearerLimits.radioEvents))
    }

    // MARK: Radio

    /// Creates a receiver in the air's folder.
    public func open() async throws(BearerError) {
        try openReceiver()
        let watch = try makeWatch()
        self.watch = watch
        watching = Task { if let watch { await self.watchAir(on: watch) } else { await self.pollAir() } }
        turnChores()
    }

    /// Sends the advertisement to every receiver at the advertising interval, and accepts channels.
    public func advertise(_ advertisement: Advertisement, pace: AdvertisingPace) async throws(BearerError) {
        if listener == nil { try openListener() }
        var advertisement = advertisement
        advertisement.flags = advertisement.flags.union(advertisedFlags)
        let beacon = VirtualBeacon(sender: address, advertisement: advertisement, psm: Self.psm).bytes
        advertising?.cancel()
        advertising = Task { await self.broadcast(beacon, pace: pace) }
    }

    /// Stops advertising, and stops accepting channels. Open channels stay.
    public func stopAdvertising() async {
        advertising?.cancel()
        accepting?.cancel()
        if listener != nil { unlink(air.psmPath(address)) }
        listener?.close()
        (advertising, accepting, listener) = (nil, nil, nil)
    }

    /// Scans for advertisements of a service.
    public func scan(for service: ServiceUUID) async throws(BearerError) {
        guard receiver != nil else { throw BearerError(.closed) }
        scanned = service
        turnReceiver()
        turnChores()
        // A radio from an earlier scan is reported again when it is heard, and as lost when it is not.
        scanResults = scanResults.filter { $0.value.scanResult.advertisement.service == service }
        let now = ContinuousClock.now
        for endpoint in scanResults.keys {
            scanResults[endpoint]?.lastHeard = now
            scanResults[endpoint]?.lastTold = now - BearerLimits.scanResultRepeat
        }
    }

    /// Stops scanning.
    public func stopScanning() async {
        scanned = nil
        turnReceiver()
        turnChores()
    }

    /// Opens a channel as soon as the endpoint is heard.
    public func dial(_ endpoint: BearerEndpoint) async throws(BearerError) -> any BearerChannel {
        guard receiver != nil else { throw BearerError(.closed) }
        let (heard, sink) = AsyncStream<BearerEndpoint>.makeStream(bufferingPolicy: .bufferingNewest(1))
        lastDial += 1
        let dial = lastDial
        dials[dial] = sink
        turnReceiver()
        let timeout = Task {
            try await Task.sleep(for: Limits.dialAttempt)
            sink.finish()
        }
        defer {
            dials[dial] = nil
            turnReceiver()
            timeout.cancel()
        }
        // As on the air, the dialling radio waits until it hears the other side, and then links to it.
        for await advertiser in heard where advertiser.address == endpoint.address {
            if let channel = connect(to: advertiser) { return channel }
        }
        guard !Task.isCancelled else { throw BearerError(.cancelled) }
        guard receiver != nil else { throw BearerError(.closed) }
        throw BearerError(.dialFailed, SystemError.text(ETIMEDOUT))
    }

    /// Removes the sockets and ends all tasks.
    public func close() async {
        await stopAdvertising()
        watching?.cancel()
        chores?.task.cancel()
        hearing?.cancel()
        for sink in dials.values { sink.finish() }
        for tracked in channels.values {
            tracked.supervision?.cancel()
            tracked.channel?.close()
        }
        if receiver != nil { unlink(isDeaf ? air.deafPath(address) : air.receiverPath(address)) }
        receiver?.close()
        watch?.close()
        (receiver, watch, hearing, watching, channels) = (nil, nil, nil, nil, [:])
        eventSink.finish()
        poller.close()
    }

    // MARK: The sockets in the folder

    /// Creates a receiver in the folder, and replaces the previous receiver.
    func openReceiver() throws(BearerError) {
        unlink(air.deafPath(address))
        isDeaf = false
        let descriptor = AirSocket.receiver(at: air.receiverPath(address))
        guard descriptor >= 0 else { throw air.failure(-descriptor, "cannot listen in \(air.directory)") }
        let receiver = PacketSocket(Int32(descriptor), poller: poller)
        self.receiver?.close()
        self.receiver = receiver
        hearing = Task { await self.hear(on: receiver) }
        turnReceiver()
    }

    /// A radio that neither scans nor dials hears nothing. Otherwise a host with sixteen guests would wake each of them
    /// thirty times a second.
    private func turnReceiver() {
        let turnsDeaf = scanned == nil && dials.isEmpty
        guard receiver != nil, turnsDeaf != isDeaf else { return }
        isDeaf = turnsDeaf
        let (ear, deaf) = (air.receiverPath(address), air.deafPath(address))
        // If the folder is gone, the watch on it notices that.
        _ = turnsDeaf ? rename(ear, deaf) : rename(deaf, ear)
    }

    /// Creates a listener in the folder, which replaces the earlier listener.
    func openListener() throws(BearerError) {
        let descriptor = AirSocket.listener(at: air.psmPath(address), backlog: Int32(Limits.halfOpenLinks))
        guard descriptor >= 0 else { throw air.failure(-descriptor, "cannot accept in \(air.directory)") }
        let listener = PacketSocket(Int32(descriptor), poller: poller)
        self.listener?.close()
        self.listener = listener
        accepting = Task { await self.accept(on: listener) }
    }

    // MARK: Advertising and hearing

    private func broadcast(_ beacon: [UInt8], pace: AdvertisingPace) async {
        let (changes, sink) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        airChanged = sink
        while !Task.isCancelled, let receiver {
            let listeners =
                air.isCut(address) ? [] : air.receivers().filter { $0 != address && !air.isCut(address, from: $0) }
            for path in listeners.map(air.receiverPath) {
                let result = try? receiver.attempt { AirSocket.send(beacon, from: $0, to: path) }
                // A killed process has left its socket behind.
                if result == -Int(ECONNREFUSED) { unlink(path) }
            }
            var pause = Int.random(in: pace.milliseconds)
            if listeners.isEmpty {
                // Without listeners it need not send. A radio begins to listen at any time within an interval.
                for await _ in changes { break }
                pause = Int.random(in: 0...pace.milliseconds.upperBound)
            }
            try? await Task.sleep(for: .milliseconds(pause))
        }
    }

    private func hear(on receiver: PacketSocket) async {
        while !Task.isCancelled {
            let packet = try? await receiver.receive(atMost: VirtualBeacon.maximumBytes)
            guard let packet, packet.result >= 0 else { return }
            if packet.result <= VirtualBeacon.maximumBytes,
                let scanResult = VirtualBeacon(bytes: packet.bytes)?.scanResult
            {
                heard(scanResult)
            }
        }
    }

    private func heard(_ scanResult: ScanResult) {
        guard !air.isCut(address, from: scanResult.endpoint.address) else { return }
        for sink in dials.values { sink.yield(scanResult.endpoint) }
        guard scanResult.advertisement.service == scanned else { return }
        let now = ContinuousClock.now
        let known = scanResults[scanResult.endpoint]
        guard known != nil || scanResults.count < BearerLimits.scanResults else { return }
        let isNew =
            known.map { $0.scanResult != scanResult || now - $0.lastTold >= BearerLimits.scanResultRepeat } ?? true
        scanResults[scanResult.endpoint] = Heard(
            scanResult: scanResult, lastHeard: now, lastTold: isNew ? now : known?.lastTold ?? now)
        if isNew { eventSink.yield(.heard(scanResult)) }
    }

    /// Sets how often the regular work is done. An idle radio rarely wakes the processor.
    func turnChores() {
        let pause = scanned != nil || lostAirAt != nil ? BearerLimits.scanResultRepeat : BearerLimits.airCheck
        guard chores?.pause != pause else { return }
        chores?.task.cancel()
        chores = (pause, Task { await self.doChores(every: pause) })
    }

    private func doChores(every pause: Duration) async {
        while (try? await Task.sleep(for: pause)) != nil {
            restoreAir()
            checkAir()
            guard scanned != nil else { continue }
            let now = ContinuousClock.now
            for (endpoint, heard) in scanResults where now - heard.lastHeard > BearerLimits.virtualScanResultLifetime {
                scanResults[endpoint] = nil
                eventSink.yield(.lost(endpoint))
            }
        }
    }

    // MARK: Channels

    private func connect(to endpoint: BearerEndpoint) -> VirtualChannel? {
        guard !air.isCut(address, from: endpoint.address) else { return nil }
        let name = "roadmesh/\(address)/\(UInt64.random(in: 0 ... .max))"
        let descriptor = AirSocket.channel(
            to: air.psmPath(endpoint.address), as: name, sendBuffer: Int32(BearerLimits.channelBufferBytes))
        guard descriptor >= 0 else { return nil }
        return track(Int32(descriptor), peer: endpoint)
    }

    private func accept(on listener: PacketSocket) async {
        var name = ""
        let accept = { (descriptor: Int32) -> Int in
            let accepted = AirSocket.accept(descriptor, sendBuffer: Int32(BearerLimits.channelBufferBytes))
            name = accepted.name
            return accepted.descriptor
        }
        var callers = RateLimit(
            perSecond: BearerLimits.virtualCallersPerSecond, burst: BearerLimits.virtualCallerBurst, now: .zero)
        let began = ContinuousClock.now
        while let caller = await listener.nextCaller(logger: logger, accept) {
            let parts = name.split(separator: "/")
            let peer = parts.count == 3 && parts[0] == "roadmesh" ? String(parts[1]) : "unknown"
            eventSink.yield(.accepted(track(caller, peer: BearerEndpoint(address: peer, bearer: .virtual))))
            while !Task.isCancelled, !callers.allows(now: ContinuousClock.now - began) {
                try? await Task.sleep(for: BearerLimits.callerPause)
            }
        }
    }

    private func track(_ descriptor: Int32, peer: BearerEndpoint) -> VirtualChannel {
        channels = channels.filter { $0.value.channel != nil }
        let channel = VirtualChannel(socket: PacketSocket(descriptor, poller: poller), endpoint: peer)
        channels[ObjectIdentifier(channel)] = Tracked(channel: channel, peer: peer.address)
        applyDeadZones()
        return channel
    }
}
