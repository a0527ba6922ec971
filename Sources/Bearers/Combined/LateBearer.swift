// SPDX-License-Identifier: Apache-2.0

import Logging
import MeshProtocol

/// A Bluetooth radio that may get its adapter later. The node starts with its other bearers, and uses the adapter as
/// soon as it works. A stand-in can replace the radio until then.
public actor LateBearer: Bearer {
    /// Makes the radio. Throws if its adapter is missing.
    public typealias Make = @Sendable () throws(BearerError) -> any Bearer
    /// Suspends before the next search for the adapter.
    typealias Pause = @Sendable () async throws -> Void

    /// The name of the bearers that work at the start.
    public nonisolated let name: String
    /// The events of the radio and its stand-in, for one listener.
    public nonisolated let events: AsyncStream<BearerEvent>
    /// The flags of this node's advertisements.
    public nonisolated let advertisedFlags: AdvertisedFlags
    /// The value of the adapter; nil until it works.
    public nonisolated var dialsWhileDialled: Bool? { get async { await radio?.dialsWhileDialled } }

    private let make: Make
    private let pause: Pause
    private nonisolated let standIn: (any Bearer)?
    private let logger: Logger
    private let eventSink: AsyncStream<BearerEvent>.Continuation
    private var first: (any Bearer)?
    private var radio: (any Bearer)?
    /// The error that was reported last.
    private var missing: BearerError?
    private var advertised: (Advertisement, AdvertisingPace)?
    private var scanned: ServiceUUID?
    private var looking: Task<Void, Never>?
    private var listening: [Task<Void, Never>] = []
    private var isClosed = false

    /// Creates a radio that `make` makes later. `first` is a radio that is already made. `flags` are the advertised
    /// flags.
    public init(
        name: String, flags: AdvertisedFlags, standIn: (any Bearer)? = nil, first: (any Bearer)? = nil,
        logger: Logger = Logger(label: "roadmesh.late"), make: @escaping Make
    ) {
        self.init(
            name: name, flags: flags, standIn: standIn, first: first, logger: logger,
            pause: { try await Task.sleep(for: BearerLimits.adapterLook) }, make: make)
    }

    init(
        name: String, flags: AdvertisedFlags, standIn: (any Bearer)? = nil, first: (any Bearer)? = nil,
        logger: Logger = Logger(label: "roadmesh.late"), pause: @escaping Pause, make: @escaping Make
    ) {
        self.first = first
        (self.name, self.standIn, self.logger, self.pause, self.make) = (name, standIn, logger, pause, make)
        advertisedFlags = flags
        (events, eventSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(BearerLimits.radioEvents))
    }

    /// Opens the stand-in and, if possible, the adapter. Throws an error that a person cannot end while the node runs,
    /// such as a missing permission.
    public func open() async throws(BearerError) {
        if let standIn {
            try await standIn.open()
            listen(to: standIn)
        }
        do throws(BearerError) {
            try await take()
        } catch {
            guard error.mayPass else { throw error }
            report(error)
            looking = Task { await self.look() }
        }
    }

    private func take() async throws(BearerError) {
        let made = if let first { first } else { try make() }
        first = nil
        do throws(BearerError) {
            try await made.open()
        } catch {
            await made.close()
            throw error
        }
        guard !isClosed else { return await made.close() }
        radio = made
        listen(to: made)
    }

    /// With a stand-in the node works, so the error is only logged.
    private func report(_ error: BearerError) {
        guard error.code != missing?.code else { return }
        missing = error
        logger.info("no Bluetooth yet: \(error)")
        if standIn == nil { eventSink.yield(.failed(error)) }
    }

    private func look() async {
        while (try? await pause()) != nil, !isClosed {
            do throws(BearerError) {
                try await take()
            } catch {
                report(error)
                continue
            }
            return await begin()
        }
    }

    /// Starts the last advertisement and scan on the adapter, which works now.
    private func begin() async {
        guard let radio else { return }
        missing = nil
        do throws(BearerError) {
            if let (advertisement, pace) = advertised { try await radio.advertise(advertisement, pace: pace) }
            if let scanned { try await radio.scan(for: scanned) }
            if standIn == nil { eventSink.yield(.recovered) }
            eventSink.yield(.repaired(.adapterAppeared(radio.name)))
        } catch {
            eventSink.yield(.failed(error))
        }
    }

    private func listen(to radio: any Bearer) {
        listening.append(Task { for await event in radio.events { eventSink.yield(event) } })
    }

    private var present: [any Bearer] { [standIn, radio].compactMap(\.self) }

    // MARK: Advertising and scanning

    /// Advertises on the radios that are open, and later on the adapter.
    public func advertise(_ advertisement: Advertisement, pace: AdvertisingPace) async throws(BearerError) {
        advertised = (advertisement, pace)
        for radio in present { try await radio.advertise(advertisement, pace: pace) }
    }

    /// Stops advertising.
    public func stopAdvertising() async {
        advertised = nil
        for radio in present { await radio.stopAdvertising() }
    }

    /// Scans on the radios that are open, and later on the adapter.
    public func scan(for service: ServiceUUID) async throws(BearerError) {
        scanned = service
        for radio in present { try await radio.scan(for: service) }
    }

    /// Stops scanning.
    public func stopScanning() async {
        scanned = nil
        for radio in present { await radio.stopScanning() }
    }

    /// Dials with the radio to which the endpoint belongs.
    public func dial(_ endpoint: BearerEndpoint) async throws(BearerError) -> any BearerChannel {
        guard let dialled = endpoint.bearer == .virtual ? standIn : radio else { throw BearerError(.dialFailed) }
        return try await dialled.dial(endpoint)
    }

    /// Closes all radios.
    public func close() async {
        isClosed = true
        looking?.cancel()
        for radio in present { await radio.close() }
        for task in listening { await task.value }
        eventSink.finish()
    }
}

extension BearerError {
    /// Whether a person can end the error while the node runs: by plugging in an adapter, switching it on, or starting
    /// bluetoothd.
    public var mayPass: Bool {
        switch code {
        case .noAdapter, .radioOff, .blocked, .blockedBySwitch, .adapterSilent, .adapterDead, .serviceNotRunning: true
        case .notPermitted, .unsupported, .advertisingRefused, .airUnusable, .airForbidden, .dialFailed, .bondRequired,
            .channelLost, .tooLarge, .closed, .cancelled, .failed:
            false
        }
    }
}
