// SPDX-License-Identifier: Apache-2.0

import Testing
import TestSupport

@Suite("A test that waits for an event that does not come")
struct EventQueueTests {
    @Test("ends at its time limit, and reports the events that came instead")
    func late() async throws {
        let (stream, events) = AsyncStream<Int>.makeStream()
        let queue = EventQueue(stream, patience: .milliseconds(20))
        events.yield(1)
        let late = await #expect(throws: EventQueue<Int>.Late.self) { try await queue.first { $0 == 2 ? $0 : nil } }
        #expect(late?.passed == [1])
    }

    @Test("ends with its task, which a time limit cancels")
    func cancelled() async {
        let queue = EventQueue(AsyncStream<Int>.makeStream().stream, patience: .seconds(3_600))
        let waiting = Task { try await queue.first { $0 } }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test("ends with the stream")
    func ended() async {
        let (stream, events) = AsyncStream<Int>.makeStream()
        let queue = EventQueue(stream, patience: .seconds(3_600))
        events.finish()
        await #expect(throws: EventQueue<Int>.Ended.self) { try await queue.first { $0 } }
        await queue.end()
    }
}
