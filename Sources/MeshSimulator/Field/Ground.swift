// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Glibc
import MeshProtocol
import NodeCore

/// The air of a field: radios at positions, of limited range, that hold a few links and do one thing at a time. They
/// advertise, scan and dial.
struct Ground {
    /// A dial without a channel so far.
    struct Dial {
        let number: Int
        let target: Int?
        let expecting: Peer.ID
        /// The link that it is creating.
        var link: Int?
    }

    private struct Radio {
        /// Maximum number of links while it advertises. A relay reserves one for its own route to the host.
        let room: Int
        var isOn = false
        var isAdvertising = false
        /// The current scan. Each scan has a higher number; nil without one.
        var scan: Int?
        var scans = 0
        var dials: [Dial] = []
        /// The nodes that it has heard, and when it heard each of them last.
        var heard: [Int: Int] = [:]
    }

    private var radios: [Radio]
    private(set) var terrain: Terrain
    var connections: Connections
    /// Number of dials that have failed or were given up.
    private(set) var lostDials = 0
    /// Nodes by the head of their identifier.
    private let heads: [Peer.ID: Int]
    /// The checked signatures of the host, and the decoded messages. Otherwise each node would check and decode them.
    let checked = CheckedSignatures()
    let reading = SharedReading()

    init(_ terrain: Terrain, _ nodes: [SimulatedNode]) {
        self.terrain = terrain
        radios = nodes.map { Radio(room: FieldScenario.links - ($0.isHost ? 0 : 1)) }
        connections = Connections(radios: nodes.count)
        heads = Dictionary(uniqueKeysWithValues: nodes.enumerated().map { ($1.advertisement.sender.id, $0) })
    }

    func node(_ head: Peer.ID) -> Int? { heads[head] }

    mutating func start(_ node: Int) { radios[node].isOn = true }

    /// A radio is gone.
    mutating func stop(_ node: Int, _ time: inout Connections.Time) {
        (radios[node].isOn, radios[node].scan) = (false, nil)
        for link in connections.links(of: node) { connections.fade(link, &time) }
    }

    /// Whether a node's advertisement is on the air. A controller with its maximum of links cannot accept another.
    private func advertises(_ node: Int) -> Bool {
        radios[node].isOn && radios[node].isAdvertising && connections.links(of: node).count < radios[node].room
    }

    /// Running nodes in range of a node, in order.
    func neighbours(of node: Int) -> [Int] { terrain.neighbours(of: node).filter { radios[$0].isOn } }

    // MARK: Positions

    /// The moving nodes take a step.
    mutating func moves(_ time: inout Connections.Time) {
        for node in terrain.step(now: time.now, &time.random) { checkRanges(of: node, &time) }
    }

    /// A node moves to another position.
    mutating func move(_ node: Int, to place: FieldPoint, _ time: inout Connections.Time) {
        terrain.move(node, to: place)
        checkRanges(of: node, &time)
    }

    private mutating func checkRanges(of node: Int, _ time: inout Connections.Time) {
        for link in connections.links(of: node) {
            let ends = (connections.links[link].central, connections.links[link].peripheral)
            connections.moved(link, signal: terrain.signal(ends.0, ends.1), &time)
        }
    }

    mutating func stopMoving() { terrain.stopMoving() }

    // MARK: Scanning

    mutating func startScanning(_ node: Int, _ time: inout Connections.Time) {
        radios[node].scans += 1
        radios[node].scan = radios[node].scans
        time.schedule(.air(.listens(node: node, scan: radios[node].scans)), at: time.now)
    }

    mutating func stopScanning(_ node: Int) { radios[node].scan = nil }

    /// A node that scans will hear some nodes within the next second. Returns those that it has not heard for long.
    mutating func listens(_ node: Int, _ scan: Int, _ time: inout Connections.Time) -> [Int] {
        guard radios[node].isOn, radios[node].scan == scan else { return [] }
        time.schedule(.air(.listens(node: node, scan: scan)), at: time.now + FieldAir.reportInterval)
        for (other, chance) in audible(at: node, time.now) {
            let wait = wait(for: other, chance, &time)
            guard wait < FieldAir.reportInterval else { continue }
            time.schedule(.air(.hears(node: node, other: other, scan: scan)), at: time.now + wait)
        }
        let lost = radios[node].heard.filter { time.now - $0.value > FieldAir.forgottenAfter }.keys.sorted()
        for other in lost { radios[node].heard[other] = nil }
        return lost
    }

    /// The strength with which a scanning node hears another one. Nil if it hears nothing.
    func signal(of other: Int, at node: Int, _ scan: Int) -> Int? {
        radios[node].scan == scan && advertises(other) ? terrain.signal(node, other) : nil
    }

    mutating func heard(_ other: Int, by node: Int, at time: Int) { radios[node].heard[other] = time }

    // MARK: Advertising

