// SPDX-License-Identifier: Apache-2.0

/// Connects the decisions of links with conversations and admission.
extension MeshCore {
    /// Runs a decision of a link's machine, and translates its actions.
    mutating func update(_ id: LinkID, _ decide: (inout LinkMachine) -> [LinkMachine.Action]) -> [Action] {
        let actions = links[id]?.machine.apply(decide) ?? []
        return actions.flatMap { translate($0, on: id) }
    }

    /// A link has data to send. The carrier sends the data of a link in a circuit.
    mutating func wake(_ id: LinkID) -> [Action] {
        guard let circuit = links[id]?.place?.circuit else { return [.wake(id)] }
        links[circuit.link]?.circuits.wake(circuit.number)
        return [.wake(circuit.link)]
    }

    private mutating func translate(_ action: LinkMachine.Action, on id: LinkID) -> [Action] {
        // Ignore frames after the end in the same record, whichever side has ended the link.
        guard links.goesOn(id) else { return [] }
        switch action {
        case .wake: return wake(id)
        case .identified(let peer):
            guard let hello = introduce(to: peer, on: id) else { return [] }
            return update(id) { $0.present(as: hello) }
        case .returning(let kept, let attempt, let record): return returning(kept, attempt, record, on: id)
        case .introduced(let peer, let hello):
            links[id]?.hello = hello
            return answer(Peer(id: peer, name: hello.name), on: id)
        case .claimed(_, let invitation): return claimed(invitation, on: id)
        case .proved(let peer, let hello): return proved(Peer(id: peer, name: hello.name), on: id)
        case .readyToProve: return readyToProve(on: id)
        case .provedWrong(let peer, let hello): return provedWrong(Peer(id: peer, name: hello.name), on: id)
        case .connected(let peer, let hello):
            links[id]?.hello = hello
            if hello.relays { links[id]?.circuits.limit = Limits.relayedCircuits }
            return links[id]?.carrier == nil
                ? connected(peer, hello.resumption, on: id) : carrierConnected(peer, hello, on: id)
        case .received(let unit) where links.isCarrier(id): return receivedOnCarrier(unit, on: id)
        case .received(let unit): return received(unit, on: id)
        case .acknowledged(let number): return acknowledged(upTo: number, on: id)
        case .roundTrip(let time, let number): return [.tell(id, .roundTrip(time, ping: number))]
        case .asked: return [.tell(id, .asked)]
        case .heed(let note): return [.heed(id, note)]
        case .circuit(let frame): return circuit(frame, on: id)
        case .route(let route): return !links.isCarrier(id) ? [] : [.tell(id, .route(route))]
        case .state(let names):
            knows(names, on: id)
            return []
        case .askedForRoom: return links[id]?.place == nil ? [.tell(id, .askedForRoom)] : []
        case .holdReading(let until): return [.holdReading(id, until: until)]
        case .close(let end, let afterFinalFrame): return ended(id, end, afterFinalFrame: afterFinalFrame)
        }
    }

    /// A peer claims that this node has a secret of its last handshake. Checking this costs almost nothing.
    private mutating func returning(
        _ kept: RejoinID, _ attempt: UInt64, _ record: [UInt8], on id: LinkID
    ) -> [Action] {
        let isInCircuit = links[id]?.place != nil
        let rejoined = isInCircuit ? rejoins.open(kept, attempt: attempt, record[...], now: now) : nil
        if rejoined != nil, links[id]?.machine.isBusy == false { handshakes.inCircuits.giveBack() }
        return update(id) { $0.rejoin(rejoined) }
    }

    private mutating func answer(_ peer: Peer, on id: LinkID) -> [Action] {
        if links[id]?.machine.takesKnownOnly == true, peers[key(peer.id, as: .responder)] == nil {
            return update(id) { $0.turnAway() }
        }
        if let reason = links[id]?.refusal { return update(id) { $0.refuse(reason) } }
        switch answer(to: peer.id, on: id) {
        case .refuse(let reason): return update(id) { $0.refuse(reason) }
        case .admit:
            guard !hasToProve(peer.id, on: id) else { return challenge(on: id) }
            return admit(peer, on: id)
        }
    }

