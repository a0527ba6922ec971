// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Listens for hosts for a while, and joins none.
public actor ScanNode {
    /// What to show.
    public nonisolated let output: AsyncStream<NodeEvent>

    private let description: NodeDescription
    private let transport: any MeshTransport
    private let sink: AsyncStream<NodeEvent>.Continuation

    /// A scan over a transport.
    public init(description: NodeDescription, transport: any MeshTransport) {
        self.description = description
        self.transport = transport
        (output, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(NodeLimits.outputEvents))
    }

    /// Scans until the time is over or the task is cancelled. Returns the hosts that were heard.
    public func run(for duration: Duration) async throws -> [Peer] {
        try await transport.orStop { try await $0.startBrowsing() }
        sink.yield(.ready(description))
        let transport = transport
        let timer = Task {
            try? await Task.sleep(for: duration)
            await transport.stop()
        }
        var heard: [Peer] = []
        await withTaskCancellationHandler {
            for await event in transport.events { show(event, &heard) }
        } onCancel: {
            timer.cancel()
        }
        await timer.value
        sink.yield(.bye(.quit))
        sink.finish()
        return heard
    }

    private func show(_ event: TransportEvent, _ heard: inout [Peer]) {
        switch event {
        case .discovered(let peer, let rssi, let hops):
            // A name that comes with the scan response makes the same host known anew.
            guard !heard.contains(peer) else { return }
            heard.removeAll { $0.id == peer.id }
            heard.append(peer)
            sink.yield(.peerDiscovered(peer, rssi: rssi, hops: hops))
        case .lost(let peer):
            heard.removeAll { $0.id == peer.id }
            sink.yield(.peerLost(peer))
        case .radio(.unavailable(let cause)): sink.yield(.notice(.radioUnavailable(cause)))
        default: break
        }
    }
}
