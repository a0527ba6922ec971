// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The hosts that a guest has joined, by name and key. A host with one of these names and another key is a different
/// host.
public struct KnownHosts: Hashable, Sendable {
    /// Maximum number of hosts to remember: a year of buses. A new one replaces the one that was joined the longest
    /// ago.
    public static let limit = 64

    /// These hosts, the longest ago joined first. The last one is the guest's own.
    public private(set) var hosts: [Peer]

    /// The hosts of earlier runs.
    public init(_ hosts: [Peer] = []) { self.hosts = Array(hosts.suffix(Self.limit)) }

    /// A host was joined. The guest's own host stays the last one, unless this one becomes it. Returns whether anything
    /// has changed.
    public mutating func joined(_ host: Peer, asOwn: Bool = true) -> Bool {
        let before = hosts
        let own = asOwn || hosts.last?.id == host.id ? nil : hosts.last
        let others = hosts.filter { $0.id != host.id && $0.id != own?.id }
        hosts = Array((others + [host] + [own].compactMap(\.self)).suffix(Self.limit))
        return hosts != before
    }

    /// Forgets the hosts with this head of an identifier. Returns whether there were any.
    public mutating func forget(withHead head: Peer.ID) -> Bool {
        let count = hosts.count
        hosts.removeAll { $0.id.hasPrefix(head) }
        return hosts.count < count
    }

    /// Whether a host, or the head of one, was joined before.
    public func contains(_ host: Peer.ID) -> Bool {
        hosts.contains { Identity.head(of: $0.id) == Identity.head(of: host) }
    }

    /// The known host with the name of an unknown one. Nil if `heard` is known or its name is new.
    public func host(copiedBy heard: Peer) -> Peer? {
        guard !contains(heard.id) else { return nil }
        return hosts.last { Self.isName(heard.name, of: $0.name) }
    }

    /// Whether a heard name is this name, or looks the same to people. Advertisements have room for the beginning of a
    /// name, and those of relays for less.
    static func isName(_ heard: String, of name: String) -> Bool {
        let cuts = (try? NodeName(name)).map { [$0.advertised, $0.advertisedByRelay] } ?? []
        return ([name] + cuts).contains { TypedName.isMeant(heard, by: $0) }
    }
}
