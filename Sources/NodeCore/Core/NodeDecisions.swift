// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Decides how to handle each event. The features decide, and their effects become the step's acts.
///
/// This is a plain value. If a write fails, the node restores the value from before the step.
struct NodeDecisions: Sendable {
    private(set) var app = AppFeature()
    private(set) var monitor = NetworkMonitor()
    /// The hosts that a guest has joined.
    var known: KnownHosts
    private(set) var presence = Presence()
    private(set) var reported = ReportedNodes()
    /// Hosts with a known name and another key that were reported to people, by their heads.
    var toldCopies = RecentTable<Peer.ID, Bool>(limit: NodeLimits.shownHosts)
    /// Why covers cannot be loaded at present.
    private(set) var failingCovers: Set<NetworkError> = []
    /// Bans that outlive the session, oldest first.
    var bans: [BanRecord] = []
    var banTimes = BanTimes()
    /// Co-hosts, oldest first.
    var drivers: [Peer] = []
    /// Co-hosts with keys that a browser has sent over a network in the clear. Their commands are accepted from a
    /// browser only, because anyone who has read such a key could join over the radio with it.
    var browserDrivers: Set<Peer.ID> = []
    /// The host, or its head, that has proved a different key from that of the known host. A tap on Retry forgets the
    /// old key.
    var changedKey: Peer.ID?
    /// The hosts about which the person was last asked.
    var askedHosts: Set<Peer.ID> = []

    /// Creates the decision state of a node in this role, as an earlier run has left it.
    init(_ part: NodeCore.Part, _ local: Peer, _ memory: inout NodeMemory) {
        known = KnownHosts(memory.storedKnownHosts)
        let event: AppFeature.Event =
            switch part {
            case .host(let hosting): .startHosting(memory.hostFeature(local, hosting, now: .zero))
            case .guest: .startJoining(memory.guestFeature(local))
            }
        _ = app.handle(event, now: .zero)
        if case .host = part {
            (bans, drivers) = (memory.storedBans, memory.storedDrivers)
            browserDrivers = Set(memory.storedBrowserDrivers.map(\.id))
            _ = app.handle(.host(.drivers(drivers.map(\.id))), now: .zero)
        }
    }

    /// The keys that a host does not admit.
    var banned: Set<Peer.ID> { Set((app.host?.state.banned ?? []) + bans.map(\.peer.id)) }

    /// The names of the states that this guest has of the host that it dials.
    func shownStates(over opening: NodeCore.Opening) -> [StateName] {
        guard opening.role == .initiator, let host = opening.place?.host ?? opening.expected,
            let guest = app.guest, let known = guest.state.known, Identity.mayBeSame(known.id, host)
        else { return [] }
        return guest.stateNames
    }

    /// What people see when the node is ready, besides the queue of a host.
    func shownAtStart(_ context: Context) -> [StepAction] {
        if app.isHosting {
            return (context.mesh.admissionPolicy.invitations.isEmpty ? [] : [.showInvitations(making: nil)])
                + (shownBans.isEmpty ? [] : [.show(.bans(shownBans, isAnswer: false))])
        }
        guard let guest = app.guest else { return [] }
        let wishes = guest.state.elsewhere + guest.state.wishes
        return (guest.state.hostSnapshot.map { [.show(.snapshot($0, isStale: true))] } ?? [])
            + (known.hosts.isEmpty ? [] : [.show(.hosts(shownHosts, isAnswer: false))])
            + wishes.map { .show(.wish($0.songID, $0.kind, .queued)) } + [.steer(.start)]
    }

    /// The next deadline of the features.
    var deadline: MeshInstant? { earliest(app.deadline, monitor.deadline) }

    /// The input of a step: the conversations that hold messages, and the content of the next write.
    struct Context {
        var mesh: MeshCore
        /// How a guest reaches its host. A step reads it, and its acts change it.
        var route: Route
        /// This node's side of all conversations.
        let role: LinkRole
        var memory: NodeMemory
        var now: MeshInstant
        /// The last decoded message, because an arriving message is read before its step and again in it.
        private var last: (bytes: [UInt8], message: MeshMessage?)?
        /// Decoded messages that nodes of a simulation share.
        var reading: SharedReading?
        /// The disk has failed, so results that would have to be written first may not be sent.
        var isWithoutStore = false
        /// The way in which the message that the node decides on has arrived.
        enum Asker: Sendable {
            /// The message has arrived on this vouched link.
            case link(MeshCore.LinkID)
            /// The message has arrived in the peer's conversation.
            case radio
        }

        var asker: Asker?

