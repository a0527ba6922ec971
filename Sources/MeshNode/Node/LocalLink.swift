// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// A link of a running node that ends in this process: its bearer vouches for the peer, such as a page that has asked a
/// browser for its key.
public struct LocalLink: Sendable {
    /// What the node says on it.
    public enum Event: Hashable, Sendable {
        /// A message for the peer.
        case message(MeshMessage)
        /// What the peer has said with this number is safe.
        case acknowledged(UInt64)
        /// It is over. Nothing follows.
        case ended(LinkEnd)
    }

    /// Names it among the node's links.
    public let id: MeshCore.LinkID
    /// What the node says, in order. Who does not read it loses the link.
    public let events: AsyncStream<Event>

    /// A link of this number.
    public init(_ id: MeshCore.LinkID, _ events: AsyncStream<Event>) {
        self.id = id
        self.events = events
    }
}

extension Node {
    /// Links a peer that the caller vouches for, or one that claims to know what this host asks for. Throws what any guest is
    /// told that is not let in.
    public func join(_ peer: Peer, claiming claim: JoiningSecret? = nil) throws(RefusalReason) -> LocalLink {
        guard !hasEnded else { throw .ended }
        let id = newLink()
        let (events, sink) = AsyncStream.makeStream(
            of: LocalLink.Event.self, bufferingPolicy: .bufferingOldest(NodeLimits.linkEvents))
        localLinks[id] = sink
        let actions = core.handle(claim.map { .claimed(id, peer, $0) } ?? .joined(id, peer), now: clock.now)
        perform(actions)
        for case .end(id, .refused(let reason)) in actions { throw reason }
        return LocalLink(id, events)
    }

    /// The peer of a link has another name. Returns when the node has room for more.
    public func rename(_ id: MeshCore.LinkID, _ peer: Peer) async {
        take(.joined(id, peer))
        await untilRoom()
    }

    /// Says something for the peer of a link, and returns when the node has room for more. It is acknowledged by this
    /// number when the disk has what came of it.
    public func say(_ message: MeshMessage, number: UInt64, on id: MeshCore.LinkID) async {
        take(.said(message, number: number, on: id))
        await untilRoom()
    }

    /// A link is over: its peer has left, or is not heard any more.
    public func leave(_ id: MeshCore.LinkID, _ end: LinkEnd) {
        take(.left(id, end))
        localLinks.removeValue(forKey: id)?.finish()
    }

    /// Who falls so far behind has lost the link: nothing is left out of what it says.
    func tell(_ event: LocalLink.Event, on id: MeshCore.LinkID) {
        guard case .dropped? = localLinks[id]?.yield(event) else { return }
        leave(id, .linkLost)
    }
}
