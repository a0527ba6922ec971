// SPDX-License-Identifier: Apache-2.0

import Glibc
import MeshProtocol
import NodeCore

// Advertising, scanning and dialling.

extension Field {
    /// Whether a node's advertisement is on the air. A controller with its maximum of links cannot accept another, and
    /// a relay reserves one for its own route to the host.
    func advertises(_ node: Int) -> Bool {
        let most = nodes[node].isHost ? FieldScenario.links : FieldScenario.links - 1
        return nodes[node].core != nil && nodes[node].isAdvertising && nodes[node].links.count < most
    }

    // MARK: Scanning

    mutating func startScanning(_ node: Int) {
        nodes[node].scans += 1
        nodes[node].scan = nodes[node].scans
        trace(node, "scans")
        schedule(.listens(node: node, scan: nodes[node].scans), at: now)
    }

    mutating func listens(_ node: Int, _ scan: Int) {
        guard nodes[node].core != nil, nodes[node].scan == scan else { return }
        schedule(.listens(node: node, scan: scan), at: now + FieldAir.reportInterval)
        for (other, chance) in audible(at: node) {
            let wait = wait(for: other, chance)
            if wait < FieldAir.reportInterval {
                schedule(.hears(node: node, other: other, scan: scan), at: now + wait)
            }
        }
        for (other, time) in nodes[node].heard.sorted(by: { $0.key < $1.key })
        where now - time > FieldAir.forgottenAfter {
            nodes[node].heard[other] = nil
            feed(.unheard(nodes[other].advertisement.sender), node)
        }
        pull()
    }

    mutating func hears(_ node: Int, _ other: Int, _ scan: Int) {
        let event = wasAsked(node) ? nil : heard(other, by: node, scan)
        guard event != nil || wasAsked(node) else { return }
        nodes[node].heard[other] = now
        reaches(.heard, node)
        trace(node, "hears \(nodes[other].name)")
        if !takesTurn(node), let event { feed(event, node) }
        pull()
    }

    /// The scan result that a scanning node gets of another node. Nil if it hears nothing.
    func heard(_ other: Int, by node: Int, _ scan: Int) -> NodeCore.Event? {
        guard nodes[node].scan == scan, advertises(other), let signal = signal(node, other) else { return nil }
        return nodes[other].advertisement.heard(rssi: signal)
    }

    /// A node starts to advertise, or changes its advertisement. Nodes that scan in range hear it soon.
    mutating func startAdvertising(_ node: Int) {
        nodes[node].isAdvertising = true
        nodes[node].changedAt = now
        for other in neighbours(of: node) {
            guard let scan = nodes[other].scan else { continue }
            let chance = audible(at: other).first { $0.node == node }?.chance ?? 0
            schedule(.hears(node: other, other: node, scan: scan), at: now + wait(for: node, chance))
        }
    }

    /// The nodes that can be heard at a node, and the chance to hear one advertisement. It may be skipped for a
    /// connection event, or collide with another one that is not much weaker.
    private mutating func audible(at node: Int) -> [(node: Int, chance: Double)] {
        let others = inRange(of: node).filter { advertises($0.node) }
        // The share of airtime of each, summed over all before it.
        var shares = [0.0]
        for other in others {
            let interval = advertisingInterval(of: other.node) + FieldAir.advertisingDelay / 2
            shares.append(shares[shares.count - 1] + Double(FieldAir.advertisement) / Double(interval))
        }
        let own = pow(FieldAir.advertisedBesideLink, Double(nodes[node].links.count))
        var weaker = 0
        return others.enumerated().map { place, other in
            while others[weaker].signal < other.signal - FieldAir.capture { weaker += 1 }
            let share = shares[others.count] - shares[weaker] - (shares[place + 1] - shares[place])
            let links = Double(nodes[other.node].links.count)
            return (other.node, exp(-2 * share) * own * pow(FieldAir.advertisedBesideLink, links))
        }
    }

    /// A node's advertising interval. It is a method of the field, since a method of the node would copy the node.
    private func advertisingInterval(of node: Int) -> Int {
        now - nodes[node].changedAt < FieldAir.eagerTime ? FieldAir.fastAdvertising : FieldAir.slowAdvertising
    }

    /// The time until one of a node's advertisements is received.
    private mutating func wait(for other: Int, _ chance: Double) -> Int {
        guard chance > 0 else { return .max / 4 }
        let interval = advertisingInterval(of: other) + FieldAir.advertisingDelay / 2
        let misses = chance < 1 ? log(1 - random.fraction()) / log(1 - chance) : 0
        return random.below(interval) + Int(min(misses, 1e6)) * interval
    }

