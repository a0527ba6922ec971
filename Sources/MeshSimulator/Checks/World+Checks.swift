// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// Checks links, the memory of nodes, and the final state.
extension World {
    /// A node has finished an event. `link` is the event's link.
    mutating func check(_ node: Int, _ link: MeshCore.LinkID?) {
        checkMemory(of: node)
        checkScreen(node)
        checkCleared()
        if node == 0 { checkBrowserLinks() }
        if scenario.reach != nil { checkCircuits(of: node) }
        guard let link, let place = nodes[node].links[link], let peer = nodes[node].core?({ $0.mesh.peer(on: link) })
        else {
            return
        }
        if !place.isUp {
            nodes[node].links[link]?.isUp = true
            checkConnected(node, place, peer)
        }
        checkAcknowledged(node, peer.id, link)
    }

    /// Checks links in circuits. A guest's peer must be the host. The host's peers must be guests of the world, or the
    /// attacker under its own key.
    private mutating func checkCircuits(of node: Int) {
        guard let mesh = nodes[node].core?({ $0.mesh }) else { return }
        for peer in mesh.connectedPeers {
            guard let link = mesh.link(to: peer), mesh.place(of: link) != nil else { continue }
            let isKnown =
                node == 0 ? story.peers.dropFirst().contains(peer) || peer == mallory.peerID : peer == story.peers[0]
            if !isKnown { broken(.falsePeer, nodes[node].name, "\(Identity.head(of: peer)) in a circuit") }
            if node == 0, nodes[0].disk.host?.banned.contains(peer) == true {
                broken(.banForgotten, "Car", "\(Identity.head(of: peer)) is linked in a circuit")
            }
            checkAcknowledged(node, peer, link)
        }
    }

    /// Checks that messages which a node counts as arrived are on the receiver's disk.
    private mutating func checkAcknowledged(_ node: Int, _ peer: Peer.ID, _ link: MeshCore.LinkID) {
        guard let mesh = nodes[node].core?({ $0.mesh }), let key = mesh.key(on: link),
            let conversation = mesh.conversation(key)?.resumption, let receiver = story.peers.firstIndex(of: peer)
        else { return }
        let finding = ledger.acknowledged(
            upTo: conversation.first - 1, in: key, from: nodes[node].peer, epoch: conversation.epoch,
            disk: nodes[receiver].disk)
        if let (invariant, what) = finding { broken(invariant, nodes[node].name, what) }
    }

    /// Checks that the peer of a link is at its other end. A guest has dialled the host, and accepts no other peer. A
    /// host admits every peer under its own identity, unless it was banned.
    private mutating func checkConnected(_ node: Int, _ place: SimulatedLink, _ peer: Peer) {
        figures.connections += 1
        trace(node, "channel \(place.channel) is up with \(peer)")
        let other = channels[place.channel].ends[1 - place.end].node.map { nodes[$0].peer } ?? mallory.peerID
        // A relay and a guest behind it have a link that carries circuits. The host is not at either end.
        let isCarrier = channels[place.channel].dialled > 0
        if other != peer.id || node > 0 && peer.id != nodes[0].peer && !isCarrier {
            broken(.falsePeer, nodes[node].name, "\(peer) on channel \(place.channel)")
        }
        let links = nodes[node].links.filter { !$0.value.isClosing }.keys.count { link in
            nodes[node].core?({ $0.mesh.peer(on: link) })?.id == peer.id
        }
        if links > 1 { broken(.linkedTwice, nodes[node].name, "\(peer)") }
        if node == 0, nodes[0].disk.host?.banned.contains(peer.id) == true {
            broken(.banForgotten, "Car", "\(peer) is linked")
        }
    }

    /// Checks a closed channel. If the node found the link silent, a fault must have stopped the channel.
    mutating func checkGivenUp(_ node: Int, _ place: SimulatedLink) {
        guard silent == node else { return }
        silent = nil
        // In a world with relays, it may have been a link in a circuit.
        guard scenario.reach == nil else { return }
        let channel = channels[place.channel]
        guard channel.isHonest, !channel.isDisturbed, !channel.isBroken, nodes[0].core != nil, !nodes[0].isEnding
        else { return }
        broken(.givenUp, nodes[node].name, "a silent link on channel \(place.channel)")
    }

    /// Checks that two nodes that follow the protocol do not accuse each other. If an attacker changes the data of a
    /// channel, or impersonates a peer without its key, the node detects this before it reads any frame. Only a peer
    /// that has joined with its own key can send frames.
    mutating func checkAccusation(_ node: Int, _ how: Misbehaviour, _ channel: Int) {
        switch how {
        case .badHandshake, .forgedRecord, .changedIdentity, .strippedAdvertisement:
            guard channels[channel].isHonest else { return }
        case .malformedFrame, .unexpectedFrame, .badFragment, .missingMessage, .impossibleAcknowledgement,
            .forgedState, .badProof, .unprovenHost, .smallChannel:
            let hasMember = channels[channel].ends[0].node == nil
            guard !hasMember else { return }
        }
        broken(.falselyAccused, nodes[node].name, "\(how) on channel \(channel)")
    }

