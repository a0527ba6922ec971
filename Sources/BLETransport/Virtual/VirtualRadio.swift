// SPDX-License-Identifier: Apache-2.0

import CBlueZ
import Glibc
import Logging
import MeshProtocol

/// A radio for machines without one: Unix sockets in a shared folder stand for the air, so that a host and its guests
/// run as separate processes. Advertisements come at the real intervals, a dead zone ends links after the real
/// supervision timeout, and a process that dies falls silent.
public actor VirtualRadio: Radio {
    /// `virtual ADDRESS`
    public nonisolated let name: String
    /// What happens on the air, for one listener.
    public nonisolated let events: AsyncStream<RadioEvent>

    nonisolated let air: VirtualAir
    let address: String
    let logger: Logger
    let poller: Poller
    let eventSink: AsyncStream<RadioEvent>.Continuation

    var ear: PacketSocket?
    var listener: PacketSocket?
    private var hearing: Task<Void, Never>?
    private var watching: [Task<Void, Never>] = []
    private var advertising: Task<Void, Never>?
    private var accepting: Task<Void, Never>?
    private var scanned: ServiceUUID?
    private var sightings: [RadioEndpoint: Heard] = [:]
    var channels: [ObjectIdentifier: Tracked] = [:]
    private var dials: [Int: AsyncStream<RadioEndpoint>.Continuation] = [:]
    private var lastDial = 0

    // The folder: `VirtualRadio+Air.swift`.
    var watch: PacketSocket?
    var lostAirAt: ContinuousClock.Instant?

    private struct Heard {
        var sighting: Sighting
        var lastHeard: ContinuousClock.Instant
        var lastTold: ContinuousClock.Instant
    }

    struct Tracked {
        weak var channel: VirtualChannel?
        var peer: String
        var supervision: Task<Void, Never>?
    }

    /// The PSM that virtual radios advertise: the first dynamic one. There is one listener a radio.
    private static let psm: UInt8 = 0x80

    /// A radio on the air of a folder. Two radios on it need two addresses: letters, digits, `-` and `_`.
    public init(
        air: VirtualAir, address: String, logger: Logger = Logger(label: "roadmesh.virtual")
    ) throws(RadioError) {
        let allowed = address.utf8.allSatisfy { byte in
            Character(UnicodeScalar(byte)).isASCII
                && (Character(UnicodeScalar(byte)).isLetter || Character(UnicodeScalar(byte)).isNumber
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_"))
        }
        guard allowed, (1...VirtualAir.addressBytes).contains(address.utf8.count), address != "everyone" else {
            throw RadioError(
                .failed,
                "\"\(address)\" is no address for the virtual radio; use up to 32 letters, digits, - and _")
        }
        self.air = air
        self.address = address
        self.logger = logger
        self.name = "virtual \(address)"
        self.poller = try Poller()
        (events, eventSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(RadioLimits.radioEvents))
    }

    // MARK: Radio

    /// Puts an ear into the air's folder.
    public func open() async throws(RadioError) {
        try putUpEar()
        let watch = try makeWatch()
        self.watch = watch
        watching = [
            Task { await self.watchAir(on: watch) },
            Task { await self.forgetTheSilent() },
        ]
    }

    /// Shouts into every ear at the advertising interval, and accepts channels.
    public func advertise(_ advertisement: Advertisement, pace: AdvertisingPace) async throws(RadioError) {
        if listener == nil { try putUpListener() }
        let beacon = VirtualBeacon(sender: address, advertisement: advertisement, psm: Self.psm).bytes
        advertising?.cancel()
        advertising = Task { await self.shout(beacon, pace: pace) }
    }

    /// Stops to shout and to accept. Channels stay.
    public func stopAdvertising() async {
        advertising?.cancel()
        accepting?.cancel()
        if listener != nil { unlink(air.psmPath(address)) }
        listener?.close()
        (advertising, accepting, listener) = (nil, nil, nil)
    }

    /// Listens for advertisements of a service.
    public func scan(for service: ServiceUUID) async throws(RadioError) {
        guard ear != nil else { throw RadioError(.closed) }
        scanned = service
        sightings = [:]
    }

    /// Stops to listen.
    public func stopScanning() async {
        scanned = nil
    }

    /// Opens a channel as soon as the endpoint is heard.
    public func dial(_ endpoint: RadioEndpoint) async throws(RadioError) -> any RadioChannel {
        guard ear != nil else { throw RadioError(.closed) }
        let (heard, sink) = AsyncStream<RadioEndpoint>.makeStream(bufferingPolicy: .bufferingNewest(1))
        lastDial += 1
        let dial = lastDial
        dials[dial] = sink
        let timeout = Task {
            try await Task.sleep(for: Limits.dialAttempt)
            sink.finish()
        }
        defer {
            dials[dial] = nil
            timeout.cancel()
        }
        // As on the air, the dialler waits until it hears the other side, and links to it then.
        for await advertiser in heard where advertiser.address == endpoint.address {
            if let channel = connect(to: advertiser) { return channel }
        }
        guard !Task.isCancelled else { throw RadioError(.cancelled) }
        guard ear != nil else { throw RadioError(.closed) }
        throw RadioError(.dialFailed, SystemError.text(ETIMEDOUT))
    }

    /// Gives everything back.
    public func close() async {
        await stopAdvertising()
        for task in watching { task.cancel() }
        hearing?.cancel()
        for sink in dials.values { sink.finish() }
        for tracked in channels.values {
            tracked.supervision?.cancel()
            tracked.channel?.close()
        }
        if ear != nil { unlink(air.earPath(address)) }
        ear?.close()
        watch?.close()
        (ear, watch, hearing, watching, channels) = (nil, nil, nil, [], [:])
        eventSink.finish()
        poller.close()
    }

    // MARK: The sockets in the folder

    /// Puts an ear into the folder, in the place of the one before.
    func putUpEar() throws(RadioError) {
        let descriptor = AirSocket.ear(at: air.earPath(address))
        guard descriptor >= 0 else { throw air.failure(-descriptor, "cannot listen in \(air.directory)") }
        let ear = PacketSocket(Int32(descriptor), poller: poller)
        self.ear?.close()
        self.ear = ear
        hearing = Task { await self.hear(on: ear) }
    }

    /// Puts a listener into the folder, in the place of the one before.
    func putUpListener() throws(RadioError) {
        let descriptor = AirSocket.listener(at: air.psmPath(address), backlog: Int32(Limits.strangers))
        guard descriptor >= 0 else { throw air.failure(-descriptor, "cannot accept in \(air.directory)") }
        let listener = PacketSocket(Int32(descriptor), poller: poller)
        self.listener?.close()
        self.listener = listener
        accepting = Task { await self.accept(on: listener) }
    }

    // MARK: Advertising and hearing

    private func shout(_ beacon: [UInt8], pace: AdvertisingPace) async {
        while !Task.isCancelled, let ear {
            if !air.isCut(address) {
                for listener in air.ears() where listener != address {
                    let path = air.earPath(listener)
                    let result = try? ear.attempt { AirSocket.shout(beacon, from: $0, to: path) }
                    // A process that was killed has left its ear behind.
                    if result == -Int(ECONNREFUSED) { unlink(path) }
                }
            }
            try? await Task.sleep(for: .milliseconds(Int.random(in: pace.milliseconds)))
        }
    }

    private func hear(on ear: PacketSocket) async {
        while !Task.isCancelled {
            var bytes: [UInt8] = []
            let received = try? await ear.perform(.readable) { descriptor in
                var count = 0
                bytes = [UInt8](unsafeUninitializedCapacity: VirtualBeacon.maximumBytes) { buffer, initialized in
                    count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                    initialized = max(count, 0)
                }
                return count < 0 ? -Int(errno) : count
            }
            guard let received, received >= 0 else { return }
            guard let sighting = VirtualBeacon(bytes: bytes[...])?.sighting else { continue }
            heard(sighting)
        }
    }

    private func heard(_ sighting: Sighting) {
        guard !air.isCut(address), !air.isCut(sighting.endpoint.address) else { return }
        for sink in dials.values { sink.yield(sighting.endpoint) }
        guard sighting.advertisement.service == scanned else { return }
        let now = ContinuousClock.now
        let known = sightings[sighting.endpoint]
        guard known != nil || sightings.count < RadioLimits.sightings else { return }
        let isNews = known.map { $0.sighting != sighting || now - $0.lastTold >= RadioLimits.sightingRepeat } ?? true
        sightings[sighting.endpoint] = Heard(
            sighting: sighting, lastHeard: now, lastTold: isNews ? now : known?.lastTold ?? now)
        if isNews { eventSink.yield(.heard(sighting)) }
    }

    private func forgetTheSilent() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: RadioLimits.sightingRepeat)
            mendAir()
            checkAir()
            guard scanned != nil else { continue }
            let now = ContinuousClock.now
            for (endpoint, heard) in sightings where now - heard.lastHeard > RadioLimits.virtualSightingLifetime {
                sightings[endpoint] = nil
                eventSink.yield(.lost(endpoint))
            }
        }
    }

    // MARK: Channels

    private func connect(to endpoint: RadioEndpoint) -> VirtualChannel? {
        guard !air.isCut(address), !air.isCut(endpoint.address) else { return nil }
        let name = "roadmesh/\(address)/\(UInt64.random(in: 0 ... .max))"
        let descriptor = AirSocket.channel(
            to: air.psmPath(endpoint.address), as: name, sendBuffer: Int32(RadioLimits.channelBufferBytes))
        guard descriptor >= 0 else { return nil }
        return track(Int32(descriptor), peer: endpoint)
    }

    private func accept(on listener: PacketSocket) async {
        var name = ""
        let accept = { (descriptor: Int32) -> Int in
            let accepted = AirSocket.accept(descriptor, sendBuffer: Int32(RadioLimits.channelBufferBytes))
            name = accepted.name
            return accepted.descriptor
        }
        while let caller = await listener.nextCaller(logger: logger, accept) {
            let parts = name.split(separator: "/")
            let peer = parts.count == 3 && parts[0] == "roadmesh" ? String(parts[1]) : "unknown"
            eventSink.yield(.accepted(track(caller, peer: RadioEndpoint(address: peer))))
        }
    }

    private func track(_ descriptor: Int32, peer: RadioEndpoint) -> VirtualChannel {
        channels = channels.filter { $0.value.channel != nil }
        let channel = VirtualChannel(socket: PacketSocket(descriptor, poller: poller), endpoint: peer)
        channels[ObjectIdentifier(channel)] = Tracked(channel: channel, peer: peer.address)
        applyDeadZones()
        return channel
    }
}
