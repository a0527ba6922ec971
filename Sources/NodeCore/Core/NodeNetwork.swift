// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Sends a host's state and covers to its guests, and handles links with peers that a bearer vouches for. It sends over
/// the links that `NodeCore` passes to it.
struct NodeNetwork: Sendable {
    typealias Context = NodeDecisions.Context

    private var vouched = VouchedLinks()
    /// The state that a guest behind relays expects.
    private var relayedState = RelayedState()
    private var delivery = HostDelivery()
    private var covers = CoverExchange()

    // MARK: Questions

    /// The links with peers that a bearer vouches for.
    var vouchedLinks: VouchedLinks { vouched }

    /// How often the host was asked for the state that a relay should bring; nil if none is expected. For tests.
    var stateRequests: Int? { relayedState.asked }

    /// The peer of a vouched link.
    func vouched(on id: MeshCore.LinkID) -> Peer? { vouched[id] }

    // MARK: Links

    /// The answer to a guest is about to be sent, and may include the first state.
    mutating func welcome(
        _ id: MeshCore.LinkID, _ links: inout NodeLinks, _ context: inout Context
    ) -> [NetworkAction] {
        let had = context.mesh.shownState(on: id)
        guard let first = delivery.welcome(having: had, now: context.now) else { return [] }
        return links.welcome(id, with: first, &context)
    }

    /// A guest has connected on this link.
    mutating func connected(
        _ peer: Peer.ID, on id: MeshCore.LinkID, _ decisions: NodeDecisions, _ links: inout NodeLinks,
        _ context: inout Context
    ) -> [NetworkAction] {
        let state = vouched[id] == nil ? [] : deliverState(on: id, decisions)
        guard context.mesh.link(to: peer) == id else { return state }
        let isMetered = links.bearer(of: id) == .broker
        let (welcome, service) = (links.takeWelcome(id), links.delivery(on: id, context.mesh))
        let event = StateFeed.Event.guestConnected(peer, has: welcome, served: service, isMetered: isMetered)
        return state + share(event, &links, &context)
    }

    /// The link to a peer has ended.
    mutating func gone(
        _ peer: Peer.ID, _ links: inout NodeLinks, _ context: inout Context
    ) -> [NetworkAction] {
        share(.guestGone(peer), &links, &context) + serve(.guestGone(peer), &links, &context)
    }

    /// A guest's link to its host in a circuit is up.
    mutating func circuitUp(_ id: MeshCore.LinkID, now: MeshInstant) { relayedState.linkUp(id, now: now) }

    /// A link in a circuit is gone.
    mutating func circuitEnded(_ id: MeshCore.LinkID) { relayedState.linkClosed(id) }

    /// Whether a message of the host must wait for the state that it refers to. It has arrived in a circuit.
    mutating func holdsBack(
        _ message: ReceivedMessage, _ content: MeshMessage?, on id: MeshCore.LinkID, _ app: AppFeature,
        now: MeshInstant
    ) -> Bool {
        app.isJoining && relayedState.holdsBack(message, content, on: id, app, now: now)
    }

    /// Ends every link with a peer and cancels a dial to it.
    mutating func disconnect(
        _ peer: Peer.ID, refusing reason: RefusalReason? = nil, _ links: inout NodeLinks, _ context: inout Context
    ) -> [NetworkAction] {
        let actions = links.disconnect(peer, refusing: reason, &context)
        guard let reason else { return actions }
        return actions + vouched.all.filter { $0.peer == peer }.flatMap { endVouched($0.id, .refused(reason)) }
    }

    /// Ends all links with a goodbye.
    mutating func leaveAll(
        saying reason: GoodbyeReason, _ links: inout NodeLinks, _ context: inout Context
    ) -> [NetworkAction] {
        links.leaveAll(saying: reason, &context)
            + vouched.all.flatMap { [.dropSaid(on: $0.id)] + endVouched($0.id, .goodbye(reason)) }
    }

    /// Forgets the hosts with this head, and ends their links.
    mutating func forgetHost(
        _ head: Peer.ID, _ links: inout NodeLinks, _ context: inout Context
    ) -> [NetworkAction] {
        // The host may have come back while the disk was busy.
        let linked = context.mesh.joined(withHead: head).filter { context.mesh.link(to: $0) != nil }
        let ends = linked.flatMap { disconnect($0, &links, &context) }
        context.memory.forgetsForGood()
        return ends + links.apply(context.mesh.forget(withHead: head), &context)
    }

    // MARK: Vouched links

