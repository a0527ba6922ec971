// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import TestSupport
import Testing

@testable import Bearers

@Suite("A guest that relays", .timeLimit(.minutes(5)))
struct RelayingTests {
    private let radio = MoodyRadio(demands: [.bond])
    private let manager: BearerManager
    private let events: EventQueue<BearerManagerEvent>
    private let requests: EventQueue<MoodyRadio.Request>

    private static let host = Peer(id: "c0ffee00112233445566778899aabbcc", name: "Dad's Car")
    private static let relay = Peer(id: "f00df00d112233445566778899aabbcc", name: "Ana")
    private static let service = ServiceType.democracyDJ.uuid

    init() {
        manager = BearerManager(radio: radio, local: Self.relay)
        events = EventQueue(manager.events)
        requests = EventQueue(radio.requests)
    }

    private func notice(_ hops: UInt8, hasRoom: Bool = true) -> RelayNotice {
        RelayNotice(host: Self.host, hops: hops, hasRoom: hasRoom)
    }

    private func advertisement(_ notice: RelayNotice) -> Advertisement {
        Advertisement(
            service: Self.service, relay: Self.relay, to: notice.host, hops: notice.hops, hasRoom: notice.hasRoom)
    }

    private func request() async throws -> MoodyRadio.Request { try await requests.first { $0 } }

    @Test("the advertisement changes at once with the route to the host, and ends without a route")
    func changes() async throws {
        try await manager.startBrowsing()
        try await manager.startRelaying(notice(1))
        #expect(try await request() == .advertise(advertisement(notice(1)), .fast))
        await manager.relay(notice(2, hasRoom: false))
        #expect(try await request() == .advertise(advertisement(notice(2, hasRoom: false)), .fast))
        // The same route again causes no change.
        await manager.relay(notice(2, hasRoom: false))
        await manager.relay(nil)
        #expect(try await request() == .stopAdvertising)
        await manager.linksChanged()
        await manager.relay(notice(3))
        #expect(try await request() == .advertise(advertisement(notice(3)), .fast))
        await manager.linksChanged()
        #expect(try await request() == .advertise(advertisement(notice(3)), .fast))
        await manager.close()
    }

    @Test("a host does not relay, even when it is asked to")
    func host() async throws {
        try await manager.startHosting()
        _ = try await request()
        await manager.relay(notice(1))
        await manager.relay(nil)
        await manager.linksChanged()
        #expect(
            try await request() == .advertise(Advertisement(service: Self.service, peer: Self.relay), .fast))
        await manager.close()
    }

    @Test("a relay that cannot advertise is notified: by an error at first, later like a host")
    func cannot() async throws {
        let full = BearerError(.unsupported, "no free slot")
        await radio.set(full)
        await #expect { try await manager.startRelaying(notice(1)) } throws: { ($0 as? BearerError) == full }
        await manager.relay(notice(1))
        let condition = try await events.first { event -> BearerCondition? in
            if case .radio(let condition) = event { condition } else { nil }
        }
        #expect(condition == .unavailable(full))
        await manager.close()
    }

    @Test("a caller of a relay is accepted with the currently advertised flags; without a route callers are refused")
    func accepted() async throws {
        try await manager.startRelaying(notice(1))
        #expect(try await flagsOfNext() == AdvertisedFlags(critical: [.bond, .circuitsOnly], ignorable: [.relays]))
        await manager.relay(notice(1, hasRoom: false))
        #expect(
            try await flagsOfNext()
                == AdvertisedFlags(critical: [.bond, .circuitsOnly], ignorable: [.relays, .noRoom]))
        await manager.relay(nil)
        let refused = SilentChannel()
        radio.say(.accepted(refused))
        for await _ in refused.closings { break }
        await manager.close()
    }

    private func flagsOfNext() async throws -> AdvertisedFlags? {
        radio.say(.accepted(SilentChannel()))
        return try await events.first { event -> AdvertisedFlags? in
            if case .accepted(let transport) = event { transport.advertisedFlags } else { nil }
        }
    }

    @Test("a relay finds hosts and other relays, with their hosts, and not itself")
    func hearing() async throws {
        try await manager.startBrowsing()
        try await manager.startRelaying(notice(1))
        let other = Peer(id: "0badcafe112233445566778899aabbcc", name: "Bob")
        let advertised = [
            advertisement(notice(1)), Advertisement(service: Self.service, peer: Self.host),
            Advertisement(service: Self.service, relay: other, to: Self.host, hops: 2, hasRoom: false),
        ]
        for (number, advertisement) in advertised.enumerated() {
            let endpoint = BearerEndpoint(address: "\(number)", psm: 0x80)
            radio.say(.heard(ScanResult(endpoint: endpoint, advertisement: advertisement, rssi: -60)))
        }
        let host = try await discovered()
        #expect(host.peer == Peer(id: "c0ffee00", name: "Dad's Car") && !host.isRelay && host.relayed == nil)
        let relay = try await discovered()
        #expect(relay.peer == Peer(id: "0badcafe", name: "Dad's Car") && relay.isUnderstood && relay.hops == 2)
        #expect(
            relay.relayed
                == Peripheral.Relayed(host: Peer(id: "c0ffee0011", name: "Dad's Car"), hops: 2, hasRoom: false))
        await manager.close()
    }

    private func discovered() async throws -> Peripheral {
        try await events.first { event -> Peripheral? in if case .discovered(let it) = event { it } else { nil } }
    }
}

/// A channel on which no SDU is ever sent.
private final class SilentChannel: BearerChannel {
    let endpoint = BearerEndpoint(address: "somebody")
    let sendMTU = Limits.sduBytes
    let closings: AsyncStream<Void>
    private let closing: AsyncStream<Void>.Continuation

    init() { (closings, closing) = AsyncStream.makeStream() }

    func send(_ sdu: [UInt8]) async throws(BearerError) {}

    func receive() async throws(BearerError) -> [UInt8]? { nil }

    func signalStrength() async -> Int? { nil }

    func close() { closing.yield() }
}
