// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import MeshSession

// Links. The node performs the protocol's decisions at once. Events that the protocol reports wait for the next step.

extension NodeCore {
    /// Performs the protocol's decisions in order.
    mutating func apply(_ meshActions: [MeshCore.Action]) {
        for action in meshActions {
            switch action {
            case .wake(let id): emit(.wake(id))
            case .tell(let id, let event): told(event, of: id)
            case .heed(let id, let note): emit(.heed(id, note))
            case .holdReading(let id, let until): links.hold(id, until: until)
            case .close(let id, let afterFinalFrame): emit(.close(id, afterFinalFrame: afterFinalFrame))
            case .forgot(let key): waiting.append(.forgot(key))
            case .circuitOffered(let place): emit(.openCircuit(place, dial: nil, expecting: nil))
            case .circuitEnded(let id):
                links.closed(id)
                circuits.closed(id)
            }
        }
    }

    private mutating func told(_ event: LinkEvent, of id: MeshCore.LinkID) {
        switch event {
        case .roundTrip(let time):
            links.answered(id, after: time)
            return emit(.measure(id))
        case .asked: return emit(.measure(id))
        // The first state leaves with the answer, which saves one round trip.
        case .admitted:
            // Behind relays the state is already there, or it comes with the first circuit.
            guard circuits.place(of: id) == nil else { return }
            let had = context.mesh.shownState(on: id)
            guard let first = stateFeed?.welcome(having: had, now: context.now) else { return }
            let welcome = context.mesh.welcome(first.message.encoded, as: first.message.sharing, on: id)
            if !welcome.isEmpty { links.welcomed(id, with: first.state) }
            return apply(welcome)
        case .connected(let peer):
            _ = dials.ended(id)
            isOnItsWay(id)
            if circuits.place(of: id) == nil { neighboursChanged() }
            show(.contact(Contact(.resumed, peer, at: configuration.origin + context.now)))
        case .failed(_, _, let end) where circuits.place(of: id) == nil && dials.invited(on: id) != nil:
            return carrierFailed(end, on: id)
        case .failed(let expected, _, let end):
            let wasDialled = dials.ended(id) != nil
            log(end, expected ?? "a peer that has not proved who it is")
            wayEnded(id, end)
            if circuits.place(of: id) == nil { emit(.linksChanged) }
            // The link was for a better route than the present one.
            if decisions.app.isJoining, context.mesh.host != nil { return wasDialled ? look(.failed) : () }
        case .ended(let peer, let end):
            log(end, "\(peer)")
            // A peer that has moved to another link or route is not lost.
            if context.mesh.link(to: peer.id) == nil {
                let lost = Contact(
                    lost: peer, end, supervision: links.supervision(of: id), at: configuration.origin + context.now)
                show(.contact(lost))
            }
            if context.mesh.host == nil { quietLoss.ended(over: links.bearer(of: id)) }
            wayEnded(id, end)
            if circuits.place(of: id) == nil {
                emit(.linksChanged)
                neighboursChanged()
            }
            // This must not wait for the step. A link that replaces this one gets nothing before the step in which its
            // guest connects.
            share(.guestGone(peer.id))
            perform(CoverServer.Event.guestGone(peer.id))
            return waiting.append(.ended(id, peer, end, besideRadio: links.isBesideRadio(id)))
        case .received(let message):
            let content = context.read(message.body)
            if message.messageClass == .latest, let content, takeCovers(content, from: message.peer) { return }
            if let readable = message.readable(content, byHost: isHost), !waitsForRelay(readable, content, on: id) {
                let isWish = isHost && readable.messageClass == .reliable
                let carrier = isWish ? circuits.place(of: id)?.carrier : nil
                isWish
                    ? waiting.append(.link(id, .received(readable)), over: carrier, now: context.now)
                    : waiting.append(.link(id, .received(readable)))
            }
            return
        case .carrier(let peer, let route): return carrierUp(peer, route, on: id)
        case .route(let route): return routeChanged(route, on: id)
        case .askedForRoom: return askedForRoom(on: id)
        case .carrierEnded(let peer, let end): return carrierEnded(peer, end, on: id)
        case .acknowledged, .latestHasLeft, .guessedWrong, .invitationUsed, .unansweredProofs: break
        }
        waiting.append(.link(id, event))
    }