    /// Checks that all quantities that a peer can influence stay within their limits.
    private mutating func checkMemory(of node: Int) {
        guard let footprint = nodes[node].core?({ $0.mesh.footprint }) else { return }
        for what in footprint.excess(channels: nodes[node].links.count, peers: Limits.guests) {
            broken(.overLimit, nodes[node].name, what)
        }
    }

    /// The host has a new state on its disk.
    mutating func checkCommitted(_ before: HostRecord?, _ after: HostRecord, _ batch: StoreBatch) {
        let intents = ledger.intents(in: batch, of: nodes[0].peer)
        for (guest, intent) in ledger.forgottenIntents(in: batch, of: nodes[0].peer) {
            if let songID = intent.songID { story.heardForgotten(songID, of: guest, at: now) }
        }
        // During a write the host decides nothing else. If the write ends a session, the number of songs that have
        // begun in it is unknown.
        let turns = nodes[0].core?({ $0.app.host?.state.turns }) ?? .max
        for (invariant, what) in story.committed(before, after, intents, turns: turns, at: now) {
            broken(invariant, "Car", what)
        }
    }

    // MARK: After the faults

    /// Ends all faults.
    mutating func quiet() {
        trace("The faults stop.")
        isQuiet = true
        outOfReach = []
        impostorUntil = now
        for node in nodes.indices {
            (nodes[node].refusesUntil, nodes[node].hangsUntil) = (now, now)
            adapterReturns(node)
            schedule(.starts(node: node), after: random.time(0...500))
            // A guest that has left or was refused wants to join again.
            if node > 0 { schedule(.retries(node: node), after: random.time(1_000...3_000)) }
            // Covers that the web did not deliver become available.
            schedule(.tells(node: node, life: nodes[node].life, .cover("s0", path: "cover")), after: .seconds(2))
        }
        for browser in browsers.indices { schedule(.browser(browser, .opens), after: random.time(500...1_500)) }
        schedule(.looks, after: .milliseconds(100))
    }

    /// Checks whether all nodes are connected and all messages have arrived.
    mutating func looks() {
        guard whatIsMissing().isEmpty else {
            schedule(.looks, after: .milliseconds(100))
            return
        }
        figures.recovery = now - scenario.faultsEnd
        isSettled = true
    }

    /// Describes what is still missing. Empty if nothing is.
    func whatIsMissing() -> String {
        guard let host = nodes[0].core, !nodes[0].isEnding else { return "the host is down" }
        if nodes[0].writing != nil { return "the host is writing" }
        let banned = nodes[0].disk.host?.banned ?? []
        for guest in nodes.dropFirst() where !isCutOff(guest.index) {
            guard let core = guest.core, !guest.isEnding else { return "\(guest.name) is down" }
            if let waiting = waitsInPeace(guest) { return waiting }
            let isLinked =
                host { $0.mesh.link(to: guest.peer) } != nil && core { $0.mesh.link(to: nodes[0].peer) } != nil
            if banned.contains(guest.peer) {
                if isLinked { return "\(guest.name) is linked, and was sent away" }
                continue
            }
            guard isLinked else { return "\(guest.name) and the host are not connected" }
            for (node, other) in [(host, guest.peer), (core, nodes[0].peer)] {
                let mesh = node { $0.mesh }
                let waiting = mesh.link(to: other).flatMap { mesh.conversation(on: $0) }?.unacknowledged ?? 0
                if waiting > 0 { return "\(waiting) messages to \(Identity.head(of: other))" }
            }
            if let wish = core({ $0.app.guest?.state.wishes.first }) { return "\(guest.name) has no answer to \(wish)" }
            if let open = guest.screen.wishes.first(where: { !$0.value.state.isAnswer }) {
                return "\(guest.name) was told no end of \(open)"
            }
            if guest.screen.snapshot?.still != host({ $0.app.host?.snapshot.still }) {
                return "\(guest.name) lacks the host's state"
            }
        }
        for browser in browsers {
            if let missing = whatIsMissing(browser) { return missing }
        }
        for node in nodes where !isCutOff(node.index) {
            let stays = node.screen.notices.first { code, shown in
                // Only a person dismisses this notice.
                if shown.notice.clearedBy.isSubset(of: [.retried, .left]) { return false }
                // A notice that expires may have been shown by the last answer only.
                let goesAt = shown.notice.dismissAfter.map { shown.since + .seconds($0 + 1) } ?? now
                return goesAt <= now && (!banned.contains(node.peer) || code != "kicked")
            }
            if let stays { return "\(node.name) still shows \(stays.key)" }
        }
        return ""
    }

    /// Whether every route to the host goes through banned relays.
    private func isCutOff(_ node: Int) -> Bool {
        let banned = nodes[0].disk.host?.banned ?? []
        let excluded = nodes.indices.filter { banned.contains(nodes[$0].peer) }
        return node > 0 && scenario.reach?.isReached(node, without: Set(excluded)) == false
    }

    private func waitsInPeace(_ guest: SimulatedNode) -> String? {
        guest.writing == nil && guest.inputs.isEmpty ? nil : "\(guest.name) is writing"
    }
}
