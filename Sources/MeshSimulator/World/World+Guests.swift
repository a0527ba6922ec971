// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import MeshSession

/// Guests: when they dial and what follows is what `ReconnectPolicy` decides, as in `GuestNode`.
extension World {
    // MARK: Listening for the host

    mutating func hears(_ node: Int) {
        schedule(.hears(node: node), after: random.time(100...500))
        guard nodes[node].core != nil, nodes[node].isBrowsing, isReachable(node), nodes[node].hasAdapter else { return }
        steer(node, .heard(Peer(id: Identity.head(of: nodes[0].peer), name: nodes[0].name)))
    }

    /// Whether the host can be dialled from where a guest is.
    func isReachable(_ node: Int) -> Bool {
        !outOfReach.contains(node) && nodes[0].core != nil && nodes[0].hasAdapter
    }

    // MARK: Dialling

    mutating func dials(_ node: Int, _ life: Int, _ dial: Int) {
        guard nodes[node].life == life, nodes[node].isDialling, nodes[node].dial == dial else { return }
        guard nodes[node].hasAdapter else { return dialFails(node, life, dial) }
        guard isReachable(node) else {
            schedule(.dials(node: node, life: life, dial: dial), after: random.time(50...300))
            return
        }
        if !isQuiet, random.chance(scenario.failingDials) {
            // Half of them at once, and half of them hang.
            let time = random.chance(50) ? 0...100 : 500...4_000
            schedule(.dialFails(node: node, life: life, dial: dial), after: random.time(time))
            return
        }
        let isFooled = now < impostorUntil && random.chance(50)
        let host = isFooled ? impostor() : .node(0, life: nodes[0].life)
        let channel = open(.node(node, life: life), host, dial: dial)
        guard isFooled || random.chance(3) else { return }
        if isFooled { return schedule(.hostileLeaves(channel: channel, end: 1), after: random.time(500...6_000)) }
        // The channel stands for the host alone, and the guest is never told.
        channels[channel].ends[0].isClosed = true
        channels[channel].isDisturbed = true
        schedule(.dialFails(node: node, life: life, dial: dial), after: random.time(0...2_000))
    }

    mutating func dialFails(_ node: Int, _ life: Int, _ dial: Int) {
        guard nodes[node].life == life, nodes[node].isDialling, nodes[node].dial == dial else { return }
        nodes[node].isDialling = false
        trace(node, "dial \(dial) fails")
        steer(node, .dialFailed)
    }

    // MARK: The policy

    /// Something has happened on a guest's link.
    mutating func steer(_ node: Int, _ link: MeshCore.LinkID, _ event: LinkEvent) {
        guard link == nodes[node].currentLink else { return }
        switch event {
        case .connected(let peer): steer(node, .linked(peer))
        case .ended(let peer, let end):
            nodes[node].currentLink = nil
            switch end {
            case .left: break
            case .goodbye: steer(node, .hostEnded)
            case .refused(let reason): steer(node, .refused(reason, by: peer.id))
            case .replaced, .busy, .linkLost, .silent, .handshakeTimeout, .misbehaved: steer(node, .linkLost)
            }
        case .failed(_, let proved, let end):
            nodes[node].currentLink = nil
            switch (end, proved) {
            case (.refused(let reason), let host?): steer(node, .refused(reason, by: host))
            case (.left, _): break
            // Anybody can say no in the host's name as long as nothing is proved.
            default: steer(node, .dialFailed)
            }
        case .admitted, .received, .acknowledged, .latestHasLeft, .roundTrip: break
        }
    }

    mutating func steer(_ node: Int, _ event: ReconnectPolicy.Event) {
        hash.add([103, node])
        let actions = nodes[node].policy.handle(event, now: localTime(of: node), jitter: random.fraction())
        for action in actions {
            switch action {
            case .browse: nodes[node].isBrowsing = true
            case .stopBrowsing: nodes[node].isBrowsing = false
            case .invite(let host): invite(node, host)
            case .cancelInvite: cancelInvite(node)
            case .show(.failed):
                // Its person has a look at it, and tries again.
                schedule(.retries(node: node), after: random.time(1_000...3_000))
            case .show, .offerRetry, .giveUp: break
            }
        }
        refreshPolicyTimer(node)
    }

    private mutating func invite(_ node: Int, _ host: Peer.ID) {
        nodes[node].dial += 1
        nodes[node].dialled = host
        nodes[node].isDialling = true
        let dial = nodes[node].dial
        let life = nodes[node].life
        trace(node, "dial \(dial)")
        schedule(.dials(node: node, life: life, dial: dial), after: random.time(10...100))
        schedule(.dialFails(node: node, life: life, dial: dial), after: Limits.dialAttempt)
    }

    private mutating func cancelInvite(_ node: Int) {
        nodes[node].isDialling = false
        guard let link = nodes[node].currentLink else { return }
        nodes[node].currentLink = nil
        act(node, on: link) { core, _ in core.leave(link) }
    }

    mutating func policyTimer(_ node: Int, _ life: Int, _ due: Duration) {
        guard nodes[node].life == life, nodes[node].policyTimer == due else { return }
        nodes[node].policyTimer = nil
        steer(node, .tick)
    }

    mutating func refreshPolicyTimer(_ node: Int) {
        guard node > 0, nodes[node].core != nil else { return }
        let due = nodes[node].policy.deadline
        guard due != nodes[node].policyTimer else { return }
        nodes[node].policyTimer = due
        guard let due else { return }
        let event = Event.policyTimer(node: node, life: nodes[node].life, due: due)
        schedule(event, at: due - nodes[node].clockLead)
    }

    /// A guest's person wants to be in.
    mutating func retries(_ node: Int) {
        guard nodes[node].core != nil else { return }
        trace(node, "its person tries again")
        steer(node, .start)
    }
}
