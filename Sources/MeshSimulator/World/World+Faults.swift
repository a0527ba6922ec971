// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The faults.
extension World {
    mutating func fault() {
        guard !people.isQuiet else { return }
        later(scenario.faultPause) { $0.fault() }
        guard let fault = random.pick(scenario.faults) else { return }
        people.figures.faults[fault, default: 0] += 1
        hash.add(fault.rawValue)
        let node = random.below(nodes.count)
        let guest = random.pick(1...nodes.count - 1)
        switch fault {
        case .tunnel: tunnel(guest)
        case .oneWay: oneWay()
        case .breaks:
            guard let channel = random.pick(livingChannels) else { return }
            trace("channel \(channel) breaks")
            breaks(channel, after: 0...600)
        case .kill, .loseStore:
            // A killed host stops everything, so this fault is less frequent.
            guard node > 0 || random.chance(50) else { return }
            if fault == .loseStore, node > 0, random.chance(40) { return loseStoreInAWrite(node) }
            kill(node, losingStore: fault == .loseStore)
            later(scenario.downTime) { $0.starts(node) }
        case .adapter: adapter(node)
        case .clockLeap: leap(node, random.time(100...12_000))
        case .leave:
            say(.leave, guest)
            retries(guest, after: 200...4_000)
        case .disk:
            let time = now + random.microseconds(500...6_000)
            trace(node, "its disk takes nothing for a while")
            if random.chance(50) { nodes[node].disk.refusesUntil = time } else { nodes[node].disk.hangsUntil = time }
        case .quit: say(.quit(.terminated), node)
        case .session: if random.chance(30) { say(.end, 0) }
        case .kick:
            guard random.chance(25) else { return }
            let browser = people.browsers.isEmpty || random.chance(50) ? nil : random.pick(people.browsers)
            say(.host(.kick(browser?.peer.id ?? nodes[guest].peer)), 0)
        case .page: pageFault()
        case .tamper: tamper()
        case .intruder: intrude()
        case .impostor:
            trace("somebody answers in the host's place")
            air.impostorUntil = now + random.microseconds(500...3_000)
        }
    }

    private mutating func tunnel(_ guest: Int) {
        guard air.outOfReach.insert(guest).inserted else { return }
        trace(guest, "is in a tunnel")
        breakChannels(of: guest, after: 420...2_500)
        later(500...8_000) { $0.air.outOfReach.remove(guest) }
    }

    /// A guest's store is lost while the host's slow disk writes the guest's messages. After the guest's return its
    /// person makes further wishes.
    private mutating func loseStoreInAWrite(_ guest: Int) {
        nodes[0].disk.hangsUntil = max(nodes[0].disk.hangsUntil, now + random.microseconds(1_000...4_000))
        wishes(guest, after: 0...0)
        later(50...600) { if !$0.people.isQuiet { $0.kill(guest, losingStore: true) } }
        later(610...610) { $0.starts(guest) }
        for _ in 0..<random.pick(1...5) { wishes(guest, after: 620...3_000) }
    }

    /// The ends of a guest's channels learn the end of the channels within this many milliseconds.
    mutating func breakChannels(of guest: Int, after time: ClosedRange<Int>) {
        for channel in livingChannels where air.channels[channel].ends.contains(where: { $0.node == guest }) {
            breaks(channel, after: time)
        }
    }

    private mutating func oneWay() {
        guard let channel = random.pick(livingChannels) else { return }
        let from = random.below(2)
        trace("channel \(channel) carries nothing from end \(from)")
        air.channels[channel].ends[from].isDead = true
        air.channels[channel].isDisturbed = true
        // The fault lasts for less time than it takes to be noticed, or longer, or permanently.
        guard random.chance(60) else { return }
        later(100...4_000) { $0.directionReturns(channel, from) }
    }

    private mutating func adapter(_ node: Int) {
        guard nodes[node].core != nil, air.radios[node].hasAdapter else { return }
        trace(node, "its adapter is gone")
        air.radios[node].hasAdapter = false
        loseRadio(node)
        for channel in livingChannels {
            for end in 0...1 where air.channels[channel].ends[end].node == node {
                air.channels[channel].isBroken = true
                later(0...20) { $0.closes(channel, end) }
                if !random.chance(15) { later(100...1_500) { $0.closes(channel, 1 - end) } }
            }
        }
        later(200...5_000) { $0.adapterReturns(node) }
    }

    mutating func loseRadio(_ node: Int) {
        air.radios[node].isOut = true
        tell(.radioFailed(.noAdapter), node, after: 0...100)
    }

    mutating func adapterReturns(_ node: Int) {
        air.radios[node].hasAdapter = true
        guard air.radios[node].isOut else { return }
        air.radios[node].isOut = false
        tell(.radioRecovered, node, after: 100...200)
    }

    /// An attacker changes, repeats or drops data in transit on a channel, which is difficult on a real link layer.
    private mutating func tamper() {
        guard let channel = random.pick(livingChannels) else { return }
        let end = random.below(2)
        let count = air.channels[channel].ends[end].underway.count
        air.channels[channel].isTampered = true
        guard count > 0 else {
            trace("somebody puts something into channel \(channel)")
            let old = random.pick(air.channels[channel].ends[end].recording) ?? []
            put(random.chance(50) ? old : random.bytes(random.pick(0...100)), channel, end)
            return
        }
        trace("somebody changes what is on channel \(channel)")
        let index = random.below(count)
        switch random.below(3) {
        case 0:
            guard !air.channels[channel].ends[end].underway[index].isEmpty else { return }
            let byte = random.below(air.channels[channel].ends[end].underway[index].count)
            air.channels[channel].ends[end].underway[index][byte] ^= UInt8(1 << random.below(8))
        case 1: air.channels[channel].ends[end].underway.remove(at: index)
        default:
            let sdu = air.channels[channel].ends[end].underway[index]
            put(sdu, channel, end)
        }
    }
}
