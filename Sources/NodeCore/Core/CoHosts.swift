// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// The guests that a host's person has made co-hosts. They stay co-hosts across restarts until they are dismissed.
struct CoHosts: Sendable {
    enum Action: Sendable {
        /// Store and show the co-hosts, and tell the host's feature.
        case changed
        case tell(Notice)
    }

    /// Co-hosts, oldest first.
    private(set) var peers: [Peer]
    /// Co-hosts with keys that a browser has sent over a network in the clear. Their commands are accepted from a
    /// browser only, because anyone who has read such a key could join over the radio with it.
    private var browsers: Set<Peer.ID>

    /// The co-hosts of earlier runs.
    init(_ peers: [Peer] = [], withBrowser browsers: [Peer] = []) {
        (self.peers, self.browsers) = (peers, Set(browsers.map(\.id)))
    }

    /// The co-hosts that must use a browser.
    var withBrowser: [Peer] { peers.filter { browsers.contains($0.id) } }

    /// Whether commands of this peer are accepted from a browser only.
    func needsBrowser(_ peer: Peer.ID) -> Bool { browsers.contains(peer) }

    /// The person makes a connected guest a co-host, by identifier or name. `usesBrowser` says which guests use one.
    mutating func appoint(_ name: String, among guests: [Peer], usesBrowser: (Peer.ID) -> Bool) -> [Action] {
        let meant = guests.meant(by: name)
        guard let peer = meant.first else { return [.tell(Notice(.noSuchGuest(name)))] }
        guard meant.count == 1 else { return [.tell(Notice(.severalGuests(meant)))] }
        let others = peers.filter { $0.id != peer.id }
        guard others.count < NodeLimits.drivers else { return [.tell(Notice(CommandProblem.tooManyDrivers))] }
        if usesBrowser(peer.id) { browsers.insert(peer.id) }
        return replace(with: others + [peer])
    }

    /// The person dismisses a co-host, which need not be connected.
    mutating func dismiss(_ name: String) -> [Action] {
        let meant = peers.meant(by: name)
        guard let peer = meant.first else { return [.tell(Notice(CommandProblem.noDriver(name)))] }
        guard meant.count == 1 else { return [.tell(Notice(.severalGuests(meant)))] }
        return replace(with: peers.filter { $0.id != peer.id })
    }

    private mutating func replace(with new: [Peer]) -> [Action] {
        peers = new
        browsers.formIntersection(new.map(\.id))
        return [.changed]
    }

    /// A guest joins with a browser, which sends its key in the clear. Returns whether this changes anything.
    mutating func joinedWithBrowser(_ peer: Peer.ID) -> Bool {
        peers.contains { $0.id == peer } && browsers.insert(peer).inserted
    }
}
