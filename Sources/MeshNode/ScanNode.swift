// SPDX-License-Identifier: Apache-2.0

import BLETransport
import DemocracyDJ
import MeshProtocol

/// Listens for hosts for a while, and joins none.
public actor ScanNode {
    /// What to show.
    public nonisolated let output: AsyncStream<NodeEvent>

    private let description: NodeDescription
    private let manager: BLEManager
    private let sink: AsyncStream<NodeEvent>.Continuation

    /// A scan over a radio's manager.
    public init(description: NodeDescription, manager: BLEManager) {
        self.description = description
        self.manager = manager
        (output, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(NodeLimits.outputEvents))
    }

    /// Scans until the time is over or the task is cancelled. Returns the hosts that were heard.
    public func run(for duration: Duration) async throws -> [Peer] {
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
        var heard: [Peer] = []
        await withTaskCancellationHandler {
            for await event in manager.events { show(event, &heard) }
        } onCancel: {
            timer.cancel()
        }
        await timer.value
        await manager.close()
        sink.yield(.bye(.quit))
        sink.finish()
        return heard
    }

    private func show(_ event: BLEManagerEvent, _ heard: inout [Peer]) {
        switch event {
        case .discovered(let host):
            let peer = host.peer
            // A name that comes with the scan response makes the same host known again.
            guard !heard.contains(peer) else { return }
            heard.removeAll { $0.id == peer.id }
            heard.append(peer)
            sink.yield(.peerDiscovered(peer, rssi: host.rssi, hops: host.hops))
        case .lost(let peer):
            heard.removeAll { $0.id == peer.id }
            sink.yield(.peerLost(peer))
        case .radio(.unavailable(let failure)): sink.yield(.notice(Notice(NetworkError(failure))))
        default: break
        }
    }
}