        init(mesh: MeshCore, route: Route, role: LinkRole, memory: NodeMemory, now: MeshInstant) {
            (self.mesh, self.route, self.role, self.memory, self.now) = (mesh, route, role, memory, now)
        }

        /// Decodes a peer's message; nil if it is malformed.
        mutating func read(_ bytes: [UInt8]) -> MeshMessage? {
            if let last, last.bytes == bytes { return last.message }
            let message = reading.map { $0.message(bytes) } ?? MeshMessage(encoded: bytes)
            last = (bytes, message)
            return message
        }

        func key(of peer: Peer.ID) -> ConversationKey { mesh.key(peer, as: role) }
    }

    mutating func decide(_ happening: PendingEvent, _ context: inout Context) -> [StepAction] {
        switch happening {
        case .event(.input(let input)): return decide(input, &context)
        case .event(let event): return decide(event, &context)
        case .link(let id, .latestHasLeft):
            return context.mesh.peer(on: id).map { [.share(.updateHasLeft($0.id))] } ?? []
        case .link(let id, .connected(let peer)): return connected(peer, on: id, &context)
        case .link(_, .received(let message)): return received(message, &context)
        case .link(let id, let event): return decide(event, on: id, &context)
        case .ended(let id, let peer, let end, let isBesideRadio):
            let twin = app.isHosting && end == .refused(.twin) ? [StepAction.tell(Notice(.twins(peer)))] : []
            return ended(peer, on: id, end, isBesideRadio: isBesideRadio, &context) + twin
        case .joined(let id, let peer): return joined(id, peer, &context)
        case .said(let message, let number, let id, let peer):
            guard app.isHosting || app.isJoining else { return [] }
            context.asker = .link(id)
            defer { context.asker = nil }
            // Acknowledge before the answer is sent. The peer attributes an earlier rejection to an earlier message.
            return [.acknowledge(number, on: id)]
                + ask(.host(.multipeerEvent(.messageReceived(message, from: known(peer)))), &context)
        case .left(let id, let peer, let end):
            let gone = known(peer)
            guard presence.unlinked(peer, by: id) == true else { return [] }
            let reason = DisconnectReason(end)
            return [.show(.peerDisconnected(gone, reason))]
                + ask(.multipeerEvent(.peerDisconnected(gone, reason: reason)), &context)
        case .reported(let relay): return report(relay, &context)
        case .inviteFailed(let failure): return inviteFailed(failure)
        case .forgot(let key):
            context.memory.forget(key)
            return []
        case .wish(let event): return ask(.guest(event), &context)
        }
    }

    private mutating func decide(_ event: NodeCore.Event, _ context: inout Context) -> [StepAction] {
        switch event {
        case .heard(let node):
            let peer = node.host
            let told = report(node, &context)
            let discovered = ask(.multipeerEvent(.peerDiscovered(peer)), &context) + tellCopy(peer, context)
            if context.mesh.host == nil, let question = askWhichHost(context) { return told + discovered + question }
            return told + discovered
                + (node.bearer != .broker || context.route.policy.isMeant(peer, known: known)
                    ? [.steer(.heard(peer))] : [])
        case .unheard(let peer): return reported.unheard(peer.id).map { lost($0, &context) } ?? []
        case .radioFailed(let error): return watch(.radioFailed(error), &context)
        case .radioRecovered: return watch(.radioRecovered, &context)
        case .radioRepaired(let notice): return [.tell(notice)]
        case .broker(let report): return told(report)
        case .found(let results, let peer):
            guard let host = app.host, peer == host.local.id else { return [.share(.answered(results, for: peer))] }
            // A later search of the same person may have replaced this one.
            guard let search = host.state.search, search.number == results.number else { return [] }
            return [.show(.searchResults(results.found, query: search.query))]
        case .cover(let songID, let path): return [.show(.artwork(songID, path: path)), .cleared(by: .loaded)]
        case .coverFailed(let error, let isExpected):
            failingCovers.insert(error)
            return isExpected ? [] : [.tell(Notice(error))]
        case .coverRecovered(let error):
            failingCovers.remove(error)
            return [.clear(Notice(error).code)]
        case .asked(let number): return [.answer(number)]
        case .tick:
            let isDue = app.deadline.map { $0 <= context.now } == true
            let ended = endBans(&context) + watch(.tick, &context)
            return ended + (isDue ? ask(.host(.tick), &context) : []) + [.steer(.tick)]
        case .started: return [.begin]
        // Events of links, and events that other functions handle.
        case .input, .better, .reached, .adapterTimed, .opened, .dialFailed, .received, .channelClosed,
            .joined, .claimed, .said, .left, .measured, .written, .writeFailed, .coverMade, .end:
            return []
        }
    }

