// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Two radios as one: one dials, the other is dialled. For a relay on adapters of which none can do both at once
/// (`Radio.dialsWhileDialled`).
public actor PairedRadio: Radio {
    /// `bluez hci0 and bluez hci1`, who dials first.
    public nonisolated let name: String
    /// What happens on both, for one listener.
    public nonisolated let events: AsyncStream<RadioEvent>
    /// That is what the second one is for.
    public nonisolated let dialsWhileDialled: Bool? = true
    /// Of the radio that is dialled.
    public nonisolated var advertisedFlags: AdvertisedFlags { dialled.advertisedFlags }

    private nonisolated let dialling: any Radio
    private nonisolated let dialled: any Radio
    private let eventSink: AsyncStream<RadioEvent>.Continuation
    private var account = PairedAccount()
    private var listening: [Task<Void, Never>] = []

    /// A radio that scans and dials with one, and advertises and accepts with the other.
    public init(dialling: any Radio, dialled: any Radio) {
        (self.dialling, self.dialled) = (dialling, dialled)
        name = "\(dialling.name) and \(dialled.name)"
        (events, eventSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(RadioLimits.radioEvents))
    }

    /// Opens both, or none.
    public func open() async throws(RadioError) {
        try await dialling.open()
        do throws(RadioError) {
            try await dialled.open()
        } catch {
            await dialling.close()
            throw error
        }
        listen(to: dialling, as: .dialling)
        listen(to: dialled, as: .dialled)
    }

    private func listen(to radio: any Radio, as side: PairedAccount.Side) {
        listening.append(Task { for await event in radio.events { self.received(event, side) } })
    }

    private func received(_ event: RadioEvent, _ side: PairedAccount.Side) {
        if let event = account.told(event, by: side) { eventSink.yield(event) }
    }

    /// Has the second one do it.
    public func advertise(_ advertisement: Advertisement, pace: AdvertisingPace) async throws(RadioError) {
        account.advertised = advertisement
        try await dialled.advertise(advertisement, pace: pace)
    }

    /// Has the second one do it.
    public func stopAdvertising() async { await dialled.stopAdvertising() }

    /// Has the first one do it.
    public func scan(for service: ServiceUUID) async throws(RadioError) { try await dialling.scan(for: service) }

    /// Has the first one do it.
    public func stopScanning() async { await dialling.stopScanning() }

    /// Has the first one do it.
    public func dial(_ endpoint: RadioEndpoint) async throws(RadioError) -> any RadioChannel {
        try await dialling.dial(endpoint)
    }

    /// Closes both.
    public func close() async {
        await dialling.close()
        await dialled.close()
        for task in listening { await task.value }
        eventSink.finish()
    }
}

/// What is told of two radios, where each tells of itself.
struct PairedAccount: Sendable {
    enum Side: Sendable {
        case dialling, dialled
    }

    /// What is advertised, and heard by ourselves.
    var advertised: Advertisement?
    private var failures: [Side: RadioError] = [:]
    private var timings: [Side: AdapterTiming] = [:]

    /// What is told when one of them has told this. One that has failed makes the two of them fail: what was asked for needs
    /// both.
    mutating func told(_ event: RadioEvent, by side: Side) -> RadioEvent? {
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

    /// How often the one advertises, and how the other links.
    private func joined(with timing: AdapterTiming) -> AdapterTiming {
        var joined = timings[.dialling] ?? timing
        guard let dialled = timings[.dialled] else { return joined }
        joined.advertising = dialled.advertising
        joined.foundWithin = dialled.foundWithin
        joined.isSetByNode = joined.isSetByNode && dialled.isSetByNode
        return joined
    }
}
