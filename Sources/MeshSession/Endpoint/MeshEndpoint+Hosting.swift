// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

extension MeshEndpoint {
    /// Advertises this node, and accepts the guests that dial it, until `stop`. You can host on several discoveries at
    /// once. The endpoint closes all of them when it stops. Throws if the radio cannot advertise.
    public func host(on discovery: some MeshDiscovery) async throws {
        guard !isStopped else { throw MeshCoreError.sessionOver }
        let discoveries = discovery.discoveries
        let task = Task {
            for await case .accepted(let transport, let refusal) in discoveries {
                await self.accept(transport, refusing: refusal)
            }
        }
        hosting.append((discovery, task))
        try await discovery.startHosting()
        // The endpoint was stopped while `host` waited.
        if isStopped { await discovery.close() }
    }

    private func accept(_ transport: any MeshTransport, refusing refusal: RefusalReason?) async {
        do {
            try await open(transport, as: .responder, refusing: refusal)
        } catch {
            logger.debug("a guest's channel closed at once: \(error)")
        }
    }

    /// A link has opened or ended, so the radios may have to advertise again.
    func linksChanged() {
        for (discovery, _) in hosting { Task { await discovery.linksChanged() } }
    }

    /// Runs a closure with the messages, joins and leaves of this endpoint. When it returns or throws, the endpoint
    /// stops, says goodbye to all peers, and closes its links.
    ///
    /// If the closure returns, the last message that it has read counts as processed, and the endpoint waits up to
    /// `SessionLimits.flush` until the connected peers have acknowledged all messages.
    public nonisolated(nonsending) func executeThenClose<Result>(
        _ body: nonisolated(nonsending) (AsyncStream<PeerEvent>) async throws -> Result
    ) async throws -> Result {
        let events = try await peerEvents
        do {
            let result = try await body(events)
            await acceptLast()
            await flush()
            await stop()
            return result
        } catch {
            await stop()
            throw error
        }
    }
}
