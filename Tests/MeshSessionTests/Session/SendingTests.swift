// SPDX-License-Identifier: Apache-2.0

import BLETransport
import MeshProtocol
import MeshSession
import TestSupport
import Testing

@Suite("Sending with a full outbox")
struct SendingTests {
    /// A guest whose host has received a full outbox and has acknowledged nothing.
    private func full() async throws -> (
        road: Road, guest: MeshCoreSession, host: MeshCoreSession, first: ReceivedMessage
    ) {
        let road = try await Road()
        let (guest, host) = try await road.linked(acceptsByItself: false)
        let events = EventQueue(await host.events())
        for number in 0..<Limits.outboxMessages { try await guest.trySend([UInt8(number & 255)]) }
        return (road, guest, host, try await events.message())
    }

    @Test("a message that can never be sent is too long, and the error says by how much")
    func tooLong() async throws {
        let road = try await Road()
        let (guest, host) = try await road.linked()
        let message = [UInt8](repeating: 0, count: Limits.messageBytes + 1)
        let error = MeshCoreError.tooLong(bytes: 65_536, limit: 65_535)
        await #expect(throws: error) { try await guest.send(message) }
        await #expect(throws: error) { try await guest.trySend(message) }
        await #expect(throws: error) { try await guest.send(message, as: .latest) }
        #expect(error.description.contains("65535"))
        for session in [guest, host] { await session.stop() }
        await road.close()
    }

    @Test("trySend reports a full outbox, and send waits until the other side has acknowledged a message")
    func waits() async throws {
        let (road, guest, host, first) = try await full()
        await #expect(throws: MeshCoreError.outboxFull) { try await guest.trySend([7]) }
        let sending = Task { try await guest.send(Array("last".utf8)) }
        await host.accept(first)
        try await sending.value
        await #expect(throws: MeshCoreError.outboxFull) { try await guest.trySend([7]) }
        #expect(await guest.remembered.values.first?.conversation.outbox.last == Array("last".utf8))
        for session in [guest, host] { await session.stop() }
        await road.close()
    }

    @Test("a send that is cancelled while it waits sends nothing")
    func cancelled() async throws {
        let (road, guest, host, first) = try await full()
        let sending = Task { try await guest.send(Array("cancelled".utf8)) }
        sending.cancel()
        await #expect(throws: CancellationError.self) { try await sending.value }
        let next = Task { try await guest.send(Array("next".utf8)) }
        await host.accept(first)
        try await next.value
        let outbox = await guest.remembered.values.first?.conversation.outbox
        #expect(outbox?.last == Array("next".utf8))
        #expect(outbox?.contains(Array("cancelled".utf8)) == false)
        for session in [guest, host] { await session.stop() }
        await road.close()
    }

    @Test("a send that waits ends with an error when the session ends, on either side", arguments: [true, false])
    func ended(byHost: Bool) async throws {
        let (road, guest, host, _) = try await full()
        let sending = Task { try await guest.send(Array("lost".utf8)) }
        await (byHost ? host : guest).stop()
        await #expect(throws: MeshCoreError.sessionOver) { try await sending.value }
        #expect(await guest.remembered.values.first?.conversation.outbox.contains(Array("lost".utf8)) == false)
        for session in [guest, host] { await session.stop() }
        await road.close()
    }
}
