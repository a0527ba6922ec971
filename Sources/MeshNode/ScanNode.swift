// SPDX-License-Identifier: Apache-2.0

import BLETransport
import DemocracyDJ
import MeshProtocol

/// Scans for hosts for a limited time and joins none.
public actor ScanNode {
    /// The events to show.
    public nonisolated let output: AsyncStream<NodeEvent>

    private let description: NodeDescription
    private let manager: BLEManager
    private let sink: AsyncStream<NodeEvent>.Continuation
    private var inRange = WaysInRange()
    private var hosts: [Host] = []

    /// A host that was heard.
    public struct Host: Hashable, Sendable {
        /// The host, by the head of its identifier.
        public var peer: Peer
        /// Whether the host was heard directly. A relay may have cut its name.
        public var isHeardItself: Bool
    }

    /// Creates a scan over a radio's manager.
    public init(description: NodeDescription, manager: BLEManager) {
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

    private func show(_ event: BLEManagerEvent) {
        switch event {
        case .discovered(let peripheral):
            // A name in the scan response reports the same host again. So does another route to it.
            guard let way = Self.way(peripheral) else { return }
            let (isNew, former) = inRange.heard(way)
            if let former { lost(former) }
            guard isNew else { return }
            let isHeardItself = way.relay == nil
            if isHeardItself || !hosts.contains(where: { $0.peer.id == way.host.id }) {
                hosts.removeAll { $0.peer.id == way.host.id }
                hosts.append(Host(peer: way.host, isHeardItself: isHeardItself))
            }
            sink.yield(
                .peerDiscovered(way.host, rssi: peripheral.rssi, hops: way.hops, via: way.relay, bearer: way.bearer))
        case .lost(let peer): if let way = inRange.unheard(peer.id) { lost(way) }
        case .radio(.unavailable(let failure)): sink.yield(.notice(Notice(NetworkError(failure))))
        default: break
        }
    }

    private func lost(_ way: WaysInRange.Way) {
        if !inRange.contains(way.host.id) { hosts.removeAll { $0.peer.id == way.host.id } }
        sink.yield(.peerLost(way.host, via: way.relay?.id))
    }

    /// The route to show for a scan result. Nil for a relay to a host that is not known yet.
    private static func way(_ peripheral: Peripheral) -> WaysInRange.Way? {
        guard peripheral.isRelay else {
            return WaysInRange.Way(host: peripheral.peer, hops: 0, bearer: peripheral.bearer)
        }
        return peripheral.relayed.map {
            WaysInRange.Way(
                host: Peer(id: Identity.head(of: $0.host.id), name: $0.host.name), hops: $0.hops,
                relay: HeardRelay(id: peripheral.peer.id, hasRoom: $0.hasRoom), bearer: peripheral.bearer)
        }
    }
}
