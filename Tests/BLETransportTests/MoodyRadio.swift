// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

@testable import Bearers

/// A radio that advertises or fails, as a test sets it.
actor MoodyRadio: Radio {
    /// A request to it.
    enum Request: Hashable {
        case advertise(Advertisement, AdvertisingPace)
        case stopAdvertising
    }

    nonisolated let name = "moody"
    nonisolated let events: AsyncStream<RadioEvent>
    nonisolated let dialsWhileDialled: Bool? = nil
    nonisolated let requests: AsyncStream<Request>
    nonisolated let advertisedFlags: AdvertisedFlags
    private let sink: AsyncStream<RadioEvent>.Continuation
    private let request: AsyncStream<Request>.Continuation
    private var mood: RadioError?

    init(demands: AdvertisedFlags.Critical = []) {
        advertisedFlags = AdvertisedFlags(critical: demands)
        (events, sink) = AsyncStream.makeStream()
        (requests, request) = AsyncStream.makeStream()
    }

    func set(_ mood: RadioError?) { self.mood = mood }

    nonisolated func say(_ event: RadioEvent) { sink.yield(event) }

    func open() async throws(RadioError) {}

    func advertise(_ advertisement: Advertisement, pace: AdvertisingPace) async throws(RadioError) {
        request.yield(.advertise(advertisement, pace))
        if let mood { throw mood }
    }

    func stopAdvertising() async { request.yield(.stopAdvertising) }

    func scan(for service: ServiceUUID) async throws(RadioError) {}

    func stopScanning() async {}

    func dial(_ endpoint: RadioEndpoint) async throws(RadioError) -> any RadioChannel { throw RadioError(.dialFailed) }

    func close() async { sink.finish() }
}
