// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

extension BearerManager: MeshDiscovery {
    /// The hosts and relays that this node can dial, and the guests that dial this node. The stream replaces `events`:
    /// both have one listener together.
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
            guard peripheral.isUnderstood else { return nil }
            let relayed = peripheral.relayed
            // A relay without room accepts no circuit. The host of a relay is unknown until its scan response is heard.
            if peripheral.isRelay, relayed?.hasRoom != true { return nil }
            self = .found(
                FoundHost(
                    peer: relayed?.host ?? peripheral.peer, relay: relayed == nil ? nil : peripheral.peer.id,
                    hops: relayed?.hops ?? 0
                ) { BearerTransport(peripheral: peripheral, expecting: $0) })
        case .lost(let peer): self = .lost(peer)
        case .accepted(let transport): self = .accepted(transport, refusing: await transport.refusal)
        case .better, .reached, .radio: return nil
        }
    }
}
