// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import TestSupport
import Testing

@testable import BrokerBearer

@Suite("A broker connection that several threads use")
struct MQTTConnectionTests {
    private static let threads = 8
    private static let messages = 50

    /// Connects to the tests' mosquitto, and waits until it is connected.
    private func connected() async throws -> (MQTTConnection, AsyncStream<MQTTEvent>.Iterator) {
        let address = try LocalBroker.shared.address()
        let connection = MQTTConnection(
            MQTTConnection.Options(
                broker: address, files: BrokerFiles(), client: "test\(UInt64.random(in: 0 ... .max))"))
        var events = connection.events.makeAsyncIterator()
        while let event = await events.next() {
            if case .connected = event { break }
        }
        return (connection, events)
    }

    private static func publish(_ connection: MQTTConnection, _ answers: NIOLockedValueBox<Int>) async -> Int {
        await withTaskGroup(of: Int.self) { group in
            for thread in 0..<threads {
                group.addTask {
                    (0..<messages).count { number in
                        connection.publish("test/\(thread)", [UInt8(number)]) { answers.withLockedValue { $0 += 1 } }
                    }
                }
            }
            return await group.reduce(0, +)
        }
    }

    @Test("each published message is acknowledged once, even if the acknowledgement comes first")
    func answers() async throws {
        var (connection, events) = try await connected()
        let answers = NIOLockedValueBox(0)
        let published = await Self.publish(connection, answers)
        #expect(published == Self.threads * Self.messages)
        connection.close()
        while await events.next() != nil {}
        #expect(answers.withLockedValue { $0 } == published)
    }

    @Test("it ends while other threads publish, and each accepted message is acknowledged once", arguments: 0..<20)
    func ends(round: Int) async throws {
        var (connection, events) = try await connected()
        let answers = NIOLockedValueBox(0)
        async let published = Self.publish(connection, answers)
        if round.isMultiple(of: 2) {
            connection.close()
        } else {
            connection.fail(BrokerFault(.unreachable, "of no use"))
        }
        while await events.next() != nil {}
        let count = await published
        #expect(answers.withLockedValue { $0 } == count)
    }
}
