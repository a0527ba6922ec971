// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshProtocol
import TestSupport
import Testing

@testable import BLETransport
@testable import Bearers

/// Requirements of a relay's bearers: they dial and are dialled in one process. The tests run on virtual radios here,
/// and on real adapters in the radio lab.
@Suite("RelayConformance", .serialized, .timeLimit(.minutes(5)))
struct RelayConformance {
    @Test("a relay that has dialled can be dialled, and SDUs pass it both ways")
    func passesOn() async throws {
        let chain = try await Chain()
        let upwards = try await chain.dialUp(to: chain.hosts[0])
        let downwards = try await chain.dialDown()
        for number in UInt8(1)...20 { try await chain.pass([number], upwards, downwards) }
        await chain.close()
    }

    @Test("a relay advises its guest of intervals that its host has not advised, and advises its host of none")
    func ownIntervals() async throws {
        let chain = try await Chain()
        let upwards = try await chain.dialUp(to: chain.hosts[0])
        let downwards = try await chain.dialDown()
        for advised in Limits.fewIntervals.prefix(2) {
            // A virtual channel has no link layer, and two adapters do not share their time.
            guard await downwards.relay.linkCondition() != nil, !(chain.relay is PairedBearer) else { break }
            await upwards.relay.heed(AirNote(intervals: advised))
            #expect(await upwards.relay.linkCondition()?.note?.intervals == nil)
            let advice = try #require(await downwards.relay.linkCondition()?.note?.intervals)
            #expect(advice.conflict(with: advised) == .none, "\(advice) beside \(advised)")
        }
        await chain.close()
    }

    @Test("a relay with a linked guest dials another host, at once or after the guest has gone, as its radios require")
    func dialsAnother() async throws {
        let chain = try await Chain()
        let downwards = try await chain.dialDown()
        let dial = Task { try await chain.dialUp(to: chain.hosts[1]) }
        if await chain.relay.dialsWhileDialled == true {
            try await chain.pass([1], try await dial.value, downwards)
        } else {
            for number in UInt8(1)...20 {
                try await downwards.guest.send([number])
                #expect(try await downwards.relay.receive() == [number])
            }
            downwards.guest.close()
            let upwards = try await dial.value
            try await upwards.relay.send([2])
            #expect(try await upwards.host.receive() == [2])
        }
        await chain.close()
    }

    @Test("a relay that has closed its guest's link dials, whether or not it can do both at once")
    func dialsAfterwards() async throws {
        let chain = try await Chain()
        let downwards = try await chain.dialDown()
        downwards.relay.close()
        let upwards = try await chain.dialUp(to: chain.hosts[2])
        try await upwards.relay.send([2])
        #expect(try await upwards.host.receive() == [2])
        await chain.close()
    }

    @Test("a relay that a guest has dialled dials that guest over the same link")
    func dialsBack() async throws {
        let chain = try await Chain()
        let downwards = try await chain.dialDown()
        let upwards = try await chain.dialBack()
        try await upwards.send([1])
        #expect(try await chain.guestReceives() == [1])
        try await downwards.guest.send([2])
        #expect(try await downwards.relay.receive() == [2])
        await chain.close()
    }
}

/// Three hosts, a relay and a guest: virtual radios, or with ROADMESH_RELAY_RADIOS=hci0,hci1,hci2,hci3,hci4 real
/// adapters of this machine, in this order: the hosts' adapters, the guest's, and the relay's one or two, the dialling
/// one first.
///
/// Each test uses its own host: bluetoothd keeps links up, and a channel over an existing link is not a new dial.
private struct Chain {
    let hosts: [Host]
    let relay: any Bearer
    let guest: any Bearer

    struct Host {
        let radio: any Bearer
        let events: EventQueue<BearerEvent>
        let peer: Peer
    }

    private let relayEvents: EventQueue<BearerEvent>
    private let guestEvents: EventQueue<BearerEvent>

    private static let service = ServiceType.democracyDJ.uuid
    private static let guestPeer = Peer(id: "9e57ee00112233445566778899aabbcc", name: "Ana")
    private static let relayPeer = Peer(id: "5ea5ee00112233445566778899aabbcc", name: "Back Row")

