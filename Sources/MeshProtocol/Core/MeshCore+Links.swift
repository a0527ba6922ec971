// SPDX-License-Identifier: Apache-2.0

/// What happens on a link.
public enum LinkEvent: Hashable, Sendable {
    /// The answer that lets this peer in is about to leave: `MeshCore.welcome` can give it the first state update. Told
    /// to responders. Before `connected` nothing shows that the peer is there and no replay, so nothing else may
    /// follow.
    case admitted(Peer)
    /// The link is up, and this is who is at its other end.
    case connected(Peer)
    /// A message has arrived. A reliable one is to be accepted (`MeshCore.accept`) when it is safe.
    case received(ReceivedMessage)
    /// The peer has made every reliable message up to this number safe.
    case acknowledged(upTo: UInt64, by: Peer.ID)
    /// The last state update has left: a newer one may be given.
    case latestHasLeft
    /// A ping was answered after this time.
    case roundTrip(Duration)
    /// The link was up, and is over.
    case ended(Peer, LinkEnd)
    /// The link was never up, and is over. `expected` is whom an initiator has dialled, or the head of it; `proved` is
    /// who was there, where that is proved.
    case failed(expected: Peer.ID?, proved: Peer.ID?, LinkEnd)
}

/// A message that has arrived.
public struct ReceivedMessage: Hashable, Sendable {
    /// From whom.
    public var peer: Peer.ID
    /// Its class.
    public var messageClass: MessageClass
    /// Its number, from 1, in its class. A reliable one counts in its sender's epoch.
    public var number: UInt64
    /// The sender's epoch. One that has lost its store numbers its messages anew, and names the numbering anew.
    public var epoch: UInt32
    /// The application's bytes.
    public var body: [UInt8]
}

/// Joins what links decide with conversations and admission.
extension MeshCore {
    /// Lets a link's machine decide something, and translates what it wants done.
    mutating func update(_ id: LinkID, _ decide: (inout LinkMachine) -> [LinkMachine.Action]) -> [Action] {
        let actions = links[id]?.machine.apply(decide) ?? []
        return actions.flatMap { translate($0, on: id) }
    }

    private mutating func translate(_ action: LinkMachine.Action, on id: LinkID) -> [Action] {
        // What stands behind the end in one record is not looked at, whoever has ended the link.
        guard links[id]?.isOver == false else { return [] }
        switch action {
        case .wake: return [.wake(id)]
        case .identified(let peer):
            guard let hello = introduce(to: peer, on: id) else { return [] }
            return update(id) { $0.present(as: hello) }
        case .introduced(let peer, let hello): return answer(Peer(id: peer, name: hello.name), on: id)
        case .connected(let peer, let resumption): return connected(peer, resumption, on: id)
        case .received(let unit): return received(unit, on: id)
        case .acknowledged(let number): return acknowledged(upTo: number, on: id)
        case .roundTrip(let time): return [.tell(id, .roundTrip(time))]
        case .holdReading(let until): return [.holdReading(id, until: until)]
        case .close(let end, let afterLastWord): return ended(id, end, afterLastWord: afterLastWord)
        }
    }

    private mutating func answer(_ peer: Peer, on id: LinkID) -> [Action] {
        if let reason = links[id]?.refusal { return update(id) { $0.refuse(reason) } }
        switch admission.answer(peer.id, local: local.id, connected: linkOfPeer.keys, now: now) {
        case .refuse(let reason): return update(id) { $0.refuse(reason) }
        case .admit:
            guard let hello = introduce(to: peer.id, on: id) else { return [] }
            links[id]?.isAdmitted = true
            return [.tell(id, .admitted(peer))] + update(id) { $0.admit(as: hello) }
        }
    }

    private mutating func connected(_ peer: Peer, _ resumption: Resumption, on id: LinkID) -> [Action] {
        guard let link = links[id], let key = link.machine.remoteKey else { return [] }
        // Those who were proved at the same time may have taken the last place since.
        if case .refuse(let reason) = admission.answer(
            peer.id, local: local.id, connected: linkOfPeer.keys, now: now),
            link.machine.role == .responder
        {
            return update(id) { $0.sendAway(reason) }
        }
        var actions: [Action] = []
        // The same peer by a newer link: the older one is dead even if it does not know yet.
        if let old = linkOfPeer[peer.id], old != id {
            if links[old]?.machine.isAnswering == true { admission.replace(peer.id, now: now) }
            // Both are told.
            if admission.isTwin(peer.id, now: now), link.machine.role == .responder {
                return update(old) { $0.sendAway(.twin) } + update(id) { $0.sendAway(.twin) }
            }
            actions += update(old) { $0.end(.replaced) }
        }
        if let forgotten = meet(peer.id, key: key, as: link.machine.role, link.entropy) {
            actions.append(.forgot(forgotten))
        }
        links[id]?.peer = peer.id
        linkOfPeer[peer.id] = id
        let acknowledged = conversations[peer.id]?.begin(with: resumption) == true
        if link.isWelcomed { conversations[peer.id]?.countWelcome() }
        actions.append(.tell(id, .connected(peer)))
        if link.machine.hasWelcomeLeft { actions.append(.tell(id, .latestHasLeft)) }
        if acknowledged {
            actions.append(.tell(id, .acknowledged(upTo: resumption.delivered, by: peer.id)))
        }
        // What was made safe since this side has introduced itself.
        if let accepted = conversations[peer.id]?.resumption.delivered, accepted > link.told {
            actions += update(id) { $0.acknowledge(upTo: accepted) }
        }
        return actions + [.wake(id)]
    }

    private mutating func received(_ unit: MessageUnit, on id: LinkID) -> [Action] {
        guard let peer = links[id]?.peer else { return [] }
        switch conversations[peer]?.receive(unit) {
        case .new:
            let message = ReceivedMessage(
                peer: peer, messageClass: unit.messageClass, number: unit.number,
                epoch: conversations[peer]?.peerEpoch ?? 0, body: Array(unit.body))
            return [.tell(id, .received(message))]
        case .duplicate, nil: return []
        case .gap: return update(id) { $0.end(.misbehaved(.missingMessage)) }
        }
    }

    private mutating func acknowledged(upTo number: UInt64, on id: LinkID) -> [Action] {
        guard let peer = links[id]?.peer else { return [] }
        switch conversations[peer]?.acknowledge(upTo: number) {
        case .acknowledged: return [.tell(id, .acknowledged(upTo: number, by: peer))]
        case .stale, nil: return []
        case .impossible: return update(id) { $0.end(.misbehaved(.impossibleAcknowledgement)) }
        }
    }

    private mutating func ended(_ id: LinkID, _ end: LinkEnd, afterLastWord: Bool) -> [Action] {
        links[id]?.isOver = true
        if case .misbehaved(let how) = end { misbehaviours[how, default: 0] += 1 }
        guard let peer = links[id]?.machine.peer, links[id]?.peer != nil else {
            let proved = links[id]?.machine.remoteKey.map { Identity.peerID(publicKey: $0) }
            return [
                .tell(id, .failed(expected: links[id]?.expected, proved: proved, end)),
                .close(id, afterLastWord: afterLastWord),
            ]
        }
        if linkOfPeer[peer.id] == id {
            linkOfPeer[peer.id] = nil
            conversations[peer.id]?.pause()
        }
        return [.tell(id, .ended(peer, end)), .close(id, afterLastWord: afterLastWord)]
    }
}
