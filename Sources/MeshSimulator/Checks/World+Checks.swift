// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What is looked after besides the messages.
extension World {
    /// A link comes up once, and ends once. Everything that is told of it is told in between.
    mutating func checkOrder(_ node: Int, _ link: MeshCore.LinkID, _ event: LinkEvent) {
        guard let place = nodes[node].links[link] else { return }
        let isInOrder: Bool
        switch event {
        case .admitted: isInOrder = !place.isUp
        case .connected:
            isInOrder = !place.isUp
            nodes[node].links[link]?.isUp = true
        case .failed:
            isInOrder = !place.isUp
            nodes[node].links[link]?.hasEnded = true
        case .ended:
            isInOrder = place.isUp
            nodes[node].links[link]?.hasEnded = true
        case .received, .acknowledged, .latestHasLeft, .roundTrip: isInOrder = place.isUp
        }
        guard !isInOrder || place.hasEnded else { return }
        broken(.outOfOrder, nodes[node].name, "\(event.words) on link \(link), channel \(place.channel)")
    }

    /// Whoever a link is up with has to be at its other end, and nowhere else. A guest has dialled the host, and wants no
    /// other; whoever joins a host is welcome, as themselves.
    mutating func checkConnected(_ node: Int, _ place: SimulatedLink, _ peer: Peer) {
        let other = channels[place.channel].ends[1 - place.end].node.map { nodes[$0].peer } ?? mallory.peerID
        if other != peer.id || node > 0 && peer.id != nodes[0].peer {
            broken(.falsePeer, nodes[node].name, "\(peer) on channel \(place.channel)")
        }
        let links = nodes[node].links.values.filter { !$0.isClosing }.count { link in
            nodes[node].core?.peer(on: channels[link.channel].ends[link.end].link)?.id == peer.id
        }
        if links > 1 { broken(.linkedTwice, nodes[node].name, "\(peer)") }
    }

    /// Whether a link had a reason to end like that.
    mutating func checkEnd(_ node: Int, _ end: LinkEnd, _ channel: Int) {
        switch end {
        case .misbehaved(let how): checkAccusation(node, how, channel)
        case .silent, .handshakeTimeout:
            let place = channels[channel]
            guard place.isHonest, !place.isDisturbed, !place.isBroken else { return }
            broken(.givenUp, nodes[node].name, "\(end.words) on channel \(channel)")
        case .refused(let reason):
            // There is room for everybody, and hosts here send guests away with this reason only.
            guard reason != .ended, channels[channel].isHonest else { return }
            broken(.givenUp, nodes[node].name, "\(end.words) on channel \(channel)")
        case .left, .goodbye, .replaced, .busy, .linkLost: break
        }
    }

    /// Two nodes that keep to the protocol have nothing to accuse one another of. Where somebody has changed what a channel
    /// carries, or stands in another's place without its key, it shows before any frame is looked at. Only whoever has
    /// joined with a key of its own can do more than that.
    mutating func checkAccusation(_ node: Int, _ how: Misbehaviour, _ channel: Int) {
        switch how {
        case .badHandshake, .forgedRecord, .changedIdentity, .strippedAdvertisement:
            guard channels[channel].isHonest else { return }
        case .malformedFrame, .unexpectedFrame, .badFragment, .missingMessage, .impossibleAcknowledgement,
            .smallChannel:
            let hasMember = channels[channel].ends[0].node == nil
            guard !hasMember else { return }
        }
        broken(.falselyAccused, nodes[node].name, "\(how) on channel \(channel)")
    }

    /// What a peer has a hand in stays within its limits.
    mutating func checkMemory(of node: Int) {
        guard let footprint = nodes[node].core?.footprint else { return }
        let amounts = [
            // Nothing of a link is left when its channel is gone.
            ("links", footprint.links, nodes[node].links.count),
            ("connected peers", footprint.connected, Limits.guests),
            ("half-open handshakes", footprint.strangers, Limits.strangers),
            ("conversations", footprint.conversations, Limits.conversations),
            ("messages of an outbox", footprint.outboxMessages, Limits.outboxMessages),
            ("bytes of an outbox", footprint.outboxBytes, Limits.outboxBytes),
            ("bytes of all outboxes", footprint.allOutboxBytes, Limits.allOutboxBytes),
            ("bytes of a unit", footprint.reassemblyBytes, Limits.unitBytes),
            // A handshake has two packets a side; of a link's own frames the newest of each kind waits.
            ("frames of a link's own", footprint.ownFrames, 8),
        ]
        for (what, amount, limit) in amounts where amount > limit {
            broken(.overLimit, nodes[node].name, "\(amount) \(what), and \(limit) is the limit")
        }
    }

    // MARK: When the faults have stopped

    /// Everything is as it should be from now on.
    mutating func quiet() {
        trace("The faults stop.")
        isQuiet = true
        outOfReach = []
        impostorUntil = now
        for node in nodes.indices {
            nodes[node].hasAdapter = true
            schedule(.starts(node: node), after: random.time(0...500))
        }
        broadcast()
        schedule(.looks, after: .milliseconds(100))
    }

    /// Looks whether everybody is there and everything has arrived.
    mutating func looks() {
        guard whatIsMissing().isEmpty else {
            schedule(.looks, after: .milliseconds(100))
            return
        }
        figures.recovery = now - scenario.faultsEnd
        isSettled = true
    }

    /// What is still to happen, in words; empty when nothing is.
    func whatIsMissing() -> String {
        for guest in 1..<nodes.count {
            let name = nodes[guest].name
            guard isLinked(0, to: guest), isLinked(guest, to: 0) else {
                return "\(name) and the host are not connected"
            }
            for (node, other) in [(0, guest), (guest, 0)] {
                let waiting = nodes[node].core?.conversation(with: nodes[other].peer)?.unacknowledged ?? 0
                if waiting > 0 { return "\(waiting) messages from \(nodes[node].name) to \(nodes[other].name)" }
                if !nodes[node].writes.isEmpty { return "\(nodes[node].name) is writing" }
            }
            if nodes[guest].lastRevision != revision { return "\(name) has not got the host's state" }
        }
        let missing = ledger.missing
        return missing.isEmpty ? "" : "messages \(missing) have not arrived"
    }

    private func isLinked(_ node: Int, to other: Int) -> Bool {
        nodes[node].core?.link(to: nodes[other].peer) != nil
    }
}
