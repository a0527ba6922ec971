// SPDX-License-Identifier: Apache-2.0

import BLETransport
import Bearers
import MeshProtocol
import MeshSession
import TestSupport
import Testing

/// The first two examples of docs/swift-library.md, run on the virtual radio.
@Suite("The greeting of docs/swift-library.md")
struct LibraryExamples {
    @Test("a host greets each guest, and the guest answers")
    func greeting() async throws {
        let air = try VirtualAir(directory: newFolder())
        let (said, saying) = AsyncStream<String>.makeStream()
        let host = Task { try await greet(radio: try VirtualBearer(air: air, address: "desk")) { saying.yield($0) } }
        try await join(air: air) { saying.yield($0) }
        let words = EventQueue(said)
        #expect(try await words.first { $0 } == "Hello, Ana")
        #expect(try await words.first { $0 } == "Hello, Front desk")
        host.cancel()
    }

    private func greet(radio: any Bearer, print: @escaping @Sendable (String) -> Void) async throws {
        let identity = Identity.make()
        let service = try ServiceType("road-greeting")
        let manager = BearerManager(
            radio: radio, local: Peer(id: identity.peerID, name: "Front desk"), service: service)
        let endpoint = MeshEndpoint(core: MeshCore(identity: identity, name: "Front desk", service: service))

        try await manager.startHosting()
        Task {
            for await event in manager.events {
                if case .accepted(let transport) = event { await endpoint.open(transport, as: .responder) }
                await manager.linksChanged()
            }
        }
        for await event in endpoint.events {
            switch event {
            case .link(_, .connected(let guest)):
                _ = await endpoint.send(Array("Hello, \(guest.name)".utf8), as: .reliable, to: guest.id)
            case .link(_, .received(let message)):
                print(String(decoding: message.body, as: UTF8.self))
                await endpoint.accept(upTo: message)
            case .link(_, .ended): await manager.linksChanged()
            default: break
            }
        }
    }

    private func join(air: VirtualAir, print: (String) -> Void) async throws {
        let service = try ServiceType("road-greeting")
        let manager = BearerManager(
            radio: try VirtualBearer(air: air, address: "ana"), local: Peer(id: "", name: "Ana"), service: service)

        try await manager.startBrowsing()
        for await case .discovered(let desk) in manager.events {
            await manager.stopBrowsing()
            let session = MeshCoreSession(
                transport: BLETransport(peripheral: desk),
                configuration: .init(name: "Ana", service: service))
            try await session.start()
            for await case .messageReceived(let message) in await session.events() {
                print(String(decoding: message.body, as: UTF8.self))
                try await session.send(Array("Hello, \(desk.peer.name)".utf8))
                break
            }
            break
        }
    }

    /// The page's radio and folder. They are only compiled: a test has no adapter, and uses its own folder.
    private func surroundings() throws {
        let radio = try BlueZBearer()
        let air = try VirtualAir(directory: "/tmp/air")
        _ = (radio, air)
    }
}
