// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Dials hosts by the best path, from the invitation until the link is up or has failed, and looks for another path if
/// a dial is not answered. One host has one dial.
struct Dials: Sendable {
    private enum State: Hashable, Sendable {
        /// No channel has opened. `overdue` is the time at which the node looks for another route. `looks` counts how
        /// often it has done so.
        case pending(overdue: MeshInstant?, looks: Int)
        /// The handshake is in progress, on the link to the host or to the relay on the route.
        case open(MeshCore.LinkID)
    }

    private struct Dial: Sendable {
        var number: Int
        var state: State
        /// The head of the dialled relay.
        var relay: Peer.ID?
        /// As much of the host's identifier as the relay has advertised.
        var advertised: Peer.ID?
        /// The host was not heard. The dial waits for it at its last address.
        var isBlind = false

        var link: MeshCore.LinkID? { if case .open(let link) = state { link } else { nil } }

        var overdue: MeshInstant? { if case .pending(let overdue, _) = state { overdue } else { nil } }

        /// Whether to scan instead of waiting for the dial. A host that was heard and does not answer is full or gone,
        /// and is not heard any more. A dial to a host that was lost in a tunnel stays pending, unless relays are
        /// known.
        func mayHaveOtherPath(after looks: Int, hasHeardRelays: Bool) -> Bool {
            // A relay's dial is overdue early, in case another relay is heard.
            if relay != nil { return looks > 0 }
            return hasHeardRelays || !isBlind && looks > 0
        }
    }

    /// A scan for another path after a failed dial. The nodes that were heard before are as likely to be full or gone.
    private struct FreshScan: Sendable {
        /// The invited host.
        var host: Peer.ID
        /// When the scan ends if no node is heard.
        var until: MeshInstant
        var failure: InviteFailure
    }

    /// The dials by the invited host's identifier or its head.
    private var dials: [Peer.ID: Dial] = [:]
    private var lastNumber = 0
    private var freshScan: FreshScan?
    /// Whether this node relays.
    private let relays: Bool
    private var hasEnded = false

    init(relays: Bool) { self.relays = relays }

    // MARK: Questions

    /// The host that is dialled.
    var pending: Peer.ID? { dials.keys.min() }

    /// The head of the relay that a dial goes to.
    func relay(of number: Int) -> Peer.ID? { dials.values.first { $0.number == number }?.relay }

    /// The dial for which a link to a relay was opened, the relay's head, and the host that the relay has advertised.
    func invited(on link: MeshCore.LinkID) -> (host: Peer.ID, number: Int, relay: Peer.ID, advertised: Peer.ID?)? {
        for (host, dial) in dials where dial.link == link {
            if let relay = dial.relay { return (host, dial.number, relay, dial.advertised) }
        }
        return nil
    }

    private func host(of number: Int) -> Peer.ID? { dials.first { $0.value.number == number }?.key }

    // MARK: Events

    /// A dial's channel has opened. Returns the invited host, or nil if the dial was cancelled.
    mutating func opened(_ number: Int, _ link: MeshCore.LinkID) -> Peer.ID? {
        guard let host = host(of: number) else { return nil }
        dials[host]?.state = .open(link)
        return host
    }

    /// A dial has ended without a channel. Returns the invited host, or nil if the dial was cancelled.
    mutating func failed(_ number: Int) -> Peer.ID? {
        guard let host = host(of: number) else { return nil }
        dials[host] = nil
        return host
    }

    /// A link is up, or has failed. Returns the invited host, or nil if this node has not dialled.
    mutating func ended(_ link: MeshCore.LinkID) -> Peer.ID? {
        guard let host = dials.first(where: { $0.value.link == link })?.key else { return nil }
        dials[host] = nil
        return host
    }

