// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

@testable import BLETransport
@testable import Bearers

/// A radio with channels that carry SDUs as streams or chunks instead of packets.
final class FramedRadio: Bearer {
    let events: AsyncStream<BearerEvent>
    private let below: any Bearer
    private let carrying: Carrying

    init(_ below: any Bearer, _ carrying: Carrying) {
        (self.below, self.carrying) = (below, carrying)
        let events = below.events
        self.events = AsyncStream { continuation in
            let reading = Task {
                for await event in events {
                    if case .accepted(let channel) = event {
                        continuation.yield(.accepted(Self.framed(channel, carrying)))
                    } else {
                        continuation.yield(event)
                    }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in reading.cancel() }
        }
    }

    /// Streams in pieces that do not match SDUs, and chunks of a typical phone's size.
    private static func framed(_ channel: any BearerChannel, _ carrying: Carrying) -> any BearerChannel {
        switch carrying {
        case .packets, .lan, .both, .broker, .airAndBroker, .folder: channel
        case .stream: FramedChannel(channel, framing: StreamPieces(), room: 300)
        case .chunks: FramedChannel(WindowedChannel(channel), framing: ChunkPieces(), room: 244)
        }
    }

    func dial(_ endpoint: BearerEndpoint) async throws(BearerError) -> any BearerChannel {
        Self.framed(try await below.dial(endpoint), carrying)
    }

    var name: String { below.name }
    var dialsWhileDialled: Bool? { get async { await below.dialsWhileDialled } }
    var advertisedFlags: AdvertisedFlags { below.advertisedFlags }
    func open() async throws(BearerError) { try await below.open() }
    func advertise(_ advertisement: Advertisement, pace: AdvertisingPace) async throws(BearerError) {
        try await below.advertise(advertisement, pace: pace)
    }
    func stopAdvertising() async { await below.stopAdvertising() }
    func scan(for service: ServiceUUID) async throws(BearerError) { try await below.scan(for: service) }
    func stopScanning() async { await below.stopScanning() }
    func close() async { await below.close() }
}

/// A real radio that dials like a phone: it uses the PSM for streams. A phone reads that PSM from the host's GATT
/// service.
final class StreamDialler: Bearer {
    private let below: BlueZBearer
    private let host: any Bearer

    init(_ below: BlueZBearer, host: any Bearer) { (self.below, self.host) = (below, host) }

    func dial(_ endpoint: BearerEndpoint) async throws(BearerError) -> any BearerChannel {
        // A host that is dialled again after a gap is assumed to listen on the same PSM.
        let told = await (host as? BlueZBearer)?.streamPSM ?? 0
        let psm = told == 0 ? endpoint.psm + 1 : told
        return try await below.dial(
            BearerEndpoint(address: endpoint.address, addressKind: endpoint.addressKind, psm: psm, isStream: true))
    }

    var name: String { below.name }
    var events: AsyncStream<BearerEvent> { below.events }
    var dialsWhileDialled: Bool? { get async { await below.dialsWhileDialled } }
    var advertisedFlags: AdvertisedFlags { below.advertisedFlags }
    func open() async throws(BearerError) { try await below.open() }
    func advertise(_ advertisement: Advertisement, pace: AdvertisingPace) async throws(BearerError) {
        try await below.advertise(advertisement, pace: pace)
    }
    func stopAdvertising() async { await below.stopAdvertising() }
    func scan(for service: ServiceUUID) async throws(BearerError) { try await below.scan(for: service) }
    func stopScanning() async { await below.stopScanning() }
    func close() async { await below.close() }
}
