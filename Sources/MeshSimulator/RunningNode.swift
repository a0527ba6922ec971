// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// A running node of a world or a field. It is a class, so that access to other parts of a node does not copy the
/// core's state.
final class RunningNode {
    /// The origin of all nodes' times. No decision depends on it.
    private static let origin = ContinuousClock().now

    var loop: NodeLoop

    /// Starts a node with the content of its disk. `lastLink` is the latest link of its former lives.
    init(
        _ part: NodeCore.Part, _ identity: Identity, name: String, disk: StoredNode, http: String? = nil, seed: UInt64,
        lastLink: MeshCore.LinkID = 0
    ) {
        let role: NodeDescription.Role = if case .host = part { .host } else { .guest }
        var description = NodeDescription(
            role: role, peer: Peer(id: identity.peerID, name: name), radio: "simulated", service: .democracyDJ)
        description.http = http
        loop = NodeLoop(
            NodeCore.Configuration(
                part, description, identity: identity, contents: disk, origin: Self.origin, seed: seed),
            waking: .inOrder, lastLink: lastLink)
    }

    /// Reads the core in place.
    func callAsFunction<Seen>(_ look: (NodeCore) -> Seen) -> Seen { look(loop.core) }
}

/// A node's advertisement.
struct Advertisement {
    /// The head of the node's identifier, and its name.
    let sender: Peer
    let isHost: Bool
    /// A relay's notice; nil while it does not relay.
    var notice: NodeCore.RelayNotice?
    /// Whether a host reserves its last slots for relays.
    var placesForRelays = false

    init(_ identity: Identity, name: String, isHost: Bool) {
        sender = Peer(id: Identity.head(of: identity.peerID), name: name)
        self.isHost = isHost
    }

    /// The event of a node that hears it. Nil if nothing is advertised.
    func heard(rssi: Int) -> NodeCore.Event? {
        guard !isHost else { return .heard(HeardNode(sender, rssi: rssi, placesForRelays: placesForRelays)) }
        return notice.map { notice in
            // A relay advertises five bytes of its host's identifier.
            let host = Peer(id: String(notice.host.id.prefix(10)), name: notice.host.name)
            return .heard(
                HeardNode(
                    host, relay: sender.id, hops: notice.hops, rssi: rssi, hasRoom: notice.hasRoom,
                    placesForRelays: notice.placesForRelays, asksForPIN: notice.asksForPIN))
        }
    }
}

extension Identity {
    /// A random identity.
    static func drawn(_ random: inout SeededGenerator) -> Identity {
        guard let identity = Identity(stored: random.bytes(storedBytes)) else {
            preconditionFailure("any 32 bytes are a private key")
        }
        return identity
    }
}

extension MeshCore.Entropy {
    static func drawn(_ random: inout SeededGenerator) -> MeshCore.Entropy { Self(random.bytes(byteCount)) }
}