    /// Dials a host by the best path, unless it is linked. `isBlind`: the host was not heard just now.
    mutating func invite(
        _ host: Peer.ID, blindly isBlind: Bool = false, _ heard: inout HeardNodes, _ links: RelayLinks,
        _ around: Route.Surroundings
    ) -> [Route.Action] {
        let isLinked = around.mesh.connectedPeers.contains { Identity.head(of: $0) == Identity.head(of: host) }
        guard !isLinked, !hasEnded else { return [] }
        if Self.asksForPIN(host, heard, around) { return [.failed(.refused(.challenge, by: host))] }
        if around.mesh.holdsBack(from: host) { return [.failed(.heldBack(host))] }
        let path = path(to: host, heard, links, around)
        if path == .direct, heard.host(host) == nil { heard.offerAgain(host, now: around.now) }
        return dial(host, by: path, blindly: isBlind, heard, now: around.now)
    }

    /// Dials a host by this path.
    mutating func dial(
        _ host: Peer.ID, by path: Route.Path, blindly isBlind: Bool = false, _ heard: HeardNodes, now: MeshInstant
    ) -> [Route.Action] {
        guard dials[host] == nil, !hasEnded else { return [] }
        var advertised: Peer.ID?
        switch path {
        case .direct:
            guard let node = heard.host(host) else { return [.failed(.unknownPeer)] }
            // Only an advertisement has this information.
            guard node.isUnderstood else { return [.failed(.refused(.version, by: nil))] }
        case .relay(let relay): advertised = heard.relay(relay)?.host.id
        case .circuit: break
        }
        let number = begin(host, by: path, advertised: advertised, blindly: isBlind, now: now)
        return switch path {
        case .direct: [.dial(number, head: Identity.head(of: host), expecting: host)]
        case .relay(let relay): [.dial(number, head: relay, expecting: relay)]
        case .circuit(let place): [.openCircuit(place, dial: number, expecting: host)]
        }
    }

    /// A relay or the host was dialled and did not answer. It must be heard again, and other nodes are preferred during
    /// a pause.
    mutating func notAnswered(
        by dialled: Peer.ID, for host: Peer.ID, _ failure: InviteFailure, _ heard: inout HeardNodes,
        _ around: Route.Surroundings
    ) -> [Route.Action] {
        heard.unanswered(dialled, now: around.now)
        guard !around.isLinked, hasOtherPath(to: host, than: dialled, heard, around) else { return [.failed(failure)] }
        freshScan = FreshScan(host: host, until: around.now + NodeLimits.freshLook, failure: failure)
        return []
    }

    /// Cancels the dial to a host, which may have been invited by its head alone.
    mutating func giveUp(_ host: Peer.ID) -> [Route.Action] {
        if let scan = freshScan, Identity.head(of: scan.host) == Identity.head(of: host) { freshScan = nil }
        guard let invited = dials.keys.first(where: { Identity.head(of: $0) == Identity.head(of: host) }),
            let dial = dials.removeValue(forKey: invited)
        else { return [] }
        return [dial.link.map { .leave($0) } ?? .cancelDial(dial.number)]
    }

    /// Dials the invited host if it is one of these hosts, which nodes that were heard since the scan began make
    /// reachable.
    mutating func joinable(
        _ heads: [Peer.ID], _ heard: inout HeardNodes, _ links: RelayLinks, _ around: Route.Surroundings
    ) -> [Route.Action] {
        guard let scan = freshScan, heads.contains(Identity.head(of: scan.host)) else { return [] }
        freshScan = nil
        return invite(scan.host, &heard, links, around)
    }

    /// A link to the host is up, and no other path is looked for.
    mutating func linkUp(_ link: MeshCore.LinkID) {
        _ = ended(link)
        freshScan = nil
    }

    /// The node ends, and nothing is dialled any more.
    mutating func end() -> [Route.Action] {
        hasEnded = true
        defer { dials = [:] }
        return dials.values.filter { $0.link == nil }.map(\.number).sorted().map { .cancelDial($0) }
    }

    private mutating func begin(
        _ host: Peer.ID, by path: Route.Path, advertised: Peer.ID?, blindly isBlind: Bool, now: MeshInstant
    ) -> Int {
        assert(dials[host] == nil && !hasEnded, "one host has one dial, and a node that ends dials nothing")
        lastNumber += 1
        var dial = Dial(number: lastNumber, state: .pending(overdue: nil, looks: 0))
        switch path {
        case .direct: (dial.state, dial.isBlind) = (.pending(overdue: now + NodeLimits.dialPatience, looks: 0), isBlind)
        case .relay(let relay):
            dial.state = .pending(overdue: now + NodeLimits.dialPatienceBesideOthers, looks: 0)
            (dial.relay, dial.advertised) = (relay, advertised)
        // The link that carries the circuit is up already.
        case .circuit: break
        }
        dials[host] = dial
        return lastNumber
    }

