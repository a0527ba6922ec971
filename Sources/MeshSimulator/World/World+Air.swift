// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NodeCore

/// The air: hosts are heard and dialled. Channels open, carry SDUs and close, and their two ends learn it at different
/// times.
extension World {
    // MARK: Scans and dials

    mutating func hears(_ node: Int) {
        schedule(.hears(node: node), after: random.time(100...500))
        for other in nodes.indices where other != node {
            guard nodes[node].core != nil, nodes[node].isScanning, nodes[node].hasAdapter, !nodes[node].isEnding,
                isReachable(other, from: node), let event = nodes[other].advertisement.heard(rssi: -60 - other)
            else { continue }
            feed(event, node)
        }
    }

    /// Whether a node is in range of another one to dial it.
    func isReachable(_ other: Int, from node: Int) -> Bool {
        !outOfReach.contains(node) && !outOfReach.contains(other)
            && (scenario.reach.map { $0.hears(node, other) } ?? (other == 0)) && nodes[other].core != nil
            && !nodes[other].isEnding && nodes[other].hasAdapter
    }

    /// The node with this identifier, or with this head of one.
    private func node(called peer: Peer.ID) -> Int? {
        let head = Identity.head(of: peer)
        return nodes.firstIndex { Identity.head(of: $0.peer) == head }
    }

    mutating func dial(_ node: Int, _ dial: Int, _ host: Peer.ID) {
        nodes[node].dials[dial] = host
        trace(node, "dial \(dial) to \(self.node(called: host).map { nodes[$0].name } ?? host)")
        let life = nodes[node].life
        schedule(.dials(node: node, life: life, dial: dial), after: random.time(10...100))
        schedule(.dialFails(node: node, life: life, dial: dial), after: Limits.dialAttempt)
    }

    mutating func dials(_ node: Int, _ life: Int, _ dial: Int) {
        guard nodes[node].life == life, let expected = nodes[node].dials[dial] else { return }
        guard nodes[node].hasAdapter else { return dialFails(node, life, dial) }
        let target = self.node(called: expected) ?? 0
        guard isReachable(target, from: node), target == 0 || nodes[target].advertisement.notice != nil else {
            schedule(.dials(node: node, life: life, dial: dial), after: random.time(50...300))
            return
        }
        if !isQuiet, random.chance(scenario.failingDials) {
            // Half of the failing dials fail at once, and the other half hang.
            let time = random.chance(50) ? 0...100 : 500...4_000
            schedule(.dialFails(node: node, life: life, dial: dial), after: random.time(time))
            return
        }
        let isFooled = now < impostorUntil && random.chance(50)
        let answerer = isFooled ? impostor() : .node(target, life: nodes[target].life)
        let channel = open(.node(node, life: life), answerer, dial: dial)
        channels[channel].dialled = target
        guard isFooled || random.chance(3) else { return }
        if isFooled { return schedule(.hostileLeaves(channel: channel, end: 1), after: random.time(500...6_000)) }
        // The channel is open only for the host, and the guest never learns it.
        channels[channel].ends[0].isClosed = true
        channels[channel].isDisturbed = true
        trace(node, "dial \(dial) has a channel and does not learn it")
        schedule(.dialFails(node: node, life: life, dial: dial), after: random.time(0...2_000))
    }

    mutating func dialFails(_ node: Int, _ life: Int, _ dial: Int) {
        guard nodes[node].life == life, nodes[node].dials.removeValue(forKey: dial) != nil else { return }
        trace(node, "dial \(dial) fails")
        if !nodes[node].isEnding { feed(.dialFailed(dial, refusal: nil), node) }
    }

    // MARK: Channels

    /// A channel opens between two parties. Each end learns it at its own time.
    @discardableResult
    mutating func open(_ dialler: Party, _ acceptor: Party, dial: Int = 0) -> Int {
        channels.append(Channel(dialler, acceptor))
        let channel = channels.count - 1
        channels[channel].ends[0].dial = dial
        for end in 0...1 { schedule(.opens(channel: channel, end: end), after: random.time(1...60)) }
        return channel
    }

    /// One end learns that its channel is open.
    mutating func opens(_ channel: Int, _ end: Int) {
        guard !channels[channel].ends[end].isClosed else { return }
        switch channels[channel].ends[end].party {
        case .hostile(let script):
            channels[channel].ends[end].isOpen = true
            for sdu in scripts[script].opened() { put(sdu, channel, end) }
        case .node(let node, let life):
            guard nodes[node].life == life, !nodes[node].isEnding, isWanted(channel, end, node) else {
                closes(channel, end)
                return
            }
            channels[channel].ends[end].isOpen = true
            begin(node, channel, end)
        }
        for _ in 0..<channels[channel].ends[1 - end].early {
            schedule(.arrives(channel: channel, from: 1 - end), after: .zero)
        }
        channels[channel].ends[1 - end].early = 0
    }

    /// Whether the guest still dials, and the host has room for the channel.
    private func isWanted(_ channel: Int, _ end: Int, _ node: Int) -> Bool {
        end == 1 || nodes[node].dials[channels[channel].ends[0].dial] != nil
    }

