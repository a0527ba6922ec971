// SPDX-License-Identifier: Apache-2.0

import BLETransport
import FoundationEssentials
import MeshProtocol
import MeshSession
import TestSupport
import Testing

private let goodputRole = ProcessInfo.processInfo.environment["ROADMESH_GOODPUT"]

/// One megabyte over a sealed link between two boxes of the radio lab (Tests/LabTests/test_costs.py), which runs each side
/// in a process of its own: ROADMESH_GOODPUT is `host` or `guest`.
@Suite("Goodput of a sealed link", .enabled(if: goodputRole != nil))
struct GoodputTests {
    static let message = [UInt8](repeating: 0x7F, count: Limits.messageBytes)
    static let messages = 16

    private func manager(_ name: String, _ identity: Identity) throws -> BLEManager {
        BLEManager(radio: try BlueZRadio(adapter: "hci0"), local: Peer(id: identity.peerID, name: name))
    }

    @Test("the host takes a megabyte", .enabled(if: goodputRole == "host"))
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
        let began = ContinuousClock.now
        var bytes = 0
        for await event in events {
            guard case .messageReceived(let message) = event else { continue }
            bytes += message.body.count
            guard bytes == Self.messages * Self.message.count else { continue }
            print("goodput: \(bytes) bytes in \((ContinuousClock.now - began) / .seconds(1)) s")
        }
        #expect(bytes == Self.messages * Self.message.count)
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
