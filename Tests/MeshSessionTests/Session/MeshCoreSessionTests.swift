// SPDX-License-Identifier: Apache-2.0

import BLETransport
import TestSupport
import Testing

@testable import MeshProtocol
@testable import MeshSession

@Suite("A session with one peer")
struct MeshCoreSessionTests {
    @Test("one side receives the other's messages and acknowledges them")
    func messages() async throws {
        let road = try await Road()
        let (guest, host) = try await road.linked()
        let guestEvents = EventQueue(await guest.events())
        let hostEvents = EventQueue(await host.events())
        #expect(await guest.peer == Peer(id: road.identity.peerID, name: "Dad's Car"))
        try await guest.send(Array("one".utf8))
        #expect(try await hostEvents.message().body == Array("one".utf8))
        #expect(
            try await guestEvents.first { if case .acknowledged(let number) = $0 { number } else { nil } } == 1)
        try await host.send(Array("state".utf8), as: .latest)
        #expect(try await guestEvents.message().body == Array("state".utf8))
        await guest.stop()
        await host.stop()
        await road.close()
    }

    @Test("events before the first listener wait for it")
    func lateListener() async throws {
        let road = try await Road()
        let (guest, host) = try await road.linked()
        let guestEvents = EventQueue(await guest.events())
        try await guest.send([1])
        try await host.send([9], as: .latest)
        _ = try await guestEvents.message()
        #expect(try await EventQueue(await host.events()).message().body == [1])
        await guest.stop()
        await host.stop()
        await road.close()
    }

    @Test("the next session continues where the last one broke: unacknowledged messages come again, once")
    func resume() async throws {
        let road = try await Road()
        let identity = Identity.make()
        let (guest, host) = try await road.linked(.init(identity: identity), acceptsByItself: false)
        let hostEvents = EventQueue(await host.events())
        for number in UInt8(1)...3 { try await guest.send([number]) }
        let first = try await hostEvents.message()
        _ = try await hostEvents.first { event -> Bool? in
            if case .messageReceived(let message) = event, message.number == 3 { true } else { nil }
        }
        await host.accept(first)
        let lost = EventQueue(await guest.events())
        try road.air.cut()
        #expect(
            try await lost.first { event -> ConnectionState? in
                if case .connectionStateChanged(let state) = event { state } else { nil }
            } == .disconnected)
        await hostEvents.end()
        road.air.heal()
        let again = try await road.linked(
            .init(identity: identity, remembered: await guest.remembered), remembered: await host.remembered)
        let events = EventQueue(await again.host.events())
        #expect(try await events.message().body == [2])
        #expect(try await events.message().body == [3])
        try await again.guest.send([4])
        #expect(try await events.message().body == [4])
        for session in [again.guest, again.host] { await session.stop() }
        await road.close()
    }

    @Test("a session can be started only once, and not after it was stopped")
    func startedOnce() async throws {
        let road = try await Road()
        let (guest, host) = try await road.linked()
        await #expect(throws: MeshCoreError.alreadyStarted) { try await guest.start() }
        await guest.stop()
        await #expect(throws: MeshCoreError.sessionOver) { try await guest.start() }
        await #expect(throws: MeshCoreError.sessionOver) { try await guest.send([1]) }
        #expect(MeshCoreError.sessionOver.description.contains("make a new one"))
        await host.stop()
        await road.close()
    }

    @Test("stop is safe before a start, again, from many tasks, and during a pending dial")
    func stopping() async throws {
        let road = try await Road()
        let idle = MeshCoreSession(transport: BLETransport(peripheral: road.peripheral))
        await idle.stop()
        await #expect(throws: MeshCoreError.sessionOver) { try await idle.start() }

        let (guest, host) = try await road.linked()
        await withTaskGroup { group in
            for _ in 0..<20 { group.addTask { await guest.stop() } }
        }
        #expect(await guest.isRunning == false)
        await host.stop()

        try road.air.cut()
        let dialling = MeshCoreSession(transport: BLETransport(peripheral: road.peripheral))
        let states = EventQueue(dialling.connectionState)
        let starting = Task { try await dialling.start() }
        _ = try await states.first { $0 == .connecting ? true : nil }
        await dialling.stop()
        await #expect(throws: (any Error).self) { try await starting.value }
        road.air.heal()
        await road.close()
    }

    /// A transport without a peer.
    private struct DeadTransport: MeshTransport {
        let expectedPeer: Peer.ID? = nil
        let sendMTU = 0
        func connect() async throws { throw MeshTransportError.connectionFailed(reason: "nobody is there") }
        func send(_ sdu: [UInt8]) async throws {}
        func receive() async throws -> [UInt8]? { nil }
        func signalStrength() async -> Int? { nil }
        func close() async {}
    }

    @Test("a session with a failed start is disconnected when it is stopped")
    func stopAfterFailure() async throws {
        let session = MeshCoreSession(transport: DeadTransport())
        await #expect(throws: MeshTransportError.self) { try await session.start() }
        var failed: [ConnectionState] = []
        for await state in session.connectionState { failed.append(state) }
        #expect(failed == [.failed(.connectionFailed(reason: "nobody is there"))])
        await session.stop()
        var stopped: [ConnectionState] = []
        for await state in session.connectionState { stopped.append(state) }
        #expect(stopped == [.disconnected])
    }

    @Test("the other side's goodbye ends the session, its events and its states")
    func goodbye() async throws {
        let road = try await Road()
        let (guest, host) = try await road.linked()
        let events = EventQueue(await guest.events())
        let states = EventQueue(guest.connectionState)
        await host.stop()
        #expect(
            try await events.first { event -> ConnectionState? in
                if case .connectionStateChanged(let state) = event { state } else { nil }
            } == .disconnected)
        await events.end()
        await states.end()
        #expect(await guest.isRunning == false)
        await road.close()
    }

    @Test("a listener that does not read does not delay the others, and is told that it was too slow")
    func slowListener() async throws {
        let road = try await Road()
        let (guest, host) = try await road.linked()
        let stalled = await host.events()
        let lively = EventQueue(await host.events())
        let count = SessionLimits.sessionEvents + 10
        let sending = Task { for number in 0..<count { try await guest.send([UInt8(number & 255)]) } }
        for number in 0..<count { #expect(try await lively.message().body == [UInt8(number & 255)]) }
        try await sending.value
        var taken = 0
        var last: MeshEvent?
        for await event in stalled {
            if case .messageReceived = event { taken += 1 }
            last = event
        }
        #expect(taken == SessionLimits.sessionEvents)
        #expect(last == .listenerTooSlow)
        #expect(await host.isRunning)
        await guest.stop()
        await host.stop()
        await road.close()
    }

    @Test("the only listener gets every message however late it reads, and the sender waits")
    func onlyListener() async throws {
        let road = try await Road()
        let (guest, host) = try await road.linked()
        let late = await host.events()
        let count = Limits.outboxMessages + SessionLimits.sessionEvents
        let sending = Task { for number in 0..<count { try await guest.send([UInt8(number & 255)]) } }
        // Nothing is acknowledged, so the outbox is full soon.
        while (try? await guest.trySend([])) != nil {}
        #expect(await host.isRunning)
        var received: [UInt8] = []
        for await case .messageReceived(let message) in late {
            if let byte = message.body.first { received.append(byte) }
            if received.count == count { break }
        }
        #expect(received == (0..<count).map { UInt8($0 & 255) })
        try await sending.value
        #expect(await host.isRunning)
        await guest.stop()
        await host.stop()
        await road.close()
    }

    @Test("a listener that has gone holds up nothing, and the next one gets what it has not read")
    func releasedListener() {
        var listeners = SessionListeners()
        let key = ConversationKey("0123456789abcdef0123456789abcdef", as: .initiator, .democracyDJ)
        func message(_ number: Int) -> MeshEvent {
            .messageReceived(
                ReceivedMessage(conversation: key, messageClass: .reliable, number: UInt64(number), epoch: 1, body: []))
        }
        let gone = listeners.add()
        for number in 1...SessionLimits.sessionEvents { listeners.deliver(message(number)) }
        #expect(!listeners.hasRoom)
        #expect(listeners.next(gone) == message(1))
        listeners.remove(gone)
        let next = listeners.add()
        #expect(listeners.next(next) == message(2))
        #expect(listeners.hasRoom)
    }

    @Test("a start that is cancelled throws CancellationError")
    func cancelledStart() async throws {
        let road = try await Road()
        try road.air.cut()
        let session = MeshCoreSession(transport: BLETransport(peripheral: road.peripheral))
        let states = EventQueue(session.connectionState)
        let starting = Task { try await session.start() }
        _ = try await states.first { $0 == .connecting ? true : nil }
        starting.cancel()
        await #expect(throws: CancellationError.self) { try await starting.value }
        road.air.heal()
        await road.close()
    }

    @Test("a scoped session delivers all messages before it says goodbye")
    func scoped() async throws {
        let road = try await Road()
        let guest = MeshCoreSession(transport: BLETransport(peripheral: road.peripheral))
        async let sent: Void = guest.executeThenClose { _ in
            for number in UInt8(0)..<100 { try await guest.send([number]) }
        }
        let host = try await road.hostSession()
        let received = try await host.executeThenClose { events in
            var received: [UInt8] = []
            for await case .messageReceived(let message) in events { received += message.body }
            return received
        }
        try await sent
        #expect(received == Array(0..<100))
        #expect(await guest.isRunning == false)
        await road.close()
    }
}
