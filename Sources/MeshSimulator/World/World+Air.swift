// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Channels: they open, carry SDUs and close, and their two ends learn it at different times.
extension World {
    /// A channel comes up between two parties. Each end is told in its own time.
    @discardableResult
    mutating func open(_ dialler: Party, _ acceptor: Party, dial: Int = 0) -> Int {
        channels.append(Channel(dialler, acceptor))
        let channel = channels.count - 1
        channels[channel].ends[0].dial = dial
        for end in 0...1 { schedule(.opens(channel: channel, end: end), after: random.time(1...60)) }
        return channel
    }

    /// One end is told that its channel is open.
    mutating func opens(_ channel: Int, _ end: Int) {
        guard !channels[channel].ends[end].isClosed else { return }
        switch channels[channel].ends[end].party {
        case .hostile(let script):
            channels[channel].ends[end].isOpen = true
            for sdu in scripts[script].opened() { put(sdu, channel, end) }
        case .node(let node, let life):
            guard nodes[node].life == life, nodes[node].core != nil, isWanted(channel, end, node) else {
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

    /// A guest has not given up its dial, and a host has a place among its channels.
    private func isWanted(_ channel: Int, _ end: Int, _ node: Int) -> Bool {
        end == 1 || nodes[node].isDialling && nodes[node].dial == channels[channel].ends[0].dial
    }

    /// One end has an SDU for the other.
    mutating func put(_ sdu: [UInt8], _ channel: Int, _ end: Int) {
        guard !channels[channel].isBroken, !channels[channel].ends[end].isClosed else { return }
        let arrival = max(now + random.time(scenario.latency) + resending(), channels[channel].ends[end].lastArrival)
        channels[channel].ends[end].lastArrival = arrival
        channels[channel].ends[end].underway.append(sdu)
        if channels[channel].ends[end].recording.count < 3 { channels[channel].ends[end].recording.append(sdu) }
        schedule(.arrives(channel: channel, from: end), at: arrival)
    }

    /// The SDU that has waited longest is there.
    mutating func arrives(_ channel: Int, _ from: Int) {
        let sender = channels[channel].ends[from]
        let receiver = channels[channel].ends[1 - from]
        guard !channels[channel].isBroken, !sender.isDead, !receiver.isClosed, !sender.underway.isEmpty else { return }
        guard receiver.isOpen else {
            channels[channel].ends[from].early += 1
            return
        }
        if let wait = holdUp(receiver) {
            schedule(.arrives(channel: channel, from: from), after: wait)
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
            act(node, on: receiver.link) { $0.received(sdu, on: receiver.link, now: $1) }
        }
    }

    /// How long a node does not read from a link yet.
    private func holdUp(_ end: Channel.End) -> Duration? {
        guard let node = end.node, let until = nodes[node].links[end.link]?.heldUntil else { return nil }
        let wait = until - localTime(of: node)
        return wait > .zero ? wait : nil
    }

    /// A node looks for something to send when it comes to it.
    mutating func wakes(_ channel: Int, _ end: Int) {
        guard channels[channel].ends[end].node != nil, !channels[channel].ends[end].willPull else { return }
        channels[channel].ends[end].willPull = true
        schedule(.pulls(channel: channel, end: end), after: random.time(scenario.pullDelay))
    }

    /// A node sends what the channel has credit for.
    mutating func pulls(_ channel: Int, _ end: Int) {
        channels[channel].ends[end].willPull = false
        guard case .node(let node, let life) = channels[channel].ends[end].party, nodes[node].life == life,
            !channels[channel].ends[end].isClosed
        else { return }
        let link = channels[channel].ends[end].link
        let limit = sduLimit(channel, end)
        while channels[channel].ends[end].underway.count < scenario.credits {
            guard let (sdu, actions) = nodes[node].core?.nextSDU(for: link, limit: limit) else { return }
            if sdu.count > limit { broken(.overLimit, nodes[node].name, "an SDU of \(sdu.count) bytes") }
            put(sdu, channel, end)
            carryOut(actions, node)
        }
    }

    /// The largest SDU that the other end takes.
    func sduLimit(_ channel: Int, _ end: Int) -> Int {
        channels[channel].ends[1 - end].node.map { scenario.sduLimits[$0] } ?? Limits.sduBytes
    }

    /// One end is told that its channel is closed, or closes it. The other learns it later, from a living channel behind
    /// what is under way.
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
        act(node, on: link) { core, _ in core.channelClosed(link) }
        nodes[node].links[link] = nil
    }

    /// Nothing is left of a channel but what was recorded of it.
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

    /// Nothing moves on a channel any more. Each end is told after a while, or has to find out.
    mutating func breaks(_ channel: Int, after time: ClosedRange<Int>) {
        guard !channels[channel].isBroken else { return }
        channels[channel].isBroken = true
        for end in 0...1 where !channels[channel].ends[end].isClosed && !random.chance(15) {
            schedule(.closes(channel: channel, end: end), after: random.time(time))
        }
    }

    /// What has waited in a direction goes on.
    mutating func directionReturns(_ channel: Int, _ from: Int) {
        channels[channel].ends[from].isDead = false
        for _ in channels[channel].ends[from].underway {
            schedule(.arrives(channel: channel, from: from), after: random.time(scenario.latency))
        }
    }

    /// Channels on which something may still happen.
    var livingChannels: [Int] {
        channels.indices.filter { index in
            !channels[index].isBroken && channels[index].ends.allSatisfy { $0.isOpen && !$0.isClosed }
        }
    }
}
