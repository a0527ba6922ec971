// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// A host as the guest's person sees it: a known host, or one in range.
public struct ShownHost: Hashable, Sendable, Encodable {
    /// The host. Its identifier is a head if the host was only heard.
    public var peer: Peer
    /// Whether this guest has joined it before.
    public var known: Bool
    /// Whether the host is heard, directly or through a relay.
    public var inRange: Bool
    /// Whether this guest is linked to the host.
    public var joined: Bool
    /// Whether the host has the name of a known host but another key.
    public var other: Bool
}

/// The hosts that a guest knows and hears, and the questions about them that its person was asked.
struct HostList: Sendable {
    /// The answer to a request to join a host.
    enum Choice: Sendable {
        /// Join the host with this name or identifier.
        case want(String)
        case tell(Notice)
    }

    /// The hosts that this guest has joined.
    private(set) var known: KnownHosts
    private(set) var reported = ReportedNodes()
    /// Hosts with a known name and another key that were reported to people, by their heads.
    private var toldCopies = RecentTable<Peer.ID, Bool>(limit: NodeLimits.shownHosts)
    /// The host, or its head, that has proved a different key from that of the known host. A tap on Retry forgets the
    /// old key.
    private var changedKey: Peer.ID?
    /// The hosts about which the person was last asked.
    private var asked: Set<Peer.ID> = []

    /// The hosts that earlier runs have joined.
    init(_ known: [Peer]) { self.known = KnownHosts(known) }

    /// The guest's own host, then the other known hosts, last joined first, and then the other hosts in range.
    func shown(linked: Peer.ID?) -> [ShownHost] {
        let heard = reported.hosts
        let joined = known.hosts.reversed().map { host in
            ShownHost(
                peer: host, known: true, inRange: heard.contains { $0.id == Identity.head(of: host.id) },
                joined: host.id == linked, other: false)
        }
        let others = heard.filter { !known.contains($0.id) }.map { host in
            ShownHost(
                peer: host, known: false, inRange: true, joined: false, other: known.host(copiedBy: host) != nil)
        }
        return joined + others
    }

    // MARK: What is heard

    /// See `ReportedNodes.heard`.
    mutating func heard(_ node: HeardNode) -> (isNew: Bool, former: HeardNode?) { reported.heard(node) }

    /// A node is not heard any more. Returns the reported data of the node.
    mutating func unheard(_ head: Peer.ID) -> HeardNode? { reported.unheard(head) }

    /// A host says goodbye. It is gone, and so are all relays to it, before the radio or the relays notice. Returns the
    /// reports.
    mutating func gone(_ host: Peer) -> [StepAction] {
        let heard = Peer(id: Identity.head(of: host.id), name: host.name)
        return reported.gone(heard.id).map { .show(.peerLost(heard, via: $0.relay)) }
    }

    /// A host is heard that has the name of a joined host, and another key. Reported once.
    mutating func copy(_ peer: Peer, of host: Peer?) -> Notice? {
        guard let host, toldCopies[peer.id] == nil else { return nil }
        toldCopies[peer.id] = true
        return Notice(.otherHost(name: host.name, head: Identity.head(of: peer.id)))
    }

    /// A question about which host the person means, if several hosts in range may have the typed name; otherwise nil.
    /// The person is asked once.
    mutating func question(_ policy: ReconnectPolicy) -> [Notice]? {
        let rivals = policy.rivals(among: reported.hosts)
        defer { asked = Set(rivals.map(\.id)) }
        guard !rivals.isEmpty else { return nil }
        return asked == Set(rivals.map(\.id)) ? [] : [Notice(.severalHosts(rivals))]
    }

    // MARK: Joining and forgetting

    /// The person wants to join the host with this name or identifier. `present` is the host that the guest has joined.
    mutating func choose(_ text: String, present: Peer?) -> Choice {
        let joined = known.hosts.meant(by: text)
        let heard = joined.isEmpty ? reported.hosts.filter { !known.contains($0.id) }.meant(by: text) : []
        if (joined + heard).count > 1 { return .tell(Notice(.severalHosts(joined + heard))) }
        if let present, [present].meant(by: text).first != nil { return .tell(Notice(.joinedAlready(present.name))) }
        changedKey = nil
        // A joined host is identified by its key. A host that is only heard is identified by its name, which it has to
        // prove.
        return .want(joined.first?.id ?? (Identity.digits(in: text) == nil ? heard.first?.name : nil) ?? text)
    }

    /// A host has admitted this guest. Returns whether the known hosts have changed.
    mutating func joined(_ host: Peer, asOwn: Bool) -> Bool {
        changedKey = nil
        return known.joined(host, asOwn: asOwn)
    }

    /// Forgets the hosts with this head. Returns whether there were any.
    mutating func forget(withHead head: Peer.ID) -> Bool { known.forget(withHead: head) }

    // MARK: Another key

    /// A known host, or its head, has proved another key.
    mutating func keyChanged(_ host: Peer.ID) { changedKey = host }

    /// The person has left without answering whether the key should be forgotten.
    mutating func left() { changedKey = nil }

    /// The person says Retry. Returns the host with the old key to forget, if there is one.
    mutating func retried() -> Peer.ID? {
        defer { changedKey = nil }
        toldCopies = RecentTable(limit: NodeLimits.shownHosts)
        return changedKey
    }
}
