// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// Checks links, the memory of nodes, and the final state.
extension World {
    /// A node has finished an event. `link` is the event's link.
    mutating func check(_ node: Int, _ link: MeshCore.LinkID?) {
        checkLimits(of: node, channels: air.radios[node].links.count, peers: Limits.guests)
        checkScreen(node)
        checkCleared()
        if node == 0 { checkBrowserLinks() }
        if scenario.reach != nil { checkCircuits(of: node) }
        guard let link, let place = air.radios[node].links[link],
            let peer = nodes[node].core?({ $0.mesh.peer(on: link) })
        else {
            return
        }
        if !place.isUp {
            air.radios[node].links[link]?.isUp = true
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
                node == 0
                ? people.story.peers.dropFirst().contains(peer) || peer == air.mallory.peerID
                : peer == people.story.peers[0]
            if !isKnown { broken(.falsePeer, node, "\(Identity.head(of: peer)) in a circuit") }
            if node == 0, nodes[0].disk.content.host?.banned.contains(peer) == true {
                broken(.banForgotten, "Car", "\(Identity.head(of: peer)) is linked in a circuit")
            }
            checkAcknowledged(node, peer, link)
        }
    }

    /// Checks that messages which a node counts as arrived are on the receiver's disk.
    private mutating func checkAcknowledged(_ node: Int, _ peer: Peer.ID, _ link: MeshCore.LinkID) {
        guard let mesh = nodes[node].core?({ $0.mesh }), let key = mesh.key(on: link),
            let conversation = mesh.conversation(key)?.resumption,
            let receiver = people.story.peers.firstIndex(of: peer)
        else { return }
        let finding = people.ledger.acknowledged(
            upTo: conversation.first - 1, in: key, from: nodes[node].peer, epoch: conversation.epoch,
            disk: nodes[receiver].disk.content)
        report(finding, nodes[node].name)
    }

    /// Checks that the peer of a link is at its other end. A guest has dialled the host, and accepts no other peer. A
    /// host admits every peer under its own identity, unless it was banned.
    private mutating func checkConnected(_ node: Int, _ place: LinkRadio.Link, _ peer: Peer) {
        people.figures.connections += 1
        trace(node, "channel \(place.channel) is up with \(peer)")
        let other = air.channels[place.channel].ends[1 - place.end].node.map { nodes[$0].peer } ?? air.mallory.peerID
        // A relay and a guest behind it have a link that carries circuits. The host is not at either end.
        let isCarrier = air.channels[place.channel].dialled > 0
        if other != peer.id || node > 0 && peer.id != nodes[0].peer && !isCarrier {
            broken(.falsePeer, node, "\(peer) on channel \(place.channel)")
        }
        let links = air.radios[node].links.filter { !$0.value.isClosing }.keys.count { link in
            nodes[node].core?({ $0.mesh.peer(on: link) })?.id == peer.id
        }
        if links > 1 { broken(.linkedTwice, node, "\(peer)") }
        if node == 0, nodes[0].disk.content.host?.banned.contains(peer.id) == true {
            broken(.banForgotten, "Car", "\(peer) is linked")
        }
    }

    /// Checks a closed channel. If the node found the link silent, a fault must have stopped the channel.
    mutating func checkGivenUp(_ node: Int, _ place: LinkRadio.Link) {
        guard people.silent == node else { return }
        people.silent = nil
        // In a world with relays, it may have been a link in a circuit.
        guard scenario.reach == nil else { return }
        let channel = air.channels[place.channel]
        guard channel.isHonest, !channel.isDisturbed, !channel.isBroken, nodes[0].core != nil, !nodes[0].isEnding
        else { return }
        broken(.givenUp, node, "a silent link on channel \(place.channel)")
    }

    /// Checks that two nodes that follow the protocol do not accuse each other. If an attacker changes the data of a
    /// channel, or impersonates a peer without its key, the node detects this before it reads any frame. Only a peer
    /// that has joined with its own key can send frames.
    mutating func checkAccusation(_ node: Int, _ how: Misbehaviour, _ channel: Int) {
        switch how {
        case .badHandshake, .forgedRecord, .changedIdentity, .strippedAdvertisement:
            guard air.channels[channel].isHonest else { return }
        case .malformedFrame, .unexpectedFrame, .badFragment, .missingMessage, .impossibleAcknowledgement,
            .forgedState, .badProof, .unprovenHost, .smallChannel:
            let hasMember = air.channels[channel].ends[0].node == nil
            guard !hasMember else { return }
        }
        broken(.falselyAccused, node, "\(how) on channel \(channel)")
    }

