// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

@testable import BLETransport
@testable import Bearers

/// A radio with channels that carry SDUs as streams or chunks instead of packets.
final class FramedRadio: Radio {
    let events: AsyncStream<RadioEvent>
    private let below: any Radio
    private let carrying: Carrying

    init(_ below: any Radio, _ carrying: Carrying) {
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
    private static func framed(_ channel: any RadioChannel, _ carrying: Carrying) -> any RadioChannel {
        switch carrying {
        case .packets, .lan, .both, .broker, .airAndBroker: channel
        case .stream: FramedChannel(channel, framing: StreamPieces(), room: 300)
        case .chunks: FramedChannel(WindowedChannel(channel), framing: ChunkPieces(), room: 244)
        }
    }

    func dial(_ endpoint: RadioEndpoint) async throws(RadioError) -> any RadioChannel {
        Self.framed(try await below.dial(endpoint), carrying)
    }

    var name: String { below.name }
    var dialsWhileDialled: Bool? { get async { await below.dialsWhileDialled } }
    var advertisedFlags: AdvertisedFlags { below.advertisedFlags }
    func open() async throws(RadioError) { try await below.open() }
    func advertise(_ advertisement: Advertisement, pace: AdvertisingPace) async throws(RadioError) {
        try await below.advertise(advertisement, pace: pace)
    }
    func stopAdvertising() async { await below.stopAdvertising() }
    func scan(for service: ServiceUUID) async throws(RadioError) { try await below.scan(for: service) }
    func stopScanning() async { await below.stopScanning() }
    func close() async { await below.close() }
}

/// A real radio that dials like a phone: it uses the PSM for streams. A phone reads that PSM from the host's GATT
/// service.
final class StreamDialler: Radio {
    private let below: BlueZRadio
    private let host: any Radio

    init(_ below: BlueZRadio, host: any Radio) { (self.below, self.host) = (below, host) }

    func dial(_ endpoint: RadioEndpoint) async throws(RadioError) -> any RadioChannel {
        // A host that is dialled again after a gap is assumed to listen on the same PSM.
        let told = await (host as? BlueZRadio)?.streamPSM ?? 0
        let psm = told == 0 ? endpoint.psm + 1 : told
        return try await below.dial(
            RadioEndpoint(address: endpoint.address, addressKind: endpoint.addressKind, psm: psm, isStream: true))
    }

    var name: String { below.name }
    var events: AsyncStream<RadioEvent> { below.events }
    var dialsWhileDialled: Bool? { get async { await below.dialsWhileDialled } }
    var advertisedFlags: AdvertisedFlags { below.advertisedFlags }
    func open() async throws(RadioError) { try await below.open() }
    func advertise(_ advertisement: Advertisement, pace: AdvertisingPace) async throws(RadioError) {
        try await below.advertise(advertisement, pace: pace)
    }
    func stopAdvertising() async { await below.stopAdvertising() }
    func scan(for service: ServiceUUID) async throws(RadioError) { try await below.scan(for: service) }
    func stopScanning() async { await below.stopScanning() }
    func close() async { await below.close() }
}
