// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import MeshSession

/// Nodes: they start and are killed, and what their cores decide is carried out, as `MeshEndpoint` does it.
extension World {
    /// The time of a node's own clock.
    func localTime(of node: Int) -> MeshInstant { now + nodes[node].clockLead }

    // MARK: Lives

    mutating func starts(_ node: Int) {
        guard nodes[node].core == nil else { return }
        nodes[node].life += 1
        nodes[node].clockLead = random.time(0...100_000)
        var core = MeshCore(
            identity: nodes[node].identity, name: nodes[node].name, service: .democracyDJ,
            remembered: nodes[node].store.rows.mapValues(\.remembered),
            holdsUntilStored: bug != .leavesUnstored)
        core.plant(bug)
        nodes[node].core = core
        nodes[node].numbered = nodes[node].store.rows.mapValues(\.numbered)
        ledger.restarted(node)
        trace(node, "starts")
        guard !nodes[node].isHost else { return }
        nodes[node].policy = ReconnectPolicy()
        steer(node, .start)
    }

    /// A node is gone at once. What it was writing is on its disk, or not.
    mutating func kill(_ node: Int, losingStore: Bool = false) {
        guard nodes[node].core != nil else { return }
        trace(node, losingStore ? "is killed, and its store is lost" : "is killed")
        if let torn = nodes[node].writes.first, random.chance(50) { commit(torn, node) }
        for link in nodes[node].links.keys.sorted() {
            guard let place = nodes[node].links[link] else { continue }
            channels[place.channel].ends[place.end].isClosed = true
            guard !random.chance(20) else {
                channels[place.channel].isBroken = true
                continue
            }
            schedule(.closes(channel: place.channel, end: 1 - place.end), after: random.time(0...500))
        }
        nodes[node].die()
        if losingStore {
            nodes[node].store = Store()
            ledger.lostStore(node)
        }
    }

    // MARK: Links

    /// A channel is open at a node's end.
    mutating func begin(_ node: Int, _ channel: Int, _ end: Int) {
        nodes[node].lastLink += 1
        let link = nodes[node].lastLink
        channels[channel].ends[end].link = link
        nodes[node].links[link] = SimulatedLink(channel: channel, end: end)
        let entropy = MeshCore.Entropy(random.bytes(MeshCore.Entropy.byteCount))
        let mtu = sduLimit(channel, end)
        var expected: Peer.ID?
        if end == 0 {
            nodes[node].isDialling = false
            nodes[node].currentLink = link
            expected = nodes[node].dialled
        }
        act(node, on: link) {
            $0.opened(
                link, as: end == 0 ? .initiator : .responder, sendMTU: mtu, expected: expected, entropy: entropy,
                now: $1)
        }
    }

    /// A core decides something, and it is carried out.
    mutating func act(
        _ node: Int, on link: MeshCore.LinkID? = nil, _ decide: (inout MeshCore, MeshInstant) -> [MeshCore.Action]
    ) {
        let time = localTime(of: node)
        // Taken out and put back, so that it is not copied.
        guard var core = nodes[node].core.take() else { return }
        let actions = decide(&core, time)
        nodes[node].core = core
        carryOut(actions, node)
        if let link { refreshTimer(node, link) }
        checkMemory(of: node)
    }

    /// Carries out what a core has decided. What it tells is listened to when the rest is done.
    mutating func carryOut(_ actions: [MeshCore.Action], _ node: Int) {
        var told: [(MeshCore.LinkID, LinkEvent)] = []
        for action in actions {
            switch action {
            case .wake(let link):
                guard let place = nodes[node].links[link] else { continue }
                wakes(place.channel, place.end)
            case .tell(let link, let event): told.append((link, event))
            case .holdReading(let link, let until): nodes[node].links[link]?.heldUntil = until
            case .close(let link, let afterLastWord):
                guard let place = nodes[node].links[link] else { continue }
                nodes[node].links[link]?.isClosing = true
                let delay = afterLastWord ? Limits.goodbyeTimeout : random.time(0...5)
                schedule(.shuts(channel: place.channel, end: place.end), after: delay)
                refreshTimer(node, link)
            // Worlds are smaller than what a node remembers.
            case .forgot: continue
            }
        }
        for (link, event) in told {
            hear(node, link, event)
            refreshTimer(node, link)
        }
    }

    // MARK: Time

    mutating func timer(_ node: Int, _ life: Int, _ link: MeshCore.LinkID, _ due: Duration) {
        guard nodes[node].life == life, nodes[node].links[link]?.timer == due else { return }
        nodes[node].links[link]?.timer = nil
        let time = localTime(of: node)
        if let until = nodes[node].links[link]?.heldUntil, until > time {
            // As long as a link is not read, its silence is ours.
            act(node, on: link) { core, now in
                core.heardNothingByChoice(on: link, now: now)
                return []
            }
        } else {
            act(node, on: link) { $0.tick(link, now: $1) }
        }
    }

    /// Sets a link's timer anew where its deadline has changed.
    mutating func refreshTimer(_ node: Int, _ link: MeshCore.LinkID) {
        guard let place = nodes[node].links[link] else { return }
        let due = nodes[node].core?.deadline(of: link)
        guard due != place.timer else { return }
        nodes[node].links[link]?.timer = due
        guard let due else { return }
        let event = Event.timer(node: node, life: nodes[node].life, link: link, due: due)
        schedule(event, at: due - nodes[node].clockLead)
    }

    /// A node's clock leaps forward: whatever it waits for comes sooner.
    mutating func leap(_ node: Int, _ time: Duration) {
        trace(node, "its clock leaps by \(time)")
        nodes[node].clockLead += time
        for link in nodes[node].links.keys.sorted() {
            if let place = nodes[node].links[link] { channels[place.channel].isDisturbed = true }
            nodes[node].links[link]?.timer = nil
            refreshTimer(node, link)
        }
        nodes[node].policyTimer = nil
        refreshPolicyTimer(node)
    }
}