    /// Shows the broker's state. A new notice replaces the old one, and a connection clears it.
    private func told(_ report: BrokerReport) -> [StepAction] {
        let problem = report.problem.map { Notice(HeadUnitProblem.broker($0)) }
        let former = report.state == nil ? [] : BrokerProblem.codes.filter { $0 != problem?.code }
        return [.show(.broker(report))] + former.map { .clear($0) } + (problem.map { [.tell($0)] } ?? [])
    }

    /// Reports a host that is heard, itself or through a relay, unless that was reported before.
    private mutating func report(_ node: HeardNode, _ context: inout Context) -> [StepAction] {
        let (isNew, former) = reported.heard(node)
        return (former.map { lost($0, &context) } ?? []) + (isNew ? [.show(.peerDiscovered(node))] : [])
    }

    /// A host is heard that has the name of a joined host, and another key.
    private mutating func tellCopy(_ peer: Peer, _ context: Context) -> [StepAction] {
        guard app.isJoining, app.guest?.state.host == nil,
            let host = context.route.policy.host(copiedBy: peer, known: known), toldCopies[peer.id] == nil
        else { return [] }
        toldCopies[peer.id] = true
        return [.tell(Notice(.otherHost(name: host.name, head: Identity.head(of: peer.id))))]
    }

    /// A host, or a relay to it, is gone. The host is lost when neither the host nor any relay to it is left.
    private mutating func lost(_ node: HeardNode, _ context: inout Context) -> [StepAction] {
        [.show(.peerLost(node.host, via: node.relay))]
            + (reported.contains(node.host.id) ? [] : ask(.multipeerEvent(.peerLost(node.host)), &context))
    }

    // MARK: Links

    private mutating func decide(
        _ event: LinkEvent, on id: MeshCore.LinkID, _ context: inout Context
    ) -> [StepAction] {
        switch event {
        case .acknowledged(let number, let key):
            return context.memory.delivered(upTo: number, in: key).flatMap {
                ask(.multipeerEvent(.messageDelivered(.intent($0), to: key.peer)), &context)
            }
        case .admitted, .connected, .ended, .received, .latestHasLeft, .roundTrip, .asked, .carrier, .route,
            .carrierEnded, .askedForRoom, .probed:
            return []
        case .invitationUsed: return noteInvitations(&context)
        case .unansweredProofs:
            context.memory.note(unanswered: context.mesh.unanswered.rows)
            return []
        case .guessedWrong(let peer): return [.show(.pinGuessed(peer)), .tell(Notice(.pinGuessed(by: peer)))]
        case .failed(_, let proved?, .refused(.twin)) where app.isHosting && proved == context.mesh.local.id:
            return [.tell(Notice(.twins(context.mesh.local)))]
        case .failed(let expected, let proved, let end):
            // The peer was dialled by another node, or this node has cancelled the dial.
            guard let expected, end != .left else { return [] }
            if end == .misbehaved(.changedIdentity), !context.mesh.joined(withHead: expected).isEmpty {
                changedKey = expected
                return [.tell(Notice(.hostKeyChanged(host: Peer(id: expected, name: "")))), .steer(.dialFailed)]
            }
            // A host that was proved before asks again, and this guest sends no proof at present.
            if end == .refused(.challenge), context.mesh.holdsBackProofs {
                return inviteFailed(.heldBack(proved ?? expected))
            }
            // The wanted host may be near, but an impostor is closer.
            if end == .misbehaved(.unprovenHost) {
                return [.tell(Notice(NetworkError.unprovenHost)), .steer(.refused(.challenge, by: proved ?? expected))]
            }
            return inviteFailed(InviteFailure(end, provedBy: proved))
        }
    }