    /// A bearer has linked a peer, which may claim to know the secret that a host asks for.
    mutating func joined(
        _ id: MeshCore.LinkID, _ peer: Peer, _ claim: JoiningSecret? = nil, isQuitting: Bool, _ context: inout Context
    ) -> [NetworkAction] {
        let answer = vouched.joined(
            id, peer, claim, isHost: context.role == .responder, isQuitting: isQuitting, &context.mesh,
            now: context.now)
        switch answer {
        case .refuse(let reason, let isGuess):
            return (isGuess ? [.queue(.link(id, .guessedWrong(peer)))] : []) + [.emit(.end(id, .refused(reason)))]
        case .admit:
            let isInvited = claim?.invitation.isEmpty == false
            return (isInvited ? [.queue(.link(id, .invitationUsed(peer)))] : []) + [.queue(.joined(id, peer))]
        }
    }

    /// A vouched link has ended.
    mutating func left(_ id: MeshCore.LinkID, _ end: LinkEnd) -> [NetworkAction] {
        vouched.left(id).map { [.queue(.left(id, $0.id, end))] } ?? []
    }

    /// Ends a vouched link.
    mutating func endVouched(_ id: MeshCore.LinkID, _ end: LinkEnd) -> [NetworkAction] {
        [.emit(.end(id, end))] + left(id, end)
    }

    /// Sends a message on one vouched link, on all vouched links of a peer, or on all vouched links.
    func deliver(
        _ message: MeshMessage, on id: MeshCore.LinkID? = nil, to peer: Peer.ID? = nil
    ) -> [NetworkAction] {
        vouched.all.filter { $0.id == id ?? $0.id && $0.peer == peer ?? $0.peer }
            .map { .emit(.deliver(message, on: $0.id)) }
    }

    // MARK: Effects of the features

    /// Performs an effect of the host's feature.
    mutating func perform(
        _ effect: HostFeature.Effect, _ decisions: NodeDecisions, _ links: inout NodeLinks, _ context: inout Context
    ) -> [NetworkAction] {
        switch effect {
        case .broadcast(let snapshot):
            return deliver(.stateUpdate(snapshot))
                + [.emit(.show(.snapshot(snapshot, isStale: false))), .emit(.fetchCovers(snapshot.items.map(\.song)))]
                + serve(.stateChanged, &links, &context)
        case .send(_, let peer):
            return share(.wholeRequested(peer), &links, &context) + deliverState(to: peer, decisions)
        case .heartbeat:
            let beat = share(.heartbeat, &links, &context)
            guard let state = decisions.app.host?.state else { return beat }
            return beat + deliver(.stateHeartbeat(epoch: state.epoch, revision: state.revision))
        case .refuseSearch(let results, let peer): return share(.answered(results, for: peer), &links, &context)
        case .search(let request, let peer):
            let carrier = context.mesh.link(to: peer).flatMap { links.carrier(of: $0) }
            guard delivery.maySearch(over: carrier, now: context.now) else {
                let refused = SearchResults(number: request.number, songs: [], refused: .tooFast)
                return share(.answered(refused, for: peer), &links, &context)
            }
            return [.emit(.search(request, for: peer))]
        // The guest has sent more intents than the limit allows. The node stops reading from it for some time.
        case .reject(_, .tooFast, let peer):
            if let id = context.mesh.link(to: peer) { links.hold(id, until: context.now + NodeLimits.hastePause) }
            return []
        // The rejection was queued when it was decided.
        case .reject: return []
        case .report(let intent, let peer, let rejected):
            return [.emit(.show(.intent(intent, from: peer, rejected: rejected)))]
        case .disconnect(let peer):
            context.mesh.banned = decisions.banned
            return disconnect(peer, refusing: .banned, &links, &context)
                + [.emit(.show(.bans(decisions.shownBans, isAnswer: false)))]
        case .admit:
            context.mesh.banned = decisions.banned
            return [.emit(.show(.bans(decisions.shownBans, isAnswer: false)))]
        case .notice(let notice): return [.tell(notice)]
        }
    }

    /// Performs an effect of the guest's feature.
    mutating func perform(
        _ effect: GuestFeature.Effect, _ decisions: NodeDecisions, _ links: inout NodeLinks, _ context: inout Context
    ) -> [NetworkAction] {
        switch effect {
        // The intent was queued when it was decided. The reason is known for the end of a link, and has its own acts.
        case .send, .reconnect, .returnToStart: return []
        // Ignore requests from earlier links. Each link starts with a full state.
        case .request(let message, let peer): return links.send(message.encoded, to: peer, &context)
        case .wishChanged(let songID, let kind, let state): return [.emit(.show(.wish(songID, kind, state)))]
        case .show(let snapshot): return [.emit(.show(.snapshot(snapshot, isStale: false)))]
        case .showResults(let found, let query): return [.emit(.show(.searchResults(found, query: query)))]
        // A notice about a failed radio comes first, because the person must know that.
        case .notice(let notice):
            let refusal = notice == Notice(.notConnected) ? decisions.radioProblem : nil
            return [.tell(refusal.map { Notice($0) } ?? notice)]
        }
    }

