// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NodeCore

/// The air: hosts are heard and dialled. Channels open, carry SDUs and close, and their two ends learn it at different
/// times.
extension World {
    // MARK: Scans and dials

    mutating func hears(_ node: Int) {
        later(100...500) { $0.hears(node) }
        for other in nodes.indices where other != node {
            guard nodes[node].core != nil, air.radios[node].isScanning, air.radios[node].hasAdapter,
                !nodes[node].isEnding, isReachable(other, from: node),
                let event = nodes[other].advertisement.heard(rssi: -60 - other)
            else { continue }
            feed(event, node)
        }
    }

    /// Whether a node is in range of another one to dial it.
    private func isReachable(_ other: Int, from node: Int) -> Bool {
        !air.outOfReach.contains(node) && !air.outOfReach.contains(other)
            && (scenario.reach.map { $0.hears(node, other) } ?? (other == 0)) && nodes[other].core != nil
            && !nodes[other].isEnding && air.radios[other].hasAdapter
    }

    /// The node with this identifier, or with this head of one.
    private func node(called peer: Peer.ID) -> Int? {
        let head = Identity.head(of: peer)
        return nodes.firstIndex { Identity.head(of: $0.peer) == head }
    }

    mutating func dial(_ node: Int, _ dial: Int, _ host: Peer.ID) {
        air.radios[node].dials[dial] = host
        trace(node, "dial \(dial) to \(self.node(called: host).map { nodes[$0].name } ?? host)")
        later(10...100, in: node) { $0.dials(node, dial) }
        let attempt = Int(Limits.dialAttempt / .milliseconds(1))
        later(attempt...attempt, in: node) { $0.dialFails(node, dial) }
    }

    private mutating func dials(_ node: Int, _ dial: Int) {
        guard let expected = air.radios[node].dials[dial] else { return }
        guard air.radios[node].hasAdapter else { return dialFails(node, dial) }
        let target = self.node(called: expected) ?? 0
        guard isReachable(target, from: node), target == 0 || nodes[target].advertisement.notice != nil else {
            return later(50...300, in: node) { $0.dials(node, dial) }
        }
        if !people.isQuiet, random.chance(scenario.failingDials) {
            // Half of the failing dials fail at once, and the other half hang.
            return later(random.chance(50) ? 0...100 : 500...4_000, in: node) { $0.dialFails(node, dial) }
        }
        let isFooled = now < air.impostorUntil && random.chance(50)
        let answerer = isFooled ? impostor() : .node(target, life: nodes[target].life)
        let channel = open(.node(node, life: nodes[node].life), answerer, dial: dial)
        air.channels[channel].dialled = target
        guard isFooled || random.chance(3) else { return }
        if isFooled { return later(500...6_000) { $0.closes(channel, 1) } }
        // The channel is open only for the host, and the guest never learns it.
        air.channels[channel].ends[0].isClosed = true
        air.channels[channel].isDisturbed = true
        trace(node, "dial \(dial) has a channel and does not learn it")
        later(0...2_000, in: node) { $0.dialFails(node, dial) }
    }

    private mutating func dialFails(_ node: Int, _ dial: Int) {
        guard air.radios[node].dials.removeValue(forKey: dial) != nil else { return }
        trace(node, "dial \(dial) fails")
        feed(.dialFailed(dial, refusal: nil), node)
    }

    // MARK: Channels

    /// A channel opens between two parties. Each end learns it at its own time.
    mutating func open(_ dialler: Party, _ acceptor: Party, dial: Int = 0) -> Int {
        air.channels.append(Channel(dialler, acceptor))
        let channel = air.channels.count - 1
        air.channels[channel].ends[0].dial = dial
        for end in 0...1 { later(1...60) { $0.opens(channel, end) } }
        return channel
    }

