// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Combines two radios into one: the first dials, the second accepts. It is for a relay whose adapters cannot do both
/// at once (`Bearer.dialsWhileDialled`).
public actor PairedBearer: Bearer {
    /// The names of both radios, with the dialling radio first, for example `bluez hci0 and bluez hci1`.
    public nonisolated let name: String
    /// The events of both radios, for one listener.
    public nonisolated let events: AsyncStream<BearerEvent>
    /// True, since the second radio accepts.
    public nonisolated let dialsWhileDialled: Bool? = true
    /// The flags of the accepting radio.
    public nonisolated var advertisedFlags: AdvertisedFlags { dialled.advertisedFlags }

    private nonisolated let dialling: any Bearer
    private nonisolated let dialled: any Bearer
    private let eventSink: AsyncStream<BearerEvent>.Continuation
    private var account = PairedPolicy()
    private var listening: [Task<Void, Never>] = []

    /// Combines two radios: `dialling` scans and dials, `dialled` advertises and accepts.
    public init(dialling: any Bearer, dialled: any Bearer) {
        (self.dialling, self.dialled) = (dialling, dialled)
        name = "\(dialling.name) and \(dialled.name)"
        (events, eventSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(BearerLimits.radioEvents))
    }

    /// Opens both radios, or neither.
    public func open() async throws(BearerError) {
        try await dialling.open()
        do throws(BearerError) {
            try await dialled.open()
        } catch {
            await dialling.close()
            throw error
        }
        listen(to: dialling, as: .dialling)
        listen(to: dialled, as: .dialled)
    }

    private func listen(to radio: any Bearer, as side: PairedPolicy.Side) {
        listening.append(Task { for await event in radio.events { self.received(event, side) } })
    }

    private func received(_ event: BearerEvent, _ side: PairedPolicy.Side) {
        if let event = account.told(event, by: side) { eventSink.yield(event) }
    }

    /// Advertises on the second radio.
    public func advertise(_ advertisement: Advertisement, pace: AdvertisingPace) async throws(BearerError) {
        account.advertised = advertisement
        try await dialled.advertise(advertisement, pace: pace)
    }

    /// Stops advertising on the second radio.
    public func stopAdvertising() async { await dialled.stopAdvertising() }

    /// Scans on the first radio.
    public func scan(for service: ServiceUUID) async throws(BearerError) { try await dialling.scan(for: service) }

    /// Stops the scan of the first radio.
    public func stopScanning() async { await dialling.stopScanning() }

    /// Dials on the first radio.
    public func dial(_ endpoint: BearerEndpoint) async throws(BearerError) -> any BearerChannel {
        try await dialling.dial(endpoint)
    }

    /// Closes both radios.
    public func close() async {
        await dialling.close()
        await dialled.close()
        for task in listening { await task.value }
        eventSink.finish()
    }
}

/// Decides which events of two radios to report.
struct PairedPolicy: Sendable {
    enum Side: Sendable {
        case dialling, dialled
    }

    /// This node's own advertisement, which the node also hears.
    var advertised: Advertisement?
    private var failures: [Side: BearerError] = [:]
    private var timings: [Side: AdapterTiming] = [:]

    /// The event to report after one of the radios has reported `event`. If one radio fails, both count as failed,
    /// since every request needs both.
    mutating func told(_ event: BearerEvent, by side: Side) -> BearerEvent? {
        switch event {
        case .failed(let error):
            failures[side] = error
            return event
        case .recovered:
            failures[side] = nil
            return failures.values.first.map { .failed($0) } ?? .recovered
        case .timing(let timing):
            timings[side] = timing
            return .timing(joined(with: timing))
        case .heard(let result) where result.advertisement.idPrefix == advertised?.idPrefix: return nil
        case .heard, .better, .lost, .reached, .accepted, .repaired, .broker: return event
        }
    }

    /// Advertising parameters from the accepting radio, and link parameters from the dialling one.
    private func joined(with timing: AdapterTiming) -> AdapterTiming {
        var joined = timings[.dialling] ?? timing
        guard let dialled = timings[.dialled] else { return joined }
        joined.advertising = dialled.advertising
        joined.foundWithin = dialled.foundWithin
        joined.isSetByNode = joined.isSetByNode && dialled.isSetByNode
        return joined
    }
}
