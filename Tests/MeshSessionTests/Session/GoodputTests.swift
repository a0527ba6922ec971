// SPDX-License-Identifier: Apache-2.0

import BLETransport
import Bearers
import FoundationEssentials
import MeshProtocol
import MeshSession
import TestSupport
import Testing

private let environment = ProcessInfo.processInfo.environment
private let goodputRole = environment["ROADMESH_GOODPUT"]

/// Sends one megabyte over a sealed link between two boxes of the radio lab (Tests/LabTests/test_costs.py,
/// scripts/bench). Each side runs in its own process: ROADMESH_GOODPUT is `host` or `guest`. ROADMESH_GOODPUT_BYTES and
/// ROADMESH_GOODPUT_MESSAGES override the size and the number of messages.
@Suite("Goodput of a sealed link", .enabled(if: goodputRole != nil))
struct GoodputTests {
    static let message = [UInt8](
        repeating: 0x7F, count: environment["ROADMESH_GOODPUT_BYTES"].flatMap { Int($0) } ?? Limits.messageBytes)
    static let messages = environment["ROADMESH_GOODPUT_MESSAGES"].flatMap { Int($0) } ?? 16

    private func manager(_ name: String, _ identity: Identity) throws -> BearerManager {
        BearerManager(radio: try BlueZBearer(adapter: "hci0"), local: Peer(id: identity.peerID, name: name))
    }

    @Test("the host receives a megabyte", .enabled(if: goodputRole == "host"))
    func host() async throws {
        let identity = Identity.make()
        let manager = try manager("Dad's Car", identity)
        let managerEvents = EventQueue(manager.events)
        try await manager.startHosting()
        let transport = try await managerEvents.first { event -> BLETransport? in
            if case .accepted(let transport) = event { transport } else { nil }
        }
        let session = MeshCoreSession(
            transport: transport, configuration: .init(identity: identity, name: "Dad's Car", role: .responder))
        try await session.start()
        let events = await session.events()
        var first: ContinuousClock.Instant?
        var received = 0
        for await event in events {
            guard case .messageReceived = event else { continue }
            received += 1
            // The first message only starts the clock, so that the time of the handshake does not count.
            guard let began = first else {
                first = ContinuousClock.now
                continue
            }
            guard received == Self.messages else { continue }
            let bytes = (received - 1) * Self.message.count
            print("goodput: \(bytes) bytes in \((ContinuousClock.now - began) / .seconds(1)) s")
        }
        #expect(received == Self.messages)
        await manager.close()
    }

    @Test("the guest sends a megabyte", .enabled(if: goodputRole == "guest"))
    func guest() async throws {
        let manager = try manager("Ana", .make())
        let managerEvents = EventQueue(manager.events)
        try await manager.startBrowsing()
        let peripheral = try await managerEvents.first { event -> Peripheral? in
            if case .discovered(let peripheral) = event { peripheral } else { nil }
        }
        await manager.stopBrowsing()
        let session = MeshCoreSession(transport: BLETransport(peripheral: peripheral))
        try await session.start()
        let events = EventQueue(await session.events())
        for _ in 0..<Self.messages { try await session.send(Self.message) }
        _ = try await events.first { event -> Bool? in
            if case .acknowledged(upTo: UInt64(Self.messages)) = event { true } else { nil }
        }
        await session.stop()
        await manager.close()
    }
}