    /// One end learns that its channel is open.
    private mutating func opens(_ channel: Int, _ end: Int) {
        guard !air.channels[channel].ends[end].isClosed else { return }
        switch air.channels[channel].ends[end].party {
        case .hostile(let script):
            air.channels[channel].ends[end].isOpen = true
            for sdu in air.scripts[script].opened() { put(sdu, channel, end) }
        case .node(let node, let life):
            // The guest may no longer dial.
            guard nodes[node].life == life, !nodes[node].isEnding,
                end == 1 || air.radios[node].dials[air.channels[channel].ends[0].dial] != nil
            else { return closes(channel, end) }
            air.channels[channel].ends[end].isOpen = true
            begin(node, channel, end)
        }
        for _ in 0..<air.channels[channel].ends[1 - end].early { later(0...0) { $0.arrives(channel, 1 - end) } }
        air.channels[channel].ends[1 - end].early = 0
    }

    /// A channel is open at a node's end.
    private mutating func begin(_ node: Int, _ channel: Int, _ end: Int) {
        let dial = end == 0 ? air.channels[channel].ends[0].dial : nil
        if node == 0 { air.channels[channel].stateAtOpen = people.story.lastShown }
        let opening = NodeCore.Opening(
            end == 0 ? .initiator : .responder, sendMTU: sduLimit(channel, end), dial: dial,
            expected: dial.flatMap { air.radios[node].dials.removeValue(forKey: $0) },
            advertised: air.channels[channel].dialled > 0 ? AdvertisedFlags(critical: .circuitsOnly) : nil,
            entropy: .drawn(&random))
        guard let link = open(opening, node) else { return }
        air.channels[channel].ends[end].link = link
        air.radios[node].links[link] = LinkRadio.Link(channel: channel, end: end)
        perform(node, on: link)
        finish(node, on: link)
    }

    /// One end sends an SDU to the other.
    mutating func put(_ sdu: [UInt8], _ channel: Int, _ end: Int) {
        guard !air.channels[channel].isBroken, !air.channels[channel].ends[end].isClosed else { return }
        let time = now + random.microseconds(scenario.latency) + resending()
        let arrival = max(time, air.channels[channel].ends[end].lastArrival)
        air.channels[channel].ends[end].lastArrival = arrival
        air.channels[channel].ends[end].underway.append(sdu)
        if air.channels[channel].ends[end].recording.count < 3 { air.channels[channel].ends[end].recording.append(sdu) }
        at(arrival) { $0.arrives(channel, end) }
    }

    /// The SDU that has waited longest arrives.
    private mutating func arrives(_ channel: Int, _ from: Int) {
        let receiver = air.channels[channel].ends[1 - from]
        guard !air.channels[channel].isBroken, !air.channels[channel].ends[from].isDead, !receiver.isClosed,
            !air.channels[channel].ends[from].underway.isEmpty
        else { return }
        guard receiver.isOpen else {
            air.channels[channel].ends[from].early += 1
            return
        }
        if let node = receiver.node, mayRead(node, receiver.link) == false {
            // The other end notices the silence, but only this end knows that it has caused the silence.
            air.channels[channel].isDisturbed = true
            air.radios[node].unread.append((channel, from))
            return
        }
        let sdu = air.channels[channel].ends[from].underway.removeFirst()
        people.figures.sdus += 1
        hash.add(sdu.count)
        hash.add(Array(sdu.suffix(NoiseCipher.tagBytes)))
        wakes(channel, from)
        switch receiver.party {
        case .hostile(let script):
            for answer in air.scripts[script].received(sdu) { put(answer, channel, 1 - from) }
        case .node(let node, let life):
            guard nodes[node].life == life else { return }
            feed(.received(sdu, on: receiver.link), node, on: receiver.link)
        }
    }

    /// Reads SDUs that were not read because the node had no room.
    mutating func readAgain(_ node: Int) {
        guard !air.radios[node].unread.isEmpty, hasRoom(node) else { return }
        let ready = air.radios[node].unread.filter { place in
            mayRead(node, air.channels[place.channel].ends[1 - place.from].link) != false
        }
        air.radios[node].unread.removeAll { place in ready.contains { $0 == place } }
        for place in ready { later(0...0) { $0.arrives(place.channel, place.from) } }
    }