    // MARK: Dialling

    mutating func dial(_ node: Int, _ number: Int, _ head: Peer.ID, _ expecting: Peer.ID) {
        reaches(.dialled, node)
        nodes[node].dials.append(FieldNode.Dial(number: number, target: heads[head], expecting: expecting))
        schedule(.reaches(node: node, dial: number), at: now + dialling(node, heads[head]))
        schedule(.dialEnds(node: node, dial: number), at: now + FieldAir.dialAttempt)
    }

    /// A dial hears one advertisement, and is answered at that or the next one. If the node is not in range, the dial
    /// tries again later.
    private mutating func dialling(_ node: Int, _ target: Int?) -> Int {
        guard let target, let chance = audible(at: node).first(where: { $0.node == target })?.chance else {
            return FieldAir.dialPoll / 2 + random.below(FieldAir.dialPoll)
        }
        return wait(for: target, chance) + (random.chance(50) ? wait(for: target, chance) : 0)
    }

    mutating func reaches(_ node: Int, _ number: Int) {
        guard nodes[node].core != nil, let dial = nodes[node].dials.firstIndex(where: { $0.number == number }),
            nodes[node].dials[dial].link == nil
        else { return }
        guard let target = nodes[node].dials[dial].target, advertises(target), let signal = signal(node, target),
            nodes[node].links.count < FieldScenario.links
        else {
            let wait = FieldAir.dialPoll / 2 + random.below(FieldAir.dialPoll)
            return schedule(.reaches(node: node, dial: number), at: now + wait)
        }
        let link = links.count
        links.append(FieldLink(node, target, dial: number, signal: signal, now: now))
        nodes[node].dials[dial].link = link
        for end in [node, target] {
            nodes[end].links.append(link)
            nodes[end].changedAt = now
        }
        tally.linksMade += 1
        let channel = FieldAir.firstEvent + FieldAir.eventsToChannel * FieldLink.untuned
        schedule(.opens(link: link), at: now + channel + random.below(FieldLink.untuned))
    }

    mutating func opens(_ link: Int) {
        guard !links[link].isOver, !links[link].isFading else { return }
        let (node, number) = (links[link].ends[0].node, links[link].dial)
        guard let place = nodes[node].dials.firstIndex(where: { $0.number == number }) else {
            return shuts(link, 0)
        }
        let dial = nodes[node].dials.remove(at: place)
        trace(node, "link to \(nodes[links[link].ends[1].node].name)")
        reaches(.linked, node)
        schedule(.retunes(link: link), at: now + FieldAir.tuningDelay)
        nodes[links[link].ends[1].node].plan.opened(Self.handle(link))
        nodes[node].plan.dialled(Self.handle(link), intervals: nil)
        planChanged(links[link].ends[1].node)
        begin(link, 1, nil)
        begin(link, 0, dial)
        for end in 0...1 { readAgain(links[link].ends[end].node) }
        pull()
    }

    private mutating func begin(_ link: Int, _ end: Int, _ dial: FieldNode.Dial?) {
        guard !links[link].ends[end].isClosed else { return }
        let node = links[link].ends[end].node
        let opening = NodeCore.Opening(
            end == 0 ? .initiator : .responder, sendMTU: Limits.sduBytes, dial: dial?.number,
            expected: dial?.expecting,
            advertised: AdvertisedFlags(critical: nodes[links[link].ends[1].node].isHost ? [] : .circuitsOnly),
            entropy: .drawn(&random))
        settle(node)
        guard let id = nodes[node].core?.loop.open(opening, now: instant) else { return }
        links[link].ends[end].id = id
        perform(node)
        readAgain(node)
        touch(node)
    }

    mutating func cancelDial(_ node: Int, _ number: Int) {
        tally.dialsGivenUp += nodes[node].dials.count { $0.number == number }
        nodes[node].dials.removeAll { $0.number == number }
    }

    mutating func dialEnds(_ node: Int, _ number: Int) {
        guard nodes[node].dials.contains(where: { $0.number == number && $0.link == nil }) else { return }
        dialFails(node, number)
        pull()
    }

    mutating func dialFails(_ node: Int, _ number: Int) {
        guard nodes[node].core != nil, nodes[node].dials.contains(where: { $0.number == number }) else { return }
        nodes[node].dials.removeAll { $0.number == number }
        tally.dialsFailed += 1
        trace(node, "dial \(number) fails")
        feed(.dialFailed(number, refusal: nil), node)
    }
}