    /// A host's session begins with this state.
    mutating func beginSession(_ state: HostSnapshot, now: MeshInstant) -> [NetworkAction] {
        delivery.begin(state, now: now)
        return [.emit(.fetchCovers(state.items.map(\.song))), .emit(.show(.snapshot(state, isStale: false)))]
    }

    // MARK: The host's state

    /// Sends the state at the end of the step, not an intermediate one.
    private func deliverState(
        on id: MeshCore.LinkID? = nil, to peer: Peer.ID? = nil, _ decisions: NodeDecisions
    ) -> [NetworkAction] {
        decisions.app.host.map { deliver(.stateUpdate($0.snapshot), on: id, to: peer) } ?? []
    }

    mutating func share(
        _ event: StateFeed.Event, _ links: inout NodeLinks, _ context: inout Context
    ) -> [NetworkAction] {
        delivery.handle(event, now: context.now).flatMap { message in
            links.send(message.bytes, to: message.guest, sharing: message.sharing, &context)
        }
    }

    // MARK: Covers

    /// Passes an event to the covers that a host sends.
    mutating func serve(
        _ event: CoverServer.Event, _ links: inout NodeLinks, _ context: inout Context
    ) -> [NetworkAction] {
        perform(covers.handle(event, now: context.now), &links, &context)
    }

    /// Handles a message about covers. Nil for any other message.
    mutating func takeCovers(
        _ message: MeshMessage, from peer: Peer.ID, _ app: AppFeature, _ links: inout NodeLinks,
        _ context: inout Context
    ) -> [NetworkAction]? {
        switch message {
        case .coverRequest(let request):
            guard let host = app.host else { return [] }
            return perform(covers.asked(request, by: peer, host, now: context.now), &links, &context)
        case .coverPiece(let piece):
            guard peer == context.mesh.host?.id else { return [] }
            return perform(covers.arrived(piece, now: context.now), &links, &context)
        default: return nil
        }
    }

    /// Runs after each event, because the visible songs may have changed or the link may have become idle.
    mutating func lookAtCovers(
        _ guest: GuestFeature, _ links: inout NodeLinks, _ context: inout Context
    ) -> [NetworkAction] {
        let link = context.mesh.host.flatMap { host in
            context.mesh.link(to: host.id).map { id in
                CoverExchange.HostLink(
                    host: host.id, isBehindRelay: links.carrier(of: id) != nil,
                    isMetered: links.bearer(of: id) == .broker)
            }
        }
        return perform(covers.look(guest, link, now: context.now), &links, &context)
    }

    private mutating func perform(
        _ actions: [CoverExchange.Action], _ links: inout NodeLinks, _ context: inout Context
    ) -> [NetworkAction] {
        actions.flatMap { action -> [NetworkAction] in
            switch action {
            case .make(let songID): return [.emit(.makeCover(songID))]
            case .send(let piece, let guest): return share(.covered(piece, for: guest), &links, &context)
            case .ask(let request):
                guard let host = context.mesh.host else { return [] }
                return links.send(MeshMessage.coverRequest(request).encoded, to: host.id, &context)
            case .keep(let songID, let bytes): return [.emit(.keepCover(songID, bytes))]
            }
        }
    }

    // MARK: Time

    func deadline(isQuitting: Bool, _ links: NodeLinks, _ context: Context) -> MeshInstant? {
        let relays = isQuitting ? nil : earliest(links.relaysDeadline(context.route), relayedState.deadline)
        return earliest(earliest(links.deadline(context.mesh), relays), covers.deadline(now: context.now))
    }

    /// Time has passed for the state that relays should bring. `isCurrent`: that state has arrived. `isSettled`: no
    /// failed write can undo it.
    mutating func tickRelays(
        isCurrent: Bool, isSettled: Bool, _ links: inout NodeLinks, _ context: inout Context
    ) -> [NetworkAction] {
        let isComing = context.mesh.parent.map { context.mesh.isReceivingState(on: $0.link) } == true
        let due = relayedState.tick(
            isComing: isComing, isCurrent: isCurrent, isSettled: isSettled, now: context.now)
        return due.flatMap { event -> [NetworkAction] in
            switch event {
            case .release(let message, let id): return [.queue(.link(id, .received(message)))]
            case .request(let id):
                guard let key = context.mesh.key(on: id) else { return [] }
                return links.send(MeshMessage.stateRequest.encoded, to: key.peer, &context)
            }
        }
    }

    mutating func tickCovers(_ links: inout NodeLinks, _ context: inout Context) -> [NetworkAction] {
        perform(covers.tick(now: context.now), &links, &context)
    }
}
