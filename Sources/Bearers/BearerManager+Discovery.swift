// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

extension BearerManager: MeshDiscovery {
    /// The hosts that this node can dial directly, and the guests that dial this node. Relays are left out, because
    /// sessions and endpoints open no circuits. The stream replaces `events`: both have one listener together.
    public nonisolated var discoveries: AsyncStream<Discovery> {
        let pulled = PulledEvents(events)
        return AsyncStream {
            while let event = await pulled.next() {
                if let discovery = await Discovery(event) { return discovery }
            }
            return nil
        }
    }
}

extension Discovery {
    fileprivate init?(_ event: BearerManagerEvent) async {
        switch event {
        case .discovered(let peripheral):
            guard !peripheral.isRelay, peripheral.isUnderstood else { return nil }
            self = .found(
                FoundHost(peer: peripheral.peer) { BearerTransport(peripheral: peripheral, expecting: $0) })
        case .lost(let peer): self = .lost(peer)
        case .accepted(let transport): self = .accepted(transport, refusing: await transport.refusal)
        case .better, .reached, .radio: return nil
        }
    }
}