    /// Schedules a node's next attempt to send.
    mutating func wakes(_ channel: Int, _ end: Int) {
        guard air.channels[channel].ends[end].node != nil, !air.channels[channel].ends[end].willPull else { return }
        air.channels[channel].ends[end].willPull = true
        later(scenario.pullDelay) { $0.pulls(channel, end) }
    }

    /// A node sends as much as the channel's credits allow.
    private mutating func pulls(_ channel: Int, _ end: Int) {
        air.channels[channel].ends[end].willPull = false
        guard case .node(let node, let life) = air.channels[channel].ends[end].party, nodes[node].life == life,
            !air.channels[channel].ends[end].isClosed
        else { return }
        let link = air.channels[channel].ends[end].link
        let limit = sduLimit(channel, end)
        while air.channels[channel].ends[end].underway.count < scenario.credits {
            let time = localTime(of: node)
            guard let sdu = nodes[node].core?.loop.nextSDU(for: link, limit: limit, now: time) else { return }
            if sdu.count > limit { broken(.overLimit, node, "an SDU of \(sdu.count) bytes") }
            put(sdu, channel, end)
            perform(node)
            finish(node)
        }
    }

    /// The largest SDU that the other end accepts.
    private func sduLimit(_ channel: Int, _ end: Int) -> Int {
        air.channels[channel].ends[1 - end].node.map { scenario.sduLimits[$0] } ?? Limits.sduBytes
    }

    /// One end learns that its channel is closed, or closes it. The other end learns it later. If the channel still
    /// works, data in transit arrive before that.
    mutating func closes(_ channel: Int, _ end: Int) {
        guard !air.channels[channel].ends[end].isClosed else { return }
        air.channels[channel].ends[end].isClosed = true
        let closed = air.channels[channel].ends[end]
        if !air.channels[channel].ends[1 - end].isClosed, !air.channels[channel].isBroken {
            if random.chance(50) { air.channels[channel].ends[end].underway = [] }
            let isEmpty = air.channels[channel].ends[end].underway.isEmpty
            at((isEmpty ? now : closed.lastArrival) + random.microseconds(1...50)) { $0.closes(channel, 1 - end) }
        }
        if air.channels[channel].ends[1 - end].isClosed { finish(channel: channel) }
        guard case .node(let node, let life) = closed.party, nodes[node].life == life else { return }
        guard air.radios[node].links[closed.link] != nil else { return dialFails(node, closed.dial) }
        feed(.channelClosed(closed.link), node, on: closed.link)
        air.radios[node].links[closed.link] = nil
    }

    /// Removes a channel, except for its recordings.
    private mutating func finish(channel: Int) {
        for end in 0...1 {
            let recording = air.channels[channel].ends[end].recording
            air.channels[channel].ends[end].recording = []
            air.channels[channel].ends[end].underway = []
            guard recording.count > 1, air.channels[channel].isHonest else { continue }
            air.recordings[end].append(recording)
            if air.recordings[end].count > 8 { air.recordings[end].removeFirst() }
        }
    }

    /// A channel carries nothing any more. Each end learns it later, or must find out.
    mutating func breaks(_ channel: Int, after time: ClosedRange<Int>) {
        guard !air.channels[channel].isBroken else { return }
        air.channels[channel].isBroken = true
        for end in 0...1 where !air.channels[channel].ends[end].isClosed && !random.chance(15) {
            later(time) { $0.closes(channel, end) }
        }
    }

    /// A blocked direction works again.
    mutating func directionReturns(_ channel: Int, _ from: Int) {
        air.channels[channel].ends[from].isDead = false
        for _ in air.channels[channel].ends[from].underway { later(scenario.latency) { $0.arrives(channel, from) } }
    }

    /// Channels that may still have events.
    var livingChannels: [Int] {
        air.channels.indices.filter { index in
            !air.channels[index].isBroken && air.channels[index].ends.allSatisfy { $0.isOpen && !$0.isClosed }
        }
    }
}
