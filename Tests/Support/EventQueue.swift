// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing

/// The path of a folder that does not exist yet, for one test.
public func newFolder() -> String {
    FileManager.default.temporaryDirectory.path + "/rm-\(UInt64.random(in: 0 ... .max))"
}

/// A stream's events, for a test that reads one after another.
///
/// A caller never waits forever. It gets an error when its task is cancelled, as by a time limit, and at the queue's
/// own time limit.
public actor EventQueue<Event: Sendable> {
    private var waiting: [Event] = []
    private var hasEnded = false
    private var asking: CheckedContinuation<Void, Never>?
    private var isLate = false
    private let patience: Duration

    private static var parts: Int { 60 }

    /// The stream has ended before the event came.
    public struct Ended: Error {}

    /// The event did not come in time.
    public struct Late: Error, CustomStringConvertible {
        /// The events that came instead, the latest at the end.
        public let passed: [Event]
        /// A sentence for a test's log.
        public var description: String { "It did not come in time. What came instead: \(passed)" }
    }

    /// Reads a stream from now on. `patience` is the time limit of one call on an idle machine.
    public init(_ stream: AsyncStream<Event>, patience: Duration = .seconds(60)) {
        self.patience = patience
        Task { await self.read(stream) }
    }

    /// The first event, after the last one returned, for which the closure returns a value.
    public func first<Result>(_ pick: (Event) -> Result?) async throws -> Result {
        let alarm = alarm()
        defer { alarm.cancel() }
        var passed: [Event] = []
        while true {
            while !waiting.isEmpty {
                let event = waiting.removeFirst()
                if let result = pick(event) { return result }
                passed = passed.suffix(9) + [event]
            }
            if hasEnded { throw Ended() }
            try Task.checkCancellation()
            guard !isLate else { throw Late(passed: passed) }
            await more()
        }
    }

    /// Waits for the end. If it does not come in time, the test records an issue.
    public func end() async {
        let alarm = alarm()
        defer { alarm.cancel() }
        while !hasEnded {
            waiting = []
            guard !Task.isCancelled, !isLate else {
                Issue.record("The stream has not ended in time.")
                return
            }
            await more()
        }
    }

    /// The time limit of one call.
    ///
    /// Its parts are waited for one by one, and each counts only when this task had a thread again. If hundreds of
    /// tests wait for two threads, the event gets as many chances as on an idle machine.
    private func alarm() -> Task<Void, Never> {
        isLate = false
        return Task {
            for _ in 0..<Self.parts where !Task.isCancelled { try? await Task.sleep(for: patience / Self.parts) }
            guard !Task.isCancelled else { return }
            isLate = true
            wake()
        }
    }

    /// Waits for an event, the end of the stream, the end of the task or the time limit.
    private func more() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                asking = continuation
                if Task.isCancelled { wake() }
            }
        } onCancel: {
            Task { await self.wake() }
        }
    }

    private func read(_ stream: AsyncStream<Event>) async {
        for await event in stream {
            waiting.append(event)
            wake()
        }
        hasEnded = true
        wake()
    }

    private func wake() {
        asking?.resume()
        asking = nil
    }
}
