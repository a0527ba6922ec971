// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import MeshNode

/// What waits for the node, in order: a node that is at its disk keeps no page waiting.
final class NodeFeed: Sendable {
    private let send: @Sendable (NodeInput) async -> Void
    private let inputs: AsyncStream<NodeInput>
    private let sink: AsyncStream<NodeInput>.Continuation
    private let waiting = NIOLockedValueBox(0)

    init(_ send: @escaping @Sendable (NodeInput) async -> Void) {
        self.send = send
        (inputs, sink) = AsyncStream.makeStream()
    }

    /// Whether people may want more. What the server itself says, that somebody has come or gone, is always taken: there
    /// are only so many web guests.
    var hasRoom: Bool { waiting.withLockedValue { $0 } < DashboardLimits.waitingInputs }

    func put(_ input: NodeInput) {
        waiting.withLockedValue { $0 += 1 }
        sink.yield(input)
    }

    /// Hands over, until it is closed.
    func run() async {
        for await input in inputs {
            await send(input)
            waiting.withLockedValue { $0 -= 1 }
        }
    }

    func close() { sink.finish() }
}