    /// Admits a peer, if possible.
    mutating func admit(_ peer: Peer, on id: LinkID) -> [Action] {
        guard let hello = introduce(to: peer.id, on: id) else { return [] }
        guard links[id]?.carrier == nil else { return update(id) { $0.admit(as: hello) } }
        links[id]?.isAdmitted = true
        return [.tell(id, .admitted(peer))] + update(id) { $0.admit(as: hello) }
    }

    /// Decides whether a peer gets a slot. A node's own links, those in circuits, and those behind a relay have
    /// separate slots.
    func answer(to peer: Peer.ID, on id: LinkID) -> Admission.Answer {
        guard let link = links[id] else { return .refuse(.unspecified) }
        if link.carrier != nil {
            return admission.answer(
                peer, local: local.id, connected: peerLinks.ofChild.keys, limit: Limits.relayChildren, now: now)
        }
        let inCircuits = link.place != nil
        let connected = peerLinks.ofPeer.filter { (links.carrier(of: $0.value) != nil) == inCircuits }.map(\.key)
        if let carrier = link.place?.carrier, peerLinks.ofPeer[peer] == nil, !admission.banned.contains(peer) {
            let others = peerLinks.ofPeer.values.count { links.carrier(of: $0) == carrier }
            guard Admission.hasShare(carrierWith: others, ofAll: connected.count) else { return .refuse(.full) }
        }
        return admission.answer(
            peer, local: local.id, connected: connected, limit: inCircuits ? Limits.circuitGuests : Limits.guests,
            now: now)
    }

    private mutating func connected(_ peer: Peer, _ resumption: Resumption, on id: LinkID) -> [Action] {
        guard let link = links[id], let publicKey = link.machine.remoteKey else { return [] }
        // A peer that was proved at the same time may have got the last slot since.
        if link.machine.role == .responder, case .refuse(let reason) = answer(to: peer.id, on: id) {
            return update(id) { $0.sendAway(reason) }
        }
        // This link's packets arrived late, after the peer dialled again. Links are numbered in the order of opening.
        if let newer = peerLinks.ofPeer[peer.id], newer > id, link.machine.role == .responder {
            return update(id) { $0.end(.replaced) }
        }
        var (replaced, actions): ([Action], [Action]) = ([], [])
        // The same peer has a newer link. The older link is dead, although this side has not noticed it yet, or the
        // peer has left it for a better route.
        if let old = peerLinks.ofPeer[peer.id], old != id {
            if links[old]?.machine.isAnswering == true { admission.replace(peer.id, now: now) }
            // Both links end with this reason.
            if admission.isTwin(peer.id, now: now), link.machine.role == .responder {
                return update(old) { $0.sendAway(.twin) } + update(id) { $0.sendAway(.twin) }
            }
            replaced = update(old) { $0.end(.replaced) }
        }
        let key = key(peer.id, as: link.machine.role)
        if let forgotten = meet(key, publicKey: publicKey, link.entropy) { actions.append(.forgot(forgotten)) }
        if link.machine.isProved {
            peers[key]?.isProved = true
            if link.machine.role == .initiator { actions += answered(link.machine.keys.secret, on: id) }
        }
        keepForRejoining(key, peer, publicKey, link)
        links[id]?.machine.rejoinSecret = nil
        if isCrowded(link) { links[id]?.machine.liveness.bear(silence: Limits.crowdedSilence) }
        links[id]?.machine.liveness.begin(now: now)
        links[id]?.conversation = key
        links[id]?.machine.liveness.isAsked = link.machine.role == .initiator && link.isQuiet
        peerLinks.ofPeer[peer.id] = id
        if link.machine.role == .initiator {
            peerLinks.toHost = id
            beginLog(on: id)
        }
        let acknowledged = peers[key]?.conversation.begin(with: resumption) == true
        if link.isWelcomed { peers[key]?.conversation.countWelcome() }
        actions.append(.tell(id, .connected(peer)))
        if link.machine.hasWelcomeLeft { actions.append(.tell(id, .latestHasLeft)) }
        if acknowledged { actions.append(.tell(id, .acknowledged(upTo: resumption.delivered, in: key))) }
        // Acknowledges messages that were stored after this side had sent its hello.
        if let accepted = peers[key]?.conversation.resumption.delivered, accepted > link.told {
            actions += update(id) { $0.acknowledge(upTo: accepted) }
        }
        actions += takeHeldState(on: id) + wake(id)
        // A peer that has moved to a better route was never disconnected.
        return link.machine.role == .initiator ? actions + replaced : replaced + actions
    }

