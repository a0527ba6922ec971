// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// The path of a folder that is not there yet, for one test.
public func newFolder() -> String {
    FileManager.default.temporaryDirectory.path + "/rm-\(UInt64.random(in: 0 ... .max))"
}

/// A stream's events for a test that asks for one after the other.
public actor EventQueue<Event: Sendable> {
    private var waiting: [Event] = []
    private var hasEnded = false
    private var asking: CheckedContinuation<Void, Never>?
    private var reader: Task<Void, Never>?

    /// The stream has ended before what was asked for came.
    public struct Ended: Error {}

    /// Reads a stream from now on.
    public init(_ stream: AsyncStream<Event>) {
        Task { await self.read(stream) }
    }

    /// The first event, from the last one taken on, that the closure makes something of.
    public func first<Result>(_ pick: (Event) -> Result?) async throws -> Result {
        while true {
            while !waiting.isEmpty {
                if let result = pick(waiting.removeFirst()) { return result }
            }
            if hasEnded { throw Ended() }
            await withCheckedContinuation { asking = $0 }
        }
    }

    /// Waits for the end.
    public func end() async {
        while !hasEnded {
            waiting = []
            await withCheckedContinuation { asking = $0 }
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
