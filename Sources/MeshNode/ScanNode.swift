// SPDX-License-Identifier: Apache-2.0

import Bearers
import DemocracyDJ
import MeshProtocol
import NodeCore

/// Scans for hosts for a limited time and joins none.
public actor ScanNode {
    /// The events to show.
    public nonisolated let output: AsyncStream<NodeEvent>

    private let description: NodeDescription
    private let manager: BearerManager
    private let sink: AsyncStream<NodeEvent>.Continuation
    private var reported = ReportedNodes()
    private var hosts: [Host] = []

    /// A host that was found.
    public struct Host: Hashable, Sendable {
        /// The host, by the head of its identifier.
        public var peer: Peer
        /// Whether the host itself was heard. A relay may have truncated the host's name.
        public var isHeardItself: Bool
    }

    /// Creates a scan over a radio's manager.
    public init(description: NodeDescription, manager: BearerManager) {
        self.description = description
        self.manager = manager
        (output, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(NodeLimits.outputEvents))
    }

    /// Scans until the time is over or the task is cancelled. Returns the hosts that are in range at that time.
    public func run(for duration: Duration) async throws -> [Host] {
        do {
            try await manager.startBrowsing()
        } catch {
            await manager.close()
            throw error
        }
        sink.yield(.ready(description))
        let manager = manager
        let timer = Task {
            try? await Task.sleep(for: duration)
            await manager.stop()
        }
        await withTaskCancellationHandler {
            for await event in manager.events { show(event) }
        } onCancel: {
            timer.cancel()
        }
        await timer.value
        await manager.close()
        sink.yield(.bye(.quit))
        sink.finish()
        return hosts
    }

    private func show(_ event: BearerManagerEvent) {
        switch event {
        case .discovered(let peripheral):
            // The radio reports the same host again when a scan response brings its name, or when another route to it
            // is found.
            guard var node = HeardNode(peripheral)?.named else { return }
            node.bearer = peripheral.bearer
            let (isNew, former) = reported.heard(node)
            if let former { lost(former) }
            guard isNew else { return }
            let isHeardItself = node.relay == nil
            if isHeardItself || !hosts.contains(where: { $0.peer.id == node.host.id }) {
                hosts.removeAll { $0.peer.id == node.host.id }
                hosts.append(Host(peer: node.host, isHeardItself: isHeardItself))
            }
            sink.yield(.peerDiscovered(node))
        case .lost(let peer): if let node = reported.unheard(peer.id) { lost(node) }
        case .radio(.unavailable(let failure)): sink.yield(.notice(Notice(NetworkError(failure))))
        default: break
        }
    }

    private func lost(_ node: HeardNode) {
        if !reported.contains(node.host.id) { hosts.removeAll { $0.peer.id == node.host.id } }
        sink.yield(.peerLost(node.host, via: node.relay))
    }
}