    init() async throws {
        let real = ProcessInfo.processInfo.environment["ROADMESH_RELAY_RADIOS"]?.split(separator: ",").map(String.init)
        let names = real ?? (0...5).map { "radio\($0)" }
        let air = try VirtualAir(directory: newFolder())
        func radio(_ name: String) throws -> any Bearer {
            real == nil ? try VirtualBearer(air: air, address: name) : try BlueZBearer(adapter: name)
        }
        hosts = try (0...2).map { number in
            let host = try radio(names[number])
            let peer = Peer(id: "c0ffe\(number)00112233445566778899aabbcc", name: "Car \(number)")
            return Host(radio: host, events: EventQueue(host.events), peer: peer)
        }
        guest = try radio(names[3])
        let one = try radio(names[4])
        relay = names.count > 5 ? PairedBearer(dialling: one, dialled: try radio(names[5])) : one
        relayEvents = EventQueue(relay.events)
        guestEvents = EventQueue(guest.events)
        for one in radios { try await one.open() }
    }

    private var radios: [any Bearer] { hosts.map(\.radio) + [relay, guest] }

    func close() async { for one in radios { await one.close() } }

    /// Opens a channel from the relay to a host.
    func dialUp(to host: Host) async throws -> (relay: any BearerChannel, host: any BearerChannel) {
        try await host.radio.advertise(Advertisement(service: Self.service, peer: host.peer), pace: .fast)
        let relayEnd = try await relay.dial(try await Self.find(host.peer, by: relay, relayEvents))
        return (relayEnd, try await Self.accepted(host.events))
    }

    /// Opens a channel from the guest to the relay.
    func dialDown() async throws -> (guest: any BearerChannel, relay: any BearerChannel) {
        try await relay.advertise(Advertisement(service: Self.service, peer: Self.relayPeer), pace: .fast)
        let guestEnd = try await guest.dial(try await Self.find(Self.relayPeer, by: guest, guestEvents))
        return (guestEnd, try await Self.accepted(relayEvents))
    }

    /// Opens a channel from the relay to the guest. Returns the relay's end.
    func dialBack() async throws -> any BearerChannel {
        try await guest.advertise(Advertisement(service: Self.service, peer: Self.guestPeer), pace: .fast)
        return try await relay.dial(try await Self.find(Self.guestPeer, by: relay, relayEvents))
    }

    /// Returns the first SDU on the channels that the guest has accepted. One of them may belong to a dial that missed
    /// its answer.
    func guestReceives() async throws -> [UInt8]? {
        let (sdus, sink) = AsyncStream<[UInt8]>.makeStream()
        let accepting = Task {
            while true {
                let channel = try await Self.accepted(guestEvents)
                Task { if let sdu = try? await channel.receive() { sink.yield(sdu) } }
            }
        }
        defer { accepting.cancel() }
        for await sdu in sdus { return sdu }
        return nil
    }

    /// Sends an SDU from the guest to the host through the relay, and back.
    func pass(
        _ sdu: [UInt8], _ upwards: (relay: any BearerChannel, host: any BearerChannel),
        _ downwards: (guest: any BearerChannel, relay: any BearerChannel)
    ) async throws {
        try await downwards.guest.send(sdu)
        try await upwards.relay.send(try #require(try await downwards.relay.receive()))
        #expect(try await upwards.host.receive() == sdu)
        try await upwards.host.send(sdu)
        try await downwards.relay.send(try #require(try await upwards.relay.receive()))
        #expect(try await downwards.guest.receive() == sdu)
    }

    private static func find(
        _ peer: Peer, by radio: any Bearer, _ events: EventQueue<BearerEvent>
    ) async throws -> BearerEndpoint {
        try await radio.scan(for: service)
        let endpoint = try await events.first { event -> BearerEndpoint? in
            guard case .heard(let scanResult) = event, peer.id.hasPrefix(scanResult.advertisement.peer.id) else {
                return nil
            }
            return scanResult.endpoint
        }
        await radio.stopScanning()
        return endpoint
    }

    private static func accepted(_ events: EventQueue<BearerEvent>) async throws -> any BearerChannel {
        try await events.first { event -> (any BearerChannel)? in
            if case .accepted(let channel) = event { channel } else { nil }
        }
    }
}