    private mutating func connected(_ peer: Peer, on id: MeshCore.LinkID, _ context: inout Context) -> [StepAction] {
        // A node that is not the wanted host does not become this guest's host, and the link ends. It is not stored as
        // a joined host either: its key would then keep out the host that it imitates.
        if app.isJoining, !context.route.policy.accepts(peer, known: known) {
            let isNew = context.mesh.conversation(context.key(of: peer.id))?.isBlank == true
            return tellCopy(peer, context) + [.steer(.linked(peer))] + (isNew ? [.forgetHost(peer.id)] : [])
        }
        changedKey = nil
        let hosts: [StepAction] = app.isJoining ? noteJoined(peer, &context) : []
        let isNews = presence.linked(peer, by: id, isVouched: false)
        context.memory.met(context.key(of: peer.id), context.mesh)
        return (isNews ? [.show(.peerConnected(peer))] : []) + hosts + [.steer(.linked(peer))]
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

    /// A bearer vouches for a guest. The link does not show whether the radio works.
    private mutating func joined(_ id: MeshCore.LinkID, _ peer: Peer, _ context: inout Context) -> [StepAction] {
        let isNews = presence.linked(peer, by: id, isVouched: true)
        noteBrowser(of: peer, &context)
        let told = isNews ? ask(.host(.multipeerEvent(.peerConnected(peer))), &context) : []
        return (isNews ? [.show(.peerConnected(peer))] : []) + told + [.guestConnected(peer.id, on: id)]
    }

    /// Forgets the old key. The wishes go to the host that is joined next. If the old host is linked again with its
    /// key, nothing is forgotten.
    mutating func forgetChangedKey(_ context: inout Context) -> [StepAction] {
        guard let changedKey else { return [] }
        self.changedKey = nil
        let joined = context.mesh.joined(withHead: changedKey)
        guard joined.allSatisfy({ context.mesh.link(to: $0) == nil }) else { return [] }
        return forget(changedKey, &context)
    }

    /// A peer that has left may still have sent a message that counts.
    private func known(_ id: Peer.ID) -> Peer { presence[id] ?? Peer(id: id, name: "") }

    private mutating func received(_ message: ReceivedMessage, _ context: inout Context) -> [StepAction] {
        guard !context.mesh.hasDeclined(message) else { return [] }
        // The session is over. The message is not acknowledged, and its sender keeps it.
        guard app.isHosting || app.isJoining else { return [] }
        var acts: [StepAction] = []
        if let content = context.read(message.body) {
            context.asker = .radio
            defer { context.asker = nil }
            acts =
                refuseSteering(content, by: known(message.peer), &context)
                ?? ask(.multipeerEvent(.messageReceived(content, from: known(message.peer))), &context)
        }
        guard message.messageClass == .reliable else { return acts }
        context.memory.received(message, context.mesh)
        return acts + [.accept(message)]
    }

    private mutating func ended(
        _ peer: Peer, on id: MeshCore.LinkID, _ end: LinkEnd, isBesideRadio: Bool, _ context: inout Context
    ) -> [StepAction] {
        guard let isLast = presence.unlinked(peer.id, by: id) else { return [] }
        let reason = DisconnectReason(end)
        let isRadios = reason == .linkLost && !isBesideRadio
        let watched = watch(isRadios ? .linkLost(peer.id) : .unlinked(peer.id), &context)
        // A host that is stopped keeps its session: its guests wait for it, as they do in a tunnel.
        let isStopped = end == .goodbye(.stopped)
        let ending = MultipeerEvent.peerDisconnected(peer, reason: isStopped && app.isJoining ? .linkLost : reason)
        let told = isLast ? ask(.multipeerEvent(ending), &context) : []
        let gone: [StepAction] = if case .goodbye = end { unheard(peer) } else { [] }
        return (isLast ? [.show(.peerDisconnected(peer, reason))] : []) + gone
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

    /// A host that says goodbye is gone before the radio, or relays to it, notice.
    private mutating func unheard(_ host: Peer) -> [StepAction] {
        let heard = Peer(id: Identity.head(of: host.id), name: host.name)
        return reported.gone(heard.id).map { .show(.peerLost(heard, via: $0.relay)) }
    }

    private func inviteFailed(_ failure: InviteFailure) -> [StepAction] {
        switch failure {
        case .refused(let reason, .some(let host)):
            [
                .cleared(by: .refused), .tell(Notice(NetworkError(reason, by: presence[host]))),
                .steer(.refused(reason, by: host)),
            ]
        case .heldBack(let host):
            [.cleared(by: .refused), .tell(Notice(NetworkError.pinAtRisk)), .steer(.refused(.challenge, by: host))]
        // Any peer can claim this in the host's name. So the node reports it and tries again.
        case .refused(let reason, nil): [.tell(Notice(NetworkError(reason))), .steer(.dialFailed)]
        default: [.steer(.dialFailed)]
        }
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

    // MARK: The features

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
        let error = SendError(cause, to: known(peer))
        return [.notSent(error)] + ask(.multipeerEvent(.sendFailed(message, error)), &context)
    }

    /// Sends a rejection on the link on which the request came. Without a pending request it goes over every link of
    /// the peer.
    mutating func reject(_ rejection: MeshMessage, to peer: Peer.ID, _ context: inout Context) -> [StepAction] {
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
