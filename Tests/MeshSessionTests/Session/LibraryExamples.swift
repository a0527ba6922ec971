// SPDX-License-Identifier: Apache-2.0

import BLETransport
import Bearers
import MeshProtocol
import MeshSession
import TestSupport
import Testing

/// The first two examples of docs/swift-library.md, run on the virtual radio.
@Suite("The greeting of docs/swift-library.md", .timeLimit(.minutes(5)))
struct LibraryExamples {
    @Test("a host greets each guest, the guest answers, and the guest ends when the host leaves")
    func greeting() async throws {
        let air = try VirtualAir(directory: newFolder())
        let (said, saying) = AsyncStream<String>.makeStream()
        let host = Task { try await greet(radio: try VirtualBearer(air: air, address: "desk")) { saying.yield($0) } }
        let guest = Task { try await join(radio: try VirtualBearer(air: air, address: "ana")) { saying.yield($0) } }
        let words = EventQueue(said)
        #expect(try await words.first { $0 } == "Hello, Ana")
        #expect(try await words.first { $0 } == "Ana: Hello, front desk")
        host.cancel()
        try await host.value
        try await guest.value
    }

    private func greet(radio: any Bearer, print: @escaping @Sendable (String) -> Void) async throws {
        let identity = Identity.make()
        let service = try ServiceType("road-greeting")
        let desk = Peer(id: identity.peerID, name: "Front desk")
        let manager = BearerManager(radio: radio, local: desk, service: service)
        let endpoint = MeshEndpoint(core: MeshCore(identity: identity, name: desk.name, service: service))

        try await endpoint.host(on: manager)
        try await endpoint.executeThenClose { events in
            for await event in events {
                switch event {
                case .joined(let guest): try await endpoint.send(Array("Hello, \(guest.name)".utf8), to: guest.id)
                case .message(let message, let guest):
                    print("\(guest.name): \(String(decoding: message.body, as: UTF8.self))")
                case .left(let guest): print("\(guest.name) has left")
                }
            }
        }
    }

    private func join(radio: any Bearer, print: @escaping @Sendable (String) -> Void) async throws {
        let service = try ServiceType("road-greeting")
        let manager = BearerManager(radio: radio, local: Peer(id: "", name: "Ana"), service: service)

        try await withGuest(on: manager, configuration: .init(name: "Ana", service: service)) { guest, messages in
            for try await message in messages {
                print(String(decoding: message.body, as: UTF8.self))
                try await guest.send(Array("Hello, front desk".utf8))
            }
        }
    }

    /// The page's radio. It is only compiled: a test has no adapter.
    private func surroundings() throws {
        let radio = try BlueZBearer()
        _ = radio
    }
}