    /// The host has a new state on its disk.
    mutating func checkCommitted(_ before: HostRecord?, _ after: HostRecord, _ batch: StoreBatch) {
        let intents = people.ledger.intents(in: batch, of: nodes[0].peer)
        for (guest, intent) in people.ledger.forgottenIntents(in: batch, of: nodes[0].peer) {
            if let songID = intent.songID { people.story.heardForgotten(songID, of: guest, at: instant) }
        }
        // During a write the host decides nothing else. If the write ends a session, the number of songs that have
        // begun in it is unknown.
        let turns = nodes[0].core?({ $0.app.host?.state.turns }) ?? .max
        for finding in people.story.committed(before, after, intents, turns: turns, at: instant) {
            report(finding, "Car")
        }
    }

    // MARK: After the faults

    /// Ends all faults.
    mutating func quiet() {
        trace("The faults stop.")
        people.isQuiet = true
        air.outOfReach = []
        air.impostorUntil = now
        for node in nodes.indices {
            (nodes[node].disk.refusesUntil, nodes[node].disk.hangsUntil) = (now, now)
            adapterReturns(node)
            later(0...500) { $0.starts(node) }
            // A guest that has left or was refused wants to join again.
            if node > 0 { retries(node, after: 1_000...3_000) }
            // Covers that the web did not deliver become available.
            tell(.cover("s0", path: "cover"), node, after: 2_000...2_000)
        }
        for browser in people.browsers.indices { later(500...1_500) { $0.opens(browser) } }
        later(100...100) { $0.looks() }
    }

    /// Checks whether all nodes are connected and all messages have arrived.
    mutating func looks() {
        guard whatIsMissing().isEmpty else {
            later(100...100) { $0.looks() }
            return
        }
        people.figures.recovery = instant - scenario.faultsEnd
        people.isSettled = true
    }

    /// Describes what is still missing. Empty if nothing is.
    func whatIsMissing() -> String {
        guard let host = nodes[0].core, !nodes[0].isEnding else { return "the host is down" }
        if nodes[0].disk.writing != nil { return "the host is writing" }
        let banned = nodes[0].disk.content.host?.banned ?? []
        let shown = host { $0.app.host?.snapshot.still }
        for (node, guest) in nodes.enumerated().dropFirst() where !isCutOff(node) {
            let screen = people.screens[node]
            guard let core = guest.core, !guest.isEnding else { return "\(guest.name) is down" }
            guard guest.disk.writing == nil, screen.inputs.isEmpty else { return "\(guest.name) is writing" }
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
            if let open = screen.wishes.first(where: { !$0.value.state.isAnswer }) {
                return "\(guest.name) was told no end of \(open)"
            }
            if screen.snapshot?.still != shown { return "\(guest.name) lacks the host's state" }
        }
        for browser in people.browsers {
            if let missing = whatIsMissing(browser) { return missing }
        }
        for (node, screen) in people.screens.enumerated() where !isCutOff(node) {
            let stays = screen.notices.first { code, shown in
                // Only a person dismisses this notice.
                if shown.notice.clearedBy.isSubset(of: [.retried, .left]) { return false }
                // A notice that expires may have been shown by the last answer only.
                let goesAt = shown.notice.dismissAfter.map { shown.since + .seconds($0 + 1) } ?? instant
                return goesAt <= instant && (!banned.contains(nodes[node].peer) || code != "kicked")
            }
            if let stays { return "\(nodes[node].name) still shows \(stays.key)" }
        }
        return ""
    }

    /// Whether every route to the host goes through banned relays.
    private func isCutOff(_ node: Int) -> Bool {
        let banned = nodes[0].disk.content.host?.banned ?? []
        let excluded = nodes.indices.filter { banned.contains(nodes[$0].peer) }
        return node > 0 && scenario.reach?.isReached(node, without: Set(excluded)) == false
    }
}
