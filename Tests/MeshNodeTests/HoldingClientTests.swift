// SPDX-License-Identifier: Apache-2.0

import BLETransport
import MeshProtocol
import TestSupport
import Testing

@testable import MeshNode

@Suite("A client whose node has a disk", .timeLimit(.minutes(1)))
struct HoldingClientTests {
    private func client(
        _ party: Party, _ identity: Identity, remembered: [Peer.ID: MeshCore.Remembered] = [:]
    ) throws -> MultipeerClient {
        MultipeerClient(
            radio: try VirtualRadio(air: party.air, address: "g\(UInt32.random(in: 0 ... .max))"), identity: identity,
            name: "Ana", remembered: remembered, holdsUntilStored: true)
    }

    /// Links a guest to the host.
    private func join(_ client: MultipeerClient) async throws -> EventQueue<ClientEvent> {
        let events = EventQueue(client.events)
        try await client.startBrowsing()
        _ = try await events.first { if case .discovered = $0 { true } else { nil } }
        await client.invite(Party.car.id)
        _ = try await events.first { if case .connected = $0 { true } else { nil } }
        return events
    }

    @Test("a vote leaves when its node has stored it, its arrival is told, and the next run goes on from there")
    func heldUntilStored() async throws {
        let party = try await Party()
        let ana = Identity.make()
        let peer = Peer(id: ana.peerID, name: "Ana")
        var client = try client(party, ana)
        var events = try await join(client)
        #expect(await client.send([1], to: Party.car.id) == [Party.car.id: .queued(number: 1)])
        #expect(await client.send([2], to: Party.car.id) == [Party.car.id: .queued(number: 2)])
        await client.send([9], as: .latest, to: Party.car.id)
        // What came later and is not held has overtaken them.
        #expect(try await party.hostReceived(from: peer).body == [9])
        await client.stored(upTo: 1, for: Party.car.id)
        let vote = try await party.hostReceived(from: peer)
        #expect(vote.body == [1])
        await party.host.accept(vote)
        let acknowledged = try await events.first { event -> UInt64? in
            if case .acknowledged(let number, Party.car.id) = event { number } else { nil }
        }
        #expect(acknowledged == 1)
        #expect(await client.withdrawHeld(for: Party.car.id) == 1)
        #expect(await client.send([3], to: Party.car.id) == [Party.car.id: .queued(number: 2)])
        let remembered = try #require(await client.remembered(Party.car.id))
        #expect(remembered.conversation.outbox == [[3]])
        #expect(await client.remembered("nobody") == nil)
        await client.stop()

        client = try self.client(party, ana, remembered: [Party.car.id: remembered])
        events = try await join(client)
        let next = try await party.hostReceived(from: peer)
        #expect(next.body == [3])
        #expect(next.number == 2)
        await client.stop()
        await party.host.stop()
    }
}
