// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import BLETransport

/// A host and any number of guests on one virtual air.
struct Party {
    let air: VirtualAir
    let host: BLETransport
    let hostEvents: EventQueue<TransportEvent>

    static let car = Peer(id: "c0ffee00112233445566778899aabbcc", name: "Dad's Car")

    init() async throws {
        air = try VirtualAir(directory: RadioPair.newFolder())
        host = BLETransport(radio: try VirtualRadio(air: air, address: "car"), local: Self.car)
        hostEvents = EventQueue(host.events)
        try await host.startHosting()
    }

    struct Guest {
        let peer: Peer
        let transport: BLETransport
        let events: EventQueue<TransportEvent>

        func connected() async throws -> Peer {
            try await events.first { if case .connected(let peer) = $0 { peer } else { nil } }
        }

        func end() async throws -> LinkEnd {
            try await events.first { if case .disconnected(_, let end) = $0 { end } else { nil } }
        }
    }

    /// A guest that has heard the host.
    func guest(_ id: String, name: String = "Ana") async throws -> Guest {
        let peer = Peer(id: id, name: name)
        let transport = BLETransport(
            radio: try VirtualRadio(air: air, address: "g\(UInt32.random(in: 0 ... .max))"), local: peer)
        let guest = Guest(peer: peer, transport: transport, events: EventQueue(transport.events))
        try await transport.startBrowsing()
        let heard = try await guest.events.first { event -> Peer? in
            if case .discovered(let peer, _, _) = event { peer } else { nil }
        }
        #expect(heard == Peer(id: "c0ffee", name: "Dad's Car"))
        return guest
    }

    /// A guest that is in.
    func member(_ id: String) async throws -> Guest {
        let guest = try await guest(id)
        await guest.transport.invite("c0ffee")
        #expect(try await guest.connected() == Self.car)
        return guest
    }

    /// Something that dials like a guest and then says what it likes.
    func stranger(_ address: String) async throws -> any RadioChannel {
        let radio = try VirtualRadio(air: air, address: address)
        let events = EventQueue(radio.events)
        try await radio.open()
        try await radio.scan(for: RadioPair.service)
        let endpoint = try await events.first { event -> RadioEndpoint? in
            if case .heard(let sighting) = event { sighting.endpoint } else { nil }
        }
        return try await radio.dial(endpoint)
    }
}

@Suite("Hosts and guests", .timeLimit(.minutes(1)))
struct BLETransportTests {
    @Test("a guest finds a host, is taken in without a prompt, and both can talk")
    func talk() async throws {
        let party = try await Party()
        let ana = try await party.member("a1")
        let joined = try await party.hostEvents.first { event -> Peer? in
            if case .connected(let peer) = event { peer } else { nil }
        }
        #expect(joined == ana.peer)
        await ana.transport.send([1, 2, 3], as: .reliable, to: Party.car.id)
        let vote = try await party.hostEvents.first { event -> [UInt8]? in
            if case .received(let body, from: "a1") = event { body } else { nil }
        }
        #expect(vote == [1, 2, 3])
        await party.host.send([9], as: .latest, to: nil)
        let state = try await ana.events.first { event -> [UInt8]? in
            if case .received(let body, from: Party.car.id) = event { body } else { nil }
        }
        #expect(state == [9])
        await ana.transport.stop()
        await party.host.stop()
    }

    @Test("a message larger than an SDU arrives whole")
    func largeMessage() async throws {
        let party = try await Party()
        let ana = try await party.member("a1")
        let body = (0..<Limits.frameBodyBytes).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        await party.host.send(body, as: .latest, to: "a1")
        let arrived = try await ana.events.first { event -> [UInt8]? in
            if case .received(let body, from: _) = event { body } else { nil }
        }
        #expect(arrived == body)
        await ana.transport.stop()
        await party.host.stop()
    }

    @Test("a guest that leaves says goodbye, and a host that stops does")
    func goodbyes() async throws {
        let party = try await Party()
        let ana = try await party.member("a1")
        let bob = try await party.member("b2")
        await ana.transport.stop()
        let end = try await party.hostEvents.first { event -> LinkEnd? in
            if case .disconnected(let peer, let end) = event, peer.id == "a1" { end } else { nil }
        }
        #expect(end == .goodbye)
        await party.host.stop()
        await party.hostEvents.end()
        #expect(try await bob.end() == .goodbye)
        await bob.transport.stop()
        await bob.events.end()
    }

    @Test("a guest that comes back by a new link replaces its ghost")
    func replaced() async throws {
        let party = try await Party()
        let ana = try await party.member("a1")
        let again = try await party.member("a1")
        let end = try await party.hostEvents.first { event -> LinkEnd? in
            if case .disconnected(_, let end) = event { end } else { nil }
        }
        #expect(end == .replaced)
        #expect(try await ana.end() == .linkLost)
        await ana.transport.stop()
        await again.transport.stop()
        await party.host.stop()
    }

