// SPDX-License-Identifier: Apache-2.0

import Logging
import MeshProtocol

/// A Bluetooth radio whose adapter may appear later: a node starts with its other bearers and uses the adapter as soon as it
/// works. Until then a stand-in may take its place.
public actor LateRadio: Radio {
    /// Makes the radio, and throws where there is no adapter for it.
    public typealias Make = @Sendable () throws(RadioError) -> any Radio
    /// Waits before the adapter is looked for again.
    typealias Pause = @Sendable () async throws -> Void

    /// The name of the bearers that work at the start.
    public nonisolated let name: String
    /// What happens on the radio and its stand-in, for one listener.
    public nonisolated let events: AsyncStream<RadioEvent>
    /// What this node asks of nodes that dial.
    public nonisolated let advertisedFlags: AdvertisedFlags
    /// As the adapter says; nil until it works.
    public nonisolated var dialsWhileDialled: Bool? { get async { await radio?.dialsWhileDialled } }

    private let make: Make
    private let pause: Pause
    private nonisolated let standIn: (any Radio)?
    private let logger: Logger
    private let eventSink: AsyncStream<RadioEvent>.Continuation
    private var first: (any Radio)?
    private var radio: (any Radio)?
    /// The cause that was reported last.
    private var missing: RadioError?
    private var advertised: (Advertisement, AdvertisingPace)?
    private var scanned: ServiceUUID?
    private var looking: Task<Void, Never>?
    private var listening: [Task<Void, Never>] = []
    private var isClosed = false

    /// A radio that `make` makes; `first` was made already. `flags` is what it advertises.
    public init(
        name: String, flags: AdvertisedFlags, standIn: (any Radio)? = nil, first: (any Radio)? = nil,
        logger: Logger = Logger(label: "roadmesh.late"), make: @escaping Make
    ) {
        self.init(
            name: name, flags: flags, standIn: standIn, first: first, logger: logger,
            pause: { try await Task.sleep(for: RadioLimits.adapterLook) }, make: make)
    }

    init(
        name: String, flags: AdvertisedFlags, standIn: (any Radio)? = nil, first: (any Radio)? = nil,
        logger: Logger = Logger(label: "roadmesh.late"), pause: @escaping Pause, make: @escaping Make
    ) {
        self.first = first
        (self.name, self.standIn, self.logger, self.pause, self.make) = (name, standIn, logger, pause, make)
        advertisedFlags = flags
        (events, eventSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(RadioLimits.radioEvents))
    }

    /// Opens the stand-in and, if it works, the adapter. Throws where that can never work, as without permission.
    public func open() async throws(RadioError) {
        if let standIn {
            try await standIn.open()
            listen(to: standIn)
        }
        do throws(RadioError) {
            try await take()
        } catch {
            guard error.mayPass else { throw error }
            report(error)
            looking = Task { await self.look() }
        }
    }

    private func take() async throws(RadioError) {
        let made = if let first { first } else { try make() }
        first = nil
        do throws(RadioError) {
            try await made.open()
        } catch {
            await made.close()
            throw error
        }
        guard !isClosed else { return await made.close() }
        radio = made
        listen(to: made)
    }

    /// With a stand-in the node works, and the cause is only logged.
    private func report(_ error: RadioError) {
        guard error.code != missing?.code else { return }
        missing = error
        logger.info("no Bluetooth yet: \(error)")
        if standIn == nil { eventSink.yield(.failed(error)) }
    }

    private func look() async {
        while (try? await pause()) != nil, !isClosed {
            do throws(RadioError) {
                try await take()
            } catch {
                report(error)
                continue
            }
            return await begin()
        }
    }

    /// The adapter works: it gets the last advertisement and scan.
    private func begin() async {
        guard let radio else { return }
        missing = nil
        do throws(RadioError) {
            if let (advertisement, pace) = advertised { try await radio.advertise(advertisement, pace: pace) }
            if let scanned { try await radio.scan(for: scanned) }
            if standIn == nil { eventSink.yield(.recovered) }
            eventSink.yield(.repaired(.adapterAppeared(radio.name)))
        } catch {
            eventSink.yield(.failed(error))
        }
    }

    private func listen(to radio: any Radio) {
        listening.append(Task { for await event in radio.events { eventSink.yield(event) } })
    }

    private var present: [any Radio] { [standIn, radio].compactMap(\.self) }

    // MARK: Being found, and finding

    /// Has what is there do it, and the adapter when it comes.
    public func advertise(_ advertisement: Advertisement, pace: AdvertisingPace) async throws(RadioError) {
        advertised = (advertisement, pace)
        for radio in present { try await radio.advertise(advertisement, pace: pace) }
    }

    /// Has what is there stop it.
    public func stopAdvertising() async {
        advertised = nil
        for radio in present { await radio.stopAdvertising() }
    }

    /// Has what is there do it, and the adapter when it comes.
    public func scan(for service: ServiceUUID) async throws(RadioError) {
        scanned = service
        for radio in present { try await radio.scan(for: service) }
    }

    /// Has what is there stop it.
    public func stopScanning() async {
        scanned = nil
        for radio in present { await radio.stopScanning() }
    }

    /// Dials with the radio that the endpoint is of.
    public func dial(_ endpoint: RadioEndpoint) async throws(RadioError) -> any RadioChannel {
        guard let dialled = endpoint.bearer == .virtual ? standIn : radio else { throw RadioError(.dialFailed) }
        return try await dialled.dial(endpoint)
    }

    /// Closes what is there.
    public func close() async {
        isClosed = true
        looking?.cancel()
        for radio in present { await radio.close() }
        for task in listening { await task.value }
        eventSink.finish()
    }
}

extension RadioError {
    /// Whether a person can end it while the node runs, by plugging an adapter in, switching it on or starting bluetoothd.
    public var mayPass: Bool {
        switch code {
        case .noAdapter, .radioOff, .blocked, .blockedBySwitch, .adapterSilent, .adapterDead, .serviceNotRunning: true
        case .notPermitted, .unsupported, .advertisingRefused, .airUnusable, .airForbidden, .dialFailed, .bondRequired,
            .channelLost, .tooLarge, .closed, .cancelled, .failed:
            false
        }
    }
}
