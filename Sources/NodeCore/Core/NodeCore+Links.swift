// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

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
            case .forgot(let key): steps.append(.forgot(key))
            case .circuitOffered(let place): emit(.openCircuit(place, dial: nil, expecting: nil))
            case .circuitEnded(let id):
                links.closed(id)
                relayedState.linkClosed(id)
                context.route.circuitClosed(id)
            }
        }
    }

    private mutating func told(_ event: LinkEvent, of id: MeshCore.LinkID) {
        switch event {
        case .roundTrip(let time, _):
            links.answered(id, after: time)
            return emit(.measure(id))
        case .asked: return emit(.measure(id))
        // The first state leaves with the answer, which saves one round trip.
        case .admitted:
            // Behind relays the state is already there, or it comes with the first circuit.
            guard links.place(of: id) == nil else { return }
            let had = context.mesh.shownState(on: id)
            guard let first = stateFeed?.welcome(having: had, now: context.now) else { return }
            let welcome = context.mesh.welcome(first.message.encoded, as: first.message.sharing, on: id)
            if !welcome.isEmpty { links.welcomed(id, with: first.state) }
            return apply(welcome)
        case .connected(let peer):
            linkUp(id)
            if links.place(of: id) == nil { neighboursChanged() }
            show(.contact(Encounter(.resumed, peer, at: configuration.origin + context.now)))
        case .failed(let expected, _, let end):
            let place = links.place(of: id)
            if place == nil, let relay = context.route.dialledRelay(on: id) {
                log(end, relay)
                follow { $0.carrierFailed(id, end, $1) }
                return emit(.linksChanged)
            }
            log(end, expected ?? "a peer that has not proved who it is")
            follow { $0.linkFailed(id, in: place, end, $1) }
            if place == nil { emit(.linksChanged) }
            // The dial was for a better route than the one that is up.
            if decisions.app.isJoining, context.mesh.host != nil { return }
        case .ended(let peer, let end):
            log(end, "\(peer)")
            // A peer that has moved to another link or route is not lost.
            if context.mesh.link(to: peer.id) == nil {
                let lost = Encounter(
                    lost: peer, end, supervision: links.supervision(of: id), at: configuration.origin + context.now)
                show(.contact(lost))
            }
            let place = links.place(of: id)
            follow { [bearer = links.bearer(of: id)] in $0.linkEnded(id, in: place, over: bearer, end, $1) }
            if place == nil {
                emit(.linksChanged)
                neighboursChanged()
            }
            // This must not wait for the step. A link that replaces this one gets nothing before the step in which its
            // guest connects.
            share(.guestGone(peer.id))
            perform(CoverServer.Event.guestGone(peer.id))
            return steps.append(.ended(id, peer, end, besideRadio: links.isBesideRadio(id)))
        case .received(let message):
            let content = context.read(message.body)
            if message.messageClass == .latest, let content, takeCovers(content, from: message.peer) { return }
            if let readable = message.readable(content, byHost: isHost), !waitsForRelay(readable, content, on: id) {
                let isWish = isHost && readable.messageClass == .reliable
                let carrier = isWish ? links.place(of: id)?.carrier : nil
                isWish
                    ? steps.append(.link(id, .received(readable)), over: carrier, now: context.now)
                    : steps.append(.link(id, .received(readable)))
            }
            return
        case .carrier(let peer, let route): return carrierUp(peer, route, on: id)
        case .route(let route): return follow { $0.routeChanged(route, on: id, $1) }
        case .askedForRoom: return askedForRoom(on: id)
        case .carrierEnded(let peer, let end): return carrierEnded(peer, end, on: id)
        case .acknowledged, .latestHasLeft, .guessedWrong, .invitationUsed, .unansweredProofs, .probed: break
        }
        steps.append(.link(id, event))
    }

    mutating func log(_ end: LinkEnd, _ who: String) {
        guard case .misbehaved(let how) = end else { return }
        emit(.misbehaved(how, who: who, count: context.mesh.misbehaviours[how] ?? 0))
    }

    mutating func opened(_ id: MeshCore.LinkID, _ opening: Opening) {
        guard phase != .ended else { return emit(.close(id, afterFinalFrame: false)) }
        if let number = opening.dial {
            // After a power cut a new link would continue with what is still on disk, and repeat it.
            if context.memory.isForgetting {
                emit(.close(id, afterFinalFrame: false))
                return follow { $0.dialFailed(number, nil, $1) }
            }
            // The dial was cancelled while the channel opened.
            guard let host = context.route.opened(number, id) else {
                if opening.place == nil { emit(.close(id, afterFinalFrame: false)) }
                return
            }
            show(.contact(Encounter(.dialled, host, at: configuration.origin + context.now)))
        }
        if opening.role == .initiator { perform(relayRole.handle(.approaches, now: context.now)) }
        links.opened(id, over: opening.bearer, in: opening.place)
        if let place = opening.place { context.route.circuitOpened(in: place) }
        // A relay's bond is the relay's alone.
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
        context.route.measured(rssi, on: id)
        guard let peer = context.mesh.peer(on: id),
            var report = links.report(on: id, rssi: rssi, condition, context.mesh.conversation(on: id))
        else { return }
        (report.relays, report.via) = context.route.hops(in: links.place(of: id))
        report.circuits = context.mesh.circuits(on: id)
        show(.link(peer, report))
        if let note = condition?.note, links.isNew(note, on: id) { apply(context.mesh.note(note, on: id)) }
    }

    // MARK: Links that their bearer vouches for

    mutating func joined(_ id: MeshCore.LinkID, _ peer: Peer, _ claim: JoiningSecret? = nil) {
        // A peer without the right secret learns only that, and not whether there is a free slot.
        if let claim, isHost, let reason = context.mesh.judge(claim, now: context.now) {
            if reason == .wrongProof { steps.append(.link(id, .guessedWrong(peer))) }
            return emit(.end(id, .refused(reason)))
        }
        let others = Set(links.vouched.map(\.peer))
        let answer =
            isHost && !isQuitting
            ? context.mesh.answer(vouchedFor: peer.id, connected: others) : .refuse(.ended)
        if case .refuse(let reason) = answer { return emit(.end(id, .refused(reason))) }
        if let claim, !claim.invitation.isEmpty {
            guard context.mesh.use(claim) else { return emit(.end(id, .refused(.invitation))) }
            steps.append(.link(id, .invitationUsed(peer)))
        }
        links.opened(id, vouched: peer)
        steps.append(.joined(id, peer))
    }

    mutating func left(_ id: MeshCore.LinkID, _ end: LinkEnd) {
        guard let peer = links.vouched(on: id) else { return }
        links.closed(id)
        steps.append(.left(id, peer.id, end))
    }

    /// Ends a vouched link.
    mutating func endVouched(_ id: MeshCore.LinkID, _ end: LinkEnd) {
        emit(.end(id, end))
        left(id, end)
    }

    /// Sends a message on one vouched link, on all vouched links of a peer, or on all vouched links.
    mutating func deliver(_ message: MeshMessage, on id: MeshCore.LinkID? = nil, to peer: Peer.ID? = nil) {
        for link in links.vouched where link.id == id ?? link.id && link.peer == peer ?? link.peer {
            emit(.deliver(message, on: link.id))
        }
    }

    /// Gives the protocol the host's bans. They apply to every bearer.
    mutating func keepOut() {
        context.mesh.banned = Set((decisions.app.host?.state.banned ?? []) + decisions.bans.map(\.peer.id))
    }

    // MARK: Ends

    /// Ends every link with a peer and cancels a dial to it.
    mutating func disconnect(_ peer: Peer.ID, refusing reason: RefusalReason? = nil) {
        follow { $0.cancelDial(to: peer, $1) }
        if let reason {
            keepOut()
            apply(context.mesh.sendAway(peer, reason))
            for link in links.vouched where link.peer == peer {
                endVouched(link.id, .refused(reason))
            }
        } else if let id = context.mesh.link(to: peer) {
            apply(context.mesh.leave(id))
        }
    }
}

extension ReceivedMessage {
    /// The message, without its body if this side cannot use it. A reliable one keeps its number, because it must be
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
