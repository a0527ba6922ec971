// SPDX-License-Identifier: Apache-2.0

import NodeCore
import Logging
import MeshProtocol
import TestSupport
import Testing

@testable import Bearers
@testable import LANBearer

@Suite("Dials on a network", .timeLimit(.minutes(5)))
struct LANDialTests {
    /// Records when something was logged.
    private struct Times: LogHandler {
        let sink: AsyncStream<ContinuousClock.Instant>.Continuation
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { sink.yield(.now) }
    }

    @Test("a host that does not answer is tried again after a pause each time")
    func pauses() async throws {
        let (times, sink) = AsyncStream<ContinuousClock.Instant>.makeStream()
        let network = LoopbackNetwork()
        let host = LANBearer(directory: network.directory())
        let guest = LANBearer(
            directory: network.directory(), logger: Logger(label: "dials") { _ in Times(sink: sink) })
        let attempts = EventQueue(times)
        let events = EventQueue(guest.events)
        try await host.open()
        try await guest.open()
        let advertisement = Advertisement(
            service: ServiceType.democracyDJ.uuid,
            peer: Peer(id: "c0ffee00112233445566778899aabbcc", name: "Dad's Car"))
        try await host.advertise(advertisement, pace: .fast)
        try await guest.scan(for: advertisement.service)
        let endpoint = try await events.first { event -> BearerEndpoint? in
            if case .heard(let result) = event { result.endpoint } else { nil }
        }
        await host.close()
        let dial = Task { while true { try await guest.dial(endpoint).close() } }
        let first = try await attempts.first { $0 }
        for _ in 0..<3 { _ = try await attempts.first { $0 } }
        let last = try await attempts.first { $0 }
        #expect(last - first >= LANLimits.dialPause * 3)
        dial.cancel()
        await #expect(throws: BearerError.self) { try await dial.value }
        await guest.close()
    }
}
