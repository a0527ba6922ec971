// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol
import NIOConcurrencyHelpers
import NodeCore

/// The part of a node that a page uses.
protocol PageNode: Sendable {
    func send(_ input: NodeInput) async
    /// Returns when the node has processed and stored everything that it received before.
    func answers() async -> Bool
    func join(_ peer: Peer, claiming claim: JoiningSecret?) async throws(RefusalReason) -> LocalLink
    func rename(_ id: MeshCore.LinkID, _ peer: Peer) async
    func say(_ message: MeshMessage, number: UInt64, on id: MeshCore.LinkID) async
    func leave(_ id: MeshCore.LinkID, _ end: LinkEnd) async
}

extension Node: PageNode {}

/// A queue of work for the node, in order. It decouples the pages from the node, which may wait for its disk.
final class NodeFeed: Sendable {
    typealias Work = @Sendable (any PageNode) async -> Void

    private let node: any PageNode
    private let works: AsyncStream<Work>
    private let sink: AsyncStream<Work>.Continuation
    private let waiting = NIOLockedValueBox(0)

    init(_ node: any PageNode) {
        self.node = node
        (works, sink) = AsyncStream.makeStream()
    }

    /// Whether the feed accepts commands of people. It always accepts the server's own events, such as a guest that
    /// left or has a new name. These are few, because the number of web guests is limited.
    var hasRoom: Bool { waiting.withLockedValue { $0 } < DashboardLimits.waitingInputs }

    func put(_ input: NodeInput) { put { await $0.send(input) } }

    func put(_ work: @escaping Work) {
        waiting.withLockedValue { $0 += 1 }
        sink.yield(work)
    }

    /// Delivers work to the node until the feed is closed.
    func run() async {
        for await work in works {
            await work(node)
            waiting.withLockedValue { $0 -= 1 }
        }
    }

    func close() { sink.finish() }
}
