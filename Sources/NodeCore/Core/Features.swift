// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// The application's features, the peers that are present for them, and the radio's health. Events of peers go through
/// it. A wish or a rejection is queued in the peer's conversation when it is decided.
struct Features: Sendable {
    typealias Context = NodeDecisions.Context

    private(set) var app = AppFeature()
    private(set) var presence = Presence()
    private var monitor = NetworkMonitor()

    /// The features of a node in this role, as an earlier run has left them.
    init(_ part: NodeCore.Part, _ local: Peer, _ memory: inout NodeMemory) {
        let event: AppFeature.Event =
            switch part {
            case .host(let hosting): .startHosting(memory.hostFeature(local, hosting, now: .zero))
            case .guest: .startJoining(memory.guestFeature(local))
            }
        _ = app.handle(event, now: .zero)
        guard case .host = part else { return }
        _ = app.handle(.host(.drivers(memory.storedDrivers.map(\.id))), now: .zero)
    }

    /// The next deadline.
    var deadline: MeshInstant? { earliest(app.deadline, monitor.deadline) }

    /// Why the radio does not work; nil if it works.
    var radioProblem: NetworkError? { monitor.refusal }

    /// A peer. One that has left may still have sent a message that counts.
    func peer(_ id: Peer.ID) -> Peer { presence[id] ?? Peer(id: id, name: "") }

    /// The names of the states that this guest has of the host that it dials.
    func shownStates(over opening: NodeCore.Opening) -> [StateName] {
        guard opening.role == .initiator, let host = opening.place?.host ?? opening.expected,
            let guest = app.guest, let known = guest.state.known, Identity.mayBeSame(known.id, host)
        else { return [] }
        return guest.stateNames
    }

    // MARK: Links

    /// A link to a peer is up. `joined`: the guest's known hosts have changed.
    mutating func connected(
        _ peer: Peer, on id: MeshCore.LinkID, joined: [StepAction], _ context: inout Context
    ) -> [StepAction] {
        let isNews = presence.linked(peer, by: id, isVouched: false)
        context.memory.met(context.key(of: peer.id), context.mesh)
        return (isNews ? [.show(.peerConnected(peer))] : []) + joined + [.steer(.linked(peer))]
            + watch(.linked(peer.id), &context) + [.cleared(by: .linked)]
            + (isNews ? ask(.multipeerEvent(.peerConnected(peer)), &context) : [])
            + (context.mesh.place(of: id) != nil && app.isJoining
                ? ask(.guest(.isServedByRelay(continues: context.mesh.continuesState(on: id))), &context) : [])
            + (context.mesh.hasShownState(on: id) ? ask(.guest(.mayGoOn), &context) : [])
            + [.guestConnected(peer.id, on: id)] + copiedHost(met: peer, context)
    }

    /// Detects two hosts with one identity, which never hear each other. When a guest moves from one to the other, the
    /// second host knows less than the first one has reported.
    private func copiedHost(met peer: Peer, _ context: Context) -> [StepAction] {
        let (local, isHost) = (context.mesh.local, app.isHosting)
        let outdated = context.mesh.conversation(context.key(of: peer.id))?.outdated
        guard outdated == (isHost ? .ours : .theirs) else { return [] }
        return [.tell(Notice(.copied(host: isHost ? local : peer, guest: isHost ? peer : local)))]
    }

    /// A link to a peer has ended. `unheard`: the reports that a host which has said goodbye is gone.
    mutating func ended(
        _ peer: Peer, on id: MeshCore.LinkID, _ end: LinkEnd, isBesideRadio: Bool, unheard: [StepAction],
        _ context: inout Context
    ) -> [StepAction] {
        guard let isLast = presence.unlinked(peer.id, by: id) else { return [] }
        let reason = DisconnectReason(end)
        let isRadios = reason == .linkLost && !isBesideRadio
        let watched = watch(isRadios ? .linkLost(peer.id) : .unlinked(peer.id), &context)
        // A host that is stopped keeps its session: its guests wait for it, as they do in a tunnel.
        let isStopped = end == .goodbye(.stopped)
        let ending = MultipeerEvent.peerDisconnected(peer, reason: isStopped && app.isJoining ? .linkLost : reason)
        let told = isLast ? ask(.multipeerEvent(ending), &context) : []
        return (isLast ? [.show(.peerDisconnected(peer, reason))] : [])
            + unheard
            + (watched + told).flatMap { act -> [StepAction] in
                // `end` is the reason why the host is gone.
                switch act {
                case .effect(.guest(.returnToStart(let host, _))): hostLeft(host, end)
                case .effect(.guest(.reconnect(let host))):
                    [.waitForHost(isStopped ? .hostStopped(host: host) : .connectionLost(host: host))]
                default: [act]
                }
            }
    }

    /// The host has ended the link, or this guest has left it.
    private func hostLeft(_ host: Peer, _ end: LinkEnd) -> [StepAction] {
        switch end {
        // This side has left and changes its policy separately. A retry may have cancelled a link before the policy
        // knew that it was up. The policy still counts that host as linked.
        case .left: [.steer(.linkLost)]
        case .refused(let reason):
            [.tell(Notice(NetworkError(reason, by: host))), .steer(.refused(reason, by: host.id))]
        case .goodbye(.ended): [.tell(Notice(.hostEnded(host: host))), .steer(.hostEnded)]
        default: [.tell(Notice(.hostLeft(host: host))), .steer(.hostEnded)]
        }
    }