    private mutating func received(_ unit: MessageUnit, on id: LinkID) -> [Action] {
        guard let key = links[id]?.conversation else { return [] }
        switch peers[key]?.conversation.receive(unit) {
        case .new where unit.sharing != nil: return receivedShared(unit, from: id, on: id)
        case .new:
            let message = ReceivedMessage(
                conversation: key, messageClass: unit.messageClass, number: unit.number,
                epoch: peers[key]?.conversation.peerEpoch ?? 0, body: Array(unit.body))
            return [.tell(id, .received(message))]
        case .duplicate, nil: return []
        case .gap: return update(id) { $0.end(.misbehaved(.missingMessage)) }
        }
    }

    private mutating func acknowledged(upTo number: UInt64, on id: LinkID) -> [Action] {
        guard let key = links[id]?.conversation else {
            // A carrier has no conversation, so its peer cannot acknowledge a message.
            guard number > 0, links.isCarrier(id) else { return [] }
            return update(id) { $0.end(.misbehaved(.impossibleAcknowledgement)) }
        }
        switch peers[key]?.conversation.acknowledge(upTo: number) {
        case .acknowledged:
            links[id]?.waitsSince = nil
            return [.tell(id, .acknowledged(upTo: number, in: key))]
        case .stale, nil: return []
        case .impossible: return update(id) { $0.end(.misbehaved(.impossibleAcknowledgement)) }
        }
    }

    private mutating func ended(_ id: LinkID, _ end: LinkEnd, afterFinalFrame: Bool) -> [Action] {
        links[id]?.isOver = true
        if case .misbehaved(let how) = end { misbehaviours[how, default: 0] += 1 }
        if hostLink == id { peerLinks.toHost = nil }
        let told = told(end, of: id)
        if end == .replaced, mayLinger(id) {
            links[id]?.lingersUntil = now + Limits.lingeringCircuit
            return [told]
        }
        return endCircuits(on: id) + [told] + close(id, afterFinalFrame: afterFinalFrame)
    }

    private mutating func told(_ end: LinkEnd, of id: LinkID) -> Action {
        guard let link = links[id], let peer = link.machine.peer, link.carrier != nil || link.conversation != nil else {
            let proved = links[id]?.machine.remoteKey.map { Identity.peerID(publicKey: $0) }
            return .tell(id, .failed(expected: links[id]?.expected, proved: proved, end))
        }
        if link.carrier != nil {
            if peerLinks.ofChild[peer.id] == id { peerLinks.ofChild[peer.id] = nil }
            return .tell(id, .carrierEnded(peer, end))
        }
        if let key = link.conversation, peerLinks.ofPeer[peer.id] == id {
            peerLinks.ofPeer[peer.id] = nil
            peers[key]?.conversation.pause()
        }
        return .tell(id, .ended(peer, end))
    }

    private mutating func close(_ id: LinkID, afterFinalFrame: Bool) -> [Action] {
        links[id]?.place == nil
            ? [.close(id, afterFinalFrame: afterFinalFrame)] : leaveCircuit(id, afterFinalFrame: afterFinalFrame)
    }
}
