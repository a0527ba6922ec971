// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

// Performs what a step has decided.

extension NodeCore {
    /// If a step produces several states, only the last one is sent, because the others were never visible. A guest
    /// that connects in the same step gets the last state as well.
    mutating func perform(_ acts: [StepAction]) {
        assert(!steps.isWriting, "acts are performed when their step is written, and before the next one")
        defer { assert(!steps.isWriting, "performing acts never writes") }
        let states = acts.indices.filter { acts[$0].state != nil }
        for (place, act) in acts.enumerated() {
            if place == states.first, let state = acts[states[states.count - 1]].state { share(.stateChanged(state)) }
            if act.state == nil || place == states.last { perform(act) }
        }
        showWhatChanged()
    }

    private mutating func perform(_ act: StepAction) {
        switch act {
        case .effect(.host(let effect)): perform(effect)
        case .effect(.guest(let effect)): perform(effect)
        // The monitor may know the radio's own reason.
        case .effect(.show(.networkUnavailable)):
            tell(Notice(decisions.monitor.refusal ?? .networkUnavailable))
        case .effect(.show(let error)): tell(Notice(error))
        case .effect(.clear): clear(by: .linked)
        case .begin: begin()
        case .show(let event): show(event)
        case .tell(let notice): tell(notice)
        case .clear(let code): clear(code)
        case .cleared(let clearer): clear(by: clearer)
        case .steer(let event): steer(event)
        case .share(let event): share(event)
        case .keepOut(let peer):
            keepOut()
            if let peer { disconnect(peer, refusing: .banned) }
        case .showInvitations(let given): showInvitations(making: given)
        case .sessionEnded: sessionEnded()
        case .guestConnected(let peer, let id):
            if links.vouched(on: id) != nil { deliverState(on: id) }
            if context.mesh.link(to: peer) == id {
                let isMetered = links.bearer(of: links.place(of: id)?.carrier ?? id) == .broker
                share(
                    .guestConnected(
                        peer, has: links.takeWelcome(id), served: service(of: id), isMetered: isMetered))
            }
        case .accept(let message): apply(context.mesh.accept(upTo: message))
        case .acknowledge(let number, let id):
            if links.vouched(on: id) != nil { emit(.acknowledge(number, on: id)) }
        case .deliver(let message, let id): deliver(message, on: id)
        case .release(let number, let key): apply(context.mesh.stored(upTo: number, for: key))
        case .disconnect(let peer): disconnect(peer)
        case .forgetHost(let head):
            // The host may have come back while the disk was busy.
            for peer in context.mesh.joined(withHead: head) where context.mesh.link(to: peer) != nil {
                disconnect(peer)
            }
            context.memory.forgetsForGood()
            apply(context.mesh.forget(withHead: head))
        case .hostLeft(let host, let end): hostLeft(host, end)
        case .retried(let isWell):
            let told = screen.clear(by: .retried, now: context.now)
            for event in told { show(event) }
            emit(.retryCovers)
            guard isWell, told.isEmpty else { return }
            // Lasting notices are shown again, because the person wants to know what to repair.
            for notice in screen.standing { show(.notice(notice)) }
            if screen.standing.isEmpty { tell(Notice(.nothingToRetry)) }
        case .notSent(let error):
            emit(.notSent(error, count: screen.count(error)))
        case .storeFailed(let error, let isFirst): emit(.storeFailed(error, isFirst: isFirst))
        case .askForDeclined: apply(context.mesh.askForDeclined())
        case .retryRadio: decisions.app.isHosting ? emit(.retryRadio) : perform(context.route.retryRadio())
        case .answer(let number): emit(.answered(number))
        case .quit(let reason): quit(reason)
        }
    }

    // MARK: The host

    private mutating func perform(_ effect: HostFeature.Effect) {
        switch effect {
        case .broadcast(let snapshot):
            deliver(.stateUpdate(snapshot))
            show(.snapshot(snapshot, isStale: false))
            emit(.fetchCovers(snapshot.items.map(\.song)))
            perform(CoverServer.Event.stateChanged)
        case .send(_, let peer):
            share(.wholeRequested(peer))
            deliverState(to: peer)
        case .heartbeat:
            share(.heartbeat)
            if let state = decisions.app.host?.state {
                deliver(.stateHeartbeat(epoch: state.epoch, revision: state.revision))
            }
        case .refuseSearch(let results, let peer): share(.answered(results, for: peer))
        case .search(let request, let peer):
            guard links.maySearch(on: context.mesh.link(to: peer), now: context.now) else {
                return share(.answered(SearchResults(number: request.number, songs: [], refused: .tooFast), for: peer))
            }
            emit(.search(request, for: peer))
        // The guest has sent more intents than the limit allows. The node stops reading from it for some time.
        case .reject(_, .tooFast, let peer):
            if let id = context.mesh.link(to: peer) { links.hold(id, until: context.now + NodeLimits.hastePause) }
        // The rejection was queued when it was decided.
        case .reject: break
        case .report(let intent, let peer, let rejected): show(.intent(intent, from: peer, rejected: rejected))
        case .disconnect(let peer):
            disconnect(peer, refusing: .banned)
            show(.bans(decisions.shownBans, isAnswer: false))
        case .admit:
            keepOut()
            show(.bans(decisions.shownBans, isAnswer: false))
        case .notice(let notice): tell(notice)
        }
    }