    mutating func log(_ end: LinkEnd, _ who: String) {
        guard case .misbehaved(let how) = end else { return }
        emit(.misbehaved(how, who: who, count: context.mesh.misbehaviours[how] ?? 0))
    }

    mutating func opened(_ id: MeshCore.LinkID, _ opening: Opening) {
        guard !hasEnded else { return emit(.close(id, afterFinalFrame: false)) }
        if let number = opening.dial {
            // After a power cut a new link would continue with what is still on disk, and repeat it.
            if context.memory.isForgetting {
                emit(.close(id, afterFinalFrame: false))
                return dialFailed(number, nil)
            }
            // The dial was cancelled while the channel opened.
            guard let peer = dials.opened(number, id) else {
                if opening.place == nil { emit(.close(id, afterFinalFrame: false)) }
                return
            }
            let heard = dials.heard(peer) ?? Peer(id: peer, name: "")
            show(.contact(Contact(.dialled, heard, at: configuration.origin + context.now)))
        }
        if opening.role == .initiator { perform(duty.handle(.approaches, now: context.now)) }
        links.opened(id, over: opening.bearer)
        if let place = opening.place { circuits.opened(id, place) }
        // A relay's bond does not count for the guests behind it.
        let lacksBond = opening.place != nil && opening.role == .responder && configuration.part.requiresBond
        let refusal = lacksBond ? .bond : opening.refusal
        apply(
            context.mesh.opened(
                id, as: opening.role, sendMTU: opening.sendMTU, expected: opening.expected, refusal: refusal,
                advertised: opening.advertised, in: opening.place, over: opening.bearer,
                showing: shownStates(over: opening), entropy: opening.entropy, now: context.now))
        if opening.role == .responder, opening.place == nil { emit(.linksChanged) }
    }

    /// The names of the states that this guest has of the host that it is joining.
    private func shownStates(over opening: Opening) -> [StateName] {
        guard opening.role == .initiator, let host = opening.place?.host ?? opening.expected,
            let guest = decisions.app.guest, let known = guest.state.known, Identity.mayBeSame(known.id, host)
        else { return [] }
        return guest.stateNames
    }

    mutating func measured(_ id: MeshCore.LinkID, _ rssi: Int?, _ condition: LinkCondition?) {
        circuits.measured(rssi, on: id)
        guard let peer = context.mesh.peer(on: id),
            var report = links.report(on: id, rssi: rssi, condition, context.mesh.conversation(on: id))
        else { return }
        (report.relays, report.via) = circuits.way(of: id)
        report.circuits = context.mesh.circuits(on: id)
        show(.link(peer, report))
        if let note = condition?.note, links.isNew(note, on: id) { apply(context.mesh.note(note, on: id)) }
    }

    // MARK: Links that their bearer vouches for

    mutating func joined(_ id: MeshCore.LinkID, _ peer: Peer, _ claim: JoiningSecret? = nil) {
        // A peer without the right secret learns only that, and not whether there is a free slot.
        if let claim, isHost, let reason = context.mesh.judge(claim, now: context.now) {
            if reason == .wrongProof { waiting.append(.link(id, .guessedWrong(peer))) }
            return emit(.end(id, .refused(reason)))
        }
        let others = Set(links.vouched.map(\.peer))
        let answer =
            isHost && !isQuitting
            ? context.mesh.answer(vouchedFor: peer.id, connected: others) : .refuse(.ended)
        if case .refuse(let reason) = answer { return emit(.end(id, .refused(reason))) }
        if let claim, !claim.invitation.isEmpty {
            guard context.mesh.use(claim) else { return emit(.end(id, .refused(.invitation))) }
            waiting.append(.link(id, .invitationUsed(peer)))
        }
        links.opened(id, vouched: peer)
        waiting.append(.joined(id, peer))
    }