    @Test("a guest that was sent away is told so, and not taken in again")
    func banned() async throws {
        let party = try await Party()
        let ana = try await party.member("a1")
        _ = try await party.hostEvents.first { if case .connected = $0 { true } else { nil } }
        await party.host.disconnect("a1", refusing: .banned)
        #expect(try await ana.end() == .refused(.banned))
        await ana.transport.invite(Party.car.id)
        let failure = try await ana.events.first { event -> InviteFailure? in
            if case .inviteFailed(_, let failure) = event { failure } else { nil }
        }
        #expect(failure == .refused(.banned))
        await ana.transport.stop()
        await party.host.stop()
    }

    @Test("a stranger's rubbish closes its own link, and the guests do not notice")
    func rubbish() async throws {
        let party = try await Party()
        let ana = try await party.member("a1")
        for (number, rubbish) in [[0xFF, 0xFF, 0xFF], [0, 0, 1], [0, 0, 4], [0, 0, 7], [0, 1, 3, 9]].enumerated() {
            let stranger = try await party.stranger("s\(number)")
            try await stranger.send(rubbish.map { UInt8($0) })
            if number == 0 {
                // The head of a frame that never comes: only its sender's time runs out.
                stranger.close()
            } else {
                do {
                    #expect(try await stranger.receive() == nil)
                } catch {
                    #expect(error.code == .channelLost)
                }
            }
        }
        await ana.transport.send([1], as: .reliable, to: Party.car.id)
        let vote = try await party.hostEvents.first { event -> [UInt8]? in
            switch event {
            case .received(let body, from: _): body
            case .disconnected: [0xFF]
            default: nil
            }
        }
        #expect(vote == [1])
        await ana.transport.stop()
        await party.host.stop()
    }

    @Test("a listener that does not listen holds the guests up, not the memory")
    func unreadEvents() async throws {
        let air = try VirtualAir(directory: RadioPair.newFolder())
        let host = BLETransport(radio: try VirtualRadio(air: air, address: "car"), local: Party.car)
        try await host.startHosting()
        let radio = try VirtualRadio(air: air, address: "ana")
        let heard = EventQueue(radio.events)
        try await radio.open()
        try await radio.scan(for: RadioPair.service)
        let endpoint = try await heard.first { event -> RadioEndpoint? in
            if case .heard(let sighting) = event { sighting.endpoint } else { nil }
        }
        let channel = try await radio.dial(endpoint)
        try await channel.send(Frame.appStart(Introduction(peer: Peer(id: "a1", name: "Ana"))).bytes)
        let count = 200
        let flood = Task {
            for number in 0..<count {
                try await channel.send(Frame.message([UInt8(number)] + [UInt8](repeating: 0, count: 2_000)).bytes)
            }
        }
        // Nobody has listened so far; now everything is there, in order.
        let events = EventQueue(host.events)
        for number in 0..<count {
            let body = try await events.first { event -> [UInt8]? in
                if case .received(let body, from: _) = event { body } else { nil }
            }
            #expect(body.first == UInt8(number))
        }
        try await flood.value
        await radio.close()
        await host.stop()
    }

    @Test("an invitation to somebody who was never heard fails at once")
    func unknown() async throws {
        let party = try await Party()
        let ana = try await party.guest("a1")
        await ana.transport.invite("0badc0de")
        let failure = try await ana.events.first { event -> InviteFailure? in
            if case .inviteFailed(_, let failure) = event { failure } else { nil }
        }
        #expect(failure == .unknownPeer)
        await ana.transport.stop()
        await party.host.stop()
    }

    @Test("a message to nobody is told to have failed")
    func sendFailed() async throws {
        let party = try await Party()
        await party.host.send([1], as: .reliable, to: "nobody")
        let failed = try await party.hostEvents.first { event -> [UInt8]? in
            if case .sendFailed(let body, to: "nobody") = event { body } else { nil }
        }
        #expect(failed == [1])
        await party.host.stop()
    }

    @Test("a stopped transport is not used again, and stopping twice does no harm")
    func stopped() async throws {
        let party = try await Party()
        await party.host.stop()
        await party.host.stop()
        await #expect(throws: RadioError.self) { try await party.host.startHosting() }
    }

    @Test("two who have nothing to say stay linked, and know their round trip")
    func idle() async throws {
        let party = try await Party()
        let ana = try await party.member("a1")
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
        await ana.transport.stop()
        await party.host.stop()
    }

    @Test("a dead zone is a lost link, and the pending dial is back when it ends")
    func deadZone() async throws {
        let party = try await Party()
        let ana = try await party.member("a1")
        try party.air.cut()
        #expect(try await ana.end() == .linkLost)
        await ana.transport.invite(Party.car.id)
        party.air.heal()
        #expect(try await ana.connected() == Party.car)
        await ana.transport.stop()
        await party.host.stop()
    }
}
