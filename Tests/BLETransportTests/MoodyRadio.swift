// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

@testable import Bearers

/// A radio that advertises or fails, as a test sets it.
actor MoodyRadio: Bearer {
    /// A request to it.
    enum Request: Hashable {
        case advertise(Advertisement, AdvertisingPace)
        case stopAdvertising
    }

    nonisolated let name = "moody"
    nonisolated let events: AsyncStream<BearerEvent>
    nonisolated let dialsWhileDialled: Bool? = nil
    nonisolated let requests: AsyncStream<Request>
    nonisolated let advertisedFlags: AdvertisedFlags
    private let sink: AsyncStream<BearerEvent>.Continuation
    private let request: AsyncStream<Request>.Continuation
    private var mood: BearerError?

    init(demands: AdvertisedFlags.Critical = []) {
        advertisedFlags = AdvertisedFlags(critical: demands)
        (events, sink) = AsyncStream.makeStream()
        (requests, request) = AsyncStream.makeStream()
    }

    func set(_ mood: BearerError?) { self.mood = mood }

    nonisolated func say(_ event: BearerEvent) { sink.yield(event) }

    func open() async throws(BearerError) {}

    func advertise(_ advertisement: Advertisement, pace: AdvertisingPace) async throws(BearerError) {
        request.yield(.advertise(advertisement, pace))
        if let mood { throw mood }
    }

    func stopAdvertising() async { request.yield(.stopAdvertising) }

    func scan(for service: ServiceUUID) async throws(BearerError) {}

    func stopScanning() async {}

    func dial(_ endpoint: BearerEndpoint) async throws(BearerError) -> any BearerChannel {
        throw BearerError(.dialFailed)
    }

    func close() async { sink.finish() }
}
