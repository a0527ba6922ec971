// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The application of each node: it casts messages, keeps what it gets on disk, and tells the host's state.
extension World {
    // MARK: Casting

    mutating func casts() {
        let isHost = random.chance(25)
        let node = isHost ? 0 : random.pick(1...nodes.count - 1)
        let receiver = isHost ? random.pick(1...nodes.count - 1) : 0
        guard nodes[node].core != nil else { return }
        cast(random.pick(1...scenario.burst), from: node, to: receiver)
        // A host speaks to whoever has joined.
        if isHost, random.chance(10),
            case .queued(let number)? = nodes[0].core?.send([1, 2, 3], as: .reliable, to: mallory.peerID).0
        {
            // What becomes of it is nobody's business, so no disk is asked.
            act(0) { [peer = mallory.peerID] core, _ in core.stored(upTo: number, for: peer) }
        }
    }

    private mutating func cast(_ count: Int, from node: Int, to receiver: Int) {
        var messages: [(message: Int, body: [UInt8])] = []
        for _ in 0..<count {
            let message = ledger.cast(from: node, to: receiver)
            messages.append((message, Body.message(message, padding: bodySize(short: 40))))
        }
        trace(node, "casts \(messages.map(\.message)) to \(nodes[receiver].name)")
        give(messages, node, to: nodes[receiver].peer)
    }

    private mutating func bodySize(short: Int) -> Int {
        guard random.chance(scenario.longMessages) else { return random.pick(0...short) }
        return random.chance(5) ? scenario.longest : random.pick(600...9_000)
    }

    /// The host tells everybody its state.
    mutating func broadcast() {
        revision += 1
        for peer in nodes[0].core?.connectedPeers.sorted() ?? [] { update(peer) }
    }

    mutating func update(_ peer: Peer.ID) {
        guard let link = nodes[0].core?.link(to: peer), let place = nodes[0].links[link] else { return }
        let body = Body.update(revision, channel: place.channel, padding: bodySize(short: 200))
        guard let (_, actions) = nodes[0].core?.send(body, as: .latest, to: peer) else { return }
        carryOut(actions, 0)
    }

    // MARK: Listening

    mutating func hear(_ node: Int, _ link: MeshCore.LinkID, _ event: LinkEvent) {
        guard let place = nodes[node].links[link] else { return }
        let channel = place.channel
        hash.add([100, node, link])
        event.fold(into: &hash)
        checkOrder(node, link, event)
        switch event {
        case .connected(let peer):
            trace(node, "link \(link) (channel \(channel)) is up with \(peer)")
            figures.connections += 1
            checkConnected(node, place, peer)
            if node == 0 { update(peer.id) } else { nodes[node].lastRevision = 0 }
        case .received(let message): received(node, place, message)
        case .acknowledged(let number, let peer): acknowledged(node, number, peer)
        case .ended(_, let end), .failed(_, _, let end):
            trace(node, "link \(link) (channel \(channel)) ends: \(end.words)")
            checkEnd(node, end, channel)
        case .admitted, .latestHasLeft, .roundTrip: break
        }
        if node > 0 { steer(node, link, event) }
    }

    private mutating func received(_ node: Int, _ place: SimulatedLink, _ message: ReceivedMessage) {
        guard let sender = channels[place.channel].ends[1 - place.end].node else {
            return receivedFromMallory(node, message)
        }
        let name = nodes[node].name
        guard message.peer == nodes[sender].peer else {
            return broken(.forged, name, "a message of \(nodes[sender].name) came as one of \(message.peer)")
        }
        switch (message.messageClass, Body(message.body)) {
        case (.reliable, .message(let number)?):
            trace(node, "gets \(number) as \(message.number)")
            broken(ledger.heard(number, by: node), name, "message \(number)")
            writeReceipt(node, message, number)
        case (.latest, .update(let revision, let channel)?):
            let last = nodes[node].lastRevision
            if channel != place.channel || revision <= last {
                broken(.staleUpdate, name, "\(revision) of channel \(channel) after \(last) on \(place.channel)")
            }
            nodes[node].lastRevision = revision
        default: broken(.forged, name, "\(message.body.count) bytes that nobody has cast")
        }
    }

    /// Whoever means no good may join and say what they like, but as themselves.
    private mutating func receivedFromMallory(_ node: Int, _ message: ReceivedMessage) {
        guard message.peer == mallory.peerID else {
            return broken(.forged, nodes[node].name, "a stranger's message came as one of \(message.peer)")
        }
        if message.messageClass == .reliable { writeReceipt(node, message, nil) }
    }

    private mutating func acknowledged(_ node: Int, _ number: UInt64, _ peer: Peer.ID) {
        var waiting = nodes[node].numbered[peer] ?? []
        while let first = waiting.first, first.number <= number {
            trace(node, "\(first.message) is acknowledged")
            broken(ledger.acknowledged(first.message), nodes[node].name, "message \(first.message)")
            waiting.removeFirst()
        }
        nodes[node].numbered[peer] = waiting
        // An outbox is made shorter on disk now and then: it does no harm to know too much.
        if random.chance(30) { write(.trim(peer, upTo: number), node) }
    }
}
