// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import TestSupport
import Testing

@testable import BLETransport

/// A radio that advertises or does not, as a test wants it.
private actor MoodyRadio: Radio {
    nonisolated let name = "moody"
    nonisolated let events: AsyncStream<RadioEvent>
    /// One for each time that it was asked to advertise.
    nonisolated let attempts: AsyncStream<Void>
    private let sink: AsyncStream<RadioEvent>.Continuation
    private let attempt: AsyncStream<Void>.Continuation
    private var mood: RadioError?

    init() {
        (events, sink) = AsyncStream.makeStream()
        (attempts, attempt) = AsyncStream.makeStream()
    }

    func set(_ mood: RadioError?) { self.mood = mood }

    nonisolated func say(_ event: RadioEvent) { sink.yield(event) }

    func open() async throws(RadioError) {}

    func advertise(_ advertisement: Advertisement, pace: AdvertisingPace) async throws(RadioError) {
        attempt.yield()
        if let mood { throw mood }
    }

    func stopAdvertising() async {}

    func scan(for service: ServiceUUID) async throws(RadioError) {}

    func stopScanning() async {}

    func dial(_ endpoint: RadioEndpoint) async throws(RadioError) -> any RadioChannel { throw RadioError(.dialFailed) }

    func close() async { sink.finish() }
}

@Suite("A host's radio that works, and does not", .timeLimit(.minutes(1)))
struct BLEManagerTests {
    private let radio = MoodyRadio()
    private let manager: BLEManager
    private let conditions: EventQueue<BLEManagerEvent>
    private let attempts: EventQueue<Void>

    init() {
        manager = BLEManager(radio: radio, local: Peer(id: "c0ffee00112233445566778899aabbcc", name: "Dad's Car"))
        conditions = EventQueue(manager.events)
        attempts = EventQueue(radio.attempts)
    }

    private func next() async throws -> RadioCondition {
        try await conditions.first { event -> RadioCondition? in if case .radio(let it) = event { it } else { nil } }
    }

    private func tryAgain() async throws {
        await manager.tryAgain()
        _ = try await attempts.first { _ in true }
    }

    @Test("a host that cannot be seen any more is told so once, and told when it can")
    func unseen() async throws {
        try await manager.startHosting()
        _ = try await attempts.first { _ in true }
        await radio.set(RadioError(.unsupported, "no free slot"))
        try await tryAgain()
        #expect(try await next() == .unavailable(RadioError(.unsupported, "no free slot")))
        try await tryAgain()
        await radio.set(nil)
        try await tryAgain()
        #expect(try await next() == .working)
        await manager.close()
    }

    @Test("what fails while the radio is out is no news: its own word stands until it is back")
    func out() async throws {
        try await manager.startHosting()
        _ = try await attempts.first { _ in true }
        await radio.set(RadioError(.failed, "Failed"))
        radio.say(.failed(RadioError(.radioOff, "hci0 is switched off")))
        #expect(try await next() == .unavailable(RadioError(.radioOff, "hci0 is switched off")))
        try await tryAgain()
        radio.say(.failed(RadioError(.serviceNotRunning, "bluetoothd has stopped")))
        #expect(try await next() == .unavailable(RadioError(.serviceNotRunning, "bluetoothd has stopped")))
        await radio.set(nil)
        radio.say(.recovered)
        #expect(try await next() == .working)
        await manager.close()
    }

    @Test("hosts that drive by, one browse after another, are not kept for ever, and the one that stays is")
    func passingBy() async throws {
        var known: Set<Peer.ID> = []
        for browse in 0..<3 {
            try await manager.startBrowsing()
            for number in 0..<200 {
                for head in ["f00d", "\(browse)\(100 + number)"] { radio.say(.heard(scanResult(head))) }
                for _ in 0..<2 { known = try await afterDiscovery(known) }
            }
        }
        #expect(known.count == RadioLimits.scanResults && known.contains { $0.hasPrefix("f00d") })
        await manager.close()
    }

    private func scanResult(_ head: String) -> ScanResult {
        let peer = Peer(id: head + String(repeating: "0", count: 32 - head.count), name: "Car")
        let endpoint = RadioEndpoint(address: "virtual:\(head)", psm: 0x80)
        return ScanResult(
            endpoint: endpoint, advertisement: Advertisement(service: ServiceType.democracyDJ.uuid, peer: peer),
            rssi: -50)
    }

    /// The hosts that a listener knows of, after the next one is discovered.
    private func afterDiscovery(_ known: Set<Peer.ID>) async throws -> Set<Peer.ID> {
        var known = known
        while true {
            switch try await conditions.first({ $0 }) {
            case .lost(let peer): known.remove(peer.id)
            case .discovered(let host):
                known.insert(host.peer.id)
                return known
            default: break
            }
        }
    }
}
