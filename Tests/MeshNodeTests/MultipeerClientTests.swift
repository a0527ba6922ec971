// SPDX-License-Identifier: Apache-2.0

import BLETransport
import MeshProtocol
import MeshSession
import TestSupport
import Testing

@testable import MeshNode

/// A host and any number of guests on one virtual air.
struct Party {
    let air: VirtualAir
    let host: MultipeerClient
    let hostEvents: EventQueue<ClientEvent>

    static let identity = Identity.make()
    static let car = Peer(id: identity.peerID, name: "Dad's Car")

    init() async throws {
        air = try VirtualAir(directory: newFolder())
        host = MultipeerClient(
            radio: try VirtualRadio(air: air, address: "car"), identity: Self.identity, name: Self.car.name)
        hostEvents = EventQueue(host.events)
        try await host.startHosting()
    }

    struct Guest {
        let peer: Peer
        let client: MultipeerClient
        let events: EventQueue<ClientEvent>

        func connected() async throws -> Peer {
            try await events.first { if case .connected(let peer) = $0 { peer } else { nil } }
        }

        func end() async throws -> LinkEnd {
            try await events.first { if case .disconnected(_, let end) = $0 { end } else { nil } }
        }

        func received() async throws -> ReceivedMessage {
            try await events.first { if case .received(let message) = $0 { message } else { nil } }
        }
    }

    /// A guest that has heard the host.
    func guest(_ identity: Identity = .make(), name: String = "Ana") async throws -> Guest {
        let client = MultipeerClient(
            radio: try VirtualRadio(air: air, address: "g\(UInt32.random(in: 0 ... .max))"), identity: identity,
            name: name)
        let guest = Guest(
            peer: Peer(id: identity.peerID, name: name), client: client, events: EventQueue(client.events))
        try await client.startBrowsing()
        let heard = try await guest.events.first { event -> Peer? in
            if case .discovered(let peer, _, _) = event { peer } else { nil }
        }
        #expect(heard == Peer(id: Identity.head(of: Self.car.id), name: "Dad's Car"))
        return guest
    }

    /// A guest that is in.
    func member(_ identity: Identity = .make()) async throws -> Guest {
        let guest = try await guest(identity)
        await guest.client.invite(Identity.head(of: Self.car.id))
        #expect(try await guest.connected() == Self.car)
        return guest
    }

    func hostReceived(from peer: Peer) async throws -> ReceivedMessage {
        try await hostEvents.first { event -> ReceivedMessage? in
            if case .received(let message) = event, message.peer == peer.id { message } else { nil }
        }
    }

    /// Something that dials like a guest and then says what it likes.
    func stranger(_ address: String) async throws -> any RadioChannel {
        let radio = try VirtualRadio(air: air, address: address)
        let events = EventQueue(radio.events)
        try await radio.open()
        try await radio.scan(for: ServiceType.democracyDJ.uuid)
        let endpoint = try await events.first { event -> RadioEndpoint? in
            if case .heard(let sighting) = event { sighting.endpoint } else { nil }
        }
        return try await radio.dial(endpoint)
    }
}

/// One after the other: each watches folders for its radios, and the kernel lets a user watch 128 times at once.
@Suite("Hosts and guests", .serialized, .timeLimit(.minutes(1)))
struct MultipeerClientTests {
    @Test("a guest finds a host, is taken in without a prompt, and both can talk")
    func talk() async throws {
        let party = try await Party()
        let ana = try await party.member()
        let joined = try await party.hostEvents.first { event -> Peer? in
            if case .connected(let peer) = event { peer } else { nil }
        }
        #expect(joined == ana.peer)
        await ana.client.send([1, 2, 3], to: Party.car.id)
        #expect(try await party.hostReceived(from: ana.peer).body == [1, 2, 3])
        await party.host.send([9], as: .latest, to: nil)
        #expect(try await ana.received().body == [9])
        await ana.client.stop()
        await party.host.stop()
    }

    @Test("a message larger than an SDU arrives whole, and its leaving is told")
    func largeMessage() async throws {
        let party = try await Party()
        let ana = try await party.member()
        let body = (0..<Limits.messageBytes).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        await party.host.send(body, as: .latest, to: ana.peer.id)
        #expect(try await ana.received().body == body)
        let left = try await party.hostEvents.first { event -> Peer.ID? in
            if case .latestHasLeft(let peer) = event { peer } else { nil }
        }
        #expect(left == ana.peer.id)
        await ana.client.stop()
        await party.host.stop()
    }

    @Test("a guest that leaves says goodbye, and a host that stops does")
    func goodbyes() async throws {
        let party = try await Party()
        let ana = try await party.member()
        let bob = try await party.member()
        await ana.client.stop()
        let end = try await party.hostEvents.first { event -> LinkEnd? in
            if case .disconnected(let peer, let end) = event, peer == ana.peer { end } else { nil }
        }
        #expect(end == .goodbye)
        await party.host.stop()
        await party.hostEvents.end()
        #expect(try await bob.end() == .goodbye)
        await bob.client.stop()
        await bob.events.end()
    }

    @Test("a guest that comes back by a new link replaces its ghost")
    func replaced() async throws {
        let party = try await Party()
        let identity = Identity.make()
        let ana = try await party.member(identity)
        let again = try await party.member(identity)
        let end = try await party.hostEvents.first { event -> LinkEnd? in
            if case .disconnected(_, let end) = event { end } else { nil }
        }
        #expect(end == .replaced)
        #expect(try await ana.end() == .linkLost)
        await ana.client.stop()
        await again.client.stop()
        await party.host.stop()
    }

