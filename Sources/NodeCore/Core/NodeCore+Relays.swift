// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

// Relays: as part of the route to a host, and this node as a relay.

extension NodeCore {
    // MARK: The route

    /// Gives the route an event, and performs what it decides.
    mutating func follow(_ event: (inout Route, Route.Surroundings) -> [Route.Action]) {
        perform(actions(for: event))
    }

    /// A function of its own, so that no copy of the protocol's state is left when the actions change it.
    private mutating func actions(for event: (inout Route, Route.Surroundings) -> [Route.Action]) -> [Route.Action] {
        let around = Route.Surroundings(
            mesh: context.mesh, ceiling: relayRole.ceiling, carriesOthers: relayRole.carriesOthers, now: context.now)
        return event(&context.route, around)
    }

    /// Performs what the route has decided, in order.
    mutating func perform(_ actions: [Route.Action]) {
        for action in actions {
            switch action {
            case .scan: emit(.startRadio)
            case .stopScanning: emit(.stopScanning)
            case .dial(let number, let head, let expecting): emit(.dial(number, head: head, expecting: expecting))
            case .cancelDial(let number): emit(.cancelDial(number))
            case .openCircuit(let place, let dial, let expecting):
                emit(.openCircuit(place, dial: dial, expecting: expecting))
            case .leave(let id): apply(context.mesh.leave(id))
            case .disconnect(let host): if let id = context.mesh.link(to: host) { apply(context.mesh.leave(id)) }
            case .lead(let hops): lead(over: hops)
            case .down: perform(relayRole.handle(.down, now: context.now))
            case .heard(let node): heard(node)
            case .reachable(let node): steps.append(.event(.heard(node)))
            case .report(let node):
                if !isSettled || !decisions.reported.knows(node.named) { steps.append(.reported(node.named)) }
            case .failed(let failure): steps.append(.inviteFailed(failure))
            case .lost(let host): tell(Notice(.connectionLost(host: host)))
            case .show(let state): show(.connection(state))
            case .giveUp(let host):
                steps.append(.wish(.gaveUp))
                clear(by: .gaveUp)
                tell(Notice(.hostNotFound(host: host)))
            case .offer(let host): tell(Notice(.unknownHost(host)))
            }
        }
    }

    private mutating func heard(_ node: HeardNode) {
        let (node, now) = (node.relay == nil ? node : node.named, configuration.origin + context.now)
        // A linked node that scans hears all relays in range each second. A relay that was reported to people already
        // needs no step.
        let isNews =
            node.relay == nil || !isSettled || context.mesh.host == nil || !decisions.reported.knows(node)
        if isNews { steps.append(.event(.heard(node))) }
        show(.contact(Encounter(.heard, node.host, at: now, by: .sighting, rssi: node.rssi)))
    }

    /// A link to the host is up.
    mutating func linkUp(_ id: MeshCore.LinkID) {
        let place = links.place(of: id)
        if place != nil, decisions.app.isJoining { relayedState.linkUp(id, now: context.now) }
        follow { $0.linkUp(id, in: place, $1) }
    }

    /// Nodes behind this one can reach the host over this many relays.
    private mutating func lead(over hops: Int) {
        guard let host = context.mesh.host else { return }
        let asksForPIN = context.mesh.asksForProof(host.id)
        perform(relayRole.handle(.up(host, relaysOnTheWay: hops, asksForPIN: asksForPIN), now: context.now))
    }

    // MARK: Links to relays, and to nodes behind this one

    mutating func carrierUp(_ peer: Peer, _ route: MeshProtocol.Route?, on id: MeshCore.LinkID) {
        guard context.route.dialledRelay(on: id) == nil else {
            return follow { $0.carrierUp(peer, route, on: id, $1) }
        }
        // End the circuit's link if another node has dialled this one, or if the link is not needed any more.
        guard context.mesh.children.contains(where: { $0.id == peer.id }) else {
            return apply(context.mesh.leave(id))
        }
        perform(relayRole.handle(.children(context.mesh.children.count), now: context.now))
        neighboursChanged()
    }

    mutating func carrierEnded(_ peer: Peer, _ end: LinkEnd, on id: MeshCore.LinkID) {
        log(end, "\(peer)")
        links.closed(id)
        show(.linkEnded(peer))
        follow { $0.carrierEnded(peer, end, on: id, $1) }
        if configuration.part.relays {
            perform(relayRole.handle(.children(context.mesh.children.count), now: context.now))
        }
        neighboursChanged()
        emit(.linksChanged)
    }