    /// A bearer vouches for a guest. The link does not show whether the radio works.
    mutating func joined(_ id: MeshCore.LinkID, _ peer: Peer, _ context: inout Context) -> [StepAction] {
        let isNews = presence.linked(peer, by: id, isVouched: true)
        let told = isNews ? ask(.host(.multipeerEvent(.peerConnected(peer))), &context) : []
        return (isNews ? [.show(.peerConnected(peer))] : []) + told + [.guestConnected(peer.id, on: id)]
    }

    /// A vouched link has ended.
    mutating func left(_ id: MeshCore.LinkID, _ peer: Peer.ID, _ end: LinkEnd, _ context: inout Context) -> [StepAction]
    {
        let gone = self.peer(peer)
        guard presence.unlinked(peer, by: id) == true else { return [] }
        let reason = DisconnectReason(end)
        return [.show(.peerDisconnected(gone, reason))]
            + ask(.multipeerEvent(.peerDisconnected(gone, reason: reason)), &context)
    }

    // MARK: Messages

    /// A message has arrived in a peer's conversation. `needsBrowser`: the peer's commands count only from a browser.
    mutating func received(
        _ message: ReceivedMessage, needsBrowser: Bool, _ context: inout Context
    ) -> [StepAction] {
        guard !context.mesh.hasDeclined(message) else { return [] }
        // The session is over. The message is not acknowledged, and its sender keeps it.
        guard app.isHosting || app.isJoining else { return [] }
        var acts: [StepAction] = []
        if let content = context.read(message.body) {
            context.asker = .radio
            defer { context.asker = nil }
            let peer = peer(message.peer)
            if needsBrowser, app.isHosting, case .intent(.steer(let wish)) = content {
                acts = [.show(.intent(.steer(wish), from: peer, rejected: .driverOnly))]
                acts += reject(.rejection(.steer(wish), .driverOnly), to: peer.id, &context)
            } else {
                acts = ask(.multipeerEvent(.messageReceived(content, from: peer)), &context)
            }
        }
        guard message.messageClass == .reliable else { return acts }
        context.memory.received(message, context.mesh)
        return acts + [.accept(message)]
    }

    /// A message has arrived on a vouched link.
    mutating func said(
        _ message: MeshMessage, _ number: UInt64, on id: MeshCore.LinkID, by peer: Peer.ID, _ context: inout Context
    ) -> [StepAction] {
        guard app.isHosting || app.isJoining else { return [] }
        context.asker = .link(id)
        defer { context.asker = nil }
        // Acknowledge before the answer is sent. The peer attributes an earlier rejection to an earlier message.
        return [.acknowledge(number, on: id)]
            + ask(.host(.multipeerEvent(.messageReceived(message, from: self.peer(peer)))), &context)
    }

    // MARK: The radio's health

    mutating func watch(_ event: NetworkMonitor.Event, _ context: inout Context) -> [StepAction] {
        monitor.handle(event, now: context.now).flatMap { action -> [StepAction] in
            switch action {
            case .networkUnavailable: ask(.multipeerEvent(.networkUnavailable), &context)
            case .causeChanged(let error): [.tell(Notice(error))]
            case .networkAvailable: [.cleared(by: .radioWorks)]
            case .tryAgain: [.retryRadio]
            }
        }
    }

    // MARK: Decisions

    /// Gives an event to the features. Send failures are decided after everything else of this event and reported last.
    mutating func ask(_ event: AppFeature.Event, _ context: inout Context) -> [StepAction] {
        let effects = app.handle(event, now: context.now)
        return effects.map { .effect($0) }
            + effects.flatMap { effect -> [StepAction] in
                switch effect {
                case .host(.reject(let intent, let reason, let peer)):
                    reject(.rejection(intent, reason), to: peer, &context)
                case .guest(.send(let intent, let peer)): stage(.intent(intent), to: peer, &context)
                default: []
                }
            }
    }

    private mutating func sendFailed(
        _ message: MeshMessage, to peer: Peer.ID, _ cause: SendError.Cause, _ context: inout Context
    ) -> [StepAction] {
        let error = SendError(cause, to: self.peer(peer))
        return [.notSent(error)] + ask(.multipeerEvent(.sendFailed(message, error)), &context)
    }

    /// Sends a rejection on the link on which the request came. Without a pending request it goes over every link of
    /// the peer.
    private mutating func reject(_ rejection: MeshMessage, to peer: Peer.ID, _ context: inout Context) -> [StepAction] {
        switch context.asker {
        case .link(let id): return [.deliver(rejection, on: id)]
        // The conversation gets the answer even if its link has ended.
        case .radio: return stage(rejection, to: peer, &context)
        case nil:
            let vouched = presence.vouched(peer)
            let isByRadio = presence.isOverRadio(peer) || vouched.isEmpty
            return vouched.map { .deliver(rejection, on: $0) } + (isByRadio ? stage(rejection, to: peer, &context) : [])
        }
    }

    /// Gives a reliable message to its conversation, which holds it until it is on disk.
    private mutating func stage(_ message: MeshMessage, to peer: Peer.ID, _ context: inout Context) -> [StepAction] {
        let (body, key) = (message.encoded, context.key(of: peer))
        guard !context.isWithoutStore else { return sendFailed(message, to: peer, .notStored, &context) }
        guard case .queued(let number) = context.mesh.send(body, as: .reliable, to: key).0,
            let remembered = context.mesh.remembered(key)
        else { return sendFailed(message, to: peer, .full, &context) }
        context.memory.said(body, number: number, in: key, remembered)
        if case .intent(let intent) = message { context.memory.sent(intent, number: number, in: key) }
        return [.release(number: number, in: key)]
    }
}
