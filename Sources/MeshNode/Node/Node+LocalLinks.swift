// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

extension Node {
    /// Opens a link for a peer. Without `claim`, the caller vouches for the peer; otherwise the peer must know the
    /// host's secret. Throws the same reason as for any refused guest.
    public func join(_ peer: Peer, claiming claim: JoiningSecret? = nil) throws(RefusalReason) -> LocalLink {
        guard !loop.hasEnded else { throw .ended }
        let (id, refusal) = loop.join(peer, claiming: claim, now: clock.now)
        let (events, sink) = AsyncStream.makeStream(
            of: LocalLink.Event.self, bufferingPolicy: .bufferingOldest(NodeLimits.linkEvents))
        localLinks[id] = sink
        performActions()
        if let refusal { throw refusal }
        return LocalLink(id, events)
    }

    /// Changes the name of a link's peer. Returns when the node can accept the next input.
    public func rename(_ id: MeshCore.LinkID, _ peer: Peer) async {
        take(.joined(id, peer))
        await untilRoom()
    }

    /// Sends a message of the peer to the node, and returns when the node can accept the next input. The node
    /// acknowledges the number when the results are on the disk.
    public func say(_ message: MeshMessage, number: UInt64, on id: MeshCore.LinkID) async {
        take(.said(message, number: number, on: id))
        await untilRoom()
    }

    /// Ends a link: its peer has left or has gone out of range.
    public func leave(_ id: MeshCore.LinkID, _ end: LinkEnd) {
        take(.left(id, end))
        localLinks.removeValue(forKey: id)?.finish()
    }

    /// Sends an event on a link. If the reader is too far behind, the link ends, because no event may be left out.
    func tell(_ event: LocalLink.Event, on id: MeshCore.LinkID) {
        guard case .dropped? = localLinks[id]?.yield(event) else { return }
        leave(id, .linkLost)
    }
}