    @Test("a guest that was sent away is told so, and not taken in again")
    func banned() async throws {
        let party = try await Party()
        let ana = try await party.member()
        _ = try await party.hostEvents.first { if case .connected = $0 { true } else { nil } }
        await party.host.disconnect(ana.peer.id, refusing: .banned)
        #expect(try await ana.end() == .refused(.banned))
        await ana.client.invite(Party.car.id)
        let failure = try await ana.events.first { event -> InviteFailure? in
            if case .inviteFailed(_, let failure) = event { failure } else { nil }
        }
        #expect(failure == .refused(.banned, by: Party.car.id))
        await ana.client.stop()
        await party.host.stop()
    }

    @Test("a stranger's rubbish closes its own link, and the guests do not notice")
    func rubbish() async throws {
        let party = try await Party()
        let ana = try await party.member()
        for (number, rubbish) in [[0xFF, 0xFF, 0xFF], [0], [1], [1, 2], [4, 1, 0], [3, 9]].enumerated() {
            let stranger = try await party.stranger("s\(number)")
            try await stranger.send(rubbish.map { UInt8($0) })
            do {
                // A word may come back; then the channel closes.
                while try await stranger.receive() != nil {}
            } catch {
                #expect(error.code == .channelLost)
            }
        }
        await ana.client.send([1], to: Party.car.id)
        #expect(try await party.hostReceived(from: ana.peer).body == [1])
        await ana.client.stop()
        await party.host.stop()
    }

    @Test("a listener that does not listen holds the guests up, not the memory")
    func unreadEvents() async throws {
        let air = try VirtualAir(directory: newFolder())
        let host = MultipeerClient(
            radio: try VirtualRadio(air: air, address: "car"), identity: Party.identity, name: Party.car.name)
        try await host.startHosting()
        let ana = MultipeerClient(
            radio: try VirtualRadio(air: air, address: "ana"), identity: .make(), name: "Ana")
        let anaEvents = EventQueue(ana.events)
        try await ana.startBrowsing()
        let heard = try await anaEvents.first { event -> Peer? in
            if case .discovered(let peer, _, _) = event { peer } else { nil }
        }
        await ana.invite(heard.id)
        // The host takes Ana in although nobody listens to it yet, and then holds her up.
        let host2 = EventQueue(host.events)
        let car = try await anaEvents.first { if case .connected(let peer) = $0 { peer } else { nil } }
        let count = 200
        for number in 0..<count {
            await ana.send([UInt8(number)] + [UInt8](repeating: 0, count: 2_000), to: car.id)
        }
        for number in 0..<count {
            let message = try await host2.first { event -> ReceivedMessage? in
                if case .received(let message) = event { message } else { nil }
            }
            #expect(message.body.first == UInt8(number))
        }
        await ana.stop()
        await host.stop()
    }

    @Test("an invitation to somebody who was never heard fails at once")
    func unknown() async throws {
        let party = try await Party()
        let ana = try await party.guest()
        await ana.client.invite("0badc0de")
        let failure = try await ana.events.first { event -> InviteFailure? in
            if case .inviteFailed(_, let failure) = event { failure } else { nil }
        }
        #expect(failure == .unknownPeer)
        await ana.client.stop()
        await party.host.stop()
    }

    @Test("a message to somebody who was never met is not taken")
    func sendFailed() async throws {
        let party = try await Party()
        #expect(await party.host.send([1], to: "nobody") == ["nobody": .noLink])
        await party.host.stop()
    }

    @Test("a stopped client is not used again, and stopping twice does no harm")
    func stopped() async throws {
        let party = try await Party()
        await party.host.stop()
        await party.host.stop()
        await #expect(throws: RadioError.self) { try await party.host.startHosting() }
    }

    @Test("two who have nothing to say stay linked, and know their round trip")
    func idle() async throws {
        let party = try await Party()
        let ana = try await party.member()
        // Longer than the handshake's time, after which a link that nobody watches would end.
        let start = ContinuousClock.now
        for _ in 0..<6 {
            let trip = try await ana.events.first { event -> Duration?? in
                switch event {
                case .link(_, let report): .some(report.roundTrip)
                case .disconnected: .some(nil)
                default: nil
                }
            }
            _ = try #require(trip)
        }
        // About once a second: a timer that follows the deadline late makes it two.
        #expect(ContinuousClock.now - start < .seconds(9))
        await ana.client.stop()
        await party.host.stop()
    }

    @Test("a dead zone is a lost link, the pending dial is back when it ends, and what was cast in it arrives once")
    func deadZone() async throws {
        let party = try await Party()
        let ana = try await party.member()
        await ana.client.send([1], to: Party.car.id)
        let first = try await party.hostReceived(from: ana.peer)
        await party.host.accept(first)
        try party.air.cut()
        #expect(try await ana.end() == .linkLost)
        await ana.client.send([2], to: Party.car.id)
        await ana.client.invite(Party.car.id)
        party.air.heal()
        #expect(try await ana.connected() == Party.car)
        #expect(try await party.hostReceived(from: ana.peer).body == [2])
        await ana.client.send([3], to: Party.car.id)
        #expect(try await party.hostReceived(from: ana.peer).body == [3])
        await ana.client.stop()
        await party.host.stop()
    }

    @Test("a host that is not who was dialled is left")
    func changedIdentity() async throws {
        let party = try await Party()
        let ana = try await party.guest()
        let head = Identity.head(of: Party.car.id)
        let expected = head + String(repeating: "0", count: 32 - Identity.headDigits)
        await ana.client.invite(expected)
        let failure = try await ana.events.first { event -> InviteFailure? in
            if case .inviteFailed(_, let failure) = event { failure } else { nil }
        }
        #expect(failure == .linkEnded(.misbehaved(.changedIdentity)))
        await ana.client.stop()
        await party.host.stop()
    }
}
