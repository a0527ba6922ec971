// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// A node of a simulation: a `NodeLoop` and its disk.
struct SimulatedNode {
    let identity: Identity
    let name: String
    let peer: Peer.ID
    let isHost: Bool
    let isRelay: Bool
    var advertisement: Advertisement
    var disk = SimulatedDisk()

    /// Nil while it is down.
    var core: RunningNode?
    /// The number of its life. The end of each begins a new one.
    private(set) var life = 0
    /// The latest link of its former lives.
    private(set) var lastLink: MeshCore.LinkID = 0
    /// The time by which its clock is ahead of the simulation's. It begins at zero with each life, and jumps.
    var clockLead: Duration = .zero
    /// The time of its next tick.
    var timer = Int.max
    /// Ticks in a row at one time.
    var spins = 0

    init(_ identity: Identity, name: String, isHost: Bool, isRelay: Bool) {
        (self.identity, self.name, self.isHost, self.isRelay) = (identity, name, isHost, isRelay)
        peer = identity.peerID
        advertisement = Advertisement(identity, name: name, isHost: isHost)
    }

    var isEnding: Bool { core?.hasEnded == true }

    /// Ends a life. Only the content of the disk survives.
    mutating func die() {
        life += 1
        lastLink = core?.lastLink ?? lastLink
        core = nil
        timer = .max
        advertisement.notice = nil
        (disk.writing, disk.final) = (nil, nil)
    }
}

/// A node's disk.
struct SimulatedDisk {
    var content = StoredNode()
    /// The write in progress.
    var writing: StoreBatch?
    /// The last write of a node that ends.
    var final: StoreBatch?
    /// It refuses all writes before the first time, and does not answer before the second.
    var refusesUntil = 0
    var hangsUntil = 0

    func isInOrder(_ now: Int) -> Bool { refusesUntil <= now && hangsUntil <= now }
}

/// A running node. It is a class, so that access to other parts of a node does not copy the core's
/// state.
final class RunningNode {
    /// The origin of all nodes' times. No decision depends on it.
    private static let origin = ContinuousClock().now

    private var held: HeldLoop

    /// Starts a node with the content of its disk. `lastLink` is the latest link of its former lives.
    init(
        _ part: NodeCore.Part, _ identity: Identity, name: String, disk: StoredNode, http: String? = nil, seed: UInt64,
        lastLink: MeshCore.LinkID = 0
    ) {
        let role: NodeDescription.Role = if case .host = part { .host } else { .guest }
        var description = NodeDescription(
            role: role, peer: Peer(id: identity.peerID, name: name), radio: "simulated", service: .democracyDJ)
        description.http = http
        held = HeldLoop(
            loop: NodeLoop(
                NodeCore.Configuration(
                    part, description, identity: identity, contents: disk, origin: Self.origin, seed: seed),
                waking: .inOrder, lastLink: lastLink))
    }

    /// The loop, for events.
    var loop: NodeLoop {
        _read { yield held.loop }
        _modify { yield &held.loop }
    }

    var hasEnded: Bool { held.hasEnded }

    var lastLink: MeshCore.LinkID { held.lastLink }

    /// Reads the core in place.
    func callAsFunction<Seen>(_ look: (NodeCore) -> Seen) -> Seen { held.read(look) }
}

/// A loop that cannot be copied. Debug builds copy a copyable value each time it is read out of a class, and a node is
/// large.
private struct HeldLoop: ~Copyable {
    var loop: NodeLoop

    var hasEnded: Bool { loop.hasEnded }

    var lastLink: MeshCore.LinkID { loop.lastLink }

    borrowing func read<Seen>(_ look: (NodeCore) -> Seen) -> Seen { look(loop.core) }
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