    /// Sends the state at the end of the step, not an intermediate one.
    private mutating func deliverState(on id: MeshCore.LinkID? = nil, to peer: Peer.ID? = nil) {
        if let host = decisions.app.host { deliver(.stateUpdate(host.snapshot), on: id, to: peer) }
    }

    /// Which node brings the state to the guest of a link.
    private func service(of id: MeshCore.LinkID) -> StateFeed.Delivery {
        if links.place(of: id) != nil { return .byRelay }
        return context.mesh.leadsToRelay(id) ? .forOthers : .byHost
    }

    mutating func share(_ event: StateFeed.Event) {
        guard let feedActions = stateFeed?.handle(event, now: context.now) else { return }
        // Most guests get the same message, so it is encoded once.
        var last: (message: MeshMessage, bytes: [UInt8])?
        for action in feedActions {
            switch action {
            case .send(let message, let peer):
                let bytes = last?.message == message ? last?.bytes : nil
                last = (message, bytes ?? message.encoded)
                if let last { send(last.bytes, to: peer, sharing: message.sharing) }
            case .checkpoint(let message, let peer):
                var sharing = message.sharing
                sharing?.sharing = .checkpoint
                send(message.encoded, to: peer, sharing: sharing)
            }
        }
    }

    /// Sends a message that is valid on the present link only.
    mutating func send(_ bytes: [UInt8], to peer: Peer.ID, sharing: SharedState? = nil) {
        apply(context.mesh.send(bytes, as: .latest, to: context.key(of: peer), sharing: sharing).1)
    }

    // MARK: The guest

    private mutating func perform(_ effect: GuestFeature.Effect) {
        switch effect {
        // The intent was queued when it was decided.
        case .send: break
        // Ignore requests from earlier links. Each link starts with a full state.
        case .request(let message, let peer): send(message.encoded, to: peer)
        case .wishChanged(let songID, let kind, let state): show(.wish(songID, kind, state))
        case .show(let snapshot): show(.snapshot(snapshot, isStale: false))
        case .showResults(let found, let query): show(.searchResults(found, query: query))
        case .reconnect(let host): waitForHost(telling: .connectionLost(host: host))
        // `hostLeft` handles the return to the start, because it knows the reason.
        case .returnToStart: break
        // A notice about a failed radio comes first, because the person must know that.
        case .notice(let notice):
            tell(notice == Notice(.notConnected) ? decisions.monitor.refusal.map { Notice($0) } ?? notice : notice)
        }
    }

    private mutating func hostLeft(_ host: Peer, _ end: LinkEnd) {
        switch end {
        // This side has left and changes its policy separately. A retry may have cancelled a link before the policy
        // knew that it was up. The policy still counts that host as linked.
        case .left: steer(.linkLost)
        case .refused(let reason):
            tell(Notice(NetworkError(reason, by: host)))
            steer(.refused(reason, by: host.id))
        case .goodbye(.stopped): waitForHost(telling: .hostStopped(host: host))
        default:
            tell(Notice(end == .goodbye(.ended) ? .hostEnded(host: host) : .hostLeft(host: host)))
            steer(.hostEnded)
        }
    }

    private mutating func waitForHost(telling error: NetworkError) {
        if case .connectionLost(let host) = error, context.route.holdsLoss(of: host, now: context.now) {
        } else {
            tell(Notice(error))
        }
        steer(.linkLost)
        // The power may fail in the tunnel, so the state is written. It is not part of the step, because the dial would
        // then wait for the disk.
        steps.gapBegan()
    }

    mutating func steer(_ event: ReconnectPolicy.Event) {
        guard decisions.app.isJoining else { return }
        follow { [known = decisions.known] in $0.handle(event, known: known, $1) }
    }

    // MARK: What people see

    mutating func tell(_ notice: Notice) {
        // The notice about the disk says enough.
        if steps.isDiskOut, notice.code == HeadUnitProblem.driveNotRecordedCode { return }
        for event in screen.tell(notice, now: context.now) { show(event) }
    }

    mutating func clear(_ code: String) {
        for event in screen.clear(code, now: context.now) { show(event) }
    }

    mutating func clear(by clearer: Problem.Clearer) {
        for event in screen.clear(by: clearer, now: context.now) { show(event) }
    }

    /// Reports the playback, the driver's commands and the radio's activity if they have changed.
    mutating func showWhatChanged() {
        if let heard = decisions.app.host?.playback(now: context.now), let event = screen.hears(heard) { show(event) }
        if let offered = decisions.app.host?.steering, let event = screen.offers(offered) { show(event) }
        let activity = screen.radioDoes(
            links: decisions.presence.overRadio, isAdvertising: decisions.app.isHosting,
            isScanning: context.route.isScanning, isDialling: context.route.isDialling)
        if let activity { show(activity) }
    }
}

extension StepAction {
    /// The host's state, if this act broadcasts it.
    fileprivate var state: HostSnapshot? { if case .effect(.host(.broadcast(let state))) = self { state } else { nil } }

    /// Whether this act is a host's heartbeat.
    var isHeartbeat: Bool { if case .effect(.host(.heartbeat)) = self { true } else { false } }
}