    /// One end sends an SDU to the other.
    mutating func put(_ sdu: [UInt8], _ channel: Int, _ end: Int) {
        guard !channels[channel].isBroken, !channels[channel].ends[end].isClosed else { return }
        let arrival = max(now + random.time(scenario.latency) + resending(), channels[channel].ends[end].lastArrival)
        channels[channel].ends[end].lastArrival = arrival
        channels[channel].ends[end].underway.append(sdu)
        if channels[channel].ends[end].recording.count < 3 { channels[channel].ends[end].recording.append(sdu) }
        schedule(.arrives(channel: channel, from: end), at: arrival)
    }

    /// The SDU that has waited longest arrives.
    mutating func arrives(_ channel: Int, _ from: Int) {
        let receiver = channels[channel].ends[1 - from]
        guard !channels[channel].isBroken, !channels[channel].ends[from].isDead, !receiver.isClosed,
            !channels[channel].ends[from].underway.isEmpty
        else { return }
        guard receiver.isOpen else {
            channels[channel].ends[from].early += 1
            return
        }
        if let node = receiver.node, mayRead(node, receiver.link) == false {
            // The other end notices the silence, but only this end knows that it has caused the silence.
            channels[channel].isDisturbed = true
            nodes[node].unread.append((channel, from))
            return
        }
        let sdu = channels[channel].ends[from].underway.removeFirst()
        figures.sdus += 1
        hash.add(sdu.count)
        hash.add(Array(sdu.suffix(NoiseCipher.tagBytes)))
        wakes(channel, from)
        switch receiver.party {
        case .hostile(let script):
            for answer in scripts[script].received(sdu) { put(answer, channel, 1 - from) }
        case .node(let node, let life):
            guard nodes[node].life == life else { return }
            feed(.received(sdu, on: receiver.link), node, on: receiver.link)
        }
    }

    /// Schedules a node's next attempt to send.
    mutating func wakes(_ channel: Int, _ end: Int) {
        guard channels[channel].ends[end].node != nil, !channels[channel].ends[end].willPull else { return }
        channels[channel].ends[end].willPull = true
        schedule(.pulls(channel: channel, end: end), after: random.time(scenario.pullDelay))
    }

    /// A node sends as much as the channel's credits allow.
    mutating func pulls(_ channel: Int, _ end: Int) {
        channels[channel].ends[end].willPull = false
        guard case .node(let node, let life) = channels[channel].ends[end].party, nodes[node].life == life,
            !channels[channel].ends[end].isClosed
        else { return }
        let link = channels[channel].ends[end].link
        let limit = sduLimit(channel, end)
        while channels[channel].ends[end].underway.count < scenario.credits {
            let time = localTime(of: node)
            guard let sdu = nodes[node].core?.loop.nextSDU(for: link, limit: limit, now: time) else { return }
            if sdu.count > limit { broken(.overLimit, nodes[node].name, "an SDU of \(sdu.count) bytes") }
            put(sdu, channel, end)
            perform(node)
            goOn(node)
        }
    }

    /// The largest SDU that the other end accepts.
    func sduLimit(_ channel: Int, _ end: Int) -> Int {
        channels[channel].ends[1 - end].node.map { scenario.sduLimits[$0] } ?? Limits.sduBytes
    }

    /// One end learns that its channel is closed, or closes it. The other end learns it later. If the channel still
    /// works, data in transit arrive before that.
    mutating func closes(_ channel: Int, _ end: Int) {
        guard !channels[channel].ends[end].isClosed else { return }
        channels[channel].ends[end].isClosed = true
        let party = channels[channel].ends[end].party
        if !channels[channel].ends[1 - end].isClosed, !channels[channel].isBroken {
            if random.chance(50) { channels[channel].ends[end].underway = [] }
            let last = channels[channel].ends[end].underway.isEmpty ? now : channels[channel].ends[end].lastArrival
            schedule(.closes(channel: channel, end: 1 - end), at: last + random.time(1...50))
        }
        if channels[channel].ends[1 - end].isClosed { finish(channel) }
        guard case .node(let node, let life) = party, nodes[node].life == life else { return }
        let link = channels[channel].ends[end].link
        guard nodes[node].links[link] != nil else {
            dialFails(node, life, channels[channel].ends[end].dial)
            return
        }
        feed(.channelClosed(link), node, on: link)
        nodes[node].links[link] = nil
    }

    /// Removes a channel, except for its recordings.
    private mutating func finish(_ channel: Int) {
        for end in 0...1 {
            let recording = channels[channel].ends[end].recording
            channels[channel].ends[end].recording = []
            channels[channel].ends[end].underway = []
            guard recording.count > 1, channels[channel].isHonest else { continue }
            recordings[end].append(recording)
            if recordings[end].count > 8 { recordings[end].removeFirst() }
        }
    }

    /// A channel carries nothing any more. Each end learns it later, or must find out.
    mutating func breaks(_ channel: Int, after time: ClosedRange<Int>) {
        guard !channels[channel].isBroken else { return }
        channels[channel].isBroken = true
        for end in 0...1 where !channels[channel].ends[end].isClosed && !random.chance(15) {
            schedule(.closes(channel: channel, end: end), after: random.time(time))
        }
    }

    /// A blocked direction works again.
    mutating func directionReturns(_ channel: Int, _ from: Int) {
        channels[channel].ends[from].isDead = false
        for _ in channels[channel].ends[from].underway {
            schedule(.arrives(channel: channel, from: from), after: random.time(scenario.latency))
        }
    }

    /// Channels that may still have events.
    var livingChannels: [Int] {
        channels.indices.filter { index in
            !channels[index].isBroken && channels[index].ends.allSatisfy { $0.isOpen && !$0.isClosed }
        }
    }
}