    /// A node starts to advertise, or changes its advertisement. Nodes that scan in range hear it soon.
    mutating func startAdvertising(_ node: Int, _ time: inout Connections.Time) {
        radios[node].isAdvertising = true
        connections.changed(node, at: time.now)
        for other in neighbours(of: node) {
            guard let scan = radios[other].scan else { continue }
            let chance = audible(at: other, time.now).first { $0.node == node }?.chance ?? 0
            let wait = wait(for: node, chance, &time)
            time.schedule(.air(.hears(node: other, other: node, scan: scan)), at: time.now + wait)
        }
    }

    mutating func stopAdvertising(_ node: Int) { radios[node].isAdvertising = false }

    /// The nodes that can be heard at a node, and the chance to hear one advertisement. It may be skipped for a
    /// connection event, or collide with another one that is not much weaker.
    private mutating func audible(at node: Int, _ now: Int) -> [(node: Int, chance: Double)] {
        let others = terrain.inRange(of: node).filter { advertises($0.node) }
        // The share of airtime of each, summed over all before it.
        var shares = [0.0]
        for other in others {
            let interval = advertisingInterval(of: other.node, now) + FieldAir.advertisingDelay / 2
            shares.append(shares[shares.count - 1] + Double(FieldAir.advertisement) / Double(interval))
        }
        let own = pow(FieldAir.advertisedBesideLink, Double(connections.links(of: node).count))
        var weaker = 0
        return others.enumerated().map { place, other in
            while others[weaker].signal < other.signal - FieldAir.capture { weaker += 1 }
            let share = shares[others.count] - shares[weaker] - (shares[place + 1] - shares[place])
            let links = Double(connections.links(of: other.node).count)
            return (other.node, exp(-2 * share) * own * pow(FieldAir.advertisedBesideLink, links))
        }
    }

    private func advertisingInterval(of node: Int, _ now: Int) -> Int {
        now - connections.changedAt(node) < FieldAir.eagerTime ? FieldAir.fastAdvertising : FieldAir.slowAdvertising
    }

    /// The time until one of a node's advertisements is received.
    private func wait(for other: Int, _ chance: Double, _ time: inout Connections.Time) -> Int {
        guard chance > 0 else { return .max / 4 }
        let interval = advertisingInterval(of: other, time.now) + FieldAir.advertisingDelay / 2
        let misses = chance < 1 ? log(1 - time.random.fraction()) / log(1 - chance) : 0
        return time.random.below(interval) + Int(min(misses, 1e6)) * interval
    }

    // MARK: Dialling

    /// A node dials another one, of which nil is unknown here.
    mutating func dial(
        _ node: Int, _ number: Int, to target: Int?, expecting: Peer.ID, _ time: inout Connections.Time
    ) {
        radios[node].dials.append(Dial(number: number, target: target, expecting: expecting))
        let wait = dialling(node, target, &time)
        time.schedule(.air(.reaches(node: node, dial: number)), at: time.now + wait)
        time.schedule(.air(.dialEnds(node: node, dial: number)), at: time.now + FieldAir.dialAttempt)
    }

    /// A dial hears one advertisement, and is answered at that or the next one. If the node is not in range, the dial
    /// tries again later.
    private mutating func dialling(_ node: Int, _ target: Int?, _ time: inout Connections.Time) -> Int {
        guard let target, let chance = audible(at: node, time.now).first(where: { $0.node == target })?.chance else {
            return FieldAir.dialPoll / 2 + time.random.below(FieldAir.dialPoll)
        }
        return wait(for: target, chance, &time) + (time.random.chance(50) ? wait(for: target, chance, &time) : 0)
    }

    /// A pending dial may succeed.
    mutating func reaches(_ node: Int, _ number: Int, _ time: inout Connections.Time) {
        guard radios[node].isOn, let dial = radios[node].dials.firstIndex(where: { $0.number == number }),
            radios[node].dials[dial].link == nil
        else { return }
        guard let target = radios[node].dials[dial].target, advertises(target),
            let signal = terrain.signal(node, target), connections.links(of: node).count < FieldScenario.links
        else {
            let wait = FieldAir.dialPoll / 2 + time.random.below(FieldAir.dialPoll)
            return time.schedule(.air(.reaches(node: node, dial: number)), at: time.now + wait)
        }
        radios[node].dials[dial].link = connections.connect(node, to: target, dial: number, signal: signal, &time)
    }

    /// A dial has a channel. Nil if it was given up.
    mutating func answer(_ node: Int, _ number: Int) -> Dial? {
        radios[node].dials.firstIndex { $0.number == number }.map { radios[node].dials.remove(at: $0) }
    }

    /// A dial fails or is given up. Returns false if it is over already.
    mutating func giveUp(_ node: Int, _ number: Int) -> Bool {
        guard answer(node, number) != nil else { return false }
        lostDials += 1
        return true
    }

    /// Whether a dial has no link yet.
    func isPending(_ node: Int, _ number: Int) -> Bool {
        radios[node].dials.contains { $0.number == number && $0.link == nil }
    }
}
