// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol
import MeshSession
import TestSupport
import Testing

@Suite("A guest that reconnects by itself", .timeLimit(.minutes(2)))
struct MeshGuestTests {
    @Test("messages of both sides arrive once and in order, across two gaps")
    func gaps() async throws {
        let town = try Town()
        let host = town.endpoint("Dad's Car")
        let events = EventQueue(try await host.peerEvents)
        try await host.host(on: town.manager("car", of: host))
        let guest = try town.guest("Ana")
        let states = EventQueue(await guest.connectionState)
        try await guest.executeThenClose { messages in
            var heard = messages.makeAsyncIterator()
            var sent: UInt8 = 0
            for gap in 0..<3 {
                if gap > 0 {
                    try town.air.cut()
                    _ = try await states.first { if case .reconnecting = $0 { true } else { nil } }
                }
                for _ in 0..<3 {
                    sent += 1
                    try await guest.send([sent])
                }
                if gap > 0 { town.air.heal() }
                _ = try await states.first { $0 == .connected ? true : nil }
                for number in sent - 2...sent {
                    let (body, peer) = try await events.message()
                    #expect(body == [number])
                    try await host.send(body, to: peer.id)
                    #expect(try await heard.next()?.body == [number])
                }
            }
        }
        await host.stop()
    }

    @Test("the messages end when the host says goodbye")
    func goodbye() async throws {
        let town = try Town()
        let host = town.endpoint("Dad's Car")
        let events = EventQueue(try await host.peerEvents)
        try await host.host(on: town.manager("car", of: host))
        let guest = try town.guest("Ana")
        async let heard = guest.executeThenClose { messages in
            var heard: [UInt8] = []
            for try await message in messages { heard += message.body }
            return heard
        }
        let ana = try await events.first { if case .joined(let peer) = $0 { peer } else { nil } }
        try await host.send([1, 2, 3], to: ana.id)
        await host.flush()
        await host.stop()
        #expect(try await heard == [1, 2, 3])
        await #expect(throws: MeshCoreError.sessionOver) { try await guest.send([4]) }
    }

    @Test("a host that restarts gets what was sent meanwhile, once")
    func restart() async throws {
        let town = try Town()
        let identity = Identity.make()
        let host = town.endpoint("Dad's Car", identity)
        let events = EventQueue(try await host.peerEvents)
        try await host.host(on: town.manager("car", of: host))
        let guest = try town.guest("Ana")
        let states = EventQueue(await guest.connectionState)
        try await guest.executeThenClose { _ in
            try await guest.send([1])
            #expect(try await events.message().body == [1])
            await host.stop(saying: .stopped)
            _ = try await states.first { if case .reconnecting = $0 { true } else { nil } }
            try await guest.send([2])
            let restarted = town.endpoint("Dad's Car", identity, remembered: await host.remembered)
            let later = EventQueue(try await restarted.peerEvents)
            try await restarted.host(on: town.manager("car", of: restarted))
            // The queue asks for the next event after each message, which acknowledges it.
            #expect(try await later.message().body == [2])
            await restarted.stop()
        }
    }

    @Test("a guest without a host ends with an error after its patience, and so does what it sends")
    func unreachable() async throws {
        let guest = try Town().guest("Ana", patience: .milliseconds(50))
        let sending = Task { try await guest.send([1]) }
        await #expect(throws: MeshCoreError.unreachable) {
            try await guest.executeThenClose { messages in for try await _ in messages {} }
        }
        await #expect(throws: MeshCoreError.unreachable) { try await sending.value }
    }

    @Test("a guest that the host bans ends with the reason")
    func banned() async throws {
        let town = try Town()
        let host = town.endpoint("Dad's Car")
        let events = EventQueue(try await host.peerEvents)
        try await host.host(on: town.manager("car", of: host))
        let guest = try town.guest("Ana")
        let running = Task { try await guest.executeThenClose { messages in for try await _ in messages {} } }
        let ana = try await events.first { if case .joined(let peer) = $0 { peer } else { nil } }
        await host.disconnect(ana.id, refusing: .banned)
        await #expect(throws: MeshCoreError.refused(.banned)) { try await running.value }
        await host.stop()
    }

    @Test("a guest finds its host by a name as people type it, and measures the way to it")
    func measures() async throws {
        let town = try Town()
        let host = town.endpoint("Dad's Car")
        let other = town.endpoint("Mum's Car")
        for (address, one) in [("car", host), ("van", other)] {
            let events = try await one.peerEvents
            Task { for await _ in events {} }
            try await one.host(on: town.manager(address, of: one))
        }
        var configuration = MeshGuest.Configuration(name: "Ana", service: town.service)
        configuration.hostName = "DAD\u{2019}S CAR"
        let guest = MeshGuest(on: try town.manager("ana"), configuration: configuration)
        let states = EventQueue(await guest.connectionState)
        #expect(await guest.ping() == nil)
        try await guest.executeThenClose { _ in
            _ = try await states.first { $0 == .connected ? true : nil }
            let path = try #require(await guest.path())
            #expect(path.hops == 1 && path.relay == nil)
            #expect(await guest.host?.displayName == "Dad's Car")
            #expect(try #require(await guest.ping()) > .zero)
            #expect(await guest.ping(hop: 1) != nil)
            #expect(await guest.ping(hop: 2) == nil)
            try town.air.cut()
            _ = try await states.first { if case .reconnecting = $0 { true } else { nil } }
            #expect(await guest.ping() == nil)
            #expect(await guest.path() == nil)
        }
        await host.stop()
        await other.stop()
    }

    @Test("a guest starts once, and its messages have one listener")
    func once() async throws {
        let guest = try Town().guest("Ana")
        try await guest.start()
        await #expect(throws: MeshCoreError.alreadyStarted) { try await guest.start() }
        _ = try await guest.messages
        await #expect(throws: MeshCoreError.alreadyListening) { try await guest.messages }
        await #expect(throws: MeshCoreError.notConnected) { try await guest.trySend([1]) }
        let waiting = Task { try await guest.send([1]) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await guest.stop()
        await #expect(throws: MeshCoreError.sessionOver) { try await guest.start() }
    }

    @Test("cancelling the task of a scoped guest ends it")
    func cancelled() async throws {
        let town = try Town()
        let guest = try town.guest("Ana")
        let states = EventQueue(await guest.connectionState)
        let running = Task { try await guest.executeThenClose { messages in for try await _ in messages {} } }
        _ = try await states.first { $0 == .connecting ? true : nil }
        running.cancel()
        _ = await running.result
        await states.end()
    }
}

extension EventQueue where Event == PeerEvent {
    /// The next message, with its sender.
    func message() async throws -> (body: [UInt8], peer: Peer) {
        try await first { event -> ([UInt8], Peer)? in
            if case .message(let message, let peer) = event { (message.body, peer) } else { nil }
        }
    }
}