    mutating func left(_ id: MeshCore.LinkID, _ end: LinkEnd) {
        guard let peer = links.vouched(on: id) else { return }
        links.closed(id)
        waiting.append(.left(id, peer.id, end))
    }

    /// Sends a message on one vouched link, on all of one peer's, or on all.
    mutating func deliver(_ message: MeshMessage, on id: MeshCore.LinkID? = nil, to peer: Peer.ID? = nil) {
        for link in links.vouched where link.id == id ?? link.id && link.peer == peer ?? link.peer {
            emit(.deliver(message, on: link.id))
        }
    }

    /// Gives the protocol the host's bans. They apply to every bearer.
    mutating func keepOut() {
        context.mesh.banned = Set((decisions.app.host?.state.banned ?? []) + decisions.bans.map(\.peer.id))
    }

    // MARK: Dials

    /// Dials a host. `blindly` is true if the host was not heard recently.
    mutating func invite(_ peer: Peer.ID, blindly isBlind: Bool = false) {
        let isLinked = context.mesh.connectedPeers.contains { Identity.head(of: $0) == Identity.head(of: peer) }
        guard !isLinked, !hasEnded else { return }
        if asksForPIN(peer) { return inviteFailed(.refused(.challenge, by: peer)) }
        if context.mesh.holdsBack(from: peer) { return inviteFailed(.heldBack(peer)) }
        let way = way(to: peer)
        if way == .host, dials.heard(peer) == nil { ways.askAgain(for: peer, now: context.now) }
        dial(peer, by: way, blindly: isBlind)
    }

    /// The host is heard on a better bearer than that of its link. The present link stays until the new one is up.
    mutating func better(_ peer: Peer) {
        guard decisions.app.isJoining, !hasEnded, let host = context.mesh.host,
            Identity.head(of: host.id) == Identity.head(of: peer.id), let link = context.mesh.link(to: host.id),
            circuits.place(of: link) == nil
        else { return }
        if dials.heard(peer.id) == nil { dials.heard(HeardNode(peer)) }
        dial(host.id, by: .host)
    }

    /// Whether an unknown host asks for a PIN that this node does not have. The person is asked before there is a link.
    private func asksForPIN(_ peer: Peer.ID) -> Bool {
        // The host's own advertisement counts if it was heard, otherwise that of the relay that would be dialled.
        let best = dials.heard(peer) == nil ? ways.best(to: peer, below: duty.ceiling, now: context.now) : nil
        guard dials.asksForPIN(peer) || best?.asksForPIN == true, context.mesh.secret(for: peer) == nil else {
            return false
        }
        return !context.mesh.joined(withHead: Identity.head(of: peer)).contains { context.mesh.isProved($0) }
    }

    mutating func dial(_ peer: Peer.ID, by way: Dials.Way, blindly isBlind: Bool = false) {
        let advertised: Peer.ID? = if case .relay(let relay) = way { ways.host(behind: relay) } else { nil }
        switch dials.invite(peer, by: way, advertised: advertised, blindly: isBlind, now: context.now) {
        case .dial(let number, let head): emit(.dial(number, head: head, expecting: peer))
        case .dialRelay(let number, let relay): emit(.dial(number, head: relay, expecting: relay))
        case .circuit(let number, let place): emit(.openCircuit(place, dial: number, expecting: peer))
        case .underWay: break
        case .failed(let failure): inviteFailed(failure)
        }
    }

    mutating func dialFailed(_ number: Int, _ refusal: RefusalReason?) {
        let relay = dials.relay(of: number)
        guard let host = dials.failed(number) else { return }
        if let relay { return leadsNowhere(relay, to: host, .dialFailed("no channel opened")) }
        inviteFailed(refusal.map { .refused($0, by: nil) } ?? .dialFailed("no channel opened"))
    }