    // MARK: Paths

    /// An unknown host asks for a PIN that no person has typed. The person is asked before there is a link.
    private static func asksForPIN(_ host: Peer.ID, _ heard: HeardNodes, _ around: Route.Surroundings) -> Bool {
        // A relay's flag counts only if the host itself is not heard.
        let node = heard.host(host) ?? heard.best(to: host, below: around.ceiling, now: around.now)
        guard node?.asksForPIN == true, around.mesh.secret(for: host) == nil else { return false }
        return !around.mesh.joined(withHead: Identity.head(of: host)).contains { around.mesh.isProved($0) }
    }

    /// The best path to a host: a link to a relay that is up, the host itself, or the best relay.
    private func path(
        to host: Peer.ID, _ heard: HeardNodes, _ links: RelayLinks, _ around: Route.Surroundings
    ) -> Route.Path {
        let leading = links.leading(to: host) { heard.isLeftAlone($0, now: around.now) }
        if let (link, route) = leading, Int(route.hops) < around.ceiling ?? .max {
            return .circuit(CircuitPlace(to: route.host, over: link, hops: Int(route.hops)))
        }
        guard let best = heard.best(to: host, below: around.ceiling, now: around.now) else { return .direct }
        guard let node = heard.host(host), !heard.isLeftAlone(host, now: around.now) else { return .relay(best.id) }
        let isForOthers = node.placesForRelays && !relays && !best.placesForRelays
        return isForOthers || heard.isAsGood(best, as: node.rssi) ? .relay(best.id) : .direct
    }

    private func hasOtherPath(
        to host: Peer.ID, than relay: Peer.ID?, _ heard: HeardNodes, _ around: Route.Surroundings
    ) -> Bool {
        if heard.best(to: host, below: around.ceiling, except: relay, now: around.now) != nil { return true }
        return relay != nil && heard.host(host) != nil && !heard.isLeftAlone(host, now: around.now)
    }

    // MARK: Time

    /// When `tick` is due.
    var deadline: MeshInstant? {
        dials.isEmpty ? freshScan?.until : earliest(freshScan?.until, dials.values.lazy.compactMap(\.overdue).min())
    }

    /// Whether a scan looks for another path to a host.
    var isScanning: Bool { freshScan != nil }

    /// Time has passed. A scan for another path has found none, or a dial is overdue.
    ///
    /// A dial to a node without room for a link stays pending, like a dial into a tunnel. The node takes another path
    /// if it knows one, and scans for one if there may be one.
    mutating func tick(_ heard: inout HeardNodes, _ around: Route.Surroundings) -> [Route.Action] {
        var actions: [Route.Action] = []
        if let scan = freshScan, scan.until <= around.now {
            freshScan = nil
            actions.append(.failed(scan.failure))
        }
        for (host, dial) in dials.sorted(by: { $0.value.number < $1.value.number }) {
            guard case .pending(let overdue?, let looks) = dial.state, overdue <= around.now else { continue }
            // The dial is overdue again after the same time.
            let spent = dial.relay != nil && looks == 0 ? NodeLimits.dialPatienceBesideOthers : .zero
            dials[host]?.state = .pending(overdue: around.now + NodeLimits.dialPatience - spent, looks: looks + 1)
            guard
                hasOtherPath(to: host, than: dial.relay, heard, around)
                    || dial.mayHaveOtherPath(after: looks, hasHeardRelays: heard.hasHeardRelays)
            else { continue }
            dials[host] = nil
            actions.append(.cancelDial(dial.number))
            if dial.relay == nil { heard.forget(host: host) }
            actions += notAnswered(
                by: dial.relay ?? host, for: host, .dialFailed("no channel has opened"), &heard, around)
        }
        return actions
    }
}
