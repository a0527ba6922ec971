// SPDX-License-Identifier: Apache-2.0

import BLETransport
import Bearers
import MeshProtocol
import MeshSession
import TestSupport
import Testing

@Suite("An endpoint that hosts")
struct EndpointTests {
    @Test("messages, joins and leaves arrive without details of links")
    func peerEvents() async throws {
        let town = try Town()
        let host = town.endpoint("Dad's Car")
        let events = EventQueue(try await host.peerEvents)
        try await host.host(on: town.manager("car", of: host))
        let guest = try town.guest("Ana")
        try await guest.executeThenClose { _ in try await guest.send(Array("hello".utf8)) }
        let ana = try await events.first { if case .joined(let peer) = $0 { peer } else { nil } }
        #expect(ana.name == "Ana")
        let (body, sender) = try await events.first { event -> ([UInt8], Peer)? in
            if case .message(let message, let peer) = event { (message.body, peer) } else { nil }
        }
        #expect(body == Array("hello".utf8))
        #expect(sender == ana)
        #expect(try await events.first { $0 } == .left(ana))
        await host.stop()
        await events.end()
    }

    @Test("one call sends to all guests, or to all but the sender")
    func recipients() async throws {
        let town = try Town()
        let host = town.endpoint("Dad's Car")
        let events = EventQueue(try await host.peerEvents)
        try await host.host(on: town.manager("car", of: host))
        var messages: [String: AsyncThrowingStream<ReceivedMessage, any Error>] = [:]
        var ids: [String: Peer.ID] = [:]
        var guests: [MeshGuest] = []
        for name in ["Ana", "Ben", "Cem"] {
            let guest = try town.guest(name)
            messages[name] = try await guest.messages
            try await guest.start()
            ids[name] = try await events.first { if case .joined(let peer) = $0 { peer.id } else { nil } }
            guests.append(guest)
        }
        let ana = try #require(ids["Ana"])
        try await host.send([1], to: .allBut(ana))
        try await host.send([2], to: .all)
        try await host.send([3], to: ana)
        let expected: [String: [UInt8]] = ["Ana": [2, 3], "Ben": [1, 2], "Cem": [1, 2]]
        for (name, stream) in messages {
            var received: [UInt8] = []
            for try await message in stream {
                received += message.body
                if received.count == 2 { break }
            }
            #expect(received == expected[name], "\(name)")
        }
        for guest in guests { await guest.stop() }
        await host.stop()
    }

    @Test("an endpoint has one listener, and a second one gets an error")
    func oneListener() async throws {
        let endpoint = try Town().endpoint("Dad's Car")
        _ = try await endpoint.events
        await #expect(throws: MeshCoreError.alreadyListening) { try await endpoint.events }
        await #expect(throws: MeshCoreError.alreadyListening) { try await endpoint.peerEvents }
    }

    @Test("a transport that is not connected is refused")
    func unconnected() async throws {
        let road = try await Road()
        let endpoint = try Town().endpoint("Dad's Car")
        let transport = BLETransport(peripheral: road.peripheral)
        await #expect(throws: MeshCoreError.transportNotConnected) {
            try await endpoint.open(transport, as: .initiator)
        }
        await road.close()
    }

    @Test("a message to a peer that was never connected is refused, and so is every message after the stop")
    func nobody() async throws {
        let endpoint = try Town().endpoint("Dad's Car")
        await #expect(throws: MeshCoreError.notConnected) { try await endpoint.send([1], to: "0123456789abcdef") }
        try await endpoint.send([1], to: .all)
        await endpoint.stop()
        await #expect(throws: MeshCoreError.sessionOver) { try await endpoint.send([1], to: "0123456789abcdef") }
    }
}