    /// An invitation has failed. If a route to the host is up, the dial was for a better one, and nothing is lost.
    mutating func inviteFailed(_ failure: InviteFailure) {
        guard context.mesh.host == nil else { return look(.failed) }
        waiting.append(.inviteFailed(failure))
    }

    /// Handles overdue dials. A dial to a host without a free slot stays pending, just like one to a host in a tunnel.
    /// The node takes another route if it knows one, and scans if there may be one.
    mutating func tickDials() {
        for dial in dials.overdue(now: context.now) {
            guard hasOtherWay(to: dial.host, than: dial.relay) || mayHaveOtherWay(dial) else { continue }
            _ = dials.cancel(dial.host)
            emit(.cancelDial(dial.number))
            if dial.relay == nil { dials.forgetHeard(dial.host) }
            leadsNowhere(dial.relay ?? dial.host, to: dial.host, .dialFailed("no channel opened"))
        }
    }

    /// A dial to a relay or to the host has failed. The peer must be heard again, and other routes have priority for
    /// some time.
    mutating func leadsNowhere(_ dialled: Peer.ID, to host: Peer.ID, _ failure: InviteFailure) {
        ways.unanswered(dialled, now: context.now)
        guard context.mesh.host == nil, hasOtherWay(to: host, than: dialled) else { return inviteFailed(failure) }
        lookAfresh(for: host, after: failure)
    }

    private func hasOtherWay(to host: Peer.ID, than relay: Peer.ID?) -> Bool {
        if ways.best(to: host, below: duty.ceiling, except: relay, now: context.now) != nil { return true }
        return relay != nil && dials.heard(host) != nil && !ways.isLeftAlone(host, now: context.now)
    }

    /// Whether a scan is better than a pending dial. A host that was heard and does not answer is full or gone, and a
    /// scan shows which. A host that vanished in a tunnel is best awaited with a dial, unless relays were heard before.
    private func mayHaveOtherWay(_ dial: Dials.Overdue) -> Bool {
        // The first check of a dial to a relay comes early, in case another relay is known.
        if dial.relay != nil { return dial.looks > 0 }
        if ways.hasHeardRelays { return true }
        return !dial.isBlind && dial.looks > 0
    }

    mutating func giveUpDial(_ peer: Peer.ID) {
        if let look = freshLook, Identity.head(of: look.host) == Identity.head(of: peer) { endFreshLook() }
        switch dials.cancel(peer) {
        case .dial(let number): emit(.cancelDial(number))
        case .link(let id): apply(context.mesh.leave(id))
        case nil: break
        }
    }

    /// Ends every link with a peer and cancels a dial to it.
    mutating func disconnect(_ peer: Peer.ID, refusing reason: RefusalReason? = nil) {
        giveUpDial(peer)
        if let reason {
            keepOut()
            apply(context.mesh.sendAway(peer, reason))
            for link in links.vouched where link.peer == peer {
                emit(.end(link.id, .refused(reason)))
                left(link.id, .refused(reason))
            }
        } else if let id = context.mesh.link(to: peer) {
            apply(context.mesh.leave(id))
        }
    }
}

extension ReceivedMessage {
    /// The message without a body that this side cannot use. A reliable one keeps its number, because it must be
    /// acknowledged in order.
    fileprivate func readable(_ content: MeshMessage?, byHost: Bool) -> ReceivedMessage? {
        if content?.isGuests == byHost { return self }
        guard messageClass == .reliable else { return nil }
        var number = self
        number.body = []
        return number
    }
}

extension MeshMessage {
    /// Whether only guests send this message.
    fileprivate var isGuests: Bool {
        switch self {
        case .intent, .stateRequest, .search, .coverRequest: true
        case .stateUpdate, .stateChange, .rejection, .stateHeartbeat, .searchResults, .coverPiece: false
        }
    }
}
