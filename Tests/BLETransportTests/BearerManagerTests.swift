// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import TestSupport
import Testing

@testable import Bearers

@Suite("Notices about a host's radio", .timeLimit(.minutes(5)))
struct BearerManagerTests {
    private let radio = MoodyRadio()
    private let manager: BearerManager
    private let conditions: EventQueue<BearerManagerEvent>
    private let attempts: EventQueue<MoodyRadio.Request>

    init() {
        manager = BearerManager(radio: radio, local: Peer(id: "c0ffee00112233445566778899aabbcc", name: "Dad's Car"))
        conditions = EventQueue(manager.events)
        attempts = EventQueue(radio.requests)
    }

    private func next() async throws -> BearerCondition {
        try await conditions.first { event -> BearerCondition? in if case .radio(let it) = event { it } else { nil } }
    }

    private func tryAgain() async throws {
        await manager.tryAgain()
        _ = try await attempts.first { _ in true }
    }

    @Test("a host that cannot advertise any more is notified once, and again when it can")
    func unseen() async throws {
        try await manager.startHosting()
        _ = try await attempts.first { _ in true }
        await radio.set(BearerError(.unsupported, "no free slot"))
        try await tryAgain()
        #expect(try await next() == .unavailable(BearerError(.unsupported, "no free slot")))
        try await tryAgain()
        await radio.set(nil)
        try await tryAgain()
        #expect(try await next() == .working)
        await manager.close()
    }

    @Test("further failures during an outage are not reported: the first report is valid until the radio is back")
    func out() async throws {
        try await manager.startHosting()
        _ = try await attempts.first { _ in true }
        await radio.set(BearerError(.failed, "Failed"))
        radio.say(.failed(BearerError(.radioOff, "hci0 is switched off")))
        #expect(try await next() == .unavailable(BearerError(.radioOff, "hci0 is switched off")))
        try await tryAgain()
        radio.say(.failed(BearerError(.serviceNotRunning, "bluetoothd has stopped")))
        #expect(try await next() == .unavailable(BearerError(.serviceNotRunning, "bluetoothd has stopped")))
        await radio.set(nil)
        radio.say(.recovered)
        #expect(try await next() == .working)
        await manager.close()
    }

    @Test("hosts that pass by during one scan after another are forgotten, and a host that stays is kept")
    func passingBy() async throws {
        var known: Set<Peer.ID> = []
        for browse in 0..<3 {
            try await manager.startBrowsing()
            for number in 0..<200 {
                for head in ["f00d", "\(browse)\(100 + number)"] { radio.say(.heard(scanResult(head))) }
                for _ in 0..<2 { known = try await afterDiscovery(known) }
            }
        }
        #expect(known.count == BearerLimits.scanResults && known.contains { $0.hasPrefix("f00d") })
        await manager.close()
    }

    private func scanResult(_ head: String) -> ScanResult {
        let peer = Peer(id: head + String(repeating: "0", count: 32 - head.count), name: "Car")
        let endpoint = BearerEndpoint(address: "virtual:\(head)", psm: 0x80)
        return ScanResult(
            endpoint: endpoint, advertisement: Advertisement(service: ServiceType.democracyDJ.uuid, peer: peer),
            rssi: -50)
    }

    /// Returns the hosts that a listener knows, after it has discovered the next one.
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