    mutating func perform(_ actions: [RelayRole.Action]) {
        for action in actions {
            switch action {
            case .advertise(let notice): emit(.relay(notice))
            case .lead(let route): apply(context.mesh.lead(route))
            case .reserveSlots(let areKept): emit(.placesForRelays(areKept))
            case .askForRoom(let link): apply(context.mesh.askForRoom(on: link))
            }
        }
    }

    /// The set of linked nodes that have dialled this node has changed.
    mutating func neighboursChanged() {
        guard isHost || configuration.part.relays else { return }
        // Links over a network use none of the radio's slots.
        let here = context.mesh.neighbours.filter { !links.isBesideRadio($0.link) }
        perform(relayRole.changed(here, now: context.now))
    }

    /// The parent needs this node's slot for a relay. This node moves if it can reach the host through another relay.
    mutating func askedForRoom(on id: MeshCore.LinkID) {
        guard !configuration.part.relays, let host = context.mesh.host, let way = context.mesh.link(to: host.id),
            id == context.mesh.parent?.link ?? way, !links.isBesideRadio(id),
            // The state comes over the present link. After a move the transfer would start again.
            decisions.app.isCurrent
        else { return }
        follow { [place = links.place(of: way)] in $0.askedForRoom(in: place, $1) }
    }

    // MARK: The state

    /// Whether a message of the host must wait for the state that it refers to. That state arrives over another link.
    mutating func waitsForRelay(_ message: ReceivedMessage, _ content: MeshMessage?, on id: MeshCore.LinkID) -> Bool {
        guard links.place(of: id) != nil, decisions.app.isJoining else { return false }
        switch content {
        case .stateHeartbeat(let epoch, let revision, _):
            // Without a state, the message says which revision the first state must have.
            guard decisions.app.isCurrent, let state = decisions.app.hostSnapshot else { return false }
            guard (state.epoch, state.revision) != (epoch, revision) else { return false }
            // A message that is older than the state on view says nothing about it, unless that state came over an
            // earlier link.
            guard state.epoch != epoch || revision > state.revision else { return false }
            relayedState.announced(message, on: id, now: context.now)
            return true
        case .stateChange:
            relayedState.comes(now: context.now)
            return false
        default: return false
        }
    }

    // MARK: Time

    var relaysDeadline: MeshInstant? {
        guard !isQuitting else { return nil }
        // Asked after each event, so no array is made for it.
        let first = earliest(context.route.deadline, relayedState.deadline)
        return earliest(first, relayRole.deadline)
    }

    mutating func tickRelays() {
        guard !isQuitting else { return }
        perform(relayRole.tick(now: context.now))
        follow { $0.tick($1) }
        if relayedState.isWaiting, let parent = context.mesh.parent?.link, context.mesh.isReceivingState(on: parent) {
            relayedState.comes(now: context.now)
        }
        if let (link, message) = relayedState.takeAnnounced(now: context.now) {
            steps.append(.link(link, .received(message)))
        }
        // The state is requested if no relay has brought it, or only an older state. A decision that is not on the disk
        // may be undone, so only a settled one counts.
        let isCurrent = decisions.app.isCurrent
        let due = relayedState.takeRequest(isCurrent: isCurrent, isSettled: isSettled, now: context.now)
        if let due, let key = context.mesh.key(on: due) {
            apply(context.mesh.send(MeshMessage.stateRequest.encoded, as: .latest, to: key).1)
        }
    }

    /// Every event has been decided, and its step is written.
    private var isSettled: Bool { steps.isSettled }

    /// Limits the reading of links in circuits like that of other links, without holding up the other circuits on the
    /// same carrier. A host may have a thousand links in circuits, so this checks only links that are held or may have
    /// to be held.
    mutating func holdCircuits() {
        let busy = steps.full.compactMap { context.mesh.link(to: $0) }
        for id in links.circuitsToCheck(busy) {
            let isHeld = !mayRead(id, now: context.now)
            guard isHeld != links.isCircuitHeld(id) else { continue }
            links.holdCircuit(id, isHeld)
            apply(context.mesh.holdCircuit(of: id, isHeld))
        }
    }
}
