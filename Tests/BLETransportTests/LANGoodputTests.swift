// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshProtocol
import MeshSession
import TestSupport
import Testing

@testable import Bearers
@testable import LANBearer

@Suite("The bytes that the network carries")
struct LANGoodputTests {
    /// Bytes to measure with, from ROADMESH_LAN_BYTES. Without it, enough to exceed the frames of other bearers.
    private static let bytes =
        ProcessInfo.processInfo.environment["ROADMESH_LAN_BYTES"].flatMap { Int($0) } ?? 8_000_000

    @Test("a guest sends eight megabytes to its host over a loopback connection")
    func goodput() async throws {
        let network = LoopbackNetwork()
        let service = try ServiceType("road-goodput")
        let identity = Identity.make()
        let car = Peer(id: identity.peerID, name: "Dad's Car")
        let host = MeshEndpoint(core: MeshCore(identity: identity, name: car.name, service: service))
        try await host.host(
            on: BearerManager(radio: LANBearer(directory: network.directory()), local: car, service: service))
        let manager = BearerManager(
            radio: LANBearer(directory: network.directory()), local: Peer(id: "", name: "Ana"), service: service)
        let message = [UInt8](repeating: 0x7F, count: Limits.messageBytes)
        let count = Self.bytes / message.count
        let sending = Task {
            try await withGuest(on: manager, configuration: .init(name: "Ana", service: service)) { guest, _ in
                for _ in 0...count { try await guest.send(message) }
            }
        }
        let (received, time) = try await host.executeThenClose { events in
            var received = 0
            // The first message only starts the clock.
            var began: ContinuousClock.Instant?
            for await case .message(let message, _) in events {
                if began == nil { began = .now } else { received += message.body.count }
                if received == count * message.body.count { break }
            }
            return (received, try ContinuousClock.now - #require(began))
        }
        let seconds = time / .seconds(1)
        print("LAN goodput: \(received) bytes in \(seconds) s, \(Double(received) / seconds / 1e6) MB/s")
        #expect(received == count * message.count)
        try await sending.value
    }
}
